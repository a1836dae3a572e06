package place_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/place"
)

const (
	head = "name: x\ndescription: a test\n"

	gpuA = 1<<56 | 1<<40
	gpuB = 1<<56 | 2<<40
	// a GPU behind the root of each server
	gpus = head + `board:
  servers:
  - name: A
    cards: [{preset: bf3-cores, switch: {host: {gpus: [{preset: gen5, base: 0x100010000000000, bytes: 64MiB}]}}}]
  - name: B
    cards: [{preset: bf3-cores, switch: {host: {gpus: [{preset: gen4, base: 0x100020000000000, bytes: 64MiB}]}}}]
  network: {kind: back_to_back}
`
	flexins = "stacks: [{kind: flexins, flexins: {data_cores: 2}}]\n"
)

// play plays the only case of a scenario on the Go NIC, which must pass, and returns the bytes that each NIC wrote to
// and read from a range of bus addresses.
func play(t *testing.T, text string, ranges [2]place.Range) (p *run.Played, moved [2]uint64) {
	t.Helper()
	return playSeen(t, text, ranges, nil)
}

// playSeen is play with a function that sees the board when the traffic has ended.
func playSeen(t *testing.T, text string, ranges [2]place.Range, ended func(*board.Rack)) (p *run.Played,
	moved [2]uint64) {
	t.Helper()
	cases, err := run.Parse("f.yaml", []byte(text))
	require.NoError(t, err)
	o := run.Options{NIC: device.Model, Traffic: func(rack *board.Rack, settled bool) {
		if ended != nil && settled {
			ended(rack)
		}
	}}
	o.Observe = func(server int, nic board.NIC) {
		if nic, ok := nic.(boundary.Observable); ok {
			nic.Observe(func(c boundary.Crossing) {
				if c.Kind != boundary.TLPOut {
					return
				}
				r, h := ranges[server], c.TLP.Parsed()
				if h.Kind.IsMemory() && h.Address-r.Base < r.Bytes {
					moved[server] += uint64(h.Length) * 4
				}
			})
		}
	}
	p, err = cases[0].Play(t.Context(), o)
	require.NoError(t, err, text)
	for _, f := range p.Findings {
		t.Errorf("%s\n%s", text, f.Text)
	}
	require.NotNil(t, p.Result)
	return p, moved
}

// Workloads of every kind and transport work in every memory, at either end: the applications get the right bytes, the
// guards stay, and the NICs read and write the memory that the scenario names. Digests are those of runs in host
// memory, except of kinds whose messages have addresses.
func TestEveryKindInEveryMemory(t *testing.T) {
	everywhere := []string{"kind: send", "kind: write, offset: 5", "kind: write_imm, pieces: 3", "kind: read",
		"kind: echo", "kind: reflector, shared_receive: true", "kind: send, transport: uc",
		"kind: echo, transport: ud, sizes: [64, 8]",
		"kind: send, transport: raw, sizes: [64]", "kind: write, transport: solar", "kind: read, transport: solar",
		"kind: atomics, sizes: [8]", "kind: list_walk, sizes: [64]", "kind: batched_read, sizes: [128]",
		"kind: send, payload: reused, both_ways: true", "kind: send, both_ways: true"}
	const far = 1 << 60
	none := place.Range{Base: far, Bytes: 1}
	arm := place.Range{Base: mem.Bus(nicspec.EndpointArm, 1<<30-(208<<20)), Bytes: 192 << 20}
	for at, r := range map[string][2]place.Range{"gpu": {{Base: gpuA, Bytes: 64 << 20}, {Base: gpuB, Bytes: 64 << 20}},
		"arm": {arm, arm}} {
		kinds := slices.Clone(everywhere)
		if at == "gpu" {
			kinds = append(kinds, "kind: ring, depth: 16, ring: {alpha: 4, beta: 2, gamma: 3}",
				"kind: send, inline: true")
		}
		for _, kind := range kinds {
			base := "workload: {count: 6, depth: 3, sizes: [100, 24], " + kind
			if strings.Contains(kind, "sizes:") || strings.Contains(kind, "depth:") {
				base = "workload: {count: 6, " + kind
			}
			want, _ := play(t, gpus+flexins+base+"}\n", [2]place.Range{none, none})
			got, moved := play(t, gpus+flexins+base+", memory: "+at+"}\n", r)
			if handlers := strings.Contains(kind, "list_walk") || strings.Contains(kind, "batched_read"); !handlers {
				// memory that handlers use contains addresses, which depend on the place
				require.Equal(t, want.Digest, got.Digest, "%s in %s", kind, at)
			}
			require.Equal(t, want.Result.Messages, got.Result.Messages, "%s in %s", kind, at)
			require.NotZero(t, moved[1], "%s in %s", kind, at)
			if kind != "kind: send, inline: true" {
				require.NotZero(t, moved[0], "%s in %s", kind, at)
			}
		}
	}
}

// Faults of buffers count reads of all memories that a server's applications have, not those of each.
func TestFaultsOfBuffersHaveOneCount(t *testing.T) {
	const both = gpus + flexins + "workloads: [{kind: write, count: 6, depth: 1, memory: gpu}, " +
		"{name: host, kind: write, count: 6, depth: 1}]\n"
	hits := func(count string) (n int) {
		nowhere := [2]place.Range{{Bytes: 1}, {Bytes: 1}}
		playSeen(t, both+"faults: {pcie: [{server: 0, of: buffers, kind: none, delay: 1us"+count+"}]}\n", nowhere,
			func(rack *board.Rack) { n = rack.Servers[0].Cards[0].Faults.Hits() })
		return n
	}
	all := hits("")
	require.GreaterOrEqual(t, all, 12)
	require.Equal(t, 5, hits(", skip: 3, count: 5"))
	require.Equal(t, all-10, hits(", skip: 10"), "each memory alone has fewer reads")
}

// Series have the bytes on the link to a GPU: messages, written by the NIC, cross it once, and those that the
// application then reads a second time the other way.
func TestSeriesOfTheGPUsLink(t *testing.T) {
	cases, err := run.Parse("f.yaml", []byte(gpus+flexins+
		"workload: {kind: send, count: 20, sizes: [4096], mtu: 4096, memory: {client: host, server: gpu}}\n"))
	require.NoError(t, err)
	p, err := cases[0].Play(t.Context(), run.Options{NIC: device.Model, Stats: run.StatsFull})
	require.NoError(t, err)
	require.True(t, p.Pass())
	total := map[string]uint64{}
	for _, c := range p.Stats.Counters {
		total[c.Where+" "+c.What] = c.Total
	}
	for _, way := range []string{"host to GPU 0", "GPU 0 to host"} {
		require.Greater(t, total["B "+way], uint64(20*4096), way)
		require.Less(t, total["B "+way], uint64(3*20*4096), way)
		require.NotContains(t, total, "A "+way, "nothing moves there")
	}
}

// A transport in hardware can also read and write payload in every memory. On boards without simulated cores, the
// accesses of software take no time.
func TestHardwareTransport(t *testing.T) {
	const rnics = "devices: [{kind: rnic, model: bluefield2}]\nstacks: [{kind: rnic}]\n"
	const bf2 = head + `board:
  servers:
  - name: A
    cards: [{preset: bf2-cores, switch: {host: {gpus: [{preset: gen4, base: 0x100010000000000, bytes: 64MiB}]}}}]
  - name: B
    cards: [{preset: bf2-cores, switch: {host: {gpus: [{preset: gen4, base: 0x100020000000000, bytes: 64MiB}]}}}]
  network: {kind: back_to_back}
`
	nowhere := [2]place.Range{{Bytes: 1}, {Bytes: 1}}
	for _, on := range []string{bf2, head + "board: {preset: bf2-pair}\n"} {
		for _, at := range []string{"gpu", "arm", "{client: arm, server: host}"} {
			if at == "gpu" && on != bf2 {
				continue
			}
			for _, kind := range []string{"send", "write", "read"} {
				payload := ""
				if at != "gpu" && on == bf2 {
					payload = ", payload: reused"
				}
				text := on + rnics + "workload: {count: 6, sizes: [100, 24], kind: " + kind + payload
				want, _ := play(t, text+"}\n", nowhere)
				first := uint64(gpuA)
				if at != "gpu" {
					first = mem.Bus(nicspec.EndpointArm, 1<<30-(208<<20))
				}
				got, _ := playSeen(t, text+", memory: "+at+"}\n", nowhere, func(rack *board.Rack) {
					b := make([]byte, 4096)
					require.NoError(t, rack.Servers[0].Cards[0].Memory.Read(first, b))
					require.Greater(t, bytes.Count(b, []byte{0x5a}), 64, "guards of %s in %s", kind, at)
				})
				require.Equal(t, want.Digest, got.Digest, "%s in %s", kind, at)
			}
		}
	}
}

// A memory that the board lacks, or that software cannot use, is refused with file, line and field.
func TestRefused(t *testing.T) {
	const cores = head + "board: {preset: bf3-cores-pair}\n" + flexins
	const plain = head + "board: {preset: connectx6-cores-pair}\nstacks: [{kind: rnic}]\n"
	for _, c := range []struct{ text, want string }{
		{cores + "workload: {memory: vram}",
			`f.yaml:5: workload.memory: "vram": want host, arm or gpu for both ends, or ` +
				"client and server"},
		{cores + "workload: {memory: {client: vram}}",
			`f.yaml:5: workload.memory.client "vram": want host, arm or gpu`},
		{cores + "workload: {memory: [gpu]}", "f.yaml:5: workload.memory: a list: want a mapping of fields: " +
			"client, server"},
		{cores + "workload: {memory: gpu}", "f.yaml:5: workload.memory: server Server[0] has no GPU: want host, or " +
			"gpus " +
			"behind its host's root"},
		{cores + "workload:\n  memory: {client: host,\n    server: gpu}", "f.yaml:6: workload.memory: server " +
			"Server[1] has no GPU"},
		{gpus + flexins + "workload: {memory: {client: gpu, server: host}, both_ways: true}", "f.yaml:11: " +
			"workload.memory: " +
			"client in gpu, server in host: with workload.both_ways each server has ends of both kinds in one " +
			"memory: want " +
			"the same for both"},
		{plain + "workload: {memory: arm}", "f.yaml:5: workload.memory: arm: server Server[0] has a plain NIC, " +
			"without Arm " +
			"memory: want another memory, or a card with a switch"},
		{cores + "workload: {memory: arm, kind: ring, depth: 64}", "f.yaml:5: workload.memory: arm: cores of the " +
			"host " +
			"cannot poll a ring there: want another memory, or another workload.kind"},
		{cores + "workload: {memory: arm, inline: true, sizes: [64]}", "f.yaml:5: workload.memory: arm: cores of " +
			"the host " +
			"read the bytes of inline requests: want another memory, or workload.inline false"},
		{head + "board: {preset: bf2-cores-pair}\nstacks: [{kind: flexins, flexins: {data_cores: 2}}]\nworkload: " +
			"{memory: " +
			"{client: host, server: arm}}", "f.yaml:5: workload.memory: arm: the board gives cores of server " +
			"Server[1] no way " +
			"to Arm memory: want workload.payload reused, or switch.host_mmio on its card"},
		{head + "board:\n  servers:\n  - {name: A, cards: [{preset: bf2, endpoint: {arm_bytes: 64MiB}}]}\n  - " +
			"{name: B, " +
			"cards: [{preset: bf2}]}\n  network: {kind: back_to_back}\ndevices: [{kind: rnic, model: " +
			"bluefield2}]\nstacks: [{kind: rnic}]\n" +
			"workload: {memory: arm}", "f.yaml:5: board.servers[0].cards[0].endpoint.arm_bytes 67108864: want " +
			"486539264 or " +
			"more: applications take 201326592 behind the stack"},
	} {
		_, err := run.Parse("f.yaml", []byte(c.text+"\n"))
		require.ErrorContains(t, err, c.want, c.text)
	}
}
