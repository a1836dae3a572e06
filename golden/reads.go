package golden

import (
	"fmt"
	"math"

	"nictwin/golden/attribution"
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// readOut handles a read request of the device.
func (r *Referee) readOut() {
	h := &r.hdr
	d := &r.ent.Out.Tags[h.Tag]
	if d.Open {
		r.ent.Close(d) // the tag was reused while in flight, which the PCIe monitor has reported
	}
	if d.FreeFrom > r.now {
		r.log.AddCrossing(verdict.Device)
		r.log.Fail(verdict.Device, "P6", "Tag", fmt.Sprintf("not used before cycle %d, its request ended by %v",
			d.FreeFrom, d.Why),
			fmt.Sprintf("%#x", h.Tag), h.String())
	}
	off, n := h.Span()
	d = r.ent.Out.Begin(h.Tag, h.Address+uint64(off), n, r.now)
	if h.ZeroLength() {
		r.log.AddCrossing(verdict.Device)
		r.log.Fail(verdict.Device, "P3", "FirstBE", "a byte enabled", "none", h.String())
		return
	}
	r.attribute(d)
	if !d.Stray {
		r.checkSetting(h, dataKindOf(d))
	}
	if !d.Stray && d.Kind != memory.Piece {
		d.Buf = r.ent.Out.Buffer(n)
	}
}

// dataKindOf returns the kind of data that a read brings.
func dataKindOf(d *attribution.Read) dataKind {
	if d.Kind == memory.RxRing || d.Kind == memory.TxRing {
		return carriesOther
	}
	return carriesData
}

// expireReused ends a read as timed out if the device issues another read with the same tag, and the first can have
// timed out by now.
func (r *Referee) expireReused(h *tlp.Header) {
	if d := &r.ent.Out.Tags[h.Tag]; h.Kind == tlp.MRd && d.Open && r.now >= d.Issued+d.TLo {
		r.timedOut(d)
	}
}

// completionIn handles a completion given to the device.
func (r *Referee) completionIn() {
	h, data := &r.hdr, r.x.TLP.Data
	d := &r.ent.Out.Tags[h.Tag]
	if h.RequesterID != nicspec.RequesterNic || !d.Open || r.tooEarly(h) {
		r.log.AddCrossing(verdict.Device)
		r.cnt.Step(nicspec.CntCplUnexpected.Index(), 1, r.now)
		return
	}
	r.log.AddCrossing(r.domainOf(d))
	r.flr.work = r.now
	late := r.now >= d.Issued+d.TLo // the read may have timed out before
	if late {
		r.cnt.May(nicspec.CntCplUnexpected.Index(), 1)
	}
	lead := int(d.Next & (tlp.DWBytes - 1))
	if s := d.Judge(h, data, lead); s != nicspec.StatusOk {
		r.failRead(d, h, s, late)
		return
	}
	n := min(len(data)-lead, d.Left)
	r.ent.Store(d, data[lead:lead+n])
	d.Next += uint64(n)
	d.Left -= n
	if d.Left > 0 {
		return
	}
	if late {
		r.maybeTimedOut(d)
	} else {
		r.mustBeBusy(r.domainOf(d), "a read that is outstanding", d.Issued, r.now)
	}
	r.readDone(d)
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, h.Tag) // r.mon itself ignores locked completions
	r.ent.Close(d)
}

// tooEarly reports whether a completion began before the request with its tag was accepted, or in
// the same cycle [P7].
func (r *Referee) tooEarly(h *tlp.Header) bool {
	d := &r.ent.Out.Tags[h.Tag]
	return h.RequesterID == nicspec.RequesterNic && d.Open && r.x.First <= d.Issued
}

// failRead ends a read that a completion makes fail.
func (r *Referee) failRead(d *attribution.Read, h *tlp.Header, s nicspec.Status, late bool) {
	if late {
		r.cnt.May(nicspec.CntCplErr.Index(), 1)
		r.maybeTimedOut(d)
	} else {
		r.mustBeBusy(r.domainOf(d), "a read that is outstanding", d.Issued, r.now)
		r.cnt.Step(nicspec.CntCplErr.Index(), 1, r.now)
	}
	r.readFailed(d, s, !late)
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, h.Tag)
	if !late && (s == nicspec.StatusCplPoison || s == nicspec.StatusCplMalformed) {
		d.Rest(r.now, s)
	}
	r.ent.Close(d)
}

// maybeTimedOut records that a read which has just ended may have timed out before.
func (r *Referee) maybeTimedOut(d *attribution.Read) {
	r.cnt.May(nicspec.CntCplTimeouts.Index(), 1)
	r.readFailed(d, nicspec.StatusCplTimeout, false)
}

// expireReads ends the reads that have certainly timed out.
func (r *Referee) expireReads() {
	r.ent.Out.Next = math.MaxInt64
	for i := range r.ent.Out.Tags {
		d := &r.ent.Out.Tags[i]
		if !d.Open {
			continue
		}
		if at := d.Issued + d.THi + attribution.TimeoutSlack; at < r.now {
			r.timedOut(d)
		} else {
			r.ent.Out.Next = min(r.ent.Out.Next, at)
		}
	}
}

func (r *Referee) timedOut(d *attribution.Read) {
	r.flr.work = max(r.flr.work, min(r.now, d.Issued+d.THi+attribution.TimeoutSlack))
	r.cnt.Step(nicspec.CntCplTimeouts.Index(), 1, r.now)
	r.readFailed(d, nicspec.StatusCplTimeout, true)
	if q := r.messagesOf(r.domainOf(d)); q != nil {
		q.TimedOut(min(r.now, d.Issued+d.THi+attribution.TimeoutSlack))
	}
	d.Rest(d.Issued+d.TLo, nicspec.StatusCplTimeout)
	r.mon.Abandon(tlp.FromDevice, nicspec.RequesterNic, d.Tag)
	r.ent.Close(d)
}

// expireNamed ends the ring read that an Event reports as timed out: later completions of it have no
// effect [P6].
func (r *Referee) expireNamed(dom verdict.Domain, first uint16, s nicspec.Status) {
	for i := range r.ent.Out.Tags {
		d := &r.ent.Out.Tags[i]
		if s == nicspec.StatusCplTimeout && d.Open && !d.Stray && d.Kind != memory.Piece && d.First == first &&
			r.domainOf(d) == dom && r.now >= d.Issued+d.TLo {
			r.timedOut(d)
			return
		}
	}
}

// readDone handles a read that has all of its data: it gives the entries to their ring, or, for a piece, records the
// cycle for the check of the pin busy.
func (r *Referee) readDone(d *attribution.Read) {
	switch {
	case d.Stray:
	case d.Kind == memory.Piece:
		r.pin.data = max(r.pin.data, r.now)
	case d.Kind == memory.RxRing:
		if q := r.rx.queue(d.Queue); d.Epoch == q.epoch && q.open {
			r.descsIn(d)
		}
	default:
		if q := r.tx.queue(d.Queue); d.Epoch == q.Epoch && q.Open {
			r.wqesIn(d)
		}
	}
}

// readFailed hands a read that failed, or may have, to the ring or the pieces that it read.
func (r *Referee) readFailed(d *attribution.Read, s nicspec.Status, sure bool) {
	switch {
	case d.Stray:
	case d.Kind == memory.Piece:
		r.ent.Failed(d, s, sure)
	case d.Kind == memory.RxRing:
		if q := r.rx.queue(d.Queue); d.Epoch == q.epoch && q.open {
			r.descsBad(d, s, sure)
		}
	default:
		if q := r.tx.queue(d.Queue); d.Epoch == q.Epoch && q.Open {
			r.wqesBad(d, s, sure)
		}
	}
}

// checkNoReads checks that no read of a queue is outstanding [Q5].
func (r *Referee) checkNoReads(dom verdict.Domain, rx bool, queue int, epoch uint32) {
	for i := range r.ent.Out.Tags {
		d := &r.ent.Out.Tags[i]
		switch {
		case !d.Open || d.Stray || r.now >= d.Issued+d.TLo:
			continue
		case d.Kind == memory.Piece:
			if rx || !r.ent.SurelyOf(d, queue) {
				continue
			}
		case int(d.Queue) != queue || d.Epoch != epoch || (d.Kind == memory.RxRing) != rx:
			continue
		}
		r.log.Fail(dom, "Q5", "busy", "1 while a read of the queue is outstanding", "0",
			fmt.Sprintf("tag %#x: %d B at %#x", i, d.N, d.Addr))
	}
}
