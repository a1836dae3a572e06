package run

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every error of a scenario names file, line and field, and says what would be right.
func TestErrorsNameTheirLine(t *testing.T) {
	const head = "name: x\ndescription: y\nboard: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\n"
	const cores = "name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\nstacks: [{kind: rnic}]\n"
	const flexins = "name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\nstacks:\n- kind: flexins\n"
	for _, c := range []struct{ text, want string }{
		{"", "f.yaml:1: empty: want a mapping of fields"},
		{"name: a b", `f.yaml:1: name "a b": want a word of letters, digits, - and _`},
		{"name: x", "f.yaml:1: description: empty: want a sentence"},
		{"name: x\ndescription: y", "f.yaml:1: board.servers: none: want one or more"},
		{head + "sweep: {kind: [send, write, send]}",
			"f.yaml:5: sweep.kind[2]: send a " +
				"second time: sweep.kind[0] has it"},
		{head + "sweep: {size: [0x10, 16]}",
			"f.yaml:5: sweep.size[1]: 16 a " +
				"second time: sweep.size[0] has it"},
		{head + "faults: {wire: {}}\nsweep:\n  loss:\n  - 0.1\n  - 1e-1",
			"f.yaml:9: sweep.loss[1]: 0.1 a second time: sweep.loss[0] has it"},
		{head + "faults: {wire: {}}\nsweep: {loss: [0, -0.0]}", "f.yaml:6: sweep.loss[1]: -0 a second time"},
		{head + "sweep: {low_latency: [true, True]}",
			"f.yaml:5: sweep.low_latency[1]: " +
				"true a second time"},
		{"name: x\nspeed: 1",
			"f.yaml:2: speed: no such field: " +
				"want one of name, description, board, devices, stacks, addresses, workload, workloads, load, " +
				"background, faults, expect, measure, limits, sweep"},
		{head + "workload: {kind: snd}",
			`f.yaml:5: workload.kind "snd": want send, write, write_imm, read, atomics, echo, ping_pong, ` +
				`reflector, list_walk, batched_read, ring, nop, kv, chunks or vxlan`},
		{head + "workload:\n  count: 0",
			"f.yaml:6: workload.count 0: want " +
				"1 to 1048576"},
		{head + "workload:\n  sizes: []",
			"f.yaml:6: workload.sizes: 0 of " +
				"them: want 1 to 4096"},
		{head + "workload: {sizes: [-1]}",
			"f.yaml:5: workload.sizes[0] -1: " +
				"send over rc takes 0 to 16777216 bytes"},
		{head + "workload: {transport: ud, sizes: [64, 2048]}",
			"f.yaml:5: workload.sizes[1] 2048: send over ud takes 4 to 1024 bytes"},
		{head + "workload: {transport: ud, kind: read}",
			"f.yaml:5: workload.kind read: " +
				"workload.transport ud does not support it: want send, echo, ping_pong or reflector, or " +
				"workload.transport rc or solar"},
		{head + "workload: {transport: ud, kind: write}",
			"f.yaml:5: workload.kind write: " +
				"workload.transport ud does not support it: want send, echo, ping_pong or reflector"},
		{head + "workload: {kind: ping_pong}",
			"f.yaml:5: workload.kind: " +
				"conflicts with a value that the file does not set: workload.depth 8: workload.kind ping_pong has " +
				"one " +
				"message at a time: want 1"},
		{head + "workload: {signal_every: 9}",
			"f.yaml:5: workload.signal_every " +
				"9: want 1 to 8"},
		{head + "workload: {inline: true, pieces: 2}",
			"f.yaml:5: workload.inline: inline " +
				"bytes have no pieces: want workload.pieces 1, or false"},
		{head + "workload: {misuse: {what: remote_key}}",
			"f.yaml:5: workload.misuse.what " +
				"remote_key: kind send names no remote memory"},
		{head + "workload: {misuse: {what: local_key, message: 64}}",
			"f.yaml:5: workload.misuse.message 64: want 0 to 63, the last of workload.count"},
		{head + "expect: {errors: [{at: middle}]}", `f.yaml:5: expect.errors[0].at "middle": want client or server`},
		{head + "expect:\n  errors:\n  - status: oops",
			`f.yaml:7: expect.errors[0].status "oops": want loc_len_err, loc_qp_op_err`},
		{head + "expect: {lost: {at_least: 3, at_most: 2}}",
			"f.yaml:5: expect.lost.at_most 2: " +
				"want 3 or more"},
		{head + "expect: {compare: some}", `f.yaml:5: expect.compare "some": want exact, messages or counts`},
		{head + "limits: {quiet_ps: 0}",
			"f.yaml:5: limits.quiet_ps 0ps: want 1ns to 1000s, or none"},
		{head + "limits: {quiet: 1ps}", "f.yaml:5: limits.quiet 1ps: want 1ns to 1000s, or none"},
		{head + "limits:\n  quiet: 20min",
			`f.yaml:6: limits.quiet: "20min": unknown unit "min": want ps, ns, us, ms or s`},
		{head + "expect: {within: -5ms}", `f.yaml:5: expect.within: "-5ms": negative: want 0 or more`},
		{head + "expect: {within: 9223373s}", `f.yaml:5: expect.within: "9223373s": too large: want at most 9223372s`},
		{head + "expect: {within: 20}", `f.yaml:5: expect.within: "20": no unit: want ps, ns, us, ms or s behind it`},
		{head + "expect: {within: 1ms,\n  within_ps: 3}",
			"f.yaml:6: expect.within_ps: a second time: within in line 5 is the same field"},
		{head + "workload: {sizes: [64, 64kib]}",
			`f.yaml:5: workload.sizes[1]: "64kib": unknown unit "kib": want B, KB, KiB, MB, MiB, GB or GiB`},
		{head + "workload: {sizes: [64, 17MiB]}",
			"f.yaml:5: workload.sizes[1] 17825792: send over rc takes 0 to 16777216"},
		{head + "faults: {wire: {chances: {loss: 2}}}",
			"f.yaml:5: faults.wire.chances.loss 2: want 0 or more, less " +
				"than 1"},
		{head + "faults: {stall: 95}",
			"f.yaml:5: faults.stall 95: want 0 " +
				"to 90"},
		{head + "faults: {slow_memory: {latency_ps: -1}}", "f.yaml:5: faults.slow_memory.latency_ps -1: want 0 to 1 s"},
		{head + "faults: {pcie: [{of: disk, kind: none}]}",
			`f.yaml:5: faults.pcie[0].of "disk": want arm, host or buffers`},
		{head + "sweep: {pcie: [UR]}",
			"f.yaml:5: sweep.pcie: want " +
				"faults.pcie, whose kind it sets"},
		{head + "faults: {pcie: [{of: host, kind: none}]}\nsweep: {pcie: [bang]}",
			`f.yaml:6: sweep: case x:pcie=bang: faults.pcie[0].kind: inject: fault "bang": want one of`},
		{head + "faults: {pcie: [{of: host, kind: bang}]}",
			`f.yaml:5: faults.pcie[0].kind: inject: fault "bang": want one of ["none" "UR"`},
		{head + "workload: {processes: 17}",
			"f.yaml:5: workload.processes 17: " +
				"want 1 to 16"},
		{head + "workload: {processes: 2}",
			"f.yaml:5: workload.processes 2: server 0 would run 2 applications, but " +
				"stack rnic runs one application on a server whose board has no cores: want 1, or a board with cores"},
		{head + "workload: {processes: 2, transport: raw}",
			"f.yaml:5: workload.processes 2: " +
				"the frames of a port go to one process with raw: want 1"},
		{head + "workload: {queue_pairs: 2000, count: 9999}",
			"f.yaml:5: workload.count 9999: with workload.queue_pairs, workload.processes and workload.both_ways " +
				"this makes 19998000 messages in all flows: want at most 4194304"},
		{head + "workloads: [{queue_pairs: 2048, count: 2048}, {name: more, count: 1}]",
			"f.yaml:5: workloads[0].count 2048: the workloads make 4194305 messages between all their servers, " +
				"answers not counted: want at most 4194304"},
		{head + "sweep: {receive: [naive]}",
			"f.yaml:5: sweep.receive: an " +
				"option of stacks of kind flexins: there is none"},
		{head + "workload: {transport: raw, kind: write}",
			"f.yaml:5: workload.kind write: " +
				"workload.transport raw does not support it: want send or reflector, or workload.transport rc, uc or " +
				"solar"},
		{head + "workload: {transport: raw, both_ways: true}",
			"f.yaml:5: workload.ports 1: each port has one flow of raw, and there are 2: want 2 or more"},
		{head + "workload: {transport: raw, sizes: [45]}",
			"f.yaml:5: workload.sizes[0] 45: " +
				"send over raw takes 46 to 1010 bytes"},
		{head + "workload: {kind: write, invalidate: true}",
			"f.yaml:5: workload.invalidate: " +
				"kind write invalidates no regions: want false"},
		{head + "workload: {immediate: true, invalidate: true}",
			"f.yaml:5: workload.invalidate: SENDs over rc without immediate data can invalidate: want false, or " +
				"workload.transport rc and workload.immediate false"},
		{head + "workload: {misuse: {what: revoked_key, message: 3}}",
			"f.yaml:5: workload.misuse.what revoked_key: want workload.invalidate, and a message behind the first"},
		{head + "addresses: ipx", `f.yaml:5: addresses "ipx": want ipv4 or ipv6`},
		{head + "workload: {ports: 9}",
			"f.yaml:5: workload.ports 9: want " +
				"1 to 8"},
		{head + "workload: {psn: 16777216}",
			"f.yaml:5: workload.psn 16777216: " +
				"want 0 to 16777215"},
		{head + "workload: {any_order: true}",
			"f.yaml:5: workload.any_order: " +
				"send over rc keeps messages in order: want false, or kind send over ud"},
		{head + "workload: {misuse: {what: unaligned}}",
			"f.yaml:5: workload.misuse.what " +
				"unaligned: kind send has no atomics"},
		{head + "workload: {kind: echo, misuse: {what: deregister}}",
			"f.yaml:5: workload.misuse.what deregister: the answer must need no memory, and no other message may be " +
				"in flight: want kind ping_pong with workload.inline"},
		{head + "workload: {kind: list_walk}",
			"f.yaml:5: workload.kind: " +
				"conflicts with a value that the file does not set: workload.sizes[0] 1024: list_walk over rc " +
				"takes 64 " +
				"to 64 bytes"},
		{head + "workload: {kind: list_walk, by: hand, sizes: [64]}",
			`f.yaml:5: workload.by "hand": want engine or reads`},
		{head + "workload: {by: reads}", "f.yaml:5: workload.by: kind send looks nothing up: want engine"},
		{head + "workload: {kind: list_walk, by: reads, sizes: [64], misuse: {what: remote_bounds}}",
			"f.yaml:5: workload.misuse: kind list_walk makes READs by itself: want none"},
		{head + "workload: {kind: batched_read, by: reads, sizes: [64], batch: 2}",
			"f.yaml:5: workload.batch: kind batched_read makes READs by itself: want 1"},
		{head + "workload: {kind: batched_read, by: reads, sizes: [32640], depth: 9}",
			"f.yaml:5: workload.depth 9: with workload.sizes it makes 4590 READs at a time: want 4096 at most"},
		{head + "workload: {kind: batched_read, by: reads, transport: uc, sizes: [64]}",
			"f.yaml:5: workload.kind batched_read: workload.transport uc does not support it"},
		{head + "workload: {kind: list_walk, sizes: [64], hops: [3, 5000]}",
			"f.yaml:5: workload.hops[1] 5000: want 0 for a key that no node has, to 4096"},
		{head + "workload: {payload: both}", `f.yaml:5: workload.payload "both": want fresh or reused`},
		{head + "workload: {payload: reused, transport: ud}",
			"f.yaml:5: workload.payload reused: over ud the bytes identify the message: want fresh, or transport rc"},
		{head + "workload: {payload: reused, kind: echo}",
			"f.yaml:5: workload.payload: " +
				"kind echo derives answers from received bytes: want fresh"},
		{head + "workload: {payload: reused, inline: true}",
			"f.yaml:5: workload.payload " +
				"reused: want fresh, or workload.inline false"},
		{head + "workload: {payload: reused, pieces: 2}",
			"f.yaml:5: workload.payload " +
				"reused: want fresh, or workload.pieces 1"},
		{head + "workload: {hops: [3]}",
			"f.yaml:5: workload.hops: kind " +
				"send walks no list: want none"},
		{head + "workload: {kind: batched_read, sizes: [64, 100]}",
			"f.yaml:5: workload.sizes[1] 100: batched_read returns values of 64 bytes: want a multiple of that"},
		{head + "workload: {kind: batched_read, transport: uc, sizes: [64]}",
			"f.yaml:5: workload.kind batched_read: workload.transport uc does not support it: want send, write, " +
				"write_imm, echo, ping_pong or reflector, or workload.transport rc"},
		{head + "workload: {kind: batched_read}",
			"f.yaml:5: workload.kind " +
				"batched_read: stacks of kind rnic have no offload engine: want flexins"},
		{head + "workload: {kind: batched_read, misuse: {what: remote_key}}",
			"f.yaml:5: workload.misuse.what remote_key: kind batched_read names no remote key"},
		{flexins + "  flexins: {data_cores: 15}\nworkload: {kind: batched_read}",
			"f.yaml:6: stacks[0].flexins.data_cores 15: the card has 16 cores, and control and offload engine have " +
				"one each: want 14 at most"},
		{head + "sweep: {notify: [mmio]}",
			"f.yaml:5: sweep.notify: an option " +
				"of stacks of kind flexins: there is none"},
		{flexins + "  flexins: {notify: bell}",
			`f.yaml:6: stacks[0].flexins.notify "bell": want pipe, doorbell_pushed, doorbell_polled or mmio`},
		{flexins + "sweep: {notify: [pipe, bell]}",
			`f.yaml:6: sweep: case x:notify=bell: stacks[0].flexins.notify "bell": want pipe, doorbell_pushed, ` +
				`doorbell_polled or mmio`},
		{strings.Replace(flexins, "bf3", "bf2", 1) + "  flexins: {notify: mmio}",
			"f.yaml:6: stacks[0].flexins.notify mmio: the board gives cores of the host no way to Arm memory: want " +
				"switch.host_mmio on its card, or pipe, doorbell_pushed or doorbell_polled"},
		{"name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\nstacks:\n- kind: flexins\n  flexins: " +
			"{data_cores: " +
			"16}",
			"f.yaml:6: stacks[0].flexins.data_cores 16: the card has 16 cores, one of which is " +
				"the control core: want 15 at most"},
		{"name: x\ndescription: y\nboard: {preset: bf3-pair}\nstacks: [{kind: flexins}]",
			"f.yaml:4: stacks[0].kind flexins: the board has no cores on the card and in the server: want one such " +
				"as bf3-cores-pair"},
		{"name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data: " +
			"{receive: early}}}]", `f.yaml:4: stacks[0].flexins.data.receive "early": want in_cache or naive`},
		{"name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\nstacks: [{kind: flexins, flexins: {data: " +
			"{transmit: rdma_staged}}}]",
			`f.yaml:4: stacks[0].flexins.data.transmit rdma_staged: it needs an rnic on the card, beside the NIC ` +
				`of the contract, and no card has one: want header_only or dma_staged`},
		{strings.Replace(head, "rnic", "flexins", 1),
			"f.yaml:4: stacks[0].kind flexins: a " +
				"device of kind rnic is not the contract's NIC: want model, rtl or address"},
		{head + "sweep: {loss: [0.1]}",
			"f.yaml:5: sweep.loss: want faults.wire, " +
				"whose chances.loss it sets"},
		{head + "sweep: {size: [0, 99999999]}",
			"f.yaml:5: sweep: case x:size=99999999: " +
				"workload.sizes[0] 99999999: send over rc takes 0 to"},
		{cores + "devices: [{kind: model}]",
			`stacks[0].kind rnic: a device of kind "model" has no transport of its own: want one of kind rnic`},
		{cores + "devices: [{kind: rnic, model: connectx6}, {kind: model}]",
			`stacks[0].kind rnic: a device of kind "model" has no transport of its own`},
		{head + "devices: [{kind: rnic, model: connectx6}, {}, {}]",
			"f.yaml:5: devices: 3 of them: want one for all servers, or one for each of the 2"},
		{strings.Replace(head, "-pair", "", 1), "f.yaml:3: board: 1 servers: want 2 to 16"},
		{"name: x\ndescription: y\nboard: {}\nstacks: [{kind: rnic}]",
			"f.yaml:3: board.servers: none: want one or more"},
		{strings.Replace(head, "rnic", "tcp",
			1), `f.yaml:4: stacks[0].kind "tcp": want ceio, ddio, flexins, hostcc, rnic, shring or udp`},
		{strings.Replace(strings.Replace(head, "connectx6-pair", "connectx6-fleet", 1), "}]", "}, {kind: rnic}]", 1),
			"f.yaml:4: stacks: 2 of them: want one for all servers, or one for each of the 12"},
	} {
		text, want := c.text, c.want
		_, err := Parse("f.yaml", []byte(text))
		require.ErrorContains(t, err, want, "%s", text)
		require.NotContains(t, err.Error(), "network.kind open", "nobody wrote that")
	}
	_, err := Parse("f.yaml", []byte(head+"workload: {count: 0, depth: 0}\nlimits: {settle_ps: 0}"))
	require.Len(t, strings.Split(err.Error(), "\n"), 3, "every error: %v", err)
}

func TestSweep(t *testing.T) {
	list, err := Parse("f.yaml", []byte("name: x\ndescription: y\nboard: {preset: connectx6-pair}\nstacks: [{kind: "+
		"rnic}]\n"+
		"faults: {wire: {seed: 1}}\nsweep: {size: [1, 64], kind: [send, write], loss: [0, 0.5], seed: [9]}"))
	require.NoError(t, err)
	require.Len(t, list, 8)
	require.Equal(t, "x:kind=send:size=1:loss=0:seed=9", list[0].Name)
	require.Equal(t, "x:kind=write:size=64:loss=0.5:seed=9", list[7].Name)
	require.Equal(t, []int{64}, list[7].Workload.Sizes)
	require.Zero(t, list[0].Faults.Wire.Chances.Loss, "cases share nothing")
	require.Equal(t, 0.5, list[7].Faults.Wire.Chances.Loss)
	require.EqualValues(t, 9, list[3].Workload.Seed)
}

// Any text gives cases, or errors that name the file.
func FuzzParse(f *testing.F) {
	f.Add("name: x\ndescription: y\nboard: {preset: connectx6-pair}\nstacks: [{kind: rnic}]\nsweep: {size: [1]}")
	f.Add("name: x\nboard: {preset: bf3-cores-pair}\ndevices: [{kind: rtl}, {kind: model}]\nworkload: {kind: read, " +
		"sizes: [0], misuse: {what: remote_key, message: 3}}")
	f.Add(sweepHead + "sweep: {workload.sizes: [[64], [4KiB]], stacks[1].flexins.data.transmit: [dma_staged], " +
		"limits.quiet: [20ms], devices: [[{kind: model}]]}")
	f.Add("expect: {errors: [{at: client, queue: send, status: wr_flush_err}]}\nfaults: {wire: {rules: [{do: loss, " +
		"psn: 3}]}}")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse("f.yaml", []byte(text))
		if err != nil {
			require.Contains(t, err.Error(), "f.yaml")
			return
		}
		require.NotEmpty(t, list)
		for _, c := range list {
			require.NoError(t, c.Validate())
		}
	})
}
