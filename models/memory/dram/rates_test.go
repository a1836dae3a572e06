package dram_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// reads returns a load that has many reads in flight, over 128 MB: papers measure throughput so.
func reads(bytes int, next func(*load) uint64) *load {
	return &load{op: mem.Read, bytes: bytes, depth: 512, span: 1 << 27, next: next}
}

func writes(bytes int, next func(*load) uint64) *load {
	return &load{op: mem.Write, bytes: bytes, depth: 256, span: 1 << 27, base: 1 << 27, next: next}
}

// Each preset must sustain its spec's rates, whatever the size and order of accesses. The tolerance
// covers conflicts of random accesses in a bank.
func TestSustainedRates(t *testing.T) {
	const exact, close = 0.005, 0.035
	for _, x := range []struct {
		preset string
		want   float64
		within float64
		loads  []*load
	}{
		{"bf3", 716.8, exact, []*load{reads(256, random)}},
		{"bf3", 716.8, exact, []*load{reads(256, sequential)}},
		{"bf3", 716.8, exact, []*load{reads(64, random)}},
		{"bf3", 240, exact, []*load{writes(256, random)}},
		{"bf3", 240, exact, []*load{writes(64, random)}},
		{"bf3", 240, exact, []*load{writes(64, sequential)}},
		{"bf3", 480, exact, []*load{reads(256, random), writes(256, random)}},
		{"bf3", 480, exact, []*load{reads(256, sequential), writes(64, sequential)}},
		{"bf3", 480, close, []*load{reads(64, random), writes(64, random)}},
		{"bf3-440", 716.8, exact, []*load{reads(256, random)}},
		{"bf3-440", 220, exact, []*load{writes(64, sequential)}},
		{"bf3-440", 440, exact, []*load{reads(256, sequential), writes(64, sequential)}},
		{"bf2", 204.8, exact, []*load{reads(256, random)}},
		{"bf2", 204.8, exact, []*load{writes(256, sequential)}},
		{"bf2", 204.8, exact, []*load{reads(256, sequential), writes(256, sequential)}},
		{"bf2-1600", 102.4, exact, []*load{reads(256, random)}},
		{"host-fn", 2457.6, exact, []*load{reads(256, sequential)}},
		{"host-fn", 640, exact, []*load{writes(256, sequential)}},
		{"host-fn", 1280, close, []*load{reads(256, random), writes(256, random)}},
		{"host-ce", 1638.4, exact, []*load{reads(256, sequential)}},
		{"host-ce", 1097.1, close, []*load{reads(256, random), writes(256, random)}},
		{"host-op", 1501.7, exact, []*load{reads(256, sequential)}},
	} {
		got, each := sustained(t, preset(t, x.preset), x.loads...)
		what := "mixed"
		if len(x.loads) == 1 {
			what = x.loads[0].op.String()
		}
		t.Logf("%-8s %-5s of %3d B: %7.1f Gbps, spec %7.1f (%+.2f%%) %.1f", x.preset, what, x.loads[0].bytes, got,
			x.want, (got/x.want-1)*100, each)
		require.InEpsilon(t, x.want, got, x.within, "%s, %s", x.preset, what)
	}
}

// Any mix of reads and writes must get at least the mixed rate, and at most the rate of reads
// alone; its writes must not exceed their own rate.
func TestMixesInBetween(t *testing.T) {
	var before float64
	for _, depth := range []int{64, 32, 16, 8, 4, 2} { // depth of the writes' queue
		w := writes(256, random)
		w.depth = depth
		all, each := sustained(t, preset(t, "bf3"), reads(256, random), w)
		t.Logf("%2d writes in flight: %.0f Gbps, of which writes %.0f", depth, all, each[1])
		require.Less(t, each[1], 241.0)
		require.Greater(t, all, max(470, before*0.99), "fewer writes turn the bus less often")
		require.Less(t, all, 717.0)
		before = all
	}
}

// Accesses to a single bank must take the bank's time each; over more banks, the in-order dispatch
// limits writes.
func TestSkew(t *testing.T) {
	for _, x := range []struct {
		timing     string
		op         mem.Op
		span       uint64
		want, near float64 // millions of accesses per second, and the relative tolerance
	}{
		{"offpath", mem.Write, 1536, 1000. / 44, 0.05},
		{"offpath", mem.Read, 1536, 1000. / 20, 0.05},
		{"offpath", mem.Write, 8192, 1000. / 44, 0.02},
		{"jedec-ddr4-3200", mem.Write, 8192, 1000. / 55, 0.02},
		{"jedec-ddr4-3200", mem.Read, 8192, 1000. / 45.75, 0.02},
	} {
		s := preset(t, "bf2")
		s.BankTiming = x.timing
		got, _ := sustained(t, s, &load{op: x.op, bytes: 64, depth: 256, span: x.span, next: random})
		rate := got / 64 / 8 * 1000
		t.Logf("%s %v in %d B: %.1f M/s", x.timing, x.op, x.span, rate)
		require.InEpsilon(t, x.want, rate, x.near)
	}
	rate := func(span uint64) float64 {
		got, _ := sustained(t, preset(t, "bf2"), &load{op: mem.Write, bytes: 64, depth: 256, span: span, next: random})
		return got / 64 / 8 * 1000
	}
	six, all := rate(48<<10), rate(1<<20)
	t.Logf("writes in 48 KB: %.1f M/s, in 1 MB: %.1f M/s", six, all)
	require.Greater(t, six, 3*1000./44, "six banks work at a time")
	require.Less(t, six, 0.75*6*1000/44, "but not all, for writes are dispatched in order")
	require.Greater(t, all, 1.5*six)
}

// A stream that continues in its row must pay for the bank once. The next row of the same bank must be opened, although
// its addresses follow those of the row before.
func TestRowsOfOneBank(t *testing.T) {
	s := preset(t, "bf2")
	s.Interleave, s.RowBytes, s.Banks = 64, 256, 1
	got, _ := sustained(t, s, &load{op: mem.Write, bytes: 64, depth: 64, span: 1 << 20, next: sequential})
	row := 3*2500 + 44_000.0 // four bursts, then the bank is busy, in ps
	require.InEpsilon(t, 256*8*1000/row, got, 0.01)
	s.Banks = 2
	got, _ = sustained(t, s, &load{op: mem.Write, bytes: 64, depth: 64, span: 1 << 20, next: sequential})
	require.Greater(t, got, 1.4*256*8*1000/row, "one bank is filled while the other closes")
}

// An idle memory must take its latency and a burst for a read; reads must wait longer the higher
// the load is.
func TestQueueingDelayGrowsWithLoad(t *testing.T) {
	var before simcore.Ps
	for i, gbps := range []int64{1, 100, 200, 300, 400, 450} {
		e := simcore.NewEngine()
		d, _ := newDRAM(t, e, preset(t, "bf3"))
		h := hog(t, e, d, gbps)
		h.Start()
		probe := &load{op: mem.Read, bytes: 64, depth: 1, span: 1 << 27, next: random}
		probe.start(e, d, 7)
		require.NoError(t, e.RunUntil(300*simcore.Microsecond))
		probe.stop = true
		h.Stop()
		require.NoError(t, e.Run())
		mean := probe.wait / simcore.Ps(probe.n)
		t.Logf("hog of %d Gbps: %v", gbps, mean)
		if i == 0 {
			require.InEpsilon(t, float64(91_429), float64(mean), 0.01)
		} else {
			require.Greater(t, mean, before)
		}
		before = mean
	}
	require.Greater(t, before, 120*ns)
}
