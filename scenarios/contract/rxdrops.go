package contract

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

var dropChecks = []check{
	{"drops/disabled, runt, oversize", "R1 R2 G5", stalled, lengthDrops},
	{"drops/bad checksums", "R4 R6", stalled, checksumDrops},
	{"drops/rules and the default", "R5 R6", calm, ruleDrops},
	{"drops/queues", "R7 R12", stalled, queueDrops},
	{"drops/too long", "R8", calm, tooLong},
	{"drops/no descriptor", "R9 Q3", stalled, noDescriptor},
	{"drops/precedence", "R2 R4 R5 R7 R8 R9", calm, precedence},
	{"drops/overflow", "R3", calm, overflow},
	{"drops/every frame is counted", "R1 C1", stalled, everyFrame},
}

// arrived is the steps that frames make whatever becomes of them.
func arrived(frames ...[]byte) steps {
	s := steps{port(nicspec.CntRxFrames): uint64(len(frames))}
	for _, f := range frames {
		s[port(nicspec.CntRxBytes)] += uint64(len(f))
	}
	return s
}

// with adds a counter to steps.
func (s steps) with(index int, n int) steps {
	if n > 0 {
		s[index] += uint64(n)
	}
	return s
}

// taken adds n delivered frames.
func (s steps) taken(n int) steps {
	return s.with(port(nicspec.CntRxDelivered), n).with(dev(nicspec.CntRxCqe), n)
}

// dropped plays frames that all end in one counter.
func (r *rig) dropped(what string, cause nicspec.PortCounter, frames ...[]byte) {
	r.t.Helper()
	r.counted(what, arrived(frames...).with(port(cause), len(frames)), func() { r.play(frames...) })
}

func lengthDrops(r *rig) {
	x := r.openRx(0, 4, nil)
	r.toQueue(0)
	r.post(x, 16)
	odd := [][]byte{blob(1, 1), blob(13, 1), blob(14, 2), blob(59, 3), blob(60, 4), blob(9216, 5), blob(9217, 6), blob(20000, 7)}
	r.dropped("rx_enable 0", nicspec.CntRxDropDisabled, odd...)
	r.write(nicspec.RegCtrl, 1)
	r.synced()
	var runts, giants [][]byte
	for n := 1; n < nicspec.FrameMin; n++ {
		runts = append(runts, blob(n, uint64(n)))
	}
	for _, n := range []int{9217, 9218, 9279, 9280, 9281, 16384, 65535, 65536, 65537, 100_000} {
		giants = append(giants, blob(n, uint64(n)))
	}
	r.dropped("runts", nicspec.CntRxDropRunt, runts...)
	r.dropped("giants", nicspec.CntRxDropOversize, giants...)
	first := r.ordinal()
	good := [][]byte{blob(60, 4), blob(9216, 5)}
	r.counted("between them, good ones", arrived(append(good, runts[5], giants[0], runts[58])...).taken(2).
		with(port(nicspec.CntRxDropRunt), 2).with(port(nicspec.CntRxDropOversize), 1), func() {
		r.play(runts[5], good[0], giants[0], good[1], runts[58])
		r.delivered(x, first+1, nicspec.RuleNone)
		r.delivered(x, first+3, nicspec.RuleNone)
	})
	r.write(nicspec.RegCtrl, 0)
	r.synced()
	r.dropped("rx_enable 0 again", nicspec.CntRxDropDisabled, good...)
	r.nothing(&x.ring)
}

// spoiled is a RoCE packet with what is wrong about it.
func spoiled(ip, l4, icrc bool) []byte {
	p := rocePacket(100)
	p.ipBad, p.icrcBad, p.udpCsum = ip, icrc, csumRight
	if l4 {
		p.udpCsum = csumWrong
	}
	return p.build()
}

// checksumDrops has all kinds of bad frames under all settings of RX_CTRL: the first cause that applies counts.
func checksumDrops(r *rig) {
	x := r.openRx(1, 8, nil)
	r.post(x, 100)
	r.receiveAll(1)
	for set := range uint32(8) {
		r.write(nicspec.RegRxCtrl, set)
		r.synced()
		want, first := steps{}, r.ordinal()
		var frames [][]byte
		var good []int
		for bad := range uint32(8) {
			f := spoiled(bad&1 != 0, bad&2 != 0, bad&4 != 0)
			frames = append(frames, f)
			switch {
			case bad&set&1 != 0:
				want.with(port(nicspec.CntRxDropIpCsum), 1)
			case bad&set&2 != 0:
				want.with(port(nicspec.CntRxDropL4Csum), 1)
			case bad&set&4 != 0:
				want.with(port(nicspec.CntRxDropIcrc), 1)
			default:
				good = append(good, first+int(bad))
			}
		}
		for i, n := range arrived(frames...).taken(len(good)) {
			want[i] += n
		}
		r.counted(fmt.Sprintf("RX_CTRL %d", set), want, func() {
			r.play(frames...)
			for _, ordinal := range good {
				r.delivered(x, ordinal, nicspec.RuleNone)
			}
		})
	}
	r.nothing(&x.ring)
}

func ruleDrops(r *rig) {
	frame := rocePacket(20)
	f := frame.build()
	r.write(nicspec.RegCtrl, 1)
	x := r.openRx(2, 2, nil)
	r.post(x, 4)
	r.dropped("RX_DEFAULT as after reset", nicspec.CntRxDropNoRule, f)
	for _, action := range []uint32{0, 2, 3, 0x80, 0x81, 0xff} {
		if nicspec.Action(action) == nicspec.ActionRss && r.sizes.Has(nicspec.PartRss) {
			continue
		}
		r.write(nicspec.RegRxDefault, action<<16|2)
		r.synced()
		r.dropped(fmt.Sprintf("RX_DEFAULT with action %d", action), nicspec.CntRxDropNoRule, f)
	}
	rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop, Queue: 2}
	r.commit(nicspec.TableRule, 7, encode(&rule, nicspec.RuleEntrySize))
	r.toQueue(2)
	r.synced()
	r.dropped("a rule with action Drop", nicspec.CntRxDropRule, f, blob(60, 1), f)
	require.EqualValues(r.t, 3, r.read2(nicspec.RegRuleHits(7)))
	rule.Valid = 0
	r.commit(nicspec.TableRule, 7, encode(&rule, nicspec.RuleEntrySize))
	first := r.ordinal()
	r.counted("the rule is not valid", arrived(f).taken(1), func() {
		r.play(f)
		r.delivered(x, first, nicspec.RuleNone)
	})
	require.EqualValues(r.t, 3, r.read2(nicspec.RegRuleHits(7)))
}

func queueDrops(r *rig) {
	f := blob(100, 3)
	r.receiveAll(9)
	r.dropped("a queue that is off", nicspec.CntRxDropQueueOff, f)
	for _, q := range []int{r.sizes.NumRxq, 255, 256, 0x8000, 0xffff} {
		if q < r.sizes.NumRxq {
			continue
		}
		r.toQueue(q)
		r.synced()
		r.dropped(fmt.Sprintf("queue %d of %d", q, r.sizes.NumRxq), nicspec.CntRxDropQueueOff, f, f)
	}
	r.toQueue(9)
	x := r.openRx(9, 2, nil)
	r.post(x, 1)
	first := r.ordinal()
	r.counted("it is on", arrived(f).taken(1), func() {
		r.play(f)
		r.delivered(x, first, nicspec.RuleNone)
	})
	require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: inject.FaultUR, From: x.Base, To: x.Base + 64}))
	r.post(x, 1)
	r.until("the queue is in error", func() bool { e := r.next(&x.ring); return e != nil && e[0] == byte(nicspec.CqeTypeEvent) })
	r.dropped("a queue in error", nicspec.CntRxDropQueueErr, f, f, f)
	r.disable(nicspec.TableRxq, 9)
	r.dropped("it is off again", nicspec.CntRxDropQueueOff, f)
}

func tooLong(r *rig) {
	x := r.openRx(4, 4, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 200 })
	r.post(x, 8)
	r.receiveAll(4)
	r.dropped("longer than its buffer", nicspec.CntRxDropTooLong, blob(201, 1), blob(202, 1), blob(9216, 1))
	first := r.ordinal()
	r.counted("as long as its buffer", arrived(blob(200, 1)).taken(1), func() {
		r.play(blob(200, 1))
		r.delivered(x, first, nicspec.RuleNone)
	})
	tiny := r.openRx(5, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 1 })
	r.post(tiny, 4)
	r.toQueue(5)
	r.synced()
	r.dropped("a buffer of one byte", nicspec.CntRxDropTooLong, blob(60, 1))
}

// noDescriptor posts fewer descriptors than frames come, over and over.
func noDescriptor(r *rig) {
	x := r.openRx(6, 3, nil)
	r.receiveAll(6)
	r.dropped("none was ever posted", nicspec.CntRxDropNoDesc, blob(64, 1), blob(9216, 2))
	for lap := range 6 {
		n := 1 + lap%4
		r.post(x, n)
		r.synced()
		var frames [][]byte
		for i := range n + 3 {
			frames = append(frames, blob(60+lap*100+i, uint64(i)))
		}
		first := r.ordinal()
		r.counted(fmt.Sprintf("%d for %d frames", n, n+3), arrived(frames...).taken(n).with(port(nicspec.CntRxDropNoDesc), 3), func() {
			r.play(frames...)
			for i := range n {
				r.delivered(x, first+i, nicspec.RuleNone)
			}
		})
	}
	r.nothing(&x.ring)
}

// precedence has frames to which every cause from some point on applies.
func precedence(r *rig) {
	x := r.openRx(7, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 70 }) // no descriptors: too long goes first
	bad := spoiled(true, true, true)
	r.write(nicspec.RegRxCtrl, 7)
	rule := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionDrop}
	r.commit(nicspec.TableRule, 0, encode(&rule, nicspec.RuleEntrySize))
	r.dropped("disabled before all others", nicspec.CntRxDropDisabled, bad[:59], bad, blob(9300, 1))
	r.write(nicspec.RegCtrl, 1)
	r.synced()
	r.dropped("runt before its checksum", nicspec.CntRxDropRunt, bad[:59])
	r.dropped("IPv4 checksum before the others", nicspec.CntRxDropIpCsum, bad)
	r.dropped("UDP checksum before ICRC", nicspec.CntRxDropL4Csum, spoiled(false, true, true))
	r.dropped("ICRC before the rule", nicspec.CntRxDropIcrc, spoiled(false, false, true))
	require.Zero(r.t, r.read2(nicspec.RegRuleHits(0)), "drops before the rules make no hits")
	r.dropped("the rule", nicspec.CntRxDropRule, spoiled(false, false, false))
	require.EqualValues(r.t, 1, r.read2(nicspec.RegRuleHits(0)))
	r.commit(nicspec.TableRule, 0, make([]byte, nicspec.RuleEntrySize))
	r.dropped("no rule", nicspec.CntRxDropNoRule, spoiled(false, false, false))
	r.toQueue(7)
	r.synced()
	r.dropped("too long before no descriptor", nicspec.CntRxDropTooLong, spoiled(false, false, false))
	r.dropped("no descriptor", nicspec.CntRxDropNoDesc, blob(70, 1))
	r.disable(nicspec.TableRxq, 7)
	r.dropped("off before too long", nicspec.CntRxDropQueueOff, spoiled(false, false, false))
	_ = x
}

// overflow holds the frames of a queue back by a slow read of its descriptors: as many as [R3] promises are kept.
func overflow(r *rig) {
	r.lose(20)
	r.receiveAll(8)
	for _, n := range []int{1500, 1024, 65} { // 1,024 divides the promise: not a byte of it may be missing
		x := r.openRx(8, 10, nil)
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: x.Base, To: x.Base + 16, Count: 1, Delay: r.b.Cycles(20_000)}))
		r.post(x, x.Size())
		r.synced()
		before, first := r.counters(), r.ordinal()
		frames := make([][]byte, 180_000/(n+63))
		for i := range frames {
			frames[i] = blob(n, uint64(i))
		}
		r.play(frames...)
		r.quiet()
		after := r.counters()
		lost := after[port(nicspec.CntRxDropOverflow)] - before[port(nicspec.CntRxDropOverflow)]
		kept := (nicspec.RxBufBytes - nicspec.FrameMax) / ((n + 63) / 64 * 64)
		require.NotZero(r.t, lost, "more came than the buffer holds")
		require.LessOrEqual(r.t, int(lost), len(frames)-kept)
		for i := range len(frames) - int(lost) {
			r.delivered(x, first+i, nicspec.RuleNone)
		}
		r.moved("overflow", before, arrived(frames...).taken(len(frames)-int(lost)).with(port(nicspec.CntRxDropOverflow), int(lost)))
		r.nothing(&x.ring)
		r.disable(nicspec.TableRxq, 8)
	}
}

// lose plays n frames of some 1,000 B for every cause of a drop that is not their length: they leave no trace in the buffer.
func (r *rig) lose(n int) {
	r.t.Helper()
	r.openRx(2, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 100 })
	r.openRx(3, 2, nil) // without descriptors
	r.byDest(1, 2, 3)
	r.rule(3, nicspec.RuleEntryFields{Valid: 1})
	r.write(nicspec.RegRxCtrl, 7)
	r.receiveAll(1)
	var all [][]byte
	for i := range n {
		for bad := range 3 {
			p := rocePacket(1000)
			p.ipBad, p.icrcBad, p.udpCsum = bad == 0, bad == 2, csumRight
			if bad == 1 {
				p.udpCsum = csumWrong
			}
			all = append(all, p.build())
		}
		for q := range 4 {
			all = append(all, to(1+q, blob(1000+i, uint64(i))))
		}
	}
	want := arrived(all...)
	for _, c := range []nicspec.PortCounter{nicspec.CntRxDropIpCsum, nicspec.CntRxDropL4Csum, nicspec.CntRxDropIcrc, nicspec.CntRxDropQueueOff,
		nicspec.CntRxDropTooLong, nicspec.CntRxDropNoDesc, nicspec.CntRxDropRule} {
		want.with(port(c), n)
	}
	r.counted("frames that are dropped", want, func() { r.play(all...) })
	r.write(nicspec.RegRxCtrl, 0)
	for i := range 4 {
		r.rule(i, nicspec.RuleEntryFields{})
	}
}

// everyFrame has frames of every fate mixed, back to back.
func everyFrame(r *rig) {
	x := r.openRx(2, 10, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 2000 })
	r.write(nicspec.RegRxCtrl, 7)
	drop := nicspec.RuleEntryFields{Valid: 1}
	drop.Value[8], drop.Mask[8] = 0xdd, 0xff
	r.commit(nicspec.TableRule, 1, encode(&drop, nicspec.RuleEntrySize))
	off := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 1}
	off.Value[8], off.Mask[8] = 0xee, 0xff
	r.commit(nicspec.TableRule, 2, encode(&off, nicspec.RuleEntrySize))
	r.receiveAll(2)
	r.post(x, 300)
	var frames [][]byte
	var good []int
	want := steps{}
	first := r.ordinal()
	for i := range 400 {
		f := frameOf(60 + i*37%1900)
		f[0] = 0
		switch i % 8 {
		case 1:
			f = f[:i%60]
			if len(f) == 0 {
				f = []byte{1}
			}
			want.with(port(nicspec.CntRxDropRunt), 1)
		case 2:
			f = spoiled(i%3 == 0, i%3 == 1, i%3 == 2)
			want.with(port([]nicspec.PortCounter{nicspec.CntRxDropIpCsum, nicspec.CntRxDropL4Csum, nicspec.CntRxDropIcrc}[i%3]), 1)
		case 3:
			f[0] = 0xdd
			want.with(port(nicspec.CntRxDropRule), 1)
		case 4:
			f[0] = 0xee
			want.with(port(nicspec.CntRxDropQueueOff), 1)
		case 5:
			f = blob(2001+i, uint64(i))
			f[0] = 0
			want.with(port(nicspec.CntRxDropTooLong), 1)
		default:
			good = append(good, first+i)
		}
		frames = append(frames, f)
	}
	for i, n := range arrived(frames...).taken(len(good)) {
		want[i] += n
	}
	r.counted("frames of every fate", want, func() {
		r.play(frames...)
		for _, ordinal := range good {
			r.delivered(x, ordinal, nicspec.RuleNone)
		}
	})
}
