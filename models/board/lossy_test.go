package board

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/sim/simcore"
)

// frames sends n frames from the first NIC, and returns those that the second received, and when
// the run ended.
func (l *lab) frames(n int) (got [][]byte, at simcore.Ps) {
	for i := range n {
		f := l.pools.Frames.Copy(append([]byte("\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x12\x34"), byte(i),
			byte(i>>8)))
		require.Nil(l.t, l.nics[0].eth[0].SendAt(f, l.Now()))
		require.NoError(l.t, l.RunUntil(l.Now()+simcore.Microsecond))
	}
	l.run()
	return l.nics[1].seqs, l.Now()
}

// A cable must lose exactly the frames that its seed selects by their ordinal; the others must take as long as on a
// cable without loss: in a network back to back, and in one with a switch.
func TestLossyCables(t *testing.T) {
	for _, network := range []string{"kind: back_to_back, latency_ps: 10000",
		"kind: switch, latency_ps: 10000, switch: {preset: cut-through}"} {
		play := func(loss string) (got [][]byte, at simcore.Ps, l *lab) {
			l = newLab(t,
				"name: Lab\nservers: [{preset: bf2, name: A}, {preset: bf2, name: B}]\nnetwork: {"+network+loss+"}")
			got, at = l.frames(1000)
			return got, at, l
		}
		all, end, _ := play("")
		require.True(t, len(all) == 1000)
		none, atZero, l := play(", loss: {share: 0, seed: 7}")
		require.True(t, reflect.DeepEqual(all, none))
		require.Equal(t, end, atZero)
		require.True(t, l.rack.Losses[0].Idle())
		some, _, l := play(", loss: {share: 0.1, seed: 7}")
		again, _, _ := play(", loss: {share: 0.1, seed: 7}")
		other, _, _ := play(", loss: {share: 0.1, seed: 8}")
		require.True(t, reflect.DeepEqual(some, again))
		require.False(t, reflect.DeepEqual(some, other))
		lost := l.rack.Losses[0].Count(inject.FromDevice).Lost
		if l.rack.Switch != nil {
			lost += l.rack.Losses[2].Count(inject.ToDevice).Lost // cables 0 and 1 are A's, as both cards have two ports
		}
		require.EqualValues(t, 1000-lost, len(some))
		require.InDelta(t, 150, float64(lost), 90)
	}
}

// A switch must send at the rate of a lossy cable. Excess frames then wait in the switch's buffer,
// where thresholds count them.
func TestSwitchesArePacedByLossyCables(t *testing.T) {
	play := func(loss string) (buffered []int, end simcore.Ps) {
		l := newLab(t, "name: Lab\nservers: [{preset: bf2, name: A}, {preset: bf2, name: B}]\nnetwork: {kind: "+
			"switch, latency_ps: 10000, switch: {preset: cut-through}"+loss+"}")
		for range 60 {
			for _, p := range l.nics[0].eth {
				f := l.pools.Frames.Copy(append([]byte("\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x12\x34"),
					make([]byte, 800)...))
				require.Nil(t, p.SendAt(f, l.Now()))
			}
		}
		for range 20 {
			require.NoError(t, l.RunUntil(l.Now()+500*ns))
			buffered = append(buffered, l.rack.Switch.Buffered())
		}
		l.run()
		return buffered, l.Now()
	}
	want, end := play("")
	require.Greater(t, want[5], 10_000)
	for _, struck := range []string{", loss: {share: 0}", ", faults: {}"} {
		got, atZero := play(struck)
		require.Equal(t, want, got)
		require.Equal(t, end, atZero)
	}
}
