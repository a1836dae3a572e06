package core

import (
	"fmt"
	"testing"

	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

var sizes = []int{64, 256, 1500, 9000}

// BenchmarkClassify measures Classify for one received frame: parse, checks and a search through 64
// rules.
func BenchmarkClassify(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			frame := nictest.RoceFrame(max(n-58, 0))
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

// BenchmarkPlanRx measures the planning of one frame's writes.
func BenchmarkPlanRx(b *testing.B) {
	frame := nictest.RoceFrame(100)
	c := Config{RxEnable: true, RocePort: 4791, DefaultAction: nicspec.ActionQueue}
	var v RxVerdict
	c.Classify(0, frame, &v)
	q := Queue{State: nicspec.QueueStateRun, LogSize: 4, SplitMode: nicspec.SplitModeHeaders, HdrBufSize: 100,
		PayBufSize: 9000}
	var p RxPlan
	b.ReportAllocs()
	for b.Loop() {
		PlanRx(&q, &v, len(frame), &RxSlot{}, &p)
	}
}

// BenchmarkSend measures the decoding of one work entry, and all offloads of its frame.
func BenchmarkSend(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			frame := nictest.RoceFrame(max(n-58, 0))
			keys := make(KeyTable, 256)
			keys[5] = Key{Valid: true, Read: true, Variant: 0x5a, Length: 1 << 20}
			raw := [64]byte(nictest.Wqe(1, nil, []nictest.Piece{{Key: testKey, Addr: 0, N: len(frame)}},
				func(w nicspec.Wqe) {
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
				DecodeWqe(raw[:], keys, TxLimits{Ports: 1}, &p)
				if _, s := FinishTx(&p, frame); s != nicspec.StatusOk {
					b.Fatal(s)
				}
			}
		})
	}
}
