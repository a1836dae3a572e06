package run

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/run/stats"
)

// onCEIO is a scenario on CEIO's server and one client; %C stands for options of the server's stack, %S for its kind,
// %W for the workload.
const onCEIO = `name: f
description: d
board: {preset: ce-pair}
stacks:
- kind: %S
%C
- {kind: udp}
workload: {transport: udp, from: 1, to: 0, %W}
`

// ceioText fills in onCEIO.
func ceioText(kind, options, workload string) string {
	return strings.NewReplacer("%S", kind, "%C", options, "%W", workload).Replace(onCEIO)
}

// overUDP lists the kinds of stack over UDP in texts.
const overUDP = "ceio, ddio, hostcc, shring or udp"

// ceioCase returns the case of a text from ceioText.
func ceioCase(t *testing.T, text string) *Case {
	list, err := Parse("f.yaml", []byte(text))
	require.NoError(t, err)
	return list[0]
}

// TestCEIOErrors checks that bad options of CEIO, and workloads that do not fit, are refused by line and field.
func TestCEIOErrors(t *testing.T) {
	const echo, four = "kind: echo", "kind: echo, queue_pairs: 4"
	for name, x := range map[string]struct{ kind, options, workload, want string }{
		"credits": {"ceio", "  ceio: {credits: -1}", echo,
			"f.yaml:6: stacks[0].ceio.credits -1: want 0 to 16777215"},
		"buffer": {"ceio", "  hostnet: {buffer_bytes: 512}", echo,
			"f.yaml:6: stacks[0].hostnet.buffer_bytes 512: frames of workload have up to 1082 B: want that or more"},
		"client's buffer": {"ceio", "  ceio: {}", "kind: echo, sizes: [4000]",
			"stacks[1].hostnet.buffer_bytes 2048: frames of workload have up to 4094 B: want that or more"},
		"batch": {"ceio", "  ceio: {credits: 64}", four, "f.yaml:6: stacks[0].ceio.batch 32: credits return after a " +
			"batch of messages, and a flow's share is 16 (64 of 4 flows): want 15 at most"},
		"batch of a fixed part": {"ceio", "  ceio: {credits: 64, reallocate: false}", echo,
			"stacks[0].ceio.batch 32: credits return after a batch of messages, and a flow's share is 8 (64 of 8"},
		"too few credits": {"ceio", "  ceio: {credits: 7}", four, "f.yaml:6: stacks[0].ceio.credits 7: a flow's " +
			"share of 4 flows is 1: want 2 a flow or more, or 0 to send everything slow"},
		"no inactive": {"ceio", "  ceio: {inactive: 0ps}", echo,
			"f.yaml:6: stacks[0].ceio.inactive 0ps: want 1ps to"},
		"no reactivate": {"ceio", "  ceio: {reactivate: 0ps}", echo,
			"f.yaml:6: stacks[0].ceio.reactivate 0ps: want 1ps to"},
		"marks": {"ceio", "  ceio: {mark_period: 0ps}", echo,
			"f.yaml:6: stacks[0].ceio.mark_period 0ps: want 1ps to"},
		"arm period": {"ceio", "  ceio: {arm_period: 0ps}", echo,
			"f.yaml:6: stacks[0].ceio.arm_period 0ps: want 1ps to"},
		"answers": {"ceio", "  hostnet: {answer_timeout: 0ps}", echo,
			"f.yaml:6: stacks[0].hostnet.answer_timeout 0ps: want"},
		"flows": {"ceio", "  ceio: {flows: 65}", echo, "f.yaml:6: stacks[0].ceio.flows 65: want 1 to 64"},
		"exclusive": {"ceio", "  ceio: {accounts: exclusive, flows: 64}", "kind: echo, queue_pairs: 65",
			"f.yaml:6: stacks[0].ceio.accounts exclusive: server 0 has 65 flows and accounts for 64: a NIC has 64 " +
				"accounts: want fewer flows, or shared"},
		"few exclusive": {"ceio", "  ceio: {accounts: exclusive, flows: 2}", four,
			"stacks[0].ceio.accounts exclusive: server 0 has 4 flows and accounts for 2: want stacks[0].ceio.flows " +
				"of that many, or shared"},
		"shared VXLAN": {"ceio", "  ceio: {flows: 1}", "kind: vxlan, queue_pairs: 3", "f.yaml:8: workload.kind " +
			"vxlan: flows of server 0 beyond its 1 accounts share a ring, which tells them apart by UDP port"},
		"queues": {"ceio", "  ceio: {flows: 40}", "kind: echo, queue_pairs: 40", "f.yaml:8: workload.queue_pairs 40: " +
			"the flows of server 0 take 80 receive queues, and its NIC has 64: want fewer flows, or a build with more"},
		"landing": {"ceio", "  ceio: {landing: 64}", "kind: chunks, sizes: [100KB], depth: 2",
			"f.yaml:6: stacks[0].ceio.landing 64: the server holds 144 packets of workload, which may all have come " +
				"slow: want 288 or more, or fewer chunks by depth"},
		"landing for one message": {"ceio", "  ceio: {landing: 200}", "kind: chunks, sizes: [100KB], depth: 2",
			"f.yaml:6: stacks[0].ceio.landing 200: the server holds 144 packets of workload, which may all have come"},
		"landing of a shared ring": {"ceio", "  ceio: {landing: 256, flows: 1, credits: 64, batch: 2}",
			"kind: chunks, sizes: [80KB], depth: 2, queue_pairs: 4", "f.yaml:6: stacks[0].ceio.landing 256: the " +
				"server holds 348 packets of flows that share a ring, the last one of workload, which may all have " +
				"come slow: want 696 or more"},
		"slow ring": {"ceio", "  ceio: {slow_slots: 100}", echo,
			"f.yaml:6: stacks[0].ceio.slow_slots 100: want a power of two, 4 to 32768"},
		"short slow ring": {"ceio", "  ceio: {slow_slots: 2}", echo,
			"f.yaml:6: stacks[0].ceio.slow_slots 2: want a power of two, 4 to 32768"},
		"odd buffer": {"ceio", "  hostnet: {buffer_bytes: 2000}", echo, "f.yaml:6: stacks[0].hostnet.buffer_bytes " +
			"2000: slow packets are copied into buffers one behind another: want a multiple of 64"},
		"wait limit": {"ceio", "  ceio: {wait_limit: 0ps}", echo,
			"f.yaml:6: stacks[0].ceio.wait_limit 0ps: want 1ps to"},
		"held": {"ddio", "  hostnet: {log_receive: 7}", "kind: chunks, sizes: [100KB], depth: 2",
			"f.yaml:6: stacks[0].hostnet.log_receive 7: the server holds 144 packets of workload in its 128 buffers"},
		"controller": {"ceio", "  ceio: {controller: fpga}", echo,
			`f.yaml:6: stacks[0].ceio.controller "fpga": want nic or arm`},
		"lend": {"ceio", "  ceio: {lend: true}", echo, "f.yaml:6: stacks[0].ceio.lend: no such field: want one of"},
		"arm period without arm": {"ceio", "  ceio: {arm_period: 2us}", echo, "f.yaml:6: stacks[0].ceio.arm_period " +
			"2us: stacks[0].ceio.controller nic has none: want none, or arm"},
		"as printed": {"ceio", "  ceio: {reallocate: false, as_printed: true, inactive: 5us}", echo, "f.yaml:6: " +
			"stacks[0].ceio.as_printed true: no flow gains or loses credits with stacks[0].ceio.reallocate false: " +
			"want none, or true there"},
		"inactive":   {"ceio", "  ceio: {reallocate: false, inactive: 5us}", echo, "stacks[0].ceio.inactive 5us: no"},
		"reactivate": {"ceio", "  ceio: {reallocate: false, reactivate: 5us}", echo, "ceio.reactivate 5us: no flow"},
		"no old names": {"ceio", "  ceio: {controller: arm, arm_period_ps: 5}", echo,
			"f.yaml:6: stacks[0].ceio.arm_period_ps: no such field: want one of"},
		"nor of the client": {"ceio", "  hostnet: {answer_timeout_ps: 5}", echo,
			"stacks[0].hostnet.answer_timeout_ps: no such field: want one of"},
		"fast slots": {"ceio", "  ceio: {fast_slots: 256}", echo,
			"f.yaml:6: stacks[0].ceio.fast_slots: no such field: want one of"},
		"unknown": {"ceio", "  ceio: {credit: 3}", echo, "f.yaml:6: stacks[0].ceio.credit: no such field: want one of"},
		"no credits": {"ddio", "  ceio: {credits: 5}", echo,
			"f.yaml:6: stacks[0].ceio: stack ddio has no credits: want none, or kind ceio"},
		"flexins options": {"ceio", "  flexins: {data_cores: 2}", echo,
			"f.yaml:6: stacks[0].flexins: stack ceio has other options: want none, or kind flexins"},
		"verbs beside it": {"flexins", "  flexins: {}", echo,
			`f.yaml:5: stacks[0].kind "flexins": another server talks over UDP: want ` + overUDP},
		"unknown kind": {"hostdd", "  ceio: {}", echo, `f.yaml:5: stacks[0].kind "hostdd": another server talks over`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(ceioText(x.kind, x.options, x.workload)))
			require.ErrorContains(t, err, x.want)
		})
	}
}

// TestUDPWorkloadErrors checks that stacks over UDP refuse workloads that they cannot play.
func TestUDPWorkloadErrors(t *testing.T) {
	for workload, want := range map[string]string{
		"kind: send": "workload.kind send: workload.transport udp does not support it: want echo, kv, " +
			"chunks or vxlan, or workload.transport rc",
		"kind: chunks, depth: 3":             "workload.depth 3: want a power of two for kind chunks",
		"kind: echo, sizes: [1, 2]":          "workload.sizes: 2 of them: a flow of kind echo over udp has messages",
		"kind: echo, sizes: [9001]":          "workload.sizes[0] 9001: echo over udp takes 1 to 9000 bytes",
		"kind: echo, pieces: 2":              "workload.pieces: transport udp has no queue pairs: want none",
		"kind: echo, timeout: 5":             "workload.timeout: transport udp has no queue pairs: want none",
		"kind: echo, both_ways: true":        "workload.both_ways: transport udp has no queue pairs: want none",
		"kind: echo, kv: {gets: 3}":          "workload.kv: kind echo is no key-value store: want kind kv",
		"kind: kv, sizes: [64]":              "workload.sizes: kind kv has messages of lengths of its own: want none",
		"kind: kv, kv: {pairs: 0}":           "workload.kv.pairs 0: want 1 to 1048576",
		"kind: kv, kv: {key: 4}":             "workload.kv.key 4: want 8 to 256",
		"kind: kv, kv: {value: 9KB}":         "workload.kv.value 9000: want 4 to 8192",
		"kind: kv, kv: {gets: 0, puts: 0}":   "workload.kv.gets 0: and no workload.kv.puts: want one of them",
		"kind: chunks, chunks: {file: 8}":    "workload.chunks.file 8: a chunk might be written over before it",
		"kind: chunks, chunks: {segment: 0}": "workload.chunks.segment 0: want 1 to 9000",
		"kind: vxlan, depth: 2":              "workload.depth: kind vxlan has no answers to wait for: want none",
		"kind: vxlan, vxlan: {networks: 0}":  "workload.vxlan.networks 0: want 1 to 65536",
		"kind: echo, from: 0, to: 1": "workload.from 0: stacks[0].kind of that server is ceio, which asks nothing: " +
			"want a server with udp",
		"kind: echo, every: 2000s":  "workload.every 2000s: want 0ps to 1000s",
		"kind: echo, kv: {keys: 3}": "workload.kv.keys: no such field: want one of pairs, key, value, gets, puts",
	} {
		text := ceioText("ceio", "  ceio: {}", workload)
		if strings.Contains(workload, "from: 0") {
			text = onlyFrom(text)
		}
		_, err := Parse("f.yaml", []byte(text))
		require.ErrorContains(t, err, "f.yaml:8: "+want, workload)
	}
}

// TestCEIONeedsItsNIC checks that stacks are refused on boards and NICs without what they need, and workloads and
// faults by stacks that do not have them.
func TestCEIONeedsItsNIC(t *testing.T) {
	const head, work = "name: f\ndescription: d\n", "workload: {kind: echo, transport: udp, from: 1, to: 0}\n"
	const pair = "board: {preset: ce-pair}\nstacks: [{kind: ceio}, {kind: udp}]\n"
	for text, want := range map[string]string{
		"board: {preset: connectx6-pair}\nstacks: [{kind: ddio}, {kind: udp}]\n" + work: "" +
			"stacks[0].kind ddio: a device of kind rnic is not the contract's NIC: want model, rtl or address",
		"board: {preset: bf3-pair}\nstacks: [{kind: ddio}, {kind: udp}]\n" + work: "stacks[0].kind ddio: the board " +
			"has no cores in the server: want one such as ce-pair",
		"board: {preset: ce-pair}\nstacks: [{kind: udp}, {kind: ceio}]\nworkload: {kind: echo, transport: udp}\n": "" +
			"stacks[1].kind ceio: slow packets wait in the memory of a card, and the board has no card with one: want",
		"board: {preset: ce-fleet, fleet: {machines: 2}}\nstacks: [{kind: ceio}, {kind: udp}, {kind: udp}]\n" +
			work: "board: server 2 takes part in no workload: want fewer servers, or it in one",
		pair + "workload: {kind: echo, from: 1, to: 0}\n": "workload.transport rc: stacks of kind " + overUDP + " " +
			"have no queue pairs: want udp",
		"board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n" + work: "workload.transport udp: " +
			"stacks[0].kind is flexins: want another, or stacks of kind " + overUDP,
		pair + work + "faults: {pcie: [{of: host, kind: UR}]}\n": "faults.pcie: stacks of kind " +
			overUDP + " do not survive reads that fail: want none",
		pair + work + "faults: {wire: {chances: {loss: 0.1}}}\n": "faults.wire.chances: it strikes RoCE packets alone",
		pair + work + "faults: {wire: {rules: [{do: loss, psn: 1}]}}\n": "faults.wire.rules[0].class \"\": strikes " +
			"RoCE packets alone, and stacks of kind " + overUDP + " send none: want other",
		pair + work + "expect: {lost: {at_least: 1, at_most: 2}}\n":                           "expect.lost.at_least 1",
		pair + work + "expect: {errors: [{at: client, queue: send, status: wr_flush_err}]}\n": "expect.errors[0].queue",
		"board: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\nworkload: {every: 1us}\n": "" +
			"workload.every 1us: requests over rc follow each other: want none, or workload.transport udp",
	} {
		_, err := Parse("f.yaml", []byte(head+text))
		require.ErrorContains(t, err, want, text)
	}
	for part, name := range map[nicspec.Cap1Reg]string{nicspec.PartAccounts: "accounts", nicspec.PartCopy: "copy"} {
		c := caseOf(t, pair+work)
		b := nicspec.DefaultBuild()
		b.Parts &^= part
		c.Board.Servers[0].Cards[0].Build = &b
		require.ErrorContains(t, c.Validate(), "stacks[0].kind ceio: ")
		require.ErrorContains(t, c.Validate(), "no part "+name+": want one with it, or ddio")
	}
}

// TestWorkloadIsNamed checks that faults name the workload that has them, of several, and once.
func TestWorkloadIsNamed(t *testing.T) {
	two := func(options, first, second string) string {
		const each = "{name: %s, transport: udp, from: 1, to: 0, kind: echo, %s}\n"
		text := ceioText("ceio", "  ceio: {"+options+"}", "%W")
		return text[:strings.Index(text, "workload: ")] + "workloads:\n- " + fmt.Sprintf(each, "a", first) + "- " +
			fmt.Sprintf(each, "b", second)
	}
	for _, x := range []struct{ options, first, second, want string }{
		{"flows: 40", "queue_pairs: 20", "queue_pairs: 20", "workloads[1].queue_pairs 20: the flows of server 0 take " +
			"80 receive queues, and its NIC has 64"},
		{"flows: 40", "queue_pairs: 40", "queue_pairs: 20", "workloads[0].queue_pairs 40: the flows of server 0 take"},
	} {
		_, err := Parse("f.yaml", []byte(two(x.options, x.first, x.second)))
		require.ErrorContains(t, err, x.want)
	}
	const few = ", credits: 0, landing: 1, wait_limit: 1ns"
	for _, x := range []struct{ options, second, want string }{
		{"flows: 2", "", "ceio: workload b, flow 0: the application has held all 1 landing buffers for"},
		{"flows: 1", "queue_pairs: 3, ", "ceio: the shared ring: the application has held all 1 landing buffers for"},
	} {
		p, err := ceioCase(t, two(x.options+few, "begin: 1ms", x.second+"depth: 32")).Play(t.Context(), Options{})
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(texts(p), x.want), texts(p))
	}
}

// TestSlowPace checks that limits follow the pace of requests and the timers of clients.
func TestSlowPace(t *testing.T) {
	c := caseOf(t, `board: {preset: ce-pair}
stacks: [{kind: ddio}, {kind: udp, hostnet: {answer_timeout: 50ms}}]
workload: {kind: echo, transport: udp, from: 1, to: 0, count: 5, every: 400ms}
faults: {wire: {rules: [{do: loss, class: other, direction: from_device, ordinal: 3}]}}
`)
	l := c.limits()
	require.EqualValues(t, 800*simcore.Millisecond, l.quiet)
	require.Greater(t, l.traffic, 2*simcore.Second)
	p, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.Equal(t, 10, p.Result.Messages)
	require.GreaterOrEqual(t, p.Traffic, 4*400*simcore.Millisecond)
}

// TestSlowController checks that a controller whose period is longer than the run comes to rest.
func TestSlowController(t *testing.T) {
	c := ceioCase(t, ceioText("ceio", "  ceio: {flows: 1, credits: 4, batch: 2, controller: arm, arm_period: 2s}\n"+
		"  hostnet: {rx_cycles: 2000}", "kind: echo, sizes: [400], count: 80, depth: 32"))
	p, err := c.Play(t.Context(), Options{Stats: StatsSummary})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.NotZero(t, p.Stats.Credits[0].Overshoot)
	require.Zero(t, p.Stats.Credits[0].Slow, "all came in the first period")
}

// TestSplitChunks checks that headers of chunks are split off on CEIO, too, so that the core copies runs of packets: of
// flows with an account, on both paths. Their buffers are those of segments.
func TestSplitChunks(t *testing.T) {
	const chunks = "kind: chunks, sizes: [20KB], count: 8, depth: 2"
	for name, x := range map[string]struct{ options, workload string }{
		"fast":        {"ceio: {flows: 1, credits: 512}", chunks},
		"slow":        {"ceio: {flows: 1, credits: 0}", chunks},
		"in turn":     {"ceio: {flows: 1, credits: 12, batch: 2}", chunks},
		"padded":      {"ceio: {flows: 1, credits: 8, batch: 2}", "kind: chunks, sizes: [40], chunks: {segment: 1}"},
		"odd segment": {"ceio: {flows: 1, credits: 0}", chunks + ", chunks: {segment: 177}"},
	} {
		for _, addresses := range []string{"ipv4", "ipv6"} {
			t.Run(name+" "+addresses, func(t *testing.T) {
				c := ceioCase(t, ceioText("ceio", "  "+x.options+"\n  hostnet: {buffer_bytes: 64}", x.workload)+
					"addresses: "+addresses+"\n")
				p, err := c.Play(t.Context(), Options{})
				require.NoError(t, err)
				require.True(t, p.Pass(), texts(p))
			})
		}
	}
	// Of two flows, one has no account: its packets are whole, and need longer buffers.
	text := ceioText("ceio", "  ceio: {flows: 1, credits: 0}\n  hostnet: {buffer_bytes: 64}",
		chunks+", queue_pairs: 2")
	_, err := Parse("f.yaml", []byte(text))
	require.ErrorContains(t, err, "f.yaml:7: stacks[0].hostnet.buffer_bytes 64: frames of workload have up to 1458 B")
	c := ceioCase(t, strings.Replace(text, "bytes: 64", "bytes: 2048", 1))
	p, err := c.Play(t.Context(), Options{})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
}

// TestSweepOfCredits plays a case for each number of credits: with few, packets take the slow path.
func TestSweepOfCredits(t *testing.T) {
	list, err := Parse("f.yaml", []byte("sweep: {\"stacks[0].ceio.credits\": [8, 256]}\n"+ceioText("ceio",
		"  ceio: {batch: 2}\n  hostnet: {rx_cycles: 2000}", "kind: kv, count: 60, depth: 32")))
	require.NoError(t, err)
	var slow []uint64
	for _, c := range list {
		p, err := c.Play(t.Context(), Options{Stats: StatsSummary})
		require.NoError(t, err)
		require.True(t, p.Pass(), texts(p))
		slow = append(slow, p.Stats.Credits[0].Slow)
	}
	require.Len(t, slow, 2)
	require.NotZero(t, slow[0])
	require.Zero(t, slow[1])
}

// playCEIO plays a scenario of the library on the Go NIC and returns what its server did.
func playCEIO(t *testing.T, name string) stats.Credits {
	list, err := Load(filepath.Join(library, name+".yaml"))
	require.NoError(t, err)
	p, err := list[0].Play(t.Context(), Options{NIC: device.Model, Stats: StatsFull})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.Len(t, p.Stats.Credits, 1)
	return p.Stats.Credits[0]
}

// TestCEIOLibrary checks that scenarios of CEIO do what they say.
func TestCEIOLibrary(t *testing.T) {
	x := playCEIO(t, "ceio-echo")
	require.EqualValues(t, 240, x.Fast)
	require.Zero(t, x.Slow)
	x = playCEIO(t, "ceio-burst")
	require.NotZero(t, x.Exhausted)
	require.NotZero(t, x.Drains)
	require.Greater(t, x.Resumes, uint64(4), "more than at the begin")
	x = playCEIO(t, "ceio-slow")
	require.EqualValues(t, 120, x.Slow)
	require.Zero(t, x.Fast)
	require.NotZero(t, playCEIO(t, "ceio-arm").Overshoot)
	require.NotZero(t, playCEIO(t, "ceio-printed").Lost)
	x = playCEIO(t, "ceio-mixed")
	require.NotZero(t, x.Slow)
	require.EqualValues(t, 1, x.Deactivated, "the flow of chunks")
	x = playCEIO(t, "ceio-shared")
	require.GreaterOrEqual(t, x.Slow, uint64(3*40))
	x = playCEIO(t, "ceio-fleet")
	require.NotZero(t, x.Fast)
	require.NotZero(t, x.Exhausted)
	x = playCEIO(t, "ceio-fixed")
	require.NotZero(t, x.Exhausted)
	require.Zero(t, x.Deactivated)
}

// TestFleet checks that three clients of preset ce-fleet share the server's port: answers come from it alone, and the
// switch delivers each datagram to the machine that it is for.
func TestFleet(t *testing.T) {
	list, err := Load(filepath.Join(library, "ceio-fleet.yaml"))
	require.NoError(t, err)
	p, err := list[0].Play(t.Context(), Options{NIC: device.Model, Stats: StatsSummary})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	require.Len(t, p.NICs, 4)
	require.Equal(t, 2*(60+60+3), p.Result.Messages)
	for i, d := range p.Stats.Drops {
		require.Zero(t, d.Buffer+d.Descriptor+d.TooLong, "%+v", d)
		require.LessOrEqual(t, d.NoRule, uint64(3), "announcements of the others; machine %d", i)
	}
}

// TestUDPStamps checks the statistics of messages over UDP: each has every stamp, and phases and paces hold.
func TestUDPStamps(t *testing.T) {
	c := caseOf(t, `board: {preset: ce-pair}
addresses: ipv6
stacks: [{kind: ddio}, {kind: udp}]
workloads:
- {name: echo, kind: echo, transport: udp, from: 1, to: 0, sizes: [100], count: 30, depth: 4, every: 1us}
- {name: file, kind: chunks, transport: udp, from: 1, to: 0, sizes: [20KB], count: 5, depth: 2, begin: 40us}
- {name: nets, kind: vxlan, transport: udp, from: 1, to: 0, count: 20, every: 500ns, end: 5us}
`)
	p, err := c.Play(t.Context(), Options{Stats: StatsFull})
	require.NoError(t, err)
	require.True(t, p.Pass(), texts(p))
	count := map[string]int64{}
	for _, l := range p.Stats.Latency {
		count[l.Workload+" "+l.Kind+" "+l.Measure] = l.Count
	}
	require.Equal(t, map[string]int64{
		"echo echo wire": 30, "echo echo hand_over": 30, "echo echo answer": 30,
		"echo echo answer wire": 30, "echo echo answer hand_over": 30,
		"file chunks wire": 5, "file chunks hand_over": 5, "file chunks answer": 5,
		"file chunks answer wire": 5, "file chunks answer hand_over": 5,
		"nets vxlan wire": 10, "nets vxlan hand_over": 10,
	}, count)
	require.Equal(t, 60+10+10, p.Result.Messages)
	require.GreaterOrEqual(t, p.Traffic, 40*simcore.Microsecond, "the file begins then")
	again, err := c.Play(t.Context(), Options{Stats: StatsFull})
	require.NoError(t, err)
	require.Equal(t, p.Stats, again.Stats)
	require.Equal(t, p.Digest, again.Digest)
	other, err := c.Play(t.Context(), Options{Seed: 5})
	require.NoError(t, err)
	require.NotEqual(t, p.Digest, other.Digest)
}
