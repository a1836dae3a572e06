package run

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/stack/apps"
)

// onRack has a number of servers on a switch.
const onRack = "board: {preset: bf3-cores-rack, fleet: {machines: %d}}\nstacks: [{kind: flexins}]\n"

// TestServers checks that any server talks to any other, on racks of each size.
func TestServers(t *testing.T) {
	for servers, load := range map[int]string{
		2:  "workload: {kind: echo, from: 1, to: 0, count: 10}",
		3:  "workload: {kind: send, from: [2, 0], to: 1, both_ways: true, processes: 2, count: 6, sizes: [64, 3000]}",
		4:  "workload: {kind: list_walk, from: [0, 1], to: [2, 3], sizes: [64], count: 6}",
		5:  "workload: {kind: ring, from: [4, 3], to: [0, 1], count: 40, depth: 64, sizes: [64]}",
		8:  "workload: {kind: write_imm, from: 0, to: [1, 2, 3, 4, 5, 6, 7], count: 4, low_latency: false}",
		16: "workload: {kind: read, from: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], to: 0, count: 4}",
	} {
		c := caseOf(t, fmt.Sprintf(onRack, servers)+load)
		p, err := c.Play(t.Context(), Options{NIC: device.Model})
		require.NoError(t, err, load)
		require.True(t, p.Pass(), "%s: %s", load, texts(p))
		require.Equal(t, c.AllWorkloads().Messages(), p.Result.Messages, load)
		require.Len(t, p.NICs, servers)
		for _, n := range p.NICs {
			require.Positive(t, n.Checked)
		}
	}
}

// TestFloodedFrames checks that servers whose queue pairs have the same numbers and PSNs do not take each other's
// messages, if a switch with a tiny address table floods them.
func TestFloodedFrames(t *testing.T) {
	const text = "board: {preset: bf3-cores-rack, network: {switch: {table_entries: 1}}}\nstacks: [{kind: flexins}]\n" +
		"workload: {from: [2, 3, 4, 5, 6, 7], to: [0, 1], psn: 7, depth: 2, sizes: [64, 3000], count: 20}"
	p, err := caseOf(t, text).Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
}

// TestDatagramsInARack checks that no port takes what the switch has for another one: datagrams, unlike reliable
// messages, would come twice.
func TestDatagramsInARack(t *testing.T) {
	for _, load := range []string{"kind: send, transport: ud, receives: 64", "kind: write_imm, transport: uc",
		"kind: send, transport: uc"} {
		p, err := caseOf(t, fmt.Sprintf(onRack, 3)+"workload: {from: [0, 1], to: 2, sizes: [64], ports: 2, "+
			"queue_pairs: 2, count: 40, "+load+"}").Play(t.Context(), Options{})
		require.NoError(t, err)
		require.True(t, p.Pass(), "%s: %s", load, texts(p))
	}
}

// TestWorkloads checks that workloads run side by side, and that their names are in findings and figures.
func TestWorkloads(t *testing.T) {
	const two = "workloads:\n- {name: bulk, kind: write, from: [0, 1], to: 2, count: 20, sizes: [3000]%s}\n" +
		"- {kind: echo, from: 2, to: 0, count: 20, sizes: [64]%s}\n"
	text := fmt.Sprintf(onRack, 3) + two
	p, err := caseOf(t, fmt.Sprintf(text, "", "")).Play(t.Context(), Options{Stats: StatsFull})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.Equal(t, 2*20+2*20, p.Result.Messages)
	require.Len(t, p.Stats.Flows, 3)
	require.Equal(t, "1", p.Stats.Flows[2].Workload)
	require.Equal(t, "1", p.Stats.Latency[0].Workload)
	require.Equal(t, "echo", p.Stats.Latency[0].Kind)
	require.Contains(t, p.Stats.String(), "bulk: flow 1, Server[1] to Server[2]")
	require.Contains(t, p.Result.Streams[0].Name(), "workload bulk, server Server[0]")

	wrong, err := caseOf(t, fmt.Sprintf(text, ", misuse: {what: remote_key, message: 3}", "")).Play(t.Context(),
		Options{})
	require.NoError(t, err)
	require.Contains(t, texts(wrong), "server Server[0], send queue: completions with rem_access_err")
}

// TestPhases checks that workloads begin and end at their configured times, and that all messages posted before the end
// arrive.
func TestPhases(t *testing.T) {
	const phases = "workloads:\n" +
		"- {name: first, kind: send, count: 100000, end: 100us, signal_every: 4, sizes: [64]}\n" +
		"- {name: pause, kind: %s, from: 1, to: 0, begin: 3ms, end: 3.1ms, count: 100000, sizes: [%d], depth: %d}\n"
	for _, kind := range []string{"echo", "atomics", "ring", "read", "write", "write_imm", "list_walk"} {
		size, depth := 64, 8
		switch kind {
		case "atomics":
			size = 8
		case "ring":
			depth = 64
		}
		c := caseOf(t, "board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"+fmt.Sprintf(phases, kind, size,
			depth))
		w := beginOf(t, c)
		from := w.engine.Now()
		require.NoError(t, w.traffic())
		at := w.engine.Now() - from
		require.Greater(t, at, 3100*simcore.Microsecond)
		require.Less(t, at, 3300*simcore.Microsecond, kind)
		posted := w.apps.Posted()
		require.Greater(t, posted[0], 50)
		require.Zero(t, posted[0]%4, "whole groups of requests with a completion")
		require.Greater(t, posted[1], 20, kind)
		require.Less(t, posted[0]+posted[1], 5000)
		require.NoError(t, w.settle("the end"))
		p := &Played{Case: c}
		require.NoError(t, w.judgeApplications(p, nil))
		require.True(t, p.Pass(), "%s: %s", kind, texts(p))
		require.Equal(t, posted[0]+posted[1], p.Result.Messages, kind)
		require.NoError(t, w.close())
	}
}

// beginOf begins the traffic of a case.
func beginOf(t *testing.T, c *Case) *world {
	w, err := newWorld(t.Context(), c, &Options{})
	require.NoError(t, err)
	require.NoError(t, w.open())
	require.NoError(t, w.apps.Begin(w.engine.Now()))
	return w
}

// TestPhaseBehindAnError checks that a workload begins although an earlier one waits in vain, as expected.
func TestPhaseBehindAnError(t *testing.T) {
	p, err := caseOf(t, fmt.Sprintf(onRack, 3)+"workloads:\n- {misuse: {what: short_receive, message: 3}, count: 9}\n"+
		"- {kind: echo, from: 2, to: 0, begin: 30ms, count: 5}\nexpect:\n  errors:\n"+
		"  - {at: client, queue: send, status: rem_inv_req_err, at_most: 1}\n"+
		"  - {at: client, queue: send, status: wr_flush_err}\n"+
		"  - {at: server, queue: receive, status: loc_len_err, at_most: 1}\n"+
		"  - {at: server, queue: receive, status: wr_flush_err}\n").Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.Equal(t, 3+2*5, p.Result.Messages)
	require.Greater(t, p.Traffic, 30*simcore.Millisecond)
}

// TestPhasesCompare checks that the digest does not depend on how many messages a workload with an end sends, and that
// it depends on those of the other workloads.
func TestPhasesCompare(t *testing.T) {
	const text = "workloads:\n- {count: 1000, end: %s, sizes: [64]}\n- {kind: echo, count: %d, sizes: [64]}\n"
	digests := map[string]string{}
	for _, end := range []string{"40us", "90us"} {
		for _, count := range []int{5, 6} {
			p, err := caseOf(t, fmt.Sprintf(onRack+text, 2, end, count)).Play(t.Context(), Options{})
			require.NoError(t, err)
			require.True(t, p.Pass(), texts(p))
			digests[fmt.Sprint(end, count)] = p.Digest
		}
	}
	require.Equal(t, digests["40us5"], digests["90us5"])
	require.NotEqual(t, digests["40us5"], digests["40us6"])
}

// TestNothingBeforeTheEnd checks that a workload that had no message is a finding.
func TestNothingBeforeTheEnd(t *testing.T) {
	c := caseOf(t, fmt.Sprintf(onRack, 2)+"workloads: [{count: 3}, {count: 3, end: 1us}]\n")
	var all []string
	for _, d := range c.whole(&apps.Result{Messages: 3}, []int{3, 0}) {
		all = append(all, d.String())
	}
	require.Equal(t, []string{"messages of workloads[1] before its end: expected some, got 0"}, all)
}

// TestWorkloadsRefused checks that wrong workloads are refused by line and field.
func TestWorkloadsRefused(t *testing.T) {
	const many = "{count: 1, processes: 9, from: 0, to: [1, 2]}"
	for _, x := range []struct {
		servers    int
		text, want string
	}{
		{3, "workload: {to: 3}", "f.yaml:5: workload.to[0] 3: the board has 3 servers: want 0 to 2"},
		{3, "workload: {to: -1}", "f.yaml:5: workload.to: \"-1\": want the index of a server, or a list of indices"},
		{3, "workload: {to: []}", "f.yaml:5: workload.to: none: want a server"},
		{3, "workload: {to: [1, 1]}", "f.yaml:5: workload.to[1] 1 a second time: to[0] has it"},
		{3, "workload: {from: 1}", "f.yaml:5: workload.from: conflicts with a value that the file does not set: " +
			"workload.to[0] 1: workload.from has it, too"},
		{3, "workloads:\n- {}\n- {from: [0, 1], to: [2, 1]}", "f.yaml:7: workloads[1].to[1] 1: workloads[1].from has " +
			"it, too, and a server does not talk to itself: want other servers"},
		{3, "workloads: [null]", "f.yaml:5: workloads[0]: null: want a mapping of fields"},
		{3, "workload: {}\nworkloads: [{}]", "f.yaml:6: workloads: workload is there, too: want one of them"},
		{3, "workloads:\n- {name: a}\n- {name: a}",
			`f.yaml:7: workloads[1].name "a": workloads[0] has that name already`},
		{3, "workload: {name: 1st}", `f.yaml:5: workload.name "1st": want a letter`},
		{3, "workload: {begin: 5us, end: 5us}", "f.yaml:5: workload.end 5us: want a time behind workload.begin, 5us"},
		{3, "workload: {end: 0s}", "f.yaml:5: workload.end 0ps: want a time behind"},
		{3, "workload: {begin: -1s}", `f.yaml:5: workload.begin: "-1s": negative`},
		{3, "workloads: [{}, {begin: 2s}]\nlimits: {traffic: 1s}", "f.yaml:5: workloads[1].begin 2s: want it before " +
			"the traffic must end, after 1s (limits.traffic)"},
		{3, "workload: {end: 2s}\nlimits: {traffic: 1s}", "f.yaml:5: workload.end 2s: want it before the traffic"},
		{3, "workload: {processes: 9, from: 0, to: [1, 2], count: 1}", "f.yaml:5: workload: server 0 would run 18 " +
			"applications, but a server has that many at most: want 16 at most"},
		{3, "workloads: [" + many + "]", "f.yaml:5: workloads[0]: server 0 would run 18 applications"},
		{3, "workloads: [{transport: raw, sizes: [64]}, {transport: raw, sizes: [64], from: 2}]", "f.yaml:5: " +
			"workloads[1].transport raw: frames go to one application of a server, and server 1 would have 2"},
		{3, "workload: {}\nexpect: {errors: [{at: server, queue: send, status: wr_flush_err}]}", "f.yaml:6: " +
			"expect.errors[0].queue send: no workload has requests in that queue of the server"},
		{3, "workloads: [{}, {kind: read}]\nexpect: {lost: {at_least: 1, at_most: 2}}", "f.yaml:6: " +
			"expect.lost.at_least 1: every workload has a reliable transport"},
		{3, "workloads: [{kind: write}, {kind: read}]\nexpect: {p50: {below: 1us, to: answer}}", "f.yaml:6: " +
			`expect.p50.to "answer": messages of kind write over rc have stamps of completion, wire; messages of `},
		{3, "workload: {}\nfaults: {pcie: [{server: 3, of: host, kind: UR}]}",
			"f.yaml:6: faults.pcie[0].server 3: the board has 3 servers: want 0 to 2"},
		{3, "workload: {from: 0, to: 0}", "f.yaml:5: workload.to[0] 0: workload.from has it, too"},
		{3, "workloads: []", "f.yaml:5: workloads: none: want one or more"},
		{17, "workload: {}", "f.yaml:3: board.fleet.machines 17: want 1 to 16"},
		{math.MaxInt, "workload: {}", "f.yaml:3: board.fleet.machines 9223372036854775807: want 1 to 16"},
		{1, "workload: {}", "f.yaml:3: board: 1 servers: want 2 to 16"},
		{3, "workload: {}\ndevices: [{}, {}]",
			"f.yaml:6: devices: 2 of them: want one for all servers, or one for each"},
		{3, "sweep: {workloads.depth: [1, 2]}", "f.yaml:5: sweep.workloads.depth: want workloads, whose depth it sets"},
		{3, "workloads: [{}]\nsweep: {workload.depth: [1]}",
			"f.yaml:6: sweep.workload.depth: want workload, whose depth"},
	} {
		_, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+fmt.Sprintf(onRack, x.servers)+x.text))
		assert.ErrorContains(t, err, x.want, x.text)
	}
	_, err := Parse("f.yaml", []byte("name: x\ndescription: y\nboard: {preset: bf3-cores-rack, servers: "+
		"[{preset: bf3-cores}], fleet: {machines: 16}}\nstacks: [{kind: flexins}]\n"))
	require.ErrorContains(t, err, "f.yaml:3: board: 17 servers: want 2 to 16")
	_, err = Parse("f.yaml", []byte("name: x\ndescription: y\nboard: {preset: bf3-cores-rack, "+
		"network: {kind: back_to_back, switch: null}}\nstacks: [{kind: flexins}]\n"))
	require.ErrorContains(t, err, "f.yaml:3: board.network.kind back_to_back: there are 8 cards: want 2")
}

// TestNoWorkloads checks that a spec from which all workloads were removed, as shrinking tries, is an error.
func TestNoWorkloads(t *testing.T) {
	c := caseOf(t, fmt.Sprintf(onRack, 3)+"workloads: [{}]")
	c.Workloads = nil
	require.EqualError(t, c.Validate(), "workloads: none: want one or more")
}

// TestMemoryShare checks that an error about memory names the server, its need, and that its applications share it.
func TestMemoryShare(t *testing.T) {
	_, err := caseOf(t, fmt.Sprintf(onRack, 4)+"workload: {kind: write, from: [1, 2, 3], to: 0, sizes: [1048576], "+
		"count: 70}").Play(t.Context(), Options{})
	require.ErrorAs(t, err, new(*UsageError))
	require.ErrorContains(t, err, "server Server[0], with 67108864 B for the application: apps: 70 messages of "+
		"1048576 B: want")
}

// TestSweepsOfWorkloads checks that a sweep sets a field of one workload (workloads[1].to) or of all (workloads.depth,
// or an old name such as size).
func TestSweepsOfWorkloads(t *testing.T) {
	list, err := Parse("f.yaml", []byte("name: x\ndescription: y\n"+fmt.Sprintf(onRack, 3)+
		"workloads:\n- {}\n- {to: 2}\n"+
		"sweep:\n  size: [64, 128]\n  workloads[1].to: [1, 2]\n  workloads.depth: [2, 4]\n"))
	require.NoError(t, err)
	require.Len(t, list, 8)
	c := list[6]
	require.Equal(t, "x:size=128:to=2:depth=2", c.Name)
	for i, to := range []int{1, 2} {
		w := &c.Workloads[i]
		require.Equal(t, []int{128, 2, to}, []int{w.Sizes[0], w.Depth, w.To[0]})
	}
	text, err := c.YAML()
	require.NoError(t, err)
	require.True(t, strings.Contains(string(text), "workloads:"), "%s", text)
}
