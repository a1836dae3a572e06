package ceio

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run"
)

// scenesOf parses scenes and returns their scenarios.
func scenesOf(t *testing.T, s *study.Session, all ...*point.Scene) (list []*run.Spec) {
	t.Helper()
	for _, c := range all {
		cases, err := run.Parse("f.yaml", []byte(c.Text(s)))
		require.NoError(t, err, c.Name)
		list = append(list, &cases[0].Spec)
	}
	return list
}

// One message at a time: with credits, without, and as a WRITE between RDMA NICs. Buffers hold the longest.
func TestUnloadedScenes(t *testing.T) {
	s := session(t, &Unloaded, 100)
	x := scenesOf(t, s, unloadedScene(s, fastPath, 64), unloadedScene(s, slowPath, 4096),
		unloadedScene(s, rdmaWrite, 64))
	require.Equal(t, []int{3000, 0}, []int{x[0].Stacks[0].CEIO.Credits, x[1].Stacks[0].CEIO.Credits})
	require.Equal(t, []int{2048, 4224}, []int{x[0].Stacks[0].Host.BufferBytes, x[1].Stacks[0].Host.BufferBytes})
	require.Equal(t, "connectx7", x[2].Devices[0].Model)
	for _, c := range x {
		require.Equal(t, 1, c.AllWorkloads()[0].Depth)
	}
}

// The overhead has to grow on both paths.
func TestOverhead(t *testing.T) {
	us := func(fast, slow float64) *unloadedTable {
		return &unloadedTable{us: map[int]map[string]float64{64: {rdmaWrite: 1, fastPath: 1.2, slowPath: 1.3},
			4096: {rdmaWrite: 2, fastPath: 2 * fast, slowPath: 2 * slow}}}
	}
	require.Empty(t, us(1.3, 1.4).shrinks())
	require.Equal(t, "fast path: 1.2 times the WRITE at 64 B, 1.2 at 4096 B", us(1.2, 1.4).shrinks())
	require.Equal(t, "slow path: 1.3 times the WRITE at 64 B, 1.2 at 4096 B", us(1.3, 1.2).shrinks())
}
