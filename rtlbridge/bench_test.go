package rtlbridge

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
)

// BenchmarkBridge prints the cost of a bridged cycle beyond a raw one under the same stimulus, measured in
// one run.
func BenchmarkBridge(b *testing.B) {
	d := fifo(b, build.VariantSpeed)
	for _, x := range []struct {
		CompSpec
		socket bool
	}{
		{CompSpec{Mode: Serial, Quantum: 64}, false}, {CompSpec{Quantum: 16}, false}, {CompSpec{Quantum: 64}, false},
		{CompSpec{Quantum: 256}, false}, {CompSpec{Quantum: 64}, true},
	} {
		b.Run(fmt.Sprintf("%v-%d-socket=%v", x.Mode, x.Quantum, x.socket), func(b *testing.B) {
			var rec bytes.Buffer
			o := loopOptions{latency: 800_000, first: 20_000, total: 20_000, comp: x.CompSpec, socket: x.socket,
				rate: simcore.Gbps(200), gap: 50_000}
			file := filepath.Join(b.TempDir(), "inputs")
			o.record = &rec
			if _, err := runLoop(b, d, o); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(file, rec.Bytes(), 0o644); err != nil {
				b.Fatal(err)
			}
			o.record = nil
			best, raw := 0.0, 0.0
			for range b.N {
				r, err := runLoop(b, d, o)
				if err != nil {
					b.Fatal(err)
				}
				p, err := build.Playback(b.Context(), d, file)
				if err != nil {
					b.Fatal(err)
				}
				best = max(best, float64(r.cycles)/r.elapsed.Seconds())
				raw = max(raw, p.CyclesPerSecond())
				if b.N == 1 {
					b.Logf("rtl %.0f encode %.0f wait %.0f deliver %.0f of %.0f ns/cycle; %d exchanges",
						perCycle(r.wall.RTL, r), perCycle(r.wall.Encode, r),
						perCycle(r.wall.Wait, r), perCycle(r.wall.Deliver, r), perCycle(r.elapsed, r), r.wall.Exchanges)
				}
			}
			b.ReportMetric(best/raw, "ratio")
			b.ReportMetric(1e9/raw, "raw-ns/cycle")
			b.ReportMetric(1e9/best, "ns/cycle")
		})
	}
}

func perCycle(d interface{ Nanoseconds() int64 }, r loopResult) float64 {
	return float64(d.Nanoseconds()) / float64(r.cycles)
}
