package receive

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// DropChecks drop frames for every cause.
var DropChecks = []kit.Check{
	{Name: "drops/disabled, runt, oversize", Rules: "R1 R2 G5", Stalls: kit.Stalled, Run: lengthDrops},
	{Name: "drops/bad checksums", Rules: "R4 R6", Stalls: kit.Stalled, Run: checksumDrops},
	{Name: "drops/rules and the default", Rules: "R5 R6", Stalls: kit.Calm, Run: ruleDrops},
	{Name: "drops/queues", Rules: "R7 R12", Stalls: kit.Stalled, Run: queueDrops},
	{Name: "drops/too long", Rules: "R8", Stalls: kit.Calm, Run: tooLong},
	{Name: "drops/no descriptor", Rules: "R9 Q3", Stalls: kit.Stalled, Run: noDescriptor},
	{Name: "drops/precedence", Rules: "R2 R4 R5 R7 R8 R9", Stalls: kit.Calm, Run: precedence},
	{Name: "drops/overflow", Rules: "R3", Stalls: kit.Calm, Run: overflow},
	{Name: "drops/every frame is counted", Rules: "R1 C1", Stalls: kit.Stalled, Run: everyFrame},
}

func lengthDrops(r *kit.Rig) {
	x := r.OpenRx(0, 4, nil)
	r.ToQueue(0)
	r.Post(x, 16)
	odd := [][]byte{kit.Blob(1, 1), kit.Blob(13, 1), kit.Blob(14, 2), kit.Blob(59, 3), kit.Blob(60, 4),
		kit.Blob(9216, 5), kit.Blob(9217, 6), kit.Blob(20000, 7)}
	r.Dropped("rx_enable 0", nicspec.CntRxDropDisabled, odd...)
	r.Write(nicspec.RegCtrl, 1)
	r.Synced()
	var runts, giants [][]byte
	for n := 1; n < nicspec.FrameMin; n++ {
		runts = append(runts, kit.Blob(n, uint64(n)))
	}
	for _, n := range []int{9217, 9218, 9279, 9280, 9281, 16384, 65535, 65536, 65537, 100_000} {
		giants = append(giants, kit.Blob(n, uint64(n)))
	}
	r.Dropped("runts", nicspec.CntRxDropRunt, runts...)
	r.Dropped("giants", nicspec.CntRxDropOversize, giants...)
	first := r.Ordinal()
	good := [][]byte{kit.Blob(60, 4), kit.Blob(9216, 5)}
	r.Counted("between them, good ones", kit.Arrived(append(good, runts[5], giants[0], runts[58])...).Taken(2).
		With(kit.PortCounter(nicspec.CntRxDropRunt), 2).With(kit.PortCounter(nicspec.CntRxDropOversize), 1), func() {
		r.Play(runts[5], good[0], giants[0], good[1], runts[58])
		r.Delivered(x, first+1, nicspec.RuleNone)
		r.Delivered(x, first+3, nicspec.RuleNone)
	})
	r.Write(nicspec.RegCtrl, 0)
	r.Synced()
	r.Dropped("rx_enable 0 again", nicspec.CntRxDropDisabled, good...)
	r.Nothing(&x.Ring)
}

// checksumDrops plays all kinds of bad frames under all settings of RX_CTRL. The first cause that applies must be
// counted.
func checksumDrops(r *kit.Rig) {
	x := r.OpenRx(1, 8, nil)
	r.Post(x, 100)
	r.ReceiveAll(1)
	for set := range uint32(8) {
		r.Write(nicspec.RegRxCtrl, set)
		r.Synced()
		want, first := kit.Steps{}, r.Ordinal()
		var frames [][]byte
		var good []int
		for bad := range uint32(8) {
			f := kit.Spoiled(bad&1 != 0, bad&2 != 0, bad&4 != 0)
			frames = append(frames, f)
			switch {
			case bad&set&1 != 0:
				want.With(kit.PortCounter(nicspec.CntRxDropIpCsum), 1)
			case bad&set&2 != 0:
				want.With(kit.PortCounter(nicspec.CntRxDropL4Csum), 1)
			case bad&set&4 != 0:
				want.With(kit.PortCounter(nicspec.CntRxDropIcrc), 1)
			default:
				good = append(good, first+int(bad))
			}
		}
		for i, n := range kit.Arrived(frames...).Taken(len(good)) {
			want[i] += n
		}
		r.Counted(fmt.Sprintf("RX_CTRL %d", set), want, func() {
			r.Play(frames...)
			for _, ordinal := range good {
				r.Delivered(x, ordinal, nicspec.RuleNone)
			}
		})
	}
	r.Nothing(&x.Ring)
}

func ruleDrops(r *kit.Rig) {
	frame := kit.RocePacket(20)
	f := frame.Build()
	r.Write(nicspec.RegCtrl, 1)
	x := r.OpenRx(2, 2, nil)
	r.Post(x, 4)
	r.Dropped("RX_DEFAULT as after reset", nicspec.CntRxDropNoRule, f)
	for _, action := range []uint32{0, 2, 3, 0x80, 0x81, 0xff} {
		if nicspec.Action(action) == nicspec.ActionRss && r.Sizes.Has(nicspec.PartRss) {
			continue
		}
		r.Write(nicspec.RegRxDefault, action<<16|2)
		r.Synced()
		r.Dropped(fmt.Sprintf("RX_DEFAULT with action %d", action), nicspec.CntRxDropNoRule, f)
	}
	rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop, Queue: 2}
	r.Commit(nicspec.TableRule, 7, kit.Encode(&rule, nicspec.RuleEntrySize))
	r.ToQueue(2)
	r.Synced()
	r.Dropped("a rule with action Drop", nicspec.CntRxDropRule, f, kit.Blob(60, 1), f)
	require.EqualValues(r.T, 3, r.Read2(nicspec.RegRuleHits(7)))
	rule.Valid = 0
	r.Commit(nicspec.TableRule, 7, kit.Encode(&rule, nicspec.RuleEntrySize))
	first := r.Ordinal()
	r.Counted("the rule is not valid", kit.Arrived(f).Taken(1), func() {
		r.Play(f)
		r.Delivered(x, first, nicspec.RuleNone)
	})
	require.EqualValues(r.T, 3, r.Read2(nicspec.RegRuleHits(7)))
}

func queueDrops(r *kit.Rig) {
	f := kit.Blob(100, 3)
	r.ReceiveAll(9)
	r.Dropped("a queue that is off", nicspec.CntRxDropQueueOff, f)
	for _, q := range []int{r.Sizes.NumRxq, 255, 256, 0x8000, 0xffff} {
		if q < r.Sizes.NumRxq {
			continue
		}
		r.ToQueue(q)
		r.Synced()
		r.Dropped(fmt.Sprintf("queue %d of %d", q, r.Sizes.NumRxq), nicspec.CntRxDropQueueOff, f, f)
	}
	r.ToQueue(9)
	x := r.OpenRx(9, 2, nil)
	r.Post(x, 1)
	first := r.Ordinal()
	r.Counted("it is on", kit.Arrived(f).Taken(1), func() {
		r.Play(f)
		r.Delivered(x, first, nicspec.RuleNone)
	})
	require.NoError(r.T, r.Bed.Faults.Add(inject.Fault{Kind: inject.FaultUR, From: x.Base, To: x.Base + 64}))
	r.Post(x, 1)
	r.Until("the queue is in error",
		func() bool { e := r.Next(&x.Ring); return e != nil && e[0] == byte(nicspec.CqeTypeEvent) })
	r.Dropped("a queue in error", nicspec.CntRxDropQueueErr, f, f, f)
	r.Disable(nicspec.TableRxq, 9)
	r.Dropped("it is off again", nicspec.CntRxDropQueueOff, f)
}

func tooLong(r *kit.Rig) {
	x := r.OpenRx(4, 4, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 200 })
	r.Post(x, 8)
	r.ReceiveAll(4)
	r.Dropped("longer than its buffer", nicspec.CntRxDropTooLong, kit.Blob(201, 1), kit.Blob(202, 1), kit.Blob(9216, 1))
	first := r.Ordinal()
	r.Counted("as long as its buffer", kit.Arrived(kit.Blob(200, 1)).Taken(1), func() {
		r.Play(kit.Blob(200, 1))
		r.Delivered(x, first, nicspec.RuleNone)
	})
	tiny := r.OpenRx(5, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 1 })
	r.Post(tiny, 4)
	r.ToQueue(5)
	r.Synced()
	r.Dropped("a buffer of one byte", nicspec.CntRxDropTooLong, kit.Blob(60, 1))
}

// noDescriptor repeatedly posts fewer descriptors than frames arrive.
func noDescriptor(r *kit.Rig) {
	x := r.OpenRx(6, 3, nil)
	r.ReceiveAll(6)
	r.Dropped("none was ever posted", nicspec.CntRxDropNoDesc, kit.Blob(64, 1), kit.Blob(9216, 2))
	for lap := range 6 {
		n := 1 + lap%4
		r.Post(x, n)
		r.Synced()
		var frames [][]byte
		for i := range n + 3 {
			frames = append(frames, kit.Blob(60+lap*100+i, uint64(i)))
		}
		first := r.Ordinal()
		r.Counted(fmt.Sprintf("%d for %d frames", n, n+3),
			kit.Arrived(frames...).Taken(n).With(kit.PortCounter(nicspec.CntRxDropNoDesc), 3), func() {
				r.Play(frames...)
				for i := range n {
					r.Delivered(x, first+i, nicspec.RuleNone)
				}
			})
	}
	r.Nothing(&x.Ring)
}

// precedence plays frames to which several drop causes apply, and removes the causes one by one, in the order in which
// the device must check them.
func precedence(r *kit.Rig) {
	// The queue has no descriptors, but TooLong takes precedence over NoDesc.
	x := r.OpenRx(7, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 70 })
	bad := kit.Spoiled(true, true, true)
	r.Write(nicspec.RegRxCtrl, 7)
	rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
	r.Commit(nicspec.TableRule, 0, kit.Encode(&rule, nicspec.RuleEntrySize))
	r.Dropped("Disabled before all others", nicspec.CntRxDropDisabled, bad[:59], bad, kit.Blob(9300, 1))
	r.Write(nicspec.RegCtrl, 1)
	r.Synced()
	r.Dropped("runt before its checksum", nicspec.CntRxDropRunt, bad[:59])
	r.Dropped("IPv4 checksum before the others", nicspec.CntRxDropIpCsum, bad)
	r.Dropped("UDP checksum before ICRC", nicspec.CntRxDropL4Csum, kit.Spoiled(false, true, true))
	r.Dropped("ICRC before the rule", nicspec.CntRxDropIcrc, kit.Spoiled(false, false, true))
	require.Zero(r.T, r.Read2(nicspec.RegRuleHits(0)), "drops before the rules count no hits")
	r.Dropped("the rule", nicspec.CntRxDropRule, kit.Spoiled(false, false, false))
	require.EqualValues(r.T, 1, r.Read2(nicspec.RegRuleHits(0)))
	r.Commit(nicspec.TableRule, 0, make([]byte, nicspec.RuleEntrySize))
	r.Dropped("no rule", nicspec.CntRxDropNoRule, kit.Spoiled(false, false, false))
	r.ToQueue(7)
	r.Synced()
	r.Dropped("too long before no descriptor", nicspec.CntRxDropTooLong, kit.Spoiled(false, false, false))
	r.Dropped("no descriptor", nicspec.CntRxDropNoDesc, kit.Blob(70, 1))
	r.Disable(nicspec.TableRxq, 7)
	r.Dropped("off before too long", nicspec.CntRxDropQueueOff, kit.Spoiled(false, false, false))
	_ = x
}

// overflow delays the frames of a queue by a slow read of its descriptors. As many as [R3] guarantees must be kept.
func overflow(r *kit.Rig) {
	playDrops(r, 20)
	r.ReceiveAll(8)
	for _, n := range []int{1500, 1024, 65} { // 1,024 divides the guaranteed size: frames fill it to the last byte
		x := r.OpenRx(8, 10, nil)
		r.Bed.Faults.Clear()
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{From: x.Base, To: x.Base + 16, Count: 1, Delay: r.Bed.Cycles(20_000)}))
		r.Post(x, x.Size())
		r.Synced()
		before, first := r.Counters(), r.Ordinal()
		frames := make([][]byte, 180_000/(n+63))
		for i := range frames {
			frames[i] = kit.Blob(n, uint64(i))
		}
		r.Play(frames...)
		r.Quiet()
		after := r.Counters()
		lost := after[kit.PortCounter(nicspec.CntRxDropOverflow)] - before[kit.PortCounter(nicspec.CntRxDropOverflow)]
		kept := (nicspec.RxBufBytes - nicspec.FrameMax) / ((n + 63) / 64 * 64)
		require.NotZero(r.T, lost, "frames lost: more came in than fit the buffer")
		require.LessOrEqual(r.T, int(lost), len(frames)-kept)
		for i := range len(frames) - int(lost) {
			r.Delivered(x, first+i, nicspec.RuleNone)
		}
		r.Moved("overflow", before,
			kit.Arrived(frames...).Taken(len(frames)-int(lost)).With(kit.PortCounter(nicspec.CntRxDropOverflow),
				int(lost)))
		r.Nothing(&x.Ring)
		r.Disable(nicspec.TableRxq, 8)
	}
}

// playDrops plays n frames of about 1,000 B for every cause of a drop except their length. Dropped frames must free
// their space in the buffer.
func playDrops(r *kit.Rig, n int) {
	r.T.Helper()
	r.OpenRx(2, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 100 })
	r.OpenRx(3, 2, nil) // a queue without descriptors
	r.ByDest(1, 2, 3)
	r.Rule(3, nicspec.RuleEntryFields{Valid: 1})
	r.Write(nicspec.RegRxCtrl, 7)
	r.ReceiveAll(1)
	var all [][]byte
	for i := range n {
		for bad := range 3 {
			p := kit.RocePacket(1000)
			p.IPBad, p.IcrcBad, p.UDPCsum = bad == 0, bad == 2, kit.CsumRight
			if bad == 1 {
				p.UDPCsum = kit.CsumWrong
			}
			all = append(all, p.Build())
		}
		for q := range 4 {
			all = append(all, kit.FrameTo(1+q, kit.Blob(1000+i, uint64(i))))
		}
	}
	want := kit.Arrived(all...)
	for _, c := range []nicspec.PortCounter{nicspec.CntRxDropIpCsum, nicspec.CntRxDropL4Csum, nicspec.CntRxDropIcrc,
		nicspec.CntRxDropQueueOff,
		nicspec.CntRxDropTooLong, nicspec.CntRxDropNoDesc, nicspec.CntRxDropRule} {
		want.With(kit.PortCounter(c), n)
	}
	r.Counted("frames that are dropped", want, func() { r.Play(all...) })
	r.Write(nicspec.RegRxCtrl, 0)
	for i := range 4 {
		r.Rule(i, nicspec.RuleEntryFields{})
	}
}

// everyFrame mixes frames that are delivered and frames dropped for every cause, back to back.
func everyFrame(r *kit.Rig) {
	x := r.OpenRx(2, 10, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 2000 })
	r.Write(nicspec.RegRxCtrl, 7)
	drop := nicspec.RuleEntryFields{Valid: 1}
	drop.Value[8], drop.Mask[8] = 0xdd, 0xff
	r.Commit(nicspec.TableRule, 1, kit.Encode(&drop, nicspec.RuleEntrySize))
	off := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 1}
	off.Value[8], off.Mask[8] = 0xee, 0xff
	r.Commit(nicspec.TableRule, 2, kit.Encode(&off, nicspec.RuleEntrySize))
	r.ReceiveAll(2)
	r.Post(x, 300)
	var frames [][]byte
	var good []int
	want := kit.Steps{}
	first := r.Ordinal()
	for i := range 400 {
		f := kit.FrameOf(60 + i*37%1900)
		f[0] = 0
		switch i % 8 {
		case 1:
			f = f[:i%60]
			if len(f) == 0 {
				f = []byte{1}
			}
			want.With(kit.PortCounter(nicspec.CntRxDropRunt), 1)
		case 2:
			f = kit.Spoiled(i%3 == 0, i%3 == 1, i%3 == 2)
			want.With(kit.PortCounter([]nicspec.PortCounter{nicspec.CntRxDropIpCsum, nicspec.CntRxDropL4Csum,
				nicspec.CntRxDropIcrc}[i%3]), 1)
		case 3:
			f[0] = 0xdd
			want.With(kit.PortCounter(nicspec.CntRxDropRule), 1)
		case 4:
			f[0] = 0xee
			want.With(kit.PortCounter(nicspec.CntRxDropQueueOff), 1)
		case 5:
			f = kit.Blob(2001+i, uint64(i))
			f[0] = 0
			want.With(kit.PortCounter(nicspec.CntRxDropTooLong), 1)
		default:
			good = append(good, first+i)
		}
		frames = append(frames, f)
	}
	for i, n := range kit.Arrived(frames...).Taken(len(good)) {
		want[i] += n
	}
	r.Counted("frames of every fate", want, func() {
		r.Play(frames...)
		for _, ordinal := range good {
			r.Delivered(x, ordinal, nicspec.RuleNone)
		}
	})
}
