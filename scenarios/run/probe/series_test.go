package probe

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/probe/output"
)

func TestSeries(t *testing.T) {
	const most = 300
	var sent, busy uint64
	s := NewSeries([]Counter{
		{Picture: Throughput, Where: `flow 0, a "to" b`, What: "goodput", Unit: Bytes,
			Read: func() uint64 { return sent }},
		{Picture: Cores, Where: "a", What: "core 0", Unit: Time, Read: func() uint64 { return busy }},
		{Picture: Cores, Where: "a", What: "core 1", Unit: Time, Read: func() uint64 { return 0 }},
	}, 5*simcore.Microsecond, simcore.Microsecond, most)
	now := 5 * simcore.Microsecond
	for range 1000 {
		now += simcore.Microsecond / 2
		sent += 625
		busy += uint64(simcore.Microsecond / 8)
		s.Sample(now)
	}
	s.End(now)
	require.LessOrEqual(t, s.Intervals(), most)
	require.Greater(t, s.Intervals(), most/3)
	from, to := s.Interval(0)
	require.Zero(t, from)
	require.EqualValues(t, 2*simcore.Microsecond, to-from, "intervals were doubled once")
	_, to = s.Interval(s.Intervals() - 1)
	require.EqualValues(t, 500*simcore.Microsecond, to)
	for i := range s.Intervals() {
		require.InEpsilon(t, 10, s.Value(i, 0), 1e-9, "1,250 B in a microsecond")
		require.InEpsilon(t, 0.25, s.Value(i, 1), 1e-9)
	}
	require.EqualValues(t, 625_000, s.Total(0))
	rows, err := csv.NewReader(strings.NewReader(string(s.CSV()))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+3*s.Intervals())
	require.Equal(t, []string{"0", "2000000", "throughput", `flow 0, a "to" b`, "goodput", "Gbit/s", "10"}, rows[1])
	require.Equal(t, []string{"0", "2000000", "cores", "a", "core 0", "share", "0.25"}, rows[2])
	var names []string
	for _, p := range s.Pictures() {
		names = append(names, p.File)
		require.Contains(t, string(p.SVG), "time from the begin of the traffic (µs)")
		require.NotContains(t, string(p.SVG), "core 1", "a counter that never moved has no line")
	}
	require.Equal(t, []string{"throughput.svg", "cores.svg"}, names)
}

// TestPicturesHaveNames checks that package output lists the names of all pictures.
func TestPicturesHaveNames(t *testing.T) {
	var list []string
	for _, x := range titles {
		list = append(list, x.name)
	}
	require.Equal(t, output.Pictures(), list)
}
