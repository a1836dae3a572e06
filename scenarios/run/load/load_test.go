package load_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/observe/result/resulttest"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/stats"
)

const (
	us    = simcore.Microsecond
	cores = "name: x\ndescription: a test\nboard: {preset: bf3-cores-pair}\n" +
		"stacks: [{kind: flexins, flexins: {data_cores: 4}}]\n"
	echo = "workload: {kind: ping_pong, depth: 1, count: 20, sizes: [4096]}\n"
)

// play plays the only case of a scenario on the Go NIC, which must pass.
func play(t *testing.T, text string, o run.Options) *run.Played {
	t.Helper()
	cases, err := run.Parse("f.yaml", []byte(text))
	require.NoError(t, err)
	o.NIC, o.Stats = device.Model, run.StatsSummary
	p, err := cases[0].Play(t.Context(), o)
	require.NoError(t, err, text)
	for _, f := range p.Findings {
		t.Errorf("%s\n%s", text, f.Text)
	}
	return p
}

// A load of DRAM runs at its rate, only during its window, and its bytes are counted apart. It slows the traffic down
// and changes no result. The window is counted from the begin of the traffic.
func TestDRAM(t *testing.T) {
	alone := play(t, cores+echo, run.Options{})
	require.Empty(t, alone.Stats.Loads)
	for _, of := range []string{"arm", "host"} {
		var begun, loaded []uint64
		p := play(t, cores+echo+"load: {server: 1, at: dram, of: "+of+", rate: 20GB/s, from: 50us, until: 150us, "+
			"stores: "+
			"0.25}\n", run.Options{Traffic: func(rack *board.Rack, settled bool) {
			h := rack.Servers[1].Cards[0].Memory.Host(map[string]int{"arm": nicspec.EndpointArm,
				"host": nicspec.EndpointHost}[of])
			n := h.DRAM[0].Counters()
			if !settled {
				begun = []uint64{n.LoadRead, n.LoadWritten}
			} else {
				loaded = []uint64{n.LoadRead, n.LoadWritten}
			}
		}})
		require.Equal(t, []uint64{0, 0}, begun, "the load begins with the traffic")
		const bytes = 20_000 * 100 // 20 GB/s for 100 us
		require.InDelta(t, bytes*3/4, float64(loaded[0]), 1024)
		require.InDelta(t, bytes/4, float64(loaded[1]), 1024)
		l := p.Stats.Loads[0]
		require.InDelta(t, bytes, float64(l.Bytes), 1024)
		require.InDelta(t, 160, l.Gbps, 0.5)
		require.Equal(t, stats.Load{Server: "Server[1]", At: "dram", Of: of, From: int64(50 * us), To: int64(150 * us),
			Bytes: l.Bytes, Gbps: l.Gbps}, l)
		require.Equal(t, alone.Digest, p.Digest)
	}
	// the Arm of BlueField-2 has no last-level cache in front of its DRAM
	const bf2 = "name: x\ndescription: a test\nboard: {preset: bf2-cores-pair}\nstacks: [{kind: flexins, flexins: " +
		"{data_cores: 1}}]\n"
	alone = play(t, bf2+echo, run.Options{})
	heavy := play(t, bf2+echo+"load: [{at: dram, of: arm, rate: 25GB/s}, {server: 1, at: dram, of: arm, rate: "+
		"25GB/s}]\n",
		run.Options{})
	require.Greater(t, heavy.Traffic, alone.Traffic*5/4, "both loads of the Arms' DRAM take time from the stack")
	require.Equal(t, alone.Digest, heavy.Digest)
	require.EqualValues(t, heavy.Traffic, heavy.Stats.Loads[1].To, "without an end it ends with the traffic")
}

// Walkers of a cache access their buffer at the rate that is asked for, and a chaser measures the latency of the cache,
// which rises with the load. Small buffers stay in a private cache.
func TestLLC(t *testing.T) {
	alone := play(t, cores+echo, run.Options{})
	row := func(text string) stats.Load {
		p := play(t, cores+echo+"load: {server: 1, at: llc, "+text+"}\n", run.Options{})
		require.Equal(t, alone.Digest, p.Digest, text)
		require.Len(t, p.Stats.Loads, 1)
		return p.Stats.Loads[0]
	}
	const ns = float64(simcore.Nanosecond)
	for _, x := range []struct {
		text     string
		gbps     float64
		from, to float64 // of the median
	}{
		{"of: host, rate: 1GB/s, bytes: 256KiB", 8, 5, 6},
		{"of: host, rate: 8GB/s", 64, 20, 30},
		{"of: host, rate: 40GB/s, cores: 4, stores: 0", 320, 20, 30},
		{"of: host, rate: 1GB/s, stores: 1, socket: 1", 8, 20, 30},
		{"of: arm, rate: 1GB/s, bytes: 64KiB", 8, 4, 5},
		{"of: arm, rate: 1GB/s", 8, 28, 35},
	} {
		l := row(x.text)
		require.InDelta(t, x.gbps, l.Gbps, x.gbps/50, x.text)
		require.Greater(t, l.Latency.Count, int64(1000), x.text)
		require.Greater(t, float64(l.Latency.P50), x.from*ns, x.text)
		require.Less(t, float64(l.Latency.P50), x.to*ns, x.text)
	}
	calm, loaded := row("of: arm, rate: 1GB/s"), row("of: arm, rate: 150GB/s, cores: 10, stores: 0.5")
	require.Greater(t, loaded.Latency.Mean, 2*calm.Latency.Mean, "the loaded latency")
	require.Less(t, loaded.Gbps, 1200.0, "the cache carries no more")
	none := row("of: arm, rate: 1GB/s, latency: false")
	require.Nil(t, none.Latency)
	window := row("of: arm, rate: 1GB/s, from: 20us, until: 60us")
	require.InDelta(t, 40_000, float64(window.Bytes), 1100)
	require.Less(t, float64(window.Latency.Max), 40e3*ns)
}

// A load of cores holds up the software of one side of a server, for its window and no longer, and changes no result.
func TestCores(t *testing.T) {
	alone := play(t, cores+echo, run.Options{})
	for _, of := range []string{"arm", "host"} {
		p := play(t, cores+echo+"load: {server: 1, at: cores, of: "+of+", from: 20us, until: 70us}\n", run.Options{})
		require.InDelta(t, 50, float64(p.Traffic-alone.Traffic)/float64(us), 8, of)
		require.Equal(t, alone.Digest, p.Digest)
		require.Equal(t, stats.Load{Server: "Server[1]", At: "cores", Of: of, From: int64(20 * us), To: int64(70 * us)},
			p.Stats.Loads[0])
		text, err := json.Marshal(p.Stats)
		require.NoError(t, err)
		schema, err := resulttest.Load(resulttest.Stats)
		require.NoError(t, err)
		require.NoError(t, schema.Check(text))
	}
	// one that has not begun takes no time, and one for longer than anything is silent otherwise ends no case
	play(t, cores+echo+"load: {at: cores, from: 1s, until: 1005ms}\n", run.Options{})
	p := play(t, cores+echo+"load:\n- {at: cores, from: 9us, until: 10009us}\n- {at: cores, from: 10ms, until: 20ms}\n"+
		"- {at: cores, from: 20ms, until: 30ms}\n", run.Options{})
	require.Greater(t, p.Traffic, 30*simcore.Millisecond)
}

// Several loads of a server share its free cores and its memory, give the same statistics in every run, and do not keep
// a run going once the traffic has ended.
func TestSeveralLoads(t *testing.T) {
	text := cores + echo + "load:\n- {at: llc, rate: 2GB/s}\n- {at: llc, rate: 1GB/s, cores: 2}\n" +
		"- {at: llc, of: arm, rate: 1GB/s, from: 5us, until: 9us}\n- {at: dram, rate: 1GB/s}\n- {at: dram, rate: " +
		"4GB/s}\n" +
		"- {at: dram, of: arm, rate: 3GB/s}\n"
	a, b := play(t, text, run.Options{}), play(t, text, run.Options{})
	require.Equal(t, a.Stats, b.Stats)
	require.Equal(t, a.Sim, b.Sim)
	var rates []string
	for _, l := range a.Stats.Loads {
		rates = append(rates, fmt.Sprintf("%.2g", l.Gbps))
	}
	require.Equal(t, []string{"16", "8", "8.2", "8", "32", "24"}, rates)
	require.Less(t, a.Sim, 10*simcore.Millisecond)

	// messages that are missing end the case in time, although walkers are never at rest
	lossy := play(t, cores+"workload: {transport: uc, kind: send, count: 8, sizes: [64]}\nfaults: {wire: {rules: "+
		"[{do: loss, "+
		"psn: 7}]}}\nexpect: {lost: {at_most: 8}}\nload: [{at: llc, rate: 1GB/s, latency: false}]\n", run.Options{})
	require.Positive(t, lossy.Result.Lost)
}

// Loads that are not possible are refused with file, line and field.
func TestRefused(t *testing.T) {
	const plain = "name: x\ndescription: a test\nboard: {preset: connectx6-cores-pair}\nstacks: [{kind: rnic}]\n"
	const bf2 = "name: x\ndescription: a test\nboard: {preset: bf2-pair}\ndevices: [{kind: rnic, model: " +
		"bluefield2}]\n" +
		"stacks: [{kind: rnic}]\n"
	const cached = "name: x\ndescription: a test\nboard: {preset: bf2-cores-pair}\n" +
		"devices: [{kind: rnic, model: bluefield2}]\nstacks: [{kind: rnic}]\n"
	for _, c := range []struct{ text, want string }{
		{cores + "load: {at: l2, rate: 1GB/s}", `f.yaml:5: load[0].at "l2": want dram, llc or cores`},
		{cores + "load: {rate: 1GB/s}", `f.yaml:5: load[0].at "": want dram, llc or cores`},
		{cores + "load: {at: llc, of: gpu, rate: 1GB/s}", `load[0].of "gpu": want host or arm`},
		{cores + "load: [{at: dram, rate: 1GB/s},\n  {at: llc, rate: 0GB/s}]",
			"f.yaml:6: load[1].rate 0bps: want 8bps to 10000Gbps"},
		{cores + "load: {at: dram}", "f.yaml:5: load[0].rate 0bps: want 8bps to 10000Gbps"},
		{cores + "load: {at: dram, rate: 2000GB/s}", "load[0].rate 16000Gbps: want 8bps to 10000Gbps"},
		{cores + "load: {at: dram, rate: 1GB/s, from: 2ms, until: 2ms}",
			"load[0].until 2ms: want more than load[0].from, 2ms, or none for the end of the traffic"},
		{cores + "load: {at: dram, rate: 1GB/s, from: -1us}", "load[0].from"},
		{cores + "load: {server: 2, at: dram, rate: 1GB/s}", "load[0].server 2: the board has 2 servers: want 0 to 1"},
		{cores + "load: {server: -1, at: dram, rate: 1GB/s}", "load[0].server -1: want 0 or more"},
		{cores + "load: {at: dram, of: host, socket: 2, rate: 1GB/s}",
			"load[0].socket 2: the host of server Server[0] has 2: want 0 to 1"},
		{cores + "load: {at: dram, of: arm, socket: 1, rate: 1GB/s}", "load[0].socket 1: want 0, or another socket " +
			"of a host"},
		{cores + "load: {at: dram, rate: 1GB/s, stores: 1.5}", "load[0].stores 1.5: want a share of the accesses, " +
			"0 to 1"},
		{cores + "load: {at: dram, rate: 1GB/s, bytes: 2GiB}",
			"load[0].bytes 2GiB: the host of server Server[0] has 512MiB: want that at most"},
		{cores + "load: {at: llc, rate: 1GB/s, bytes: 1000B}", "load[0].bytes 1000B: want a multiple of 64 B from " +
			"1 KiB"},
		{cores + "load: {at: dram, rate: 1GB/s, cores: 2}", "load[0].cores 2: a load of dram takes none"},
		{cores + "load: {at: llc, of: arm, rate: 1GB/s, cores: 11}", "load[0].cores 11: the load takes 12 cores of " +
			"the arm " +
			"of server Server[0], which has 11 beside those of stacks and applications, for all loads: want fewer, " +
			"or " +
			"load[0].latency false"},
		{strings.Replace(cores, "data_cores: 4", "data_cores: 4, engine_cores: 3", 1) +
			"workload: {kind: list_walk, sizes: [64]}\nload: {server: 1, at: llc, of: arm, rate: 1GB/s, cores: 8}",
			"load[0].cores 8: the load takes 9 cores of the arm of server Server[1], which has 8 beside those"},
		{cores + "workload: {processes: 15}\nload: [{at: llc, rate: 1GB/s, latency: false}, {at: llc, rate: 1GB/s, " +
			"latency: " +
			"false}]", "f.yaml:6: load[1].latency: conflicts with a value that the " +
			"file does not set: load[1].cores 1: the load takes 1 cores of the host of server Server[0], which has " +
			"1 beside"},
		{cores + "load: {at: llc, rate: 1GB/s, bytes: 64MiB}", "load[0].bytes 64MiB: the load takes 128MiB of the " +
			"memory of " +
			"the host of server Server[0], which has 65528KiB beside that of stacks and applications, for all " +
			"loads: want less"},
		{plain + "load: {at: dram, of: arm, rate: 1GB/s}", "load[0].of arm: server Server[0] has a plain NIC, " +
			"without Arm " +
			"memory: want host"},
		{bf2 + "load: {at: llc, rate: 1GB/s}", "load[0].at llc: the host of server Server[0] has no cores that " +
			"could load it"},
		{cached + "load: {at: llc, of: arm, rate: 1GB/s}", "load[0].at llc: the arm of server Server[0] has no " +
			"last-level cache: " +
			"want dram"},
		{cores + "load: {at: cores}", "load[0].until: none: want the time from which the cores go on"},
		{cores + "load: {at: cores, from: 1ms, until: 12ms}", "load[0].until 12ms: want 10ms after load[0].from at " +
			"most"},
		{cores + "load: {at: cores, until: 1us, rate: 1GB/s}", "load[0].rate: a load of cores accesses no memory"},
		{cores + "load: {at: cores, until: 1us, cores: 2}", "load[0].cores: a load of cores accesses no memory"},
		{cores + "load: {at: cores, until: 1us, socket: 1}", "load[0].socket 1: stack and applications use cores of " +
			"socket 0 alone"},
		{plain + "load: {at: cores, until: 1us, of: arm}", "load[0].of arm: server Server[0] has a plain NIC"},
		{bf2 + "load: {at: cores, until: 1us}", "load[0].at cores: neither stack nor applications use any of the host"},
		{cores + "load: {at: llc, rate: 1GB/s, rat: 2}", "f.yaml:5: load[0].rat: no such field"},
		{cores + "load: [" + strings.Repeat("{at: cores, until: 10ms}, ", 65) + "]",
			"load: 65 of them: want 64 at most"},
		{cores + "load: 3", `f.yaml:5: load: "3": want a list`},
	} {
		_, err := run.Parse("f.yaml", []byte(c.text+"\n"))
		require.ErrorContains(t, err, c.want, c.text)
	}
}

// A sweep sets fields of loads, and names its cases after them.
func TestSweep(t *testing.T) {
	cases, err := run.Parse("f.yaml", []byte(cores+"load: {at: dram, rate: 1GB/s}\nsweep: {load.rate: [1GB/s, "+
		"40GB/s], "+
		"'load[0].at': [dram, llc]}\n"))
	require.NoError(t, err)
	var names []string
	for _, c := range cases {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	require.Equal(t, []string{"x:rate=320Gbps:at=dram", "x:rate=320Gbps:at=llc", "x:rate=8Gbps:at=dram",
		"x:rate=8Gbps:at=llc"}, names)
}
