package bench

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/run"
	"nictwin/stack/apps"
)

// benchLoad reports the time per packet in the best of b.N slices, since other programs on the machine disturb some of
// them.
func benchLoad[L load](b *testing.B, make func() (L, error)) {
	const slice = 500
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(b, withLoad(make, func(l L) error {
		b.ReportAllocs()
		b.ResetTimer()
		least := time.Duration(math.MaxInt64)
		for range b.N {
			watch := startClock()
			if err := l.run(slice); err != nil {
				return err
			}
			least = min(least, watch.wall())
		}
		b.ReportMetric(float64(least.Nanoseconds())/slice, "least-ns/packet")
		return nil
	}))
}

func BenchmarkCard(b *testing.B) {
	s := &session{Options: Options{Seed: 1}}
	for _, queues := range []int{1, loadQueues, 256} {
		b.Run(fmt.Sprintf("queues=%d", queues), func(b *testing.B) { benchLoad(b, s.cardLoad(queues)) })
	}
}

func BenchmarkVerbs(b *testing.B) {
	for _, qps := range []int{1, 1024} {
		b.Run(fmt.Sprintf("qps=%d", qps), func(b *testing.B) {
			benchLoad(b, func() (*verbsLoad, error) { return newVerbsLoad(verbsPreset, qps) })
		})
	}
}

// BenchmarkStack plays the stack on two Go NICs without referees, and on one RTL NIC with its referee.
func BenchmarkStack(b *testing.B) {
	const messages = 500 // of each queue pair
	s := &session{Options: Options{Seed: 1}, ctx: b.Context()}
	for _, x := range []struct {
		name, text string
		o          run.Options
	}{
		{"model", stackCase("{kind: model}", 2, "", fmt.Sprintf(stackLoad, apps.Write, messages)),
			run.Options{Unjudged: true}},
		{"rtl",
			stackCase("{kind: rtl}, "+peerRNIC, 4, "",
				"both_ways: true, "+fmt.Sprintf(longLoad, apps.Write, messages/10)),
			run.Options{DUT: "../../verilator/duts/nic/dut.yaml", Variant: "speed"}},
	} {
		b.Run(x.name, func(b *testing.B) {
			for range b.N {
				_, err := s.playStack(x.text, x.o)
				require.NoError(b, err)
			}
		})
	}
}
