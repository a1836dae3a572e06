package copies

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/inject"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/transmit"
)

// keyReadOnly is the number of a key without the right to write, beside those of kit.BadKeys.
const keyReadOnly = 24

// CopyFlaws returns the faults that a Copy of 300 B may have, in the order in which the device must check them [D1].
func CopyFlaws(r *kit.Rig) []transmit.Flaw {
	type w = nicspec.WqeFields
	type s = nicspec.SegFields
	format := func(name string, mod func(*w)) transmit.Flaw {
		return transmit.Flaw{Name: name, Status: nicspec.StatusBadFormat, Mod: mod}
	}
	length := func(name string, a, b uint32) transmit.Flaw {
		return transmit.Flaw{Name: name, Status: nicspec.StatusBadLength, Mod: func(e *w) {
			transmit.Seg(0, func(s *s) { s.Len = a })(e)
			transmit.Seg(1, func(s *s) {
				s.Len = b
			})(e)
		}}
	}
	all := []transmit.Flaw{
		format("nseg 0", func(e *w) { e.Nseg = 0 }), format("nseg 1", func(e *w) { e.Nseg = 1 }),
		format("nseg 3", func(e *w) { e.Nseg = 3 }),
		format("nseg 255", func(e *w) { e.Nseg = 255 }), format("inline_len 1", func(e *w) { e.InlineLen = 1 }),
		format("inline_len 64", func(e *w) { e.InlineLen = 64 }), format("port 1", func(e *w) { e.Port = 1 }),
		format("port 255", func(e *w) { e.Port = 255 }),
		format("f_ip_csum", func(e *w) { e.FIpCsum = true }), format("f_udp_csum", func(e *w) { e.FUdpCsum = true }),
		format("f_udp_zero", func(e *w) { e.FUdpZero = true }), format("f_icrc", func(e *w) { e.FIcrc = true }),
		format("f_crc32c", func(e *w) { e.FCrc32c = true }), format("f_pad", func(e *w) { e.FPad = true }),
		format("f_append", func(e *w) { e.FAppend = true }),
		format("f_append and f_icrc", func(e *w) { e.FAppend, e.FIcrc = true, true }),
		format("f_rsvd, lowest", func(e *w) { e.FRsvd = 1 }), format("f_rsvd, highest", func(e *w) { e.FRsvd = 0x10 }),
	}
	for i := range 2 {
		all = append(all,
			format(fmt.Sprintf("key bit 16 of piece %d", i), transmit.Seg(i, func(s *s) { s.Key |= 1 << 16 })),
			format(fmt.Sprintf("key bit 23 of piece %d", i), transmit.Seg(i, func(s *s) { s.Key |= 1 << 23 })))
	}
	all = append(all, length("0 B", 0, 0), length("source of 0 B", 0, 300), length("destination of 0 B", 300, 0),
		length("longer source", 301, 300),
		length("longer destination", 300, 301), length("2^24 + 1 B", nicspec.CopyMax+1, nicspec.CopyMax+1),
		length("2^32 - 1 B", 1<<32-1, 1<<32-1),
		length("different by bit 24", 300, 300+1<<24), length("different by bit 31", 300|1<<31, 300))
	for i := range 2 {
		rights := []uint32{kit.KeyWriteOnly, keyReadOnly}[i]
		all = append(all,
			transmit.Flaw{Name: fmt.Sprintf("key beyond the build, piece %d", i), Status: nicspec.StatusBadKey,
				Mod: transmit.Seg(i, transmit.Index(uint32(r.Sizes.NumKeys)))},
			transmit.Flaw{Name: fmt.Sprintf("key never written, piece %d", i), Status: nicspec.StatusBadKey,
				Mod: transmit.Seg(i, transmit.Index(77))},
			transmit.Flaw{Name: fmt.Sprintf("key not valid, piece %d", i), Status: nicspec.StatusBadKey,
				Mod: transmit.Seg(i, transmit.Index(kit.KeyInvalid))},
			transmit.Flaw{Name: fmt.Sprintf("variant, piece %d", i), Status: nicspec.StatusBadKey,
				Mod: transmit.Seg(i, func(s *s) { s.Key ^= 1 << 31 })},
			transmit.Flaw{Name: fmt.Sprintf("rights, piece %d", i), Status: nicspec.StatusKeyRights,
				Mod: transmit.Seg(i, transmit.Index(rights))},
			transmit.Flaw{Name: fmt.Sprintf("bounds, piece %d", i), Status: nicspec.StatusKeyBounds,
				Mod: transmit.Seg(i, transmit.Index(kit.KeyShort))},
			transmit.Flaw{Name: fmt.Sprintf("empty key, piece %d", i), Status: nicspec.StatusKeyBounds,
				Mod: transmit.Seg(i, transmit.Index(kit.KeyEmpty))},
			transmit.Flaw{Name: fmt.Sprintf("below the key, piece %d", i), Status: nicspec.StatusKeyBounds,
				Mod: transmit.Seg(i, func(s *s) { s.Addr = 0 })},
			transmit.Flaw{Name: fmt.Sprintf("beyond the key, piece %d", i), Status: nicspec.StatusKeyBounds,
				Mod: transmit.Seg(i, func(s *s) { s.Addr += 1 << 32 })})
	}
	return all
}

// CopyKeys writes the keys that CopyFlaws names.
func CopyKeys(r *kit.Rig, w *kit.Window) {
	r.T.Helper()
	r.BadKeys(w)
	k := r.Keys[int(w.ID&0xffff)]
	k.RightWrite = false
	r.Key(keyReadOnly, k)
}

// SoundCopy returns a valid Copy of 300 B inside a window.
func SoundCopy(r *kit.Rig, w *kit.Window, seed uint64) nicspec.WqeFields {
	r.T.Helper()
	src := r.Piece(w, int(seed%64), 64, kit.Pattern(300, seed))
	return kit.CopyEntry(nicspec.OpcodeCopy, src, r.Destination(w, int(seed*7%64), 64, 300))
}

func copyStatuses(r *kit.Rig) {
	x, w := CopySetup(r, 2, 4)
	CopyKeys(r, w[0])
	var all []nicspec.WqeFields
	flaws := CopyFlaws(r)
	for i, f := range flaws {
		all = append(all, transmit.Flawed(r, &f, SoundCopy(r, w[0], uint64(i)), i%2 == 0))
		if i%4 == 0 {
			all = append(all, SoundCopy(r, w[0], uint64(1000+i)), r.Sound(w[1], uint64(i)))
		}
	}
	good := (len(all) - len(flaws)) / 2
	r.Counted("copies that fail",
		kit.Steps{}.With(kit.DevCounter(nicspec.CntTxWqe), len(all)).With(kit.DevCounter(nicspec.CntTxErr),
			len(flaws)).With(kit.DevCounter(nicspec.CntTxCqe), len(all)).
			With(kit.DevCounter(nicspec.CntCopyBytes), 300*good).With(kit.PortCounter(nicspec.CntTxFrames),
			good).With(kit.PortCounter(nicspec.CntTxBytes), 300*good),
		func() { r.Transmit(x, all...) })
	r.NoFrames()
	rightsOf(r, x, w)
	e := nicspec.DecodeTxqEntry(r.Entry(nicspec.TableTxq, 2))
	require.Equal(r.T, nicspec.QueueStateRun, e.State, "a failed entry does not stop its queue")
}

// rightsOf checks, for every copy opcode, which rights the key of the entry's first range needs.
func rightsOf(r *kit.Rig, x *kit.TxRing, w []*kit.Window) {
	r.T.Helper()
	var all []nicspec.WqeFields
	for rights := range 4 {
		k := r.Keys[int(w[0].ID&0xffff)]
		k.RightRead, k.RightWrite = rights&1 != 0, rights&2 != 0
		r.Key(30+rights, k)
		for op := nicspec.OpcodeCopy; kit.IsCopy(op); op++ {
			s := r.Piece(w[0], 0, 64, kit.Pattern(640, uint64(rights)))
			s.Key = s.Key&^0xffff | uint32(30+rights)
			if op == nicspec.OpcodeInvalidate {
				all = append(all, kit.CopyEntry(op, s))
			} else {
				all = append(all, kit.CopyEntry(op, s, r.Destination(w[1], 1, 64, 640)))
			}
		}
	}
	r.Transmit(x, all...)
}

func copyStatusOrder(r *kit.Rig) {
	x, w := CopySetup(r, 2, 6)
	CopyKeys(r, w[0])
	r.Root.OnMessage = func(h *tlp.Header, _ []byte) { r.T.Errorf("message %v", h) }
	flaws := CopyFlaws(r)
	var all []nicspec.WqeFields
	for i := range flaws {
		for j := i + 1; j < len(flaws); j += 1 + (i+j)%3 {
			e := SoundCopy(r, w[0], uint64(i*j))
			if (i+j)%4 == 0 {
				e.Opcode = nicspec.OpcodeCopyInvalidate // 300 B are not whole lines, which is checked last
			}
			flaws[j].Mod(&e)
			flaws[i].Mod(&e)
			all = append(all, e)
		}
	}
	r.Transmit(x, all...)
}

// EitherOr checks that each byte of a destination is either unchanged or copied from the source, and that the guard
// bytes around it are untouched.
func EitherOr(r *kit.Rig, d nicspec.SegFields, src []byte) {
	r.T.Helper()
	n := len(src)
	old := kit.Pattern(n+2*kit.Guard, uint64(n))
	got := r.Load(r.BusOf(d)-kit.Guard, n+2*kit.Guard)
	for i := range got {
		if inside := i >= kit.Guard && i < kit.Guard+n; got[i] != old[i] && (!inside || got[i] != src[i-kit.Guard]) {
			require.FailNow(r.T, "bytes of a copy that failed", "byte %d of %d is %#02x, was %#02x", i-kit.Guard, n,
				got[i], old[i])
		}
	}
}

// copyFaults makes reads of copies fail in every way, between other copies of the queue and beside busy queues.
func copyFaults(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	x, w := CopySetup(r, 3, 4)
	r.Root.OnMessage = func(h *tlp.Header, _ []byte) { r.T.Errorf("message %v", h) }
	other, send := r.OpenTx(4, 4), r.OpenTx(5, 4)
	for i, f := range kit.Failures {
		for _, n := range []int{128, 20_032} {
			if f.Kind == inject.FaultTag && n > 128 {
				continue // only with a single read is the wrong tag probably not in use by another read
			}
			data := kit.Pattern(n, uint64(i))
			src, dst := r.Piece(w[0], 0, 64, data), r.Destination(w[1], 3+i, 64, n)
			bad := kit.CopyEntry(nicspec.OpcodeCopy, src, dst)
			if f.Want != nicspec.StatusOk && i%2 > 0 {
				bad.Opcode = nicspec.OpcodeCopyInvalidate // a failed invalidating copy must not invalidate anything
			}
			r.FailOnce(f.Kind, r.BusOf(src)+uint64(n/2-64), 64+n/2)
			copyBeside(r, fmt.Sprintf("%v, %d B", f.Kind, n), f, bad, x, other, send, w)
			if f.Want == nicspec.StatusOk {
				r.CheckDestination(dst, data)
			} else {
				EitherOr(r, dst, data)
			}
		}
	}
}

// copyBeside posts a copy that fails between two that succeed, while two more queues are busy.
func copyBeside(r *kit.Rig, name string, f kit.Failure, bad nicspec.WqeFields, x, other, send *kit.TxRing,
	w []*kit.Window) {
	r.T.Helper()
	r.Quiet()
	before, d := r.Counters(), kit.Segments(&bad)[1]
	written := map[uint64]int{}
	r.Watch = writes(r, written)
	first, firstOther, firstSend := x.PI, other.PI, send.PI
	var copies, frames []kit.Posted
	if f.Kind != inject.FaultTag {
		copies = r.Enqueue(other, SoundCopy(r, w[0], 5), SoundCopy(r, w[0], 6), SoundCopy(r, w[0], 7))
		frames = r.Enqueue(send, r.Sound(w[0], 8), r.Sound(w[0], 9))
	}
	all := r.Enqueue(x, SoundCopy(r, w[0], 1), bad, SoundCopy(r, w[0], 2))
	all[1].Status = f.Want
	r.RingDoorbell(&x.Ring)
	if len(copies) > 0 {
		r.RingDoorbell(&other.Ring)
		r.RingDoorbell(&send.Ring)
	}
	r.Ended(other, firstOther, copies)
	r.Ended(send, firstSend, frames)
	r.Ended(x, first, all)
	r.Quiet()
	r.Watch = nil
	require.Equal(r.T, 1, r.Bed.Faults.Hits(), name)
	bytes, n := 300*(2+len(copies)), 3+len(copies)+len(frames)
	for i := range uint64(d.Len) {
		bytes += written[r.BusOf(d)+i]
	}
	errs := 0
	if f.Want != nicspec.StatusOk {
		errs = 1
	}
	r.Moved(name, before, f.Counts().With(kit.DevCounter(nicspec.CntTxWqe), n).With(kit.DevCounter(nicspec.CntTxErr),
		errs).With(kit.DevCounter(nicspec.CntTxCqe), n).
		With(kit.DevCounter(nicspec.CntCopyBytes), bytes).With(kit.PortCounter(nicspec.CntTxFrames),
		len(frames)).With(kit.PortCounter(nicspec.CntTxBytes), 300*len(frames)))
	r.NoFrames()
}

// copyManyFaults makes every read of one copy fail, each in its own way: the copy ends with one of
// the statuses.
func copyManyFaults(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	x, w := CopySetup(r, 3, 4)
	for i := range 6 {
		const n = 30_000
		data := kit.Pattern(n, uint64(i))
		src, dst := r.Piece(w[0], i, 64, data), r.Destination(w[1], 3*i, 64, n)
		r.Bed.Faults.Clear()
		for k := range 10 {
			at := r.BusOf(src) + uint64(k*n/10)
			require.NoError(r.T,
				r.Bed.Faults.Add(inject.Fault{Kind: transmit.ReadFaults[(i+k)%len(transmit.ReadFaults)], From: at,
					To: at + n/10, Skip: k % 2}))
		}
		first := x.PI
		all := r.Enqueue(x, kit.CopyEntry(nicspec.OpcodeCopy, src, dst), SoundCopy(r, w[1], 9))
		r.RingDoorbell(&x.Ring)
		got := r.TxCqe(x)
		require.Equal(r.T, first, got.Index())
		require.Contains(r.T, transmit.ReadStatuses, got.Status())
		r.Ended(x, first+1, all[1:])
		r.Quiet()
		EitherOr(r, dst, data)
	}
}

// copyStops makes the first read of a long copy fail. After its completion no more reads may come out than the `most`
// that the device may already have begun.
func copyStops(r *kit.Rig) {
	const n, most = 250_000, 64
	x, w := CopySetup(r, 3, 3)
	r.Write(nicspec.RegDevctl, 0) // reads of 128 B: the copy needs far more of them than may be in flight
	src, dst := r.Piece(w[0], 0, 64, kit.Pattern(n, 1)), r.Destination(w[1], 5, 64, n)
	at := r.BusOf(src)
	for _, kind := range []inject.FaultKind{inject.FaultUR, inject.FaultPoison} {
		failed, after := false, 0
		r.Watch = func(c boundary.Crossing) {
			switch h := tlp.Parse(&c.TLP.Hdr); {
			case c.Kind == boundary.TLPIn && h.Kind.IsCompletion():
				failed = failed || h.Status != tlp.StatusSC || h.EP
			case c.Kind == boundary.TLPOut && h.Kind == tlp.MRd && failed && h.Address >= at && h.Address < at+n:
				after++
			}
		}
		r.FailOnce(kind, at, 64)
		first := x.PI
		all := r.Enqueue(x, kit.CopyEntry(nicspec.OpcodeCopy, src, dst))
		all[0].Status = map[inject.FaultKind]nicspec.Status{inject.FaultUR: nicspec.StatusCplUnsupported,
			inject.FaultPoison: nicspec.StatusCplPoison}[kind]
		r.RingDoorbell(&x.Ring)
		r.Ended(x, first, all)
		r.Quiet()
		r.Watch = nil
		require.True(r.T, failed)
		require.LessOrEqual(r.T, after, most, "reads started after one has failed")
		r.Bed.Faults.Clear()
	}
}

// copyOfNothing makes two copies from addresses where there is no memory, and one to such an address.
func copyOfNothing(r *kit.Rig) {
	x, w := CopySetup(r, 3, 3)
	r.Key(9, nicspec.KeyEntryFields{Valid: 1, RightRead: true, RightWrite: true, Length: 1 << 40,
		BusBase: 5 << nicspec.EndpointShift})
	r.Key(10, nicspec.KeyEntryFields{Valid: 1, RightRead: true, Length: 1 << 44, BusBase: kit.MemoryBytes - 100})
	all := transmit.EnqueueFailing(r, x, nicspec.StatusCplUnsupported,
		kit.CopyEntry(nicspec.OpcodeCopy, nicspec.SegFields{Key: 9, Len: 100, Addr: 4000},
			r.Destination(w[0], 0, 64, 100)),
		kit.CopyEntry(nicspec.OpcodeCopy, nicspec.SegFields{Key: 10, Len: 20_000}, r.Destination(w[1], 9, 64, 20_000)))
	r.RingDoorbell(&x.Ring)
	r.Ended(x, 0, all)
	// Writes are posted: nothing reports that they were lost.
	r.Transmit(x, kit.CopyEntry(nicspec.OpcodeCopy, r.Piece(w[0], 0, 64, kit.Pattern(500, 1)),
		nicspec.SegFields{Key: 9, Len: 500}))
}
