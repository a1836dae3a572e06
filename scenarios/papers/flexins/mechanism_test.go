package flexins

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/run"
)

// Round trips of the reflector miss the paper without the mechanism that each of them is about, and the flow that is
// received slows transmission through Arm memory only.
func TestMechanisms(t *testing.T) {
	s := session(t, &Reflector, 100)
	const raw, low = "transport: raw", "transport: rc, low_latency: true, notice: bytes"
	scenes := []*scene{
		reflectorScene(s, "raw", stack(s, "", ""), "", raw),
		reflectorScene(s, "raw, completions wait", stack(s, "", "fence: false, "), "", raw),
		reflectorScene(s, "low latency", stack(s, "low_latency_qps: 2, ", ""), "", low),
		reflectorScene(s, "low latency, entries are fetched", stack(s, "low_latency_qps: 2, ", "push_blocks: 1, "), "",
			low),
	}
	all, err := play(s, scenes...)
	require.NoError(t, err)
	for _, p := range all {
		t.Log(p.Name, p.round(2), p.Rate.Converged)
	}
	const printed, accepted = 10.1, 1.2
	require.Less(t, all[0].round(2), accepted*printed)
	require.Greater(t, all[1].round(2), 1.5*printed, "payload and completion are two turns of a core")
	const fetched = 0.5 // us: a read of Arm memory by the NIC, less a register write, at each end
	require.Greater(t, all[3].round(2), all[2].round(2)+fetched)
}

// A flow that ends on Arm cores reaches them, and only they take its packets: the host gets nothing, and WRITEs to the
// other server go on beside it.
func TestArrivingFlow(t *testing.T) {
	s := session(t, &Duplex, 1)
	c := duplexScene(s, headerOnly, during)
	c.warm = 50 * simcore.Microsecond
	all, err := play(s, c)
	require.NoError(t, err)
	require.Greater(t, all[0].toArm[0], 300.0, "Gbps")
	alone, err := play(s, duplexScene(s, headerOnly, before))
	require.NoError(t, err)
	require.Less(t, alone[0].toArm[0], 50.0)
}

// The flow that is received lasts as long as the window and what follows it, whatever share of the usual one that is.
func TestArrivingFlowLasts(t *testing.T) {
	for _, percent := range []int{1, 100, 300} {
		s := session(t, &Duplex, percent)
		for _, d := range []string{headerOnly, staged, stagedSmall} {
			list, err := run.Parse("f.yaml", []byte(duplexScene(s, d, during).text(s)))
			require.NoError(t, err)
			x := &list[0].Spec
			require.Len(t, x.Background, 2, "a flow at each port")
			for i := range x.Background {
				end := simcore.Ps(x.Measure.WarmUp+x.Measure.Window) + point.Behind
				require.Equal(t, end, simcore.Ps(*x.Background[i].Until), "%s, %d percent", d, percent)
			}
		}
	}
}
