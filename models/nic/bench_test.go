package nic

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
	"nictwin/models/simcore"
)

var sizes = []int{64, 256, 1500, 9000}

// BenchmarkClassify is the function of one received frame: parse, checks and
// a look through 64 rules.
func BenchmarkClassify(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			frame := roceFrame(max(n-58, 0))
			frame = append(frame, make([]byte, max(n-len(frame), 0))...)
			c := Config{RxEnable: true, RocePort: 4791, DefaultAction: nicspec.ActionQueue}
			for i := range 64 {
				e := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue}
				nicspec.SteerKey(e.Value[:]).SetDestQp(uint32(i + 100))
				nicspec.SteerKey(e.Mask[:]).SetDestQp(0xffffff)
				c.Rules = c.Rules.With(i, &e)
			}
			var v RxVerdict
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				c.Classify(0, frame, &v)
			}
		})
	}
}

// BenchmarkPlanRx is the function of delivering one frame.
func BenchmarkPlanRx(b *testing.B) {
	frame := roceFrame(100)
	c := Config{RxEnable: true, RocePort: 4791, DefaultAction: nicspec.ActionQueue}
	var v RxVerdict
	c.Classify(0, frame, &v)
	q := Queue{State: nicspec.QueueStateRun, LogSize: 4, SplitMode: nicspec.SplitModeHeaders, HdrBufSize: 100, PayBufSize: 9000}
	var p RxPlan
	b.ReportAllocs()
	for b.Loop() {
		PlanRx(&q, &v, len(frame), &RxSlot{}, &p)
	}
}

// BenchmarkSend is the function of one transmitted frame: decoding the entry,
// and all offloads.
func BenchmarkSend(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			frame := roceFrame(max(n-58, 0))
			keys := make(KeyTable, 256)
			keys[5] = Key{Valid: true, Read: true, Variant: 0x5a, Length: 1 << 20}
			raw := [64]byte(wqe(1, nil, []piece{{testKey, 0, len(frame)}}, func(w nicspec.Wqe) {
				w.SetL3Off(14)
				w.SetL4Off(34)
				w.SetFIpCsum(true)
				w.SetFUdpCsum(true)
				w.SetFIcrc(true)
			}))
			var p TxPlan
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				DecodeWqe(&raw, keys, TxLimits{Ports: 1}, &p)
				if _, s := FinishTx(&p, frame); s != nicspec.StatusOk {
					b.Fatal(s)
				}
			}
		})
	}
}

// BenchmarkReceive is the whole component with a memory and a sender: ns and
// allocations per frame of everything together, and frames per microsecond of
// the device's time.
func BenchmarkReceive(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := defaultRig()
			o.quiet = true
			o.link = simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Credits: 64}
			r := openedRx(b, o)
			const log = 10
			r.host.openRx(0, log, nil)
			frame := roceFrame(max(n-58, 0))
			fixIP(frame)
			const batch = 256
			var busy simcore.Ps
			round := func(count int) {
				for range count {
					r.host.post(0, 0, 0x7000_0000+uint64(r.host.rxq[0].pi%1024)*0x4000)
				}
				r.host.ringRx(0)
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

// BenchmarkTransmit is the whole component sending from memory.
func BenchmarkTransmit(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			o := defaultRig()
			o.quiet = true
			o.link = simcore.LinkSpec{Latency: 50 * simcore.Nanosecond, Credits: 64}
			r := openedTx(b, o)
			r.peers[0].drop = true
			const queues, batch = 8, 32
			for q := range queues {
				r.host.openTx(q, 8)
			}
			e := wqe(1, nil, []piece{{testKey, 0, n}}, func(w nicspec.Wqe) { w.SetFComplete(false) })
			var busy simcore.Ps
			round := func() {
				start := r.eng.Now()
				for q := range queues {
					for range batch {
						r.host.postWqe(q, e)
					}
					r.host.ringTx(q)
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
