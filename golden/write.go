package golden

import (
	"fmt"
	"math/bits"

	"nictwin/golden/attribution"
	"nictwin/golden/buffers"
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// writeOut finds what a write of the device is, by its address, and judges it [C2].
func (r *Referee) writeOut() {
	h, data := &r.hdr, r.x.TLP.Data
	if len(data) != h.PayloadBytes() || h.ZeroLength() {
		r.log.AddCrossing(verdict.Device)
		if h.ZeroLength() {
			r.log.Fail(verdict.Device, "P3", "FirstBE", "a byte enabled", "none", h.String())
		}
		return // the PCIe monitor has reported a payload that does not fit its header
	}
	if hasDisabledBytes(h, data) {
		r.failDisabled(h, data)
	}
	off, n := h.Span()
	addr := h.Address + uint64(off)
	if h.Length == 1 && n == tlp.DWBytes && r.message(addr, data) {
		r.checkSetting(h, carriesOther)
		return
	}
	if n == nicspec.CqeBytes && addr%nicspec.CqeBytes == 0 && r.completionEntry(addr, data) {
		r.checkSetting(h, carriesOther)
		return
	}
	before := r.log.Mismatches()
	if contiguous(h) {
		r.bufferWrite(addr, data[off:off+n])
	} else {
		runs := h.Runs(data)
		for at, b, ok := runs.Next(); ok; at, b, ok = runs.Next() {
			r.bufferWrite(at, b)
		}
	}
	if r.log.Mismatches() == before {
		r.checkSetting(h, carriesData)
	}
}

// contiguous reports whether the enabled bytes of a write are contiguous.
func contiguous(h *tlp.Header) bool {
	lows := func(be uint8) bool { return be&(be+1) == 0 } // only the lowest enables are set
	if h.Length == 1 {
		return lows(h.FirstBE >> bits.TrailingZeros8(h.FirstBE))
	}
	return lows(^h.FirstBE&0xf) && lows(h.LastBE)
}

// hasDisabledBytes reports whether a payload byte whose enable is 0 has a value other than 0 [B6].
func hasDisabledBytes(h *tlp.Header, data []byte) bool {
	const all = 0xf
	last := h.LastBE
	if h.Length == 1 {
		last = all
	}
	if h.FirstBE&last == all {
		return false
	}
	for i := range tlp.DWBytes {
		if h.FirstBE>>i&1 == 0 && data[i] != 0 {
			return true
		}
		if at := len(data) - tlp.DWBytes + i; last>>i&1 == 0 && data[at] != 0 {
			return true
		}
	}
	return false
}

func (r *Referee) failDisabled(h *tlp.Header, data []byte) {
	r.log.AddCrossing(verdict.Device)
	r.log.Fail(verdict.Device, "B6", "payload bytes that are not enabled", "0", fmt.Sprintf("first DW %x, last DW %x",
		data[:tlp.DWBytes], data[len(data)-tlp.DWBytes:]), h.String())
}

// completionEntry handles a write that may be a completion entry, and reports whether it is one.
func (r *Referee) completionEntry(addr uint64, data []byte) bool {
	late := attribution.Owner{}
	found := false
	for node := r.ent.Writable.First(addr); node != nil; node = r.ent.Writable.Next(node) {
		if node.Owner.Kind > memory.TxCq || addr < node.Lo || addr >= node.Hi {
			continue
		}
		switch o := node.Owner; o.Kind {
		case memory.RxCq:
			if q := r.rx.queue(o.Queue); q.Ctx.CqeAddr(q.Ctx.CQI) == addr {
				r.log.AddCrossing(q.Domain())
				r.rxEntry(q, data)
				return true
			}
		case memory.TxCq:
			if q := r.tx.queue(o.Queue); q.Ctx.CqeAddr(q.Ctx.CQI) == addr {
				r.log.AddCrossing(q.Domain())
				r.txEntryWritten(q, data)
				return true
			}
		}
		late, found = node.Owner, true
	}
	if !found || r.ent.Writable.Within(addr, len(data), ofPayload) {
		return false
	}
	ctx, d := &r.tx.queue(late.Queue).Ctx, verdict.Txq(int(late.Queue))
	text := nicspec.TxCqe(data).String()
	if late.Kind == memory.RxCq {
		ctx, d = &r.rx.queue(late.Queue).Ctx, verdict.Rxq(int(late.Queue))
		text = nicspec.RxCqe(data).String()
	}
	r.log.AddCrossing(d)
	r.log.Fail(d, "P9", "completion entry address", fmt.Sprintf("%#x, entry %d", ctx.CqeAddr(ctx.CQI), ctx.CQI),
		fmt.Sprintf("%#x, slot %d of the ring", addr, (addr-ctx.CqBase)/nicspec.CqeBytes), text)
	return true
}

// bufferWrite handles a write of payload: by a copy, or to a descriptor's buffer.
func (r *Referee) bufferWrite(addr uint64, b []byte) {
	if r.ent.Copying > 0 && r.copyWrite(addr, b) {
		return
	}
	if s := r.buf.Last; s != nil && !s.Shares { // usual case: the write goes to the same descriptor as the previous one
		for part := range s.Parts {
			base, size := s.Buffer(part)
			if off := addr - base; off < uint64(size) && int(off)+len(b) <= size && r.storeWrite(s, part, int(off), b) {
				return
			}
		}
	}
	only, meant := (*memory.Range[attribution.Entry])(nil), 0
	for node := r.ent.Writable.First(addr); node != nil; node = r.ent.Writable.Next(node) {
		if node.Owner.Kind != memory.Buffer || addr < node.Lo || memory.End(addr, len(b)) > node.Hi {
			continue
		}
		if only == nil {
			only = node
		}
		meant++
	}
	switch meant {
	case 0:
		r.failStray(addr, len(b))
	case 1:
		o := only.Owner
		if !r.storeWrite(r.rx.queue(o.Queue).Slot(o.Index), int(o.Part), int(addr-only.Lo), b) {
			r.failTwice(only, addr, len(b))
		}
	default:
		r.sharedWrite(addr, b)
	}
}

// storeWrite records bytes written to a buffer. It reports false if some of them were written before.
func (r *Referee) storeWrite(s *buffers.Slot, part, off int, b []byte) bool {
	if !s.Store(r.buf, part, off, b) {
		return false
	}
	q := r.rx.queue(uint16(s.Q.ID))
	r.buf.Last = s
	r.log.AddCrossing(q.Domain())
	if !r.expectsFrame(q, s.Index) {
		r.failNoFrame(q, s.Index, part, off, len(b))
	}
	return true
}

func (r *Referee) failTwice(node *memory.Range[attribution.Entry], addr uint64, n int) {
	o := node.Owner
	d := verdict.Rxq(int(o.Queue))
	r.log.AddCrossing(d)
	r.log.Fail(d, "R10", "write", "every byte once", fmt.Sprintf("bytes written again: %d B at %s", n,
		buffers.Text(int(o.Queue), o.Index, int(o.Part), int(addr-node.Lo))), r.hdr.String())
}

// failStray reports a write to an address where none is allowed.
func (r *Referee) failStray(addr uint64, n int) {
	r.log.AddCrossing(verdict.Device)
	r.log.Fail(verdict.Device, "C2", "Address", "inside a buffer of a descriptor in use, the destination of a copy, "+
		"or the next completion entry",
		fmt.Sprintf("%d B at %#x%s", n, addr, r.near(addr)), r.hdr.String())
}

// near returns a hint to which structure an unexpected address belongs, or an empty string.
func (r *Referee) near(addr uint64) string {
	for node := r.ent.Writable.First(addr); node != nil; node = r.ent.Writable.Next(node) {
		if o := node.Owner; o.Kind == memory.Buffer && addr >= node.Lo && addr < node.Hi {
			return fmt.Sprintf(" (runs over the end of the %s buffer of descriptor %d of queue %d)",
				buffers.Names[o.Part], o.Index, o.Queue)
		} else if o.Kind <= memory.TxCq && addr >= node.Lo && addr < node.Hi {
			return " (in a completion ring)"
		}
	}
	return ""
}

// copyWrite handles a write to the destination of a copy. It reports false if there is no copy there.
func (r *Referee) copyWrite(addr uint64, b []byte) bool {
	// usual case: the write continues where the copy's previous one ended
	if e := r.tx.copied; e != nil && e.Copy.Open && e.Alt == nil && e.Copy.Seen.Empty() {
		off := int(addr - e.Plan.Dma.Dst)
		if addr >= e.Plan.Dma.Dst && off == e.Copy.Wrote.End() && off+len(b) <= e.Plan.Dma.Len && e.Fits(off, b) &&
			r.ent.Before(e) == nil &&
			!r.ent.OtherDest(e, addr, len(b)) {
			r.checkWholeWrite(e, off, len(b))
			r.recordCopyWrite(e, off, b)
			return true
		}
	}
	best, several := r.ent.Writer(addr, b)
	if best == nil {
		return false
	}
	off := int(addr - best.Plan.Dma.Dst)
	if several {
		r.unsureWrite(best, addr, b)
		return true
	}
	if !best.SettleWrite(r.ent, addr, b) && r.ent.Writable.Within(addr, len(b), attribution.BufferKinds) {
		return false
	}
	if !best.Fits(off, b) {
		r.failCopy(best, off, b)
	} else if o := r.ent.Before(best); o != nil {
		r.log.AddCrossing(best.Queue.Domain())
		r.log.FailOf(best.Subject(), best.Queue.Domain(), "D8", "write",
			fmt.Sprintf("none for entry %d before entry %d has ended", best.Index, o.Index),
			fmt.Sprintf("%d B at %#x", len(b), addr), r.hdr.String(), best.Describe(), o.Describe())
	}
	r.checkWholeWrite(best, off, len(b))
	r.recordCopyWrite(best, off, b)
	return true
}

// sharedWrite handles a write to an address in several buffers.
func (r *Referee) sharedWrite(addr uint64, b []byte) {
	r.buf.Keep(addr, r.now, b)
	none := (*memory.Range[attribution.Entry])(nil)
	for node := r.ent.Writable.First(addr); node != nil; node = r.ent.Writable.Next(node) {
		if node.Owner.Kind != memory.Buffer || addr < node.Lo || memory.End(addr, len(b)) > node.Hi {
			continue
		}
		q := r.rx.queue(node.Owner.Queue)
		if r.expectsFrame(q, node.Owner.Index) {
			r.log.AddCrossing(q.Domain())
			return
		}
		if none == nil {
			none = node
		}
	}
	r.failNoFrame(r.rx.queue(none.Owner.Queue), none.Owner.Index, int(none.Owner.Part), int(addr-none.Lo), len(b))
}

// expectsFrame reports whether the queue may have as many undecided frames as are needed for one of them to use
// the descriptor at index.
func (r *Referee) expectsFrame(q *rxq, index uint16) bool {
	return int(index-q.Ctx.CI) < q.pending+r.rx.unsure
}

func (r *Referee) failNoFrame(q *rxq, index uint16, part, off, n int) {
	r.log.Fail(q.Domain(), "R10", "write", "none: no frame is left for this descriptor",
		fmt.Sprintf("%d B at %s", n, buffers.Text(q.ID, index, part, off)), r.hdr.String())
}
