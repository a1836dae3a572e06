package rtlbridge

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/msg"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
)

// TestRestlessDevice checks that a device that is still active after all work gets Patience cycles; then
// the run ends with an error that lists what is active.
func TestRestlessDevice(t *testing.T) {
	for _, x := range []struct {
		name        string
		flags       uint32
		busy, until uint64 // value of the busy signal, up to this cycle
		open        string
	}{
		{"at rest", protocol.RanQuiet, 0, 0, ""},
		{"busy for a while", protocol.RanQuiet, 1, 900, ""},
		{"busy for ever", protocol.RanQuiet, 1, 1 << 60, "its signal busy is not 0"},
		{"a transaction without end", 0, 0, 0, "a transaction on its streams has not ended"},
	} {
		t.Run(x.name, func(t *testing.T) {
			last := uint64(0) // one more than the last cycle in which busy was not 0
			conn, err := Dial(fakeDevice(t, answerRuns(func(c net.Conn, i, s uint64, n uint32) {
				r := goodRan(i, s, n)
				r.Flags = x.flags
				if s < x.until && x.busy != 0 {
					last = s + uint64(n)
				}
				r.Observed[0] = protocol.Observed{Value: oneIf(last == s+uint64(n)), LastNonzero: last}
				c.Write(appendRan(nil, r, nil))
			})), DialOptions{})
			require.NoError(t, err)
			e, pool := simcore.NewEngine(), &msg.Frames{}
			spec := CompSpec{InLatency: 640_000, OutLatency: 640_000, Patience: 1000}
			k, err := NewComp("NIC", e, conn, spec, []Binding{EtherBinding("Eth", "eth_in", "eth_out", 0, pool, true)})
			require.NoError(t, err)
			k.Done = func() bool { return k.Cycle() >= 200 }
			require.NoError(t, k.Begin(conn.NewStart(1)))
			err = e.Run()
			require.True(t, k.Ended())
			require.NoError(t, conn.Close())
			if x.open == "" {
				require.NoError(t, err)
				return
			}
			var restless *RestlessError
			require.ErrorAs(t, err, &restless)
			require.Equal(t, []string{x.open}, restless.Open)
			require.ErrorContains(t, err, "NIC is still active at cycle ")
			require.Less(t, restless.Cycle, uint64(3000))
		})
	}
}

// TestIdleIntervalsAreReported checks that every cycle with busy 0 is reported once and in order, whatever
// the quantum.
func TestIdleIntervalsAreReported(t *testing.T) {
	const end = 400
	// Idle intervals lie within a quantum, across its end, from its first cycle on, and up to its last.
	zero := func(cycle uint64) bool {
		return cycle >= 20 && cycle < 30 || cycle >= 33 && cycle < 34 || cycle >= 90 && cycle < 120 ||
			cycle >= 150 && cycle < 160 || cycle >= 190 && cycle < 200 || cycle >= 237
	}
	for _, quantum := range []uint32{1, 7, 50, 64} {
		t.Run(strconv.Itoa(int(quantum)), func(t *testing.T) {
			last := uint64(0) // one more than the last cycle in which busy was not 0
			conn, err := Dial(fakeDevice(t, answerRuns(func(c net.Conn, i, s uint64, n uint32) {
				r := goodRan(i, s, n)
				var recs []protocol.Record
				for x := s; x < s+uint64(n); x++ {
					if !zero(x) {
						if last != x {
							recs = append(recs, protocol.Record{Kind: protocol.EventRest, First: last, Last: x - 1})
						}
						last = x + 1
					}
				}
				r.Observed[0] = protocol.Observed{Value: oneIf(last == s+uint64(n)), LastNonzero: last}
				c.Write(appendRan(nil, r, recs))
			})), DialOptions{})
			require.NoError(t, err)
			e, pool := simcore.NewEngine(), &msg.Frames{}
			k, err := NewComp("NIC", e, conn, CompSpec{InLatency: 640_000, OutLatency: 640_000, Quantum: quantum},
				[]Binding{EtherBinding("Eth", "eth_in", "eth_out", 0, pool, true)})
			require.NoError(t, err)
			k.Done = func() bool { return k.Cycle() >= end }
			next := uint64(0)
			k.ObserveRest(func(first, last uint64) {
				for ; next < first; next++ {
					require.False(t, zero(next), "cycle %d", next)
				}
				for ; next <= last; next++ {
					require.True(t, zero(next), "cycle %d", next)
				}
			})
			require.NoError(t, k.Begin(conn.NewStart(1)))
			require.NoError(t, e.Run())
			require.NoError(t, conn.Close())
			require.GreaterOrEqual(t, next, uint64(end))
		})
	}
}

// TestRecordsThatCannotBe checks that impossible times of the busy signal or of crossings end the run with
// a protocol error.
func TestRecordsThatCannotBe(t *testing.T) {
	rest := func(first, last uint64) protocol.Record {
		return protocol.Record{Kind: protocol.EventRest, First: first, Last: last}
	}
	out := func(first, last uint64) protocol.Record {
		return protocol.Record{Kind: protocol.EventOut, Stream: 2, Side: make([]byte, 2), Data: make([]byte, 8),
			First: first, Last: last}
	}
	const past = "must end in cycle "
	for _, x := range []struct {
		name   string
		frames [][]protocol.Record // records of each quantum of 64 cycles
		end    protocol.Observed   // busy at the end of the last quantum; the earlier ones end with busy nonzero
		want   string
	}{
		{"overlapping", [][]protocol.Record{{rest(10, 20), rest(15, 30)}}, protocol.Observed{},
			"record 1 of quantum 0: RAN frame refused: value: an idle interval, cycles 15 to 30: " +
				"must begin in cycle 22 or later"},
		{"adjacent", [][]protocol.Record{{rest(10, 20), rest(21, 30)}}, protocol.Observed{},
			"record 1 of quantum 0: RAN frame refused: value: an idle interval, cycles 21 to 30"},
		{"reported twice", [][]protocol.Record{{rest(10, 20), rest(10, 20)}}, protocol.Observed{},
			"record 1 of quantum 0"},
		{"in the quantum before", [][]protocol.Record{{rest(10, 20)}, {rest(40, 70)}}, protocol.Observed{},
			"record 0 of quantum 1: RAN frame refused: value: an idle interval, cycles 40 to 70: " +
				"must begin in cycle 64 or later"},
		{"reversed", [][]protocol.Record{{rest(20, 10)}}, protocol.Observed{},
			"record 0 of quantum 0: RAN frame refused: value: rest of cycles 20 to 10: " + past +
				"0 to 62 and begin no later"},
		{"future", [][]protocol.Record{{}, {rest(66, 127)}}, protocol.Observed{},
			"record 0 of quantum 1: RAN frame refused: value: rest of cycles 66 to 127: " + past + "63 to 126"},
		{"far future", [][]protocol.Record{{rest(3, 1<<64-1)}}, protocol.Observed{},
			"record 0 of quantum 0: RAN frame refused: value: rest of cycles 3 to "},
		{"past", [][]protocol.Record{{}, {rest(3, 5)}}, protocol.Observed{},
			"record 0 of quantum 1: RAN frame refused: value: rest of cycles 3 to 5"},
		{"after a later record", [][]protocol.Record{{out(20, 40), rest(3, 5)}}, protocol.Observed{},
			"record 1 of quantum 0: RAN frame refused: value: rest of cycles 3 to 5: " + past + "39 to 62"},
		{"output of the past", [][]protocol.Record{{}, {out(20, 40)}}, protocol.Observed{},
			"record 0 of quantum 1: RAN frame refused: value: output of cycles 20 to 40: " + past + "64 to 127"},
		{"output of the future", [][]protocol.Record{{out(20, 64)}}, protocol.Observed{},
			"output of cycles 20 to 64: " + past + "0 to 63"},
		{"output reversed", [][]protocol.Record{{out(41, 40)}}, protocol.Observed{}, "output of cycles 41 to 40"},
		{"busy in a cycle to come", [][]protocol.Record{{}}, protocol.Observed{Value: 0, LastNonzero: 65},
			"busy signal 0x0 at the end of cycle 63, but reported as last nonzero in the cycle before 65"},
		{"zero and not", [][]protocol.Record{{}}, protocol.Observed{Value: 0, LastNonzero: 64},
			"busy signal 0x0 at the end of cycle 63"},
		{"busy and at rest", [][]protocol.Record{{}}, protocol.Observed{Value: 1, LastNonzero: 60},
			"busy signal 0x1 at the end of cycle 63"},
		{"busy at no time", [][]protocol.Record{{rest(10, 20)}}, protocol.Observed{Value: 0, LastNonzero: 5},
			"reported as last nonzero in the cycle before 5, but by earlier records in the cycle before 22"},
		{"as it is", [][]protocol.Record{{rest(0, 20), out(5, 21), rest(22, 62)}, {out(60, 80), rest(81, 90)},
			{rest(128, 130)}}, protocol.Observed{Value: 0, LastNonzero: 170}, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			conn, err := Dial(fakeDevice(t, answerRuns(func(c net.Conn, i, s uint64, n uint32) {
				r := goodRan(i, s, n)
				r.Observed[0] = protocol.Observed{Value: 1, LastNonzero: s + uint64(n)}
				if int(i) == len(x.frames)-1 {
					r.Observed[0] = x.end
				}
				c.Write(appendRan(nil, r, x.frames[i]))
			})), DialOptions{})
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.Start(conn.NewStart(1)))
			for range x.frames {
				if err == nil {
					err = oneQuantum(conn)
				}
			}
			if x.want == "" {
				require.NoError(t, err)
				return
			}
			var infra *protocol.InfraError
			require.ErrorAs(t, err, &infra)
			require.ErrorContains(t, err, x.want)
		})
	}
}

// TestIdleIntervalsOfALongQuantum checks that records stay in order if the device reports a quantum in several
// frames, some ending in the middle of a cycle.
func TestIdleIntervalsOfALongQuantum(t *testing.T) {
	const frames, apart = 2000, 40
	c := launch(t, fifo(t, build.VariantSpeed), LaunchOptions{})
	s := c.NewStart(5)
	s.Streams[1].StallPercent = 20
	require.NoError(t, c.Start(s))
	for i := range frames {
		require.NoError(t, c.Add(0, uint64(i*apart), make([]byte, 4), frame(1000, i)))
	}
	require.NoError(t, c.SendRun(frames*apart+1000))
	parts, rests, outs := 0, 0, 0
	for more := true; more; parts++ {
		r, err := c.Recv()
		require.NoError(t, err)
		more = r.Flags&protocol.RanMore != 0
		var rec protocol.Record
		for ok := true; ok; {
			ok, err = c.Next(r, &rec)
			require.NoError(t, err)
			rests += int(oneIf(ok && rec.Kind == protocol.EventRest))
			outs += int(oneIf(ok && rec.Kind == protocol.EventOut))
		}
	}
	require.Greater(t, parts, 1)
	require.Greater(t, rests, frames/2)
	require.Equal(t, frames, outs)
}

// oneQuantum makes a device run one quantum and reads its whole answer.
func oneQuantum(c *Conn) error {
	if err := c.SendRun(64); err != nil {
		return err
	}
	r, err := c.Recv()
	for ok := err == nil; ok && err == nil; {
		ok, err = c.Next(r, new(protocol.Record))
	}
	return err
}

func oneIf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
