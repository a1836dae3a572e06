package ceio

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

// Flows that are active come first, so that they have the accounts; in each slot others are active.
func TestScaleScenes(t *testing.T) {
	s := session(t, &Scale, 100)
	x := scenesOf(t, s, connectionScene(s, withCEIO, 0), connectionScene(s, withCEIO, 1036),
		connectionScene(s, baseline, 42), slotScene(s, withCEIO, 100*micro))
	flows := func(i, workload int) int {
		w := x[i].AllWorkloads()[workload]
		return len(w.From) * w.QueuePairs
	}
	require.Equal(t, active, x[1].Stacks[0].CEIO.Flows)
	require.Equal(t, []int{active, 1036}, []int{flows(1, 0), flows(1, 1)})
	require.Len(t, x[0].AllWorkloads(), 1)
	require.Equal(t, slots*active, x[3].Stacks[0].CEIO.Flows)
	for i := range simcore.Ps(slots) {
		require.Equal(t, active, flows(3, int(i)))
		w := x[3].AllWorkloads()[i]
		require.EqualValues(t, i*100*micro, w.Begin)
		require.GreaterOrEqual(t, simcore.Ps(*w.End), (i+1)*100*micro)
	}
}

// Scenes of the smaller experiments have their inputs.
func TestOtherScenes(t *testing.T) {
	s := session(t, &Release, 100)
	x := scenesOf(t, s, releaseScene(s, involved, 256), releaseScene(s, bypass, 1))
	require.Equal(t, []int{256, 1}, []int{x[0].Stacks[0].CEIO.Batch, x[1].Stacks[0].CEIO.Batch})
	s = session(t, &Index, 100)
	for i, c := range scenesOf(t, s, indexScene(s, baseline, "plain"), indexScene(s, withCEIO, "hashed")) {
		require.EqualValues(t, indexKinds[i], c.Board.Servers[0].Cards[0].Switch.Host.Host.LLC.Index)
	}
	s = session(t, &Jumbo, 100)
	x = scenesOf(t, s, jumboScene(s, baseline), jumboScene(s, withCEIO))
	require.Equal(t, 651, x[1].Stacks[0].CEIO.Credits)
	require.Equal(t, 9216, x[0].Stacks[0].Host.BufferBytes)
	s = session(t, &Perftest, 100)
	require.Equal(t, 128, scenesOf(t, s, perftestScene(s, 64))[0].AllWorkloads()[0].Depth)
}
