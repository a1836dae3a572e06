package flexins

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/run"
)

// Round trips of the reflector miss the paper without the mechanism that each of them is about.
func TestMechanisms(t *testing.T) {
	s := session(t, &Reflector, 100)
	kind, device := rnic(s)
	const raw, low = "transport: raw", "transport: rc, low_latency: true, notice: bytes"
	scenes := []*scene{
		reflectorScene(s, "raw", stack(s, "", ""), "", raw),
		reflectorScene(s, "raw, completions wait", stack(s, "", "fence: false, "), "", raw),
		reflectorScene(s, "low latency", stack(s, "low_latency_qps: 2, ", ""), "", low),
		reflectorScene(s, "low latency, entries are fetched", stack(s, "low_latency_qps: 2, ", "push_blocks: 1, "), "",
			low),
		reflectorScene(s, "RNIC", kind, device, raw),
	}
	all, err := play(s, scenes...)
	require.NoError(t, err)
	const printed, accepted = 10.1, 1.2 // smartns.naive.l2_latency
	require.Less(t, all[0].round(2), accepted*printed)
	require.Greater(t, all[1].round(2), 1.5*printed, "payload and completion are two turns of a core")
	const most = 1.3 * 2 // us: smartns.l2.opt_minus_rnic
	require.Less(t, all[2].round(2)-all[4].round(2), most)
	require.Greater(t, all[3].round(2)-all[4].round(2), most, "the NIC reads headers and payload at each end")
}

// A flow that ends on Arm cores reaches them, and only them: the host's DRAM carries what it does without the flow, and
// WRITEs to the other server go on beside it.
func TestArrivingFlow(t *testing.T) {
	s := session(t, &Duplex, 1)
	beside := duplexScene(s, headerOnly, during)
	beside.warm = 50 * simcore.Microsecond
	all, err := play(s, duplexScene(s, headerOnly, before), beside)
	require.NoError(t, err)
	alone, with := all[0], all[1]
	require.Less(t, alone.toArm[0], 50.0, "Gbps")
	require.Greater(t, with.toArm[0], 300.0, "Gbps")
	const near = 0.05
	require.InEpsilon(t, alone.host[0], with.host[0], near)
	require.InEpsilon(t, alone.Rate.Gbps, with.Rate.Gbps, near)
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

// Requests that the card only takes are not held up by packets: the host core limits their rate, and it has less to do
// for a doorbell than for the elements of a pipe, which are there sooner.
func TestNotificationOfTheCard(t *testing.T) {
	s := session(t, &Notify, 2)
	var scenes []*scene
	for _, n := range notifications[:2] {
		scenes = append(scenes, notifyScene(s, n), loneScene(s, n, 0))
	}
	all, err := play(s, scenes...)
	require.NoError(t, err)
	const packets = 1e9 / 225.0 // a second, of one Arm core
	pipe, pushed := all[0].Rate.PerSecond, all[2].Rate.PerSecond
	require.Greater(t, pipe, 1.5*packets)
	require.Greater(t, pushed, 1.2*pipe)
	require.Equal(t, "take", all[1].Times[0].Measure)
	require.Less(t, 1.5*all[1].Times[0].Mean, all[3].Times[0].Mean, "an element is fetched behind its doorbell")
}
