package dram_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
)

// stream starts endless mixed traffic. step advances time; done returns the bytes completed.
func stream(t testing.TB) (step func(), done func() uint64) {
	e := simcore.NewEngine()
	d, _ := newDRAM(t, e, preset(t, "bf3"))
	r, w := reads(256, sequential), writes(64, sequential)
	r.span, w.span = 1<<20, 1<<20
	r.start(e, d, 1)
	w.start(e, d, 2)
	step = func() {
		if err := e.RunUntil(e.Now() + simcore.Microsecond); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		step()
	}
	return step, func() uint64 { return uint64(r.n + w.n) }
}

// BenchmarkMixed measures a microsecond of mixed traffic at the sustained rate.
func BenchmarkMixed(b *testing.B) {
	step, done := stream(b)
	before := done()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		step()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(done()-before), "ns/access")
}

func TestNoAllocationPerAccess(t *testing.T) {
	step, _ := stream(t)
	require.Zero(t, testing.AllocsPerRun(200, step))
}
