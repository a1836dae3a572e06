package contract

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/inject"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// keyReadOnly is one more key beside those of badKeys.
const keyReadOnly = 24

// copyFlaws of a Copy of 300 B, in the order of the checks.
func (r *rig) copyFlaws() []flaw {
	type w = nicspec.WqeFields
	type s = nicspec.SegFields
	format := func(name string, mod func(*w)) flaw { return flaw{name, nicspec.StatusBadFormat, mod} }
	length := func(name string, a, b uint32) flaw {
		return flaw{name, nicspec.StatusBadLength, func(e *w) { seg(0, func(s *s) { s.Len = a })(e); seg(1, func(s *s) { s.Len = b })(e) }}
	}
	all := []flaw{
		format("nseg 0", func(e *w) { e.Nseg = 0 }), format("nseg 1", func(e *w) { e.Nseg = 1 }), format("nseg 3", func(e *w) { e.Nseg = 3 }),
		format("nseg 255", func(e *w) { e.Nseg = 255 }), format("inline_len 1", func(e *w) { e.InlineLen = 1 }),
		format("inline_len 64", func(e *w) { e.InlineLen = 64 }), format("port 1", func(e *w) { e.Port = 1 }), format("port 255", func(e *w) { e.Port = 255 }),
		format("f_ip_csum", func(e *w) { e.FIpCsum = true }), format("f_udp_csum", func(e *w) { e.FUdpCsum = true }),
		format("f_udp_zero", func(e *w) { e.FUdpZero = true }), format("f_icrc", func(e *w) { e.FIcrc = true }),
		format("f_crc32c", func(e *w) { e.FCrc32c = true }), format("f_pad", func(e *w) { e.FPad = true }),
		format("f_append", func(e *w) { e.FAppend = true }), format("f_append and f_icrc", func(e *w) { e.FAppend, e.FIcrc = true, true }),
		format("f_rsvd, lowest", func(e *w) { e.FRsvd = 1 }), format("f_rsvd, highest", func(e *w) { e.FRsvd = 0x10 }),
	}
	for i := range 2 {
		all = append(all, format(fmt.Sprintf("key bit 16 of piece %d", i), seg(i, func(s *s) { s.Key |= 1 << 16 })),
			format(fmt.Sprintf("key bit 23 of piece %d", i), seg(i, func(s *s) { s.Key |= 1 << 23 })))
	}
	all = append(all, length("0 B", 0, 0), length("source of 0 B", 0, 300), length("destination of 0 B", 300, 0), length("longer source", 301, 300),
		length("longer destination", 300, 301), length("2^24 + 1 B", nicspec.CopyMax+1, nicspec.CopyMax+1), length("2^32 - 1 B", 1<<32-1, 1<<32-1),
		length("different by bit 24", 300, 300+1<<24), length("different by bit 31", 300|1<<31, 300))
	for i := range 2 {
		rights := []uint32{keyWriteOnly, keyReadOnly}[i]
		all = append(all,
			flaw{fmt.Sprintf("key beyond the build, piece %d", i), nicspec.StatusBadKey, seg(i, index(uint32(r.sizes.NumKeys)))},
			flaw{fmt.Sprintf("key never written, piece %d", i), nicspec.StatusBadKey, seg(i, index(77))},
			flaw{fmt.Sprintf("key not valid, piece %d", i), nicspec.StatusBadKey, seg(i, index(keyInvalid))},
			flaw{fmt.Sprintf("variant, piece %d", i), nicspec.StatusBadKey, seg(i, func(s *s) { s.Key ^= 1 << 31 })},
			flaw{fmt.Sprintf("rights, piece %d", i), nicspec.StatusKeyRights, seg(i, index(rights))},
			flaw{fmt.Sprintf("bounds, piece %d", i), nicspec.StatusKeyBounds, seg(i, index(keyShort))},
			flaw{fmt.Sprintf("empty key, piece %d", i), nicspec.StatusKeyBounds, seg(i, index(keyEmpty))},
			flaw{fmt.Sprintf("below the key, piece %d", i), nicspec.StatusKeyBounds, seg(i, func(s *s) { s.Addr = 0 })},
			flaw{fmt.Sprintf("beyond the key, piece %d", i), nicspec.StatusKeyBounds, seg(i, func(s *s) { s.Addr += 1 << 32 })})
	}
	return all
}

// copyKeys writes the keys that copyFlaws name.
func (r *rig) copyKeys(w *window) {
	r.t.Helper()
	r.badKeys(w)
	k := r.keys[int(w.id&0xffff)]
	k.RightWrite = false
	r.key(keyReadOnly, k)
}

// soundCopy is a Copy of 300 B inside a window.
func (r *rig) soundCopy(w *window, seed uint64) nicspec.WqeFields {
	r.t.Helper()
	src := r.piece(w, int(seed%64), 64, pattern(300, seed))
	return copyEntry(nicspec.OpcodeCopy, src, r.hole(w, int(seed*7%64), 64, 300))
}

func copyStatuses(r *rig) {
	x, w := r.copySetup(2, 4)
	r.copyKeys(w[0])
	var all []nicspec.WqeFields
	flaws := r.copyFlaws()
	for i, f := range flaws {
		all = append(all, r.flawed(&f, r.soundCopy(w[0], uint64(i)), i%2 == 0))
		if i%4 == 0 {
			all = append(all, r.soundCopy(w[0], uint64(1000+i)), r.sound(w[1], uint64(i)))
		}
	}
	good := (len(all) - len(flaws)) / 2
	r.counted("copies that fail", steps{}.with(dev(nicspec.CntTxWqe), len(all)).with(dev(nicspec.CntTxErr), len(flaws)).with(dev(nicspec.CntTxCqe), len(all)).
		with(dev(nicspec.CntCopyBytes), 300*good).with(port(nicspec.CntTxFrames), good).with(port(nicspec.CntTxBytes), 300*good),
		func() { r.transmit(x, all...) })
	r.noFrames()
	r.rightsOf(x, w)
	e := nicspec.DecodeTxqEntry(r.entry(nicspec.TableTxq, 2))
	require.Equal(r.t, nicspec.QueueStateRun, e.State, "a failed entry does not stop its queue")
}

// rightsOf has every opcode name a range under keys of all rights.
func (r *rig) rightsOf(x *txRing, w []*window) {
	r.t.Helper()
	var all []nicspec.WqeFields
	for rights := range 4 {
		k := r.keys[int(w[0].id&0xffff)]
		k.RightRead, k.RightWrite = rights&1 != 0, rights&2 != 0
		r.key(30+rights, k)
		for op := nicspec.OpcodeCopy; isCopy(op); op++ {
			s := r.piece(w[0], 0, 64, pattern(640, uint64(rights)))
			s.Key = s.Key&^0xffff | uint32(30+rights)
			if op == nicspec.OpcodeInvalidate {
				all = append(all, copyEntry(op, s))
			} else {
				all = append(all, copyEntry(op, s, r.hole(w[1], 1, 64, 640)))
			}
		}
	}
	r.transmit(x, all...)
}

func copyStatusOrder(r *rig) {
	x, w := r.copySetup(2, 6)
	r.copyKeys(w[0])
	r.root.OnMessage = func(h *tlp.Header, _ []byte) { r.t.Errorf("message %v", h) }
	flaws := r.copyFlaws()
	var all []nicspec.WqeFields
	for i := range flaws {
		for j := i + 1; j < len(flaws); j += 1 + (i+j)%3 {
			e := r.soundCopy(w[0], uint64(i*j))
			if (i+j)%4 == 0 {
				e.Opcode = nicspec.OpcodeCopyInvalidate // 300 B are not whole lines: BadRange comes last
			}
			flaws[j].mod(&e)
			flaws[i].mod(&e)
			all = append(all, e)
		}
	}
	r.transmit(x, all...)
}

// eitherOr demands of each byte of a destination that it is as it was or as in the source, and that its guards are untouched.
func (r *rig) eitherOr(d nicspec.SegFields, src []byte) {
	r.t.Helper()
	n := len(src)
	old := pattern(n+2*guard, uint64(n))
	got := r.load(r.busOf(d)-guard, n+2*guard)
	for i := range got {
		if inside := i >= guard && i < guard+n; got[i] != old[i] && (!inside || got[i] != src[i-guard]) {
			require.FailNow(r.t, "bytes of a copy that failed", "byte %d of %d is %#02x, was %#02x", i-guard, n, got[i], old[i])
		}
	}
}

// copyFaults lets reads of copies fail in every way, between other copies of the queue and beside those of others.
func copyFaults(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	x, w := r.copySetup(3, 4)
	r.root.OnMessage = func(h *tlp.Header, _ []byte) { r.t.Errorf("message %v", h) }
	other, send := r.openTx(4, 4), r.openTx(5, 4)
	for i, f := range failures {
		for _, n := range []int{128, 20_032} {
			if f.kind == inject.FaultTag && n > 128 {
				continue // the more reads, the more likely that the other tag is in use
			}
			data := pattern(n, uint64(i))
			src, dst := r.piece(w[0], 0, 64, data), r.hole(w[1], 3+i, 64, n)
			bad := copyEntry(nicspec.OpcodeCopy, src, dst)
			if f.want != nicspec.StatusOk && i%2 > 0 {
				bad.Opcode = nicspec.OpcodeCopyInvalidate // nothing is invalidated
			}
			r.failOnce(f.kind, r.busOf(src)+uint64(n/2-64), 64+n/2)
			r.copyBeside(fmt.Sprintf("%v, %d B", f.kind, n), f, bad, x, other, send, w)
			if f.want == nicspec.StatusOk {
				r.filled(dst, data)
			} else {
				r.eitherOr(dst, data)
			}
		}
	}
}

// copyBeside posts a copy that fails between two that do not, with two more queues at work.
func (r *rig) copyBeside(name string, f failure, bad nicspec.WqeFields, x, other, send *txRing, w []*window) {
	r.t.Helper()
	r.quiet()
	before, d := r.counters(), segments(&bad)[1]
	written := map[uint64]int{}
	r.watch = r.writes(written)
	first, firstOther, firstSend := x.PI, other.PI, send.PI
	var copies, frames []posted
	if f.kind != inject.FaultTag {
		copies = r.enqueue(other, r.soundCopy(w[0], 5), r.soundCopy(w[0], 6), r.soundCopy(w[0], 7))
		frames = r.enqueue(send, r.sound(w[0], 8), r.sound(w[0], 9))
	}
	all := r.enqueue(x, r.soundCopy(w[0], 1), bad, r.soundCopy(w[0], 2))
	all[1].status = f.want
	r.tell(&x.ring)
	if len(copies) > 0 {
		r.tell(&other.ring)
		r.tell(&send.ring)
	}
	r.ended(other, firstOther, copies)
	r.ended(send, firstSend, frames)
	r.ended(x, first, all)
	r.quiet()
	r.watch = nil
	require.Equal(r.t, 1, r.b.Faults.Hits(), name)
	bytes, n := 300*(2+len(copies)), 3+len(copies)+len(frames)
	for i := range uint64(d.Len) {
		bytes += written[r.busOf(d)+i]
	}
	errs := 0
	if f.want != nicspec.StatusOk {
		errs = 1
	}
	r.moved(name, before, f.counts().with(dev(nicspec.CntTxWqe), n).with(dev(nicspec.CntTxErr), errs).with(dev(nicspec.CntTxCqe), n).
		with(dev(nicspec.CntCopyBytes), bytes).with(port(nicspec.CntTxFrames), len(frames)).with(port(nicspec.CntTxBytes), 300*len(frames)))
	r.noFrames()
}

// copyManyFaults lets all reads of a copy fail, each in its own way: it ends with one of them.
func copyManyFaults(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	x, w := r.copySetup(3, 4)
	for i := range 6 {
		const n = 30_000
		data := pattern(n, uint64(i))
		src, dst := r.piece(w[0], i, 64, data), r.hole(w[1], 3*i, 64, n)
		r.b.Faults.Clear()
		for k := range 10 {
			at := r.busOf(src) + uint64(k*n/10)
			require.NoError(r.t, r.b.Faults.Add(inject.Fault{Kind: readFaults[(i+k)%len(readFaults)], From: at, To: at + n/10, Skip: k % 2}))
		}
		first := x.PI
		all := r.enqueue(x, copyEntry(nicspec.OpcodeCopy, src, dst), r.soundCopy(w[1], 9))
		r.tell(&x.ring)
		got := r.txCqe(x)
		require.Equal(r.t, first, got.Index())
		require.Contains(r.t, readStatuses, got.Status())
		r.ended(x, first+1, all[1:])
		r.quiet()
		r.eitherOr(dst, data)
	}
}

// copyStops lets the first read of a long copy fail: no further read starts, but for those that were on their way.
func copyStops(r *rig) {
	const n, most = 250_000, 64
	x, w := r.copySetup(3, 3)
	r.write(nicspec.RegDevctl, 0) // reads of 128 B: far more than that
	src, dst := r.piece(w[0], 0, 64, pattern(n, 1)), r.hole(w[1], 5, 64, n)
	at := r.busOf(src)
	for _, kind := range []inject.FaultKind{inject.FaultUR, inject.FaultPoison} {
		failed, after := false, 0
		r.watch = func(c boundary.Crossing) {
			switch h := tlp.Parse(&c.TLP.Hdr); {
			case c.Kind == boundary.TLPIn && h.Kind.IsCompletion():
				failed = failed || h.Status != tlp.StatusSC || h.EP
			case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && failed && h.Address >= at && h.Address < at+n:
				after++
			}
		}
		r.failOnce(kind, at, 64)
		first := x.PI
		all := r.enqueue(x, copyEntry(nicspec.OpcodeCopy, src, dst))
		all[0].status = map[inject.FaultKind]nicspec.Status{inject.FaultUR: nicspec.StatusCplUnsupported, inject.FaultPoison: nicspec.StatusCplPoison}[kind]
		r.tell(&x.ring)
		r.ended(x, first, all)
		r.quiet()
		r.watch = nil
		require.True(r.t, failed)
		require.LessOrEqual(r.t, after, most, "reads that start after one has failed")
		r.b.Faults.Clear()
	}
}

// copyOfNothing reads where no memory is.
func copyOfNothing(r *rig) {
	x, w := r.copySetup(3, 3)
	r.key(9, nicspec.KeyEntryFields{Valid: 1, RightRead: true, RightWrite: true, Length: 1 << 40, BusBase: 5 << nicspec.EndpointShift})
	r.key(10, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Length: 1 << 44, BusBase: memoryBytes - 100})
	all := r.enqueueFailing(x, nicspec.StatusCplUnsupported,
		copyEntry(nicspec.OpcodeCopy, nicspec.SegFields{Key: 9, Len: 100, Addr: 4000}, r.hole(w[0], 0, 64, 100)),
		copyEntry(nicspec.OpcodeCopy, nicspec.SegFields{Key: 10, Len: 20_000}, r.hole(w[1], 9, 64, 20_000)))
	r.tell(&x.ring)
	r.ended(x, 0, all)
	// Writes are posted: nobody tells that they were lost.
	r.transmit(x, copyEntry(nicspec.OpcodeCopy, r.piece(w[0], 0, 64, pattern(500, 1)), nicspec.SegFields{Key: 9, Len: 500}))
}
