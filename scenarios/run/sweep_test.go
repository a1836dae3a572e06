package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/stack/flexins/data"
)

const sweepHead = "name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\n" +
	"stacks: [{kind: flexins}, {kind: flexins}]\n"

func namesOf(list []*Case) (all []string) {
	for _, c := range list {
		all = append(all, c.Name)
	}
	return all
}

// Axes named by paths set fields of all servers, or of one. Cases follow the order of the axes in the file, after those
// with old names, such as seed.
func TestSweepOfPaths(t *testing.T) {
	list, err := Parse("f.yaml", []byte(sweepHead+`faults: {pcie: [{of: host, kind: none}]}
limits: {quiet: 20ms}
sweep:
  stacks.flexins.data.transmit: [header_only, dma_staged]
  workload.sizes: [[64], [4KiB, 0x40]]
  limits.quiet: [30ms]
  seed: [7]
`))
	require.NoError(t, err)
	require.Equal(t, []string{
		"x:seed=7:transmit=header_only:sizes=64:quiet=30ms", "x:seed=7:transmit=header_only:sizes=4096+64:quiet=30ms",
		"x:seed=7:transmit=dma_staged:sizes=64:quiet=30ms", "x:seed=7:transmit=dma_staged:sizes=4096+64:quiet=30ms",
	}, namesOf(list))
	for i, c := range list {
		require.Equal(t, [][]int{{64}, {4096, 64}}[i%2], c.Workload.Sizes)
		for s := range c.Stacks {
			want := []data.TransmitKind{data.HeaderOnly, data.DMAStaged}[i/2]
			require.Equal(t, want, c.Stacks[s].FlexiNS.Data.Transmit)
		}
		require.Equal(t, 30*simcore.Millisecond, *c.Limits.Quiet)
		require.EqualValues(t, 7, c.Workload.Seed)
	}
	list[0].Workload.Sizes[0], list[0].Faults.PCIe[0].Count = 1, 5
	require.Equal(t, 64, list[2].Workload.Sizes[0], "cases share nothing")
	require.Zero(t, list[1].Faults.PCIe[0].Count)
}

// The name of a path is the shortest of its suffixes that no other path of the sweep ends with.
func TestNamesOfPaths(t *testing.T) {
	list, err := Parse("f.yaml", []byte(sweepHead+`faults: {wire: {seed: 1}}
sweep:
  stacks[0].flexins.data_cores: [1]
  stacks[1].flexins.data_cores: [2]
  workload.seed: [3]
  faults.wire.seed: [4]
  workload.psn: [null, 9]
  addresses: [ipv6]
  devices: [[], [{kind: model}]]
  expect.failure: ["/", "a/b", "a b"]
`))
	require.NoError(t, err)
	require.Len(t, list, 12)
	const head = "x:stacks[0].flexins.data_cores=1:stacks[1].flexins.data_cores=2:workload.seed=3:wire.seed=4:"
	require.Equal(t, head+"psn=null:addresses=ipv6:devices=_:failure=_", list[0].Name)
	require.Equal(t, head+"psn=9:addresses=ipv6:devices=kind+model:failure=a_b.2", list[11].Name)
	require.Equal(t, []int{1, 2}, []int{list[0].Stacks[0].FlexiNS.DataCores, list[0].Stacks[1].FlexiNS.DataCores})
	require.Nil(t, list[0].Workload.PSN)
	require.Equal(t, 9, *list[11].Workload.PSN)
}

func TestSweepRefused(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"sweep: 5", "f.yaml:5: sweep: want a mapping of paths, such as workload.depth, to lists of values"},
		{"sweep:\n  workload.sizs: [[64]]",
			"f.yaml:6: sweep.workload.sizs: no such field: workload.sizs is none of name, from, to, begin, end, " +
				"kind, transport, processes"},
		{"sweep:\n  speed: [1]", "f.yaml:6: sweep.speed: no such field: want a path such as workload.depth, " +
			"or one of kind, transport, size"},
		{"sweep:\n  workload..depth: [1]",
			`f.yaml:6: sweep.workload..depth: "workload..depth": no path: want names with points between them`},
		{"sweep:\n  workload.depth.x: [1]", "f.yaml:6: sweep.workload.depth.x: workload.depth has no fields, and no x"},
		{"sweep:\n  workload.depth[0]: [1]",
			"f.yaml:6: sweep.workload.depth[0]: workload.depth is no list: want no [0]"},
		{"sweep:\n  stacks[2].kind: [rnic]", "f.yaml:6: sweep.stacks[2].kind: stacks has 2 entries, and no [2]"},
		{"sweep:\n  stacks[99999999999999999999].kind: [rnic]", "f.yaml:6: sweep.stacks[99999999999999999999].kind: "},
		{"sweep:\n  faults.wire.chances.loss: [0.1]",
			"f.yaml:6: sweep.faults.wire.chances.loss: want faults.wire, whose chances.loss it sets"},
		{"sweep:\n  devices.kind: [rtl]", "f.yaml:6: sweep.devices.kind: want devices, whose kind it sets"},
		{"sweep:\n  workload.sizes: [64]", "f.yaml:6: sweep.workload.sizes[0]: \"64\": want a list"},
		{"sweep:\n  workload.depth:\n  - 4\n  - four",
			`f.yaml:8: sweep.workload.depth[1]: "four": want a whole number within`},
		{"sweep:\n  workload.depth: 4", "f.yaml:6: sweep.workload.depth: want a list of values"},
		{"sweep:\n  workload.depth: []", "f.yaml:6: sweep.workload.depth: no values: want some"},
		{"sweep:\n  workload.depth: [4, 5, 0x4]",
			"f.yaml:6: sweep.workload.depth[2]: 4 a second time: sweep.workload.depth[0] has it"},
		{"sweep:\n  workload.sizes: [[64], [64B]]", "f.yaml:6: sweep.workload.sizes[1]: 64 a second time"},
		{"sweep:\n  limits.quiet: [20ms, 1min]", `f.yaml:6: sweep.limits.quiet[1]: "1min": unknown unit "min"`},
		{"sweep:\n  limits.quiet_ps: [20]", "f.yaml:6: sweep.limits.quiet_ps: an old name: want quiet, with a unit"},
		{"sweep:\n  name: [a]", "f.yaml:6: sweep.name: it is the same in all cases: want another field"},
		{"sweep:\n  sweep.kind: [a]", "f.yaml:6: sweep.sweep.kind: no such field"},
		{"sweep:\n  depth: [4]\n  workload.depth: [5]",
			"f.yaml:7: sweep.workload.depth: depth in line 6 sets workload.depth, too"},
		{"sweep:\n  workload.sizes: [[4]]\n  workload.sizes[0]: [5]",
			"f.yaml:7: sweep.workload.sizes[0]: workload.sizes in line 6 sets workload.sizes, too"},
		{"sweep:\n  board.servers.cards.eth.latency_ps: [10]\n  board.servers.cards.eth.latency: [1ns]",
			"f.yaml:7: sweep.board.servers.cards.eth.latency: board.servers.cards.eth.latency_ps in line 6 sets"},
		{"sweep:\n  stacks.kind: [rnic]\n  stacks[1].kind: [rnic]",
			"f.yaml:7: sweep.stacks[1].kind: stacks.kind in line 6 sets stacks[1].kind, too"},
		{"sweep:\n  workload.depth: [0]", "f.yaml:5: sweep: case x:depth=0: workload.depth 0: want 1 to"},
		{"sweep:\n  size: [64, 64kb]", `f.yaml:6: sweep.size[1]: "64kb": unknown unit "kb"`},
		{"sweep:\n  selective_repeat: [2]", `f.yaml:6: sweep.selective_repeat[0]: "2": want true or false`},
		{"sweep:\n  workload.depth: &a [4]", "f.yaml:6: sweep.workload.depth: want a list of values"},
		{"sweep:\n  ? [a]\n  : [4]", "f.yaml:6: sweep: a list or mapping as a key: want a path"},
	} {
		_, err := Parse("f.yaml", []byte(sweepHead+x.text+"\n"))
		require.ErrorContains(t, err, x.want, "%s", x.text)
	}
}

// A sweep has at most 10,000 cases.
func TestManyCases(t *testing.T) {
	sweep := func(depths, batches int) string {
		var lists [2][]string
		for i, n := range []int{depths, batches} {
			for v := range n {
				lists[i] = append(lists[i], fmt.Sprint(1+v))
			}
		}
		return fmt.Sprintf("workload: {depth: 128}\nsweep:\n  workload.count: [%s]\n  workload.batch: [%s]\n",
			strings.Join(lists[0], ", "), strings.Join(lists[1], ", "))
	}
	list, err := Parse("f.yaml", []byte(sweepHead+sweep(100, 100)))
	require.NoError(t, err)
	require.Len(t, list, 10_000)
	require.Equal(t, "x:count=100:batch=100", list[9_999].Name)
	_, err = Parse("f.yaml", []byte(sweepHead+sweep(137, 73)))
	require.EqualError(t, err, "f.yaml:8: sweep.workload.batch: more than 10000 cases: want fewer values")
}

// Sweeps may list whole boards, by their presets, or values of a board's field, whose name may have the unit in it, as
// latency_ps, or not.
func TestSweepOfBoards(t *testing.T) {
	small := strings.ReplaceAll(sweepHead, "{kind: flexins}", "{kind: flexins, flexins: {data_cores: 2}}")
	list, err := Parse("f.yaml", []byte(small+`sweep:
  board: [{preset: bf3-cores-pair}, {preset: bf2-cores-pair}]
  workload.timeout: [null, 9]
`))
	require.NoError(t, err)
	require.Equal(t, []string{"x:board=preset+bf3-cores-pair:timeout=null", "x:board=preset+bf3-cores-pair:timeout=9",
		"x:board=preset+bf2-cores-pair:timeout=null", "x:board=preset+bf2-cores-pair:timeout=9"}, namesOf(list))
	require.NotEqual(t, list[0].Board, list[2].Board)
	require.Equal(t, 9, *list[1].Workload.Timeout)

	list, err = Parse("f.yaml", []byte(sweepHead+`sweep:
  board.network.latency_ps: [25000]
  board.servers[0].cards.switch.latency: [30ns, 0.1us]
`))
	require.NoError(t, err)
	require.Equal(t, []string{"x:latency_ps=25ns:latency=30ns", "x:latency_ps=25ns:latency=100ns"}, namesOf(list))
	require.Equal(t, 25*simcore.Nanosecond, list[0].Board.Network.Latency)
	for i, want := range []simcore.Ps{100 * simcore.Nanosecond, 25 * simcore.Nanosecond} {
		require.Equal(t, want, list[1].Board.Servers[i].Cards[0].Switch.Latency)
	}
}

// TestSweepErrorsHavePlaces checks that every error of a case has a file, a line and the name of the case.
func TestSweepErrorsHavePlaces(t *testing.T) {
	const head = "name: x\ndescription: y\nboard: {preset: bf3-cores-pair}\nstacks: [{kind: flexins}]\n"
	_, err := Parse("f.yaml", []byte(head+"workload: {}\nsweep: {workload: [{depth: 0, count: 0}]}\n"))
	const at = "f.yaml:6: sweep: case x:workload=depth+0+count+0: workload."
	require.EqualError(t, err, at+"count 0: want 1 to 1048576\n"+at+"depth 0: want 1 to 4096")
	_, err = Parse("f.yaml", []byte(head+"workload: {}\nsweep: {transport: [xc]}\n"))
	require.EqualError(t, err, `f.yaml:6: sweep: case x:transport=xc: workload.transport "xc": want rc, uc, ud, raw, `+
		"solar or udp")
}
