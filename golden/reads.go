package golden

import (
	"fmt"
	"math"

	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// readOut takes a read request of the device.
func (r *Referee) readOut() {
	h := &r.hdr
	d := &r.ent.rd.tags[h.Tag]
	if d.open {
		r.ent.close(d) // the PCIe monitor has reported the tag
	}
	if d.freeFrom > r.now {
		r.log.Saw(verdict.Device)
		r.log.Fail(verdict.Device, "P6", "Tag", fmt.Sprintf("not used before cycle %d, its request ended by %v", d.freeFrom, d.why),
			fmt.Sprintf("%#x", h.Tag), h.String())
	}
	off, n := h.Span()
	*d = readReq{
		dest: d.dest[:0], open: true, addr: h.Address + uint64(off), n: n, left: n, issued: r.now, tLo: r.ent.rd.tLo, tHi: r.ent.rd.tHi, tag: h.Tag,
		freeFrom: never, stray: true,
	}
	d.next = d.addr
	r.ent.rd.open++
	r.ent.rd.next = min(r.ent.rd.next, d.issued+d.tHi+timeoutSlack)
	if h.ZeroLength() {
		r.log.Saw(verdict.Device)
		r.log.Fail(verdict.Device, "P3", "FirstBE", "a byte enabled", "none", h.String())
		return
	}
	r.attribute(d)
	if !d.stray {
		r.follows(h, d.carries())
	}
	if !d.stray && d.kind != memory.Piece {
		d.buf = r.ent.rd.buffer(n)
	}
}

// carries says what a read brings.
func (d *readReq) carries() dataKind {
	if d.kind == memory.RxRing || d.kind == memory.TxRing {
		return carriesOther
	}
	return carriesData
}

// reused ends a read whose tag is used again at a time at which it can have
// timed out.
func (r *Referee) reused(h *tlp.Header) {
	if d := &r.ent.rd.tags[h.Tag]; h.Kind == tlp.MRd && d.open && r.now >= d.issued+d.tLo {
		r.timedOut(d)
	}
}

// completionIn takes a completion that the device was given.
func (r *Referee) completionIn() {
	h, data := &r.hdr, r.x.TLP.Data
	d := &r.ent.rd.tags[h.Tag]
	if h.RequesterID != nicspec.RequesterNic || !d.open || r.tooEarly(h) {
		r.log.Saw(verdict.Device)
		r.cnt.Step(nicspec.CntCplUnexpected.Index(), 1, r.now)
		return
	}
	r.log.Saw(r.domainOf(d))
	r.flr.work = r.now
	late := r.now >= d.issued+d.tLo // it may have timed out already
	if late {
		r.cnt.May(nicspec.CntCplUnexpected.Index(), 1)
	}
	lead := int(d.next & (tlp.DWBytes - 1))
	if s := d.judge(h, data, lead); s != nicspec.StatusOk {
		r.failed(d, h, s, late)
		return
	}
	n := min(len(data)-lead, d.left)
	r.ent.store(d, data[lead:lead+n])
	d.next += uint64(n)
	d.left -= n
	if d.left > 0 {
		return
	}
	if late {
		r.maybeTimedOut(d)
	} else {
		r.mustBeBusy(r.domainOf(d), "a read that is outstanding", d.issued, r.now)
	}
	r.came(d)
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, h.Tag) // it refuses locked completions
	r.ent.close(d)
}

// tooEarly reports whether a completion for the device began before the
// request that its tag stands for was accepted, or in the same cycle [P7].
func (r *Referee) tooEarly(h *tlp.Header) bool {
	d := &r.ent.rd.tags[h.Tag]
	return h.RequesterID == nicspec.RequesterNic && d.open && r.x.First <= d.issued
}

// failed ends a read by a completion that fails it.
func (r *Referee) failed(d *readReq, h *tlp.Header, s nicspec.Status, late bool) {
	if late {
		r.cnt.May(nicspec.CntCplErr.Index(), 1)
		r.maybeTimedOut(d)
	} else {
		r.mustBeBusy(r.domainOf(d), "a read that is outstanding", d.issued, r.now)
		r.cnt.Step(nicspec.CntCplErr.Index(), 1, r.now)
	}
	r.bad(d, s, !late)
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, h.Tag)
	if !late && (s == nicspec.StatusCplPoison || s == nicspec.StatusCplMalformed) {
		d.freeFrom, d.why = r.now+d.tLo, s
	}
	r.ent.close(d)
}

// maybeTimedOut says that a read which just ended may have timed out before.
func (r *Referee) maybeTimedOut(d *readReq) {
	r.cnt.May(nicspec.CntCplTimeouts.Index(), 1)
	r.bad(d, nicspec.StatusCplTimeout, false)
}

// expireReads ends the reads that have timed out for certain.
func (r *Referee) expireReads() {
	r.ent.rd.next = math.MaxInt64
	for i := range r.ent.rd.tags {
		d := &r.ent.rd.tags[i]
		if !d.open {
			continue
		}
		if at := d.issued + d.tHi + timeoutSlack; at < r.now {
			r.timedOut(d)
		} else {
			r.ent.rd.next = min(r.ent.rd.next, at)
		}
	}
}

func (r *Referee) timedOut(d *readReq) {
	r.flr.work = max(r.flr.work, min(r.now, d.issued+d.tHi+timeoutSlack))
	r.cnt.Step(nicspec.CntCplTimeouts.Index(), 1, r.now)
	r.bad(d, nicspec.StatusCplTimeout, true)
	if w := r.reportsBy(r.domainOf(d)); w != nil {
		w.ended = min(r.now, d.issued+d.tHi+timeoutSlack)
	}
	d.freeFrom, d.why = d.issued+2*d.tLo, nicspec.StatusCplTimeout
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, d.tag)
	r.ent.close(d)
}

// named ends the read of a ring of which an Event says that it has timed out: what still comes for it has no effect [P6].
func (r *Referee) named(dom verdict.Domain, first uint16, s nicspec.Status) {
	for i := range r.ent.rd.tags {
		d := &r.ent.rd.tags[i]
		if s == nicspec.StatusCplTimeout && d.open && !d.stray && d.kind != memory.Piece && d.first == first &&
			r.domainOf(d) == dom && r.now >= d.issued+d.tLo {
			r.timedOut(d)
			return
		}
	}
}

// came is the end of a read that brought everything.
func (r *Referee) came(d *readReq) {
	switch {
	case d.stray:
	case d.kind == memory.Piece:
		r.pin.data = max(r.pin.data, r.now)
	case d.kind == memory.RxRing:
		if q := r.rx.queue(d.queue); d.epoch == q.epoch && q.open {
			r.descsIn(d)
		}
	default:
		if q := r.tx.queue(d.queue); d.epoch == q.epoch && q.open {
			r.wqesIn(d)
		}
	}
}

// bad is the end of a read that failed, or may have.
func (r *Referee) bad(d *readReq, s nicspec.Status, sure bool) {
	switch {
	case d.stray:
	case d.kind == memory.Piece:
		for i := range d.dest {
			d.dest[i].entry.failing(d, &d.dest[i], s, sure)
		}
		if !sure {
			r.ent.mayHaveTimedOut(d)
		}
	case d.kind == memory.RxRing:
		if q := r.rx.queue(d.queue); d.epoch == q.epoch && q.open {
			r.descsBad(d, s, sure)
		}
	default:
		if q := r.tx.queue(d.queue); d.epoch == q.epoch && q.open {
			r.wqesBad(d, s, sure)
		}
	}
}

// quietReads checks that nothing of a queue is being read [Q5].
func (r *Referee) quietReads(dom verdict.Domain, rx bool, queue int, epoch uint32) {
	for i := range r.ent.rd.tags {
		d := &r.ent.rd.tags[i]
		switch {
		case !d.open || d.stray || r.now >= d.issued+d.tLo:
			continue
		case d.kind == memory.Piece:
			if rx || !r.ent.surelyOf(d, queue) {
				continue
			}
		case int(d.queue) != queue || d.epoch != epoch || (d.kind == memory.RxRing) != rx:
			continue
		}
		r.log.Fail(dom, "Q5", "busy", "1 while a read of the queue is outstanding", "0", fmt.Sprintf("tag %#x: %d B at %#x", i, d.n, d.addr))
	}
}
