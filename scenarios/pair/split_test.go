package pair

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/sim/simcore"
)

func TestMain(m *testing.M) {
	if IsSide(os.Args) {
		if len(os.Args) > 2 {
			misbehave(os.Args[1])
		}
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// pair returns options that play frames of all lengths between two servers of a preset.
func pair(t testing.TB, preset string, count int) Options {
	t.Helper()
	o := DefaultOptions()
	var err error
	o.Rack, err = board.RackPreset(preset + "-pair")
	require.NoError(t, err)
	for i := range 40 {
		f := make([]byte, ether.MinLen+i*(ether.MaxLen-ether.MinLen)/39)
		for k := range f {
			f[k] = byte(i*31 + k*7)
		}
		copy(f, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2,
			10, 0, 0, byte(i)})
		o.Frames = append(o.Frames, f)
	}
	o.Count, o.Seed = count, 3
	return o
}

func play(t *testing.T, o Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.True(t, r.Pass(), "%+v", r.Findings)
	return r
}

// A run with two processes equals one with a single process: each NIC sees the same crossings in the same cycles, with
// traffic in both directions.
func TestTwoProcessesAreOne(t *testing.T) {
	for _, preset := range []string{"bf3", "bf2"} {
		for _, longer := range []simcore.Ps{0, 3 * simcore.Microsecond} {
			o := pair(t, preset, 400)
			o.Rack.Network.Latency += longer
			for i := range o.Rack.Servers {
				o.Rack.Servers[i].Cards[0].Eth.CreditLatency += longer / 2
			}
			one := play(t, o)
			o.Processes = 2
			two := play(t, o)
			require.Equal(t, one.Servers, two.Servers, preset)
			require.Equal(t, one.Quanta, two.Quanta)
			for i, s := range one.Servers {
				require.NotEmpty(t, s.Digest)
				require.NotEqual(t, s.Digest, one.Servers[1-i].Digest)
				require.EqualValues(t, 400, s.In.Frames)
				require.Greater(t, s.Checked, uint64(800))
			}
		}
	}
}

func BenchmarkPair(b *testing.B) {
	for _, n := range []int{1, 2} {
		b.Run(map[int]string{1: "one", 2: "two"}[n], func(b *testing.B) {
			o := pair(b, "bf3", 4000)
			for i := range o.Frames {
				f := make([]byte, 4096)
				copy(f, o.Frames[i][:60])
				o.Frames[i] = f
			}
			o.Unjudged, o.Processes = true, n
			for range b.N {
				r, err := Run(b.Context(), o)
				require.NoError(b, err)
				require.Empty(b, r.Findings)
				b.ReportMetric(r.Wall.Seconds(), "wall_s")
				b.ReportMetric(float64(r.Quanta), "quanta")
				b.ReportMetric(r.Wall.Seconds()*1e6/float64(r.Quanta), "us/quantum")
				b.ReportMetric(r.Waited.Seconds(), "waited_s")
				b.ReportMetric(r.Missing.Seconds(), "missing_s")
			}
		})
	}
}
