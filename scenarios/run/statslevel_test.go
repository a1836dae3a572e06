package run

import (
	"strings"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/stats"
)

// eventCount counts the events of an engine.
type eventCount int

// Func implements sim.Hook.
func (n *eventCount) Func(ctx sim.HookCtx) {
	if ctx.Pos == sim.HookPosBeforeEvent {
		*n++
	}
}

// TestStatisticsHaveNoEvents counts the engine's events of a case: as many with every level of statistics, over cores,
// an rnic and a network with faults.
func TestStatisticsHaveNoEvents(t *testing.T) {
	const flexins = "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 2}}]\n"
	for _, text := range []string{
		flexins + "workload: {queue_pairs: 2, both_ways: true, count: 60, depth: 8, sizes: [64, 9000]}\n" +
			"faults: {wire: {seed: 3, chances: {loss: 0.01, disorder: 0.02}}}\n",
		flexins + "workload: {kind: ring, count: 60, depth: 64}\n",
		flexins + "workload: {kind: read, transport: solar, count: 40, depth: 8}\n",
		onRNICs + "workload: {queue_pairs: 2, both_ways: true, count: 100, depth: 8, sizes: [64, 3000]}\n",
	} {
		c := caseOf(t, text)
		events := map[StatsLevel]eventCount{}
		for _, level := range []StatsLevel{StatsNone, StatsSummary, StatsFull} {
			o := Options{Stats: level}
			w, err := newWorld(t.Context(), c, &o)
			require.NoError(t, err)
			n := new(eventCount)
			w.engine.AcceptHook(n)
			p := &Played{Case: c}
			require.NoError(t, w.play(p))
			require.NoError(t, w.close())
			require.Empty(t, texts(p))
			require.Equal(t, level != StatsNone, p.Stats != nil)
			events[level] = *n
		}
		require.Greater(t, int(events[StatsNone]), 1000)
		require.Equal(t, events[StatsNone], events[StatsSummary], text)
		require.Equal(t, events[StatsNone], events[StatsFull], text)
	}
}

// TestWithoutStatistics checks that a run without statistics hooks no link, profiles no core, and allocates nothing for
// statistics in its steps of time.
func TestWithoutStatistics(t *testing.T) {
	c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {count: 60}\n")
	for _, level := range []StatsLevel{StatsNone, StatsFull} {
		o := Options{Stats: level}
		w, err := newWorld(t.Context(), c, &o)
		require.NoError(t, err)
		require.NoError(t, w.play(&Played{Case: c}))
		hooks := 0
		for i := range w.rack.Cables {
			hooks += w.rack.Cables[i].Entry[0].NumHooks()
		}
		for _, card := range w.rack.Cards() {
			hooks += card.NICLink.NumHooks() + card.ArmLink.NumHooks() + card.HostLink.NumHooks()
		}
		profiled := simcore.Ps(0)
		core, err := w.rack.Cards()[0].Memory.Host(0).Core(0, 0)
		require.NoError(t, err)
		for a := range cpu.NumActivities {
			profiled += core.TimeIn(a)
		}
		if level == StatsFull {
			require.Positive(t, hooks)
			require.Positive(t, profiled)
			require.NoError(t, w.close())
			continue
		}
		require.Zero(t, hooks)
		require.Zero(t, profiled)
		require.Nil(t, w.measured)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			w.sample()
			require.NoError(t, w.advance(w.engine.Now()))
			w.endSeries()
		}))
		require.NoError(t, w.close())
	}
}

// activityOf returns the place of the activity in the name of a core's counter; -1: the counter is all of its busy
// time.
func activityOf(name string) int {
	for a := cpu.Same + 1; a < cpu.NumActivities; a++ {
		if strings.HasSuffix(name, " "+a.String()) {
			return len(name) - len(a.String()) - 1
		}
	}
	return -1
}

// TestActivitiesOfCores checks that what cores were busy with adds up to their busy time.
func TestActivitiesOfCores(t *testing.T) {
	p := withStats(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+
		"workload: {kind: send, queue_pairs: 2, count: 200, sizes: [64, 5000]}\n")
	busy, parts := map[string]uint64{}, map[string]uint64{}
	for _, x := range p.Stats.Counters {
		if x.Unit != "ps" {
			continue
		}
		name := x.Where + " " + x.What
		if cut := activityOf(name); cut < 0 {
			busy[name] = x.Total
		} else if name[cut+1:] != "poll" {
			parts[name[:cut]] += x.Total
		}
	}
	require.Positive(t, busy["Server[0] Arm core 0"])
	for name, t0 := range busy {
		require.InDelta(t, t0, parts[name], float64(2*simcore.Microsecond), name) // operations may still be in progress
	}
	for _, what := range []string{"parse", "build", "element", "touch", "queues"} {
		found := false
		for _, x := range p.Stats.Counters {
			found = found || x.Where == "Server[1]" && x.What == "Arm core 0 "+what && x.Total > 0
		}
		require.True(t, found, what)
	}
}

// TestLevelsInsideAnRNIC checks the levels of send and receive entries, which follow from the workload.
func TestLevelsInsideAnRNIC(t *testing.T) {
	p := withStats(t, onRNICs+"workload: {kind: send, count: 300, depth: 16, receives: 24, sizes: [4096], mtu: 4096}\n")
	at := map[string]uint64{}
	for _, l := range p.Stats.Levels {
		at[l.Where+" "+l.What] = l.Highest
	}
	require.EqualValues(t, 16, at["Server[0] NIC, send entries not ended"])
	require.EqualValues(t, 24, at["Server[1] NIC, receive entries not consumed"])
	require.Positive(t, at["Server[0] NIC, packets to send"])
	require.Positive(t, at["Server[1] NIC, bytes in the receive buffer"])
}

// TestLevelsOfQueues checks levels that follow from the workload.
func TestLevelsOfQueues(t *testing.T) {
	p := withStats(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 1}}]\n"+
		"workload: {kind: send, count: 300, depth: 16, sizes: [4096], mtu: 4096}\n")
	at := map[string]stats.Level{}
	for _, l := range p.Stats.Levels {
		at[l.Where+" "+l.What] = l
	}
	require.EqualValues(t, 512, at["Server[1] receive queues, buffers posted"].Highest)
	require.EqualValues(t, 512, at["Server[1] NIC, receive descriptors not consumed"].Highest)
	require.Positive(t, at["Server[1] NIC, bytes in the receive buffer"].Highest)
	require.Positive(t, at["Server[1] NIC, received frames"].Highest)
	require.Positive(t, at["Server[0] NIC, work entries under way"].Highest)
	require.Equal(t, "B", at["Server[1] NIC, bytes in the receive buffer"].Unit)
	require.LessOrEqual(t, at["Server[0] NIC, blocks of work entries not ended"].Highest,
		4*at["Server[0] transmit queues, entries posted"].Highest)
	frames := at["Server[0] data cores, frames to send"].Highest
	require.Positive(t, frames)
	require.GreaterOrEqual(t, at["Server[0] transmit queues, entries posted"].Highest, frames)
	require.Positive(t, at["Server[1] data cores, packets in use"].Highest)
	require.Positive(t, at["Rack.Cable0 from Server[0].Card.NIC.Eth[0]: credits used"].Highest)
	require.GreaterOrEqual(t, at["Server[1] host socket 0 LLC device, I/O buffers"].Highest, uint64(16*4096/64),
		"received messages")
}
