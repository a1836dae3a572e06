package nic

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
	"nictwin/models/sim/simcore"
)

var sizes = []int{64, 256, 1500, 9000}

// BenchmarkReceive measures the NIC with a memory and a sender: time and allocations per frame,
// including those of memory and sender, and frames per microsecond of simulated time.
func BenchmarkReceive(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := defaultRig()
			o.quiet = true
			o.bare = true
			o.link = simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Credits: 64}
			r := openedRx(b, o)
			const log = 10
			r.host.OpenRx(0, log, nil)
			frame := nictest.RoceFrame(max(n-58, 0))
			nictest.FixIP(frame)
			const batch = 256
			var busy simcore.Ps
			round := func(count int) {
				for range count {
					r.host.Post(0, 0, 0x7000_0000+uint64(r.host.Rx[0].PI%1024)*0x4000)
				}
				r.host.RingRx(0)
				r.run()
				start := r.eng.Now()
				for range count {
					r.peers[0].send(frame)
				}
				r.run()
				busy += r.eng.Now() - start
			}
			round(batch)
			busy = 0
			b.ReportAllocs()
			start := time.Now()
			frames := 0
			for b.Loop() {
				round(batch)
				frames += batch
			}
			report(b, start, frames, busy)
			require.Zero(b, r.nic.Regs().Dropped(0))
		})
	}
}

func report(b *testing.B, start time.Time, frames int, busy simcore.Ps) {
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(frames), "ns/frame")
	b.ReportMetric(float64(frames)/float64(busy)*1e6, "frames/us-device")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkTransmit measures the NIC sending frames from memory, including the memory's time.
func BenchmarkTransmit(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := defaultRig()
			o.quiet = true
			o.bare = true
			o.link = simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Credits: 64}
			r := openedTx(b, o)
			r.peers[0].drop = true
			const queues, batch = 8, 32
			for q := range queues {
				r.host.OpenTx(q, 8)
			}
			e := nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: n}},
				func(w nicspec.Wqe) { w.SetFComplete(false) })
			var busy simcore.Ps
			round := func() {
				start := r.eng.Now()
				for q := range queues {
					for range batch {
						r.host.PostWqe(q, e)
					}
					r.host.RingTx(q)
				}
				r.run()
				busy += r.eng.Now() - start
			}
			round()
			busy = 0
			b.ReportAllocs()
			start := time.Now()
			frames := 0
			for b.Loop() {
				round()
				frames += queues * batch
			}
			report(b, start, frames, busy)
			require.EqualValues(b, r.peers[0].n, r.nic.Regs().Port(nicspec.CntTxFrames, 0))
		})
	}
}
