package flexins

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/probe"
)

// The flow over time begins after 1 ms of a window and ends 1 ms before its end, or at these fractions of a shorter
// one.
func TestTheFlowComesAndGoes(t *testing.T) {
	for _, percent := range []int{100, 10} {
		s := session(t, &Duplex, percent)
		c := timeScene(s, staged)
		require.Equal(t, duplexScene(s, staged, before).warm, c.warm)
		list, err := run.Parse("f.yaml", []byte(c.text(s)))
		require.NoError(t, err)
		x := &list[0].Spec
		part := simcore.Ps(percent) * milli / 100
		require.EqualValues(t, 7*part, x.Measure.Window)
		require.Len(t, x.Background, 2, "a port each")
		for i := range x.Background {
			require.EqualValues(t, c.warm+part, x.Background[i].From)
			require.EqualValues(t, c.warm+6*part, *x.Background[i].Until)
		}
	}
}

// A curve over time is the sum of its counters, from the end of the warm-up on.
func TestOverTime(t *testing.T) {
	bytes := uint64(0)
	read := func() uint64 { return bytes }
	series := probe.NewSeries([]probe.Counter{{Picture: probe.Throughput, Unit: probe.Bytes, Read: read},
		{Picture: probe.Throughput, Unit: probe.Bytes, Read: read},
		{Picture: probe.Links, Unit: probe.Bytes, Read: read}}, 0, milli, probe.Samples)
	for i := range simcore.Ps(4) {
		if i > 0 {
			bytes += 1_000_000 // 8 Gbps for a millisecond
		}
		series.Sample((i + 1) * milli)
	}
	x := study.NewSeries("x", "", "rate", "Gbps", study.Axis{Name: "time", Unit: "ms"})
	addOverTime(x, "all", series, 2*milli, func(c *probe.Counter) bool { return c.Picture == probe.Throughput })
	require.Equal(t, []study.Point{{System: "all", At: []float64{0.5}, Value: 16},
		{System: "all", At: []float64{1.5}, Value: 16}}, x.Points)
}

// A scene over time has a series, and is no run whose rate is known or not.
func TestScenesOverTimeAreNoRuns(t *testing.T) {
	s := session(t, &Transmit, 1)
	all, err := play(s, &scene{name: "x", stacks: stackOn(s, 2, "", ""), window: milli, series: true,
		workloads: []string{"kind: write, sizes: [4096], mtu: 4096"}})
	require.NoError(t, err)
	require.NotNil(t, all[0].Series)
	require.Empty(t, s.Outcome.Runs)
	require.EqualValues(t, all[0].Sim, s.Outcome.SimPs)
}
