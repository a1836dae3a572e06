package golden

import (
	"fmt"
	"math"

	"nictwin/golden/attribution"
	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// attribute finds the ring entries, or the piece of a work entry, that a read is for.
func (r *Referee) attribute(d *attribution.Read) {
	var best attribution.PieceChoice
	ring := (*memory.Range[attribution.Entry])(nil)
	pieces := 0
	for node := r.ent.Readable.First(d.Addr); node != nil; node = r.ent.Readable.Next(node) {
		if node.Owner.Kind == memory.Piece && d.Addr < node.Hi && memory.End(d.Addr, d.N) > node.Lo {
			pieces++
		}
		if d.Addr < node.Lo || memory.End(d.Addr, d.N) > node.Hi {
			continue
		}
		if node.Owner.Kind == memory.Piece {
			best.Consider(r.ent, node, d, r.regs.Limits().MRRS)
			continue
		}
		if r.ringRead(node, d, false) {
			return
		}
		ring = node
	}
	d.Shared = pieces > 1
	switch {
	case best.Entry != nil:
		r.pieceRead(best.Entry, best.Piece, d)
	case ring != nil:
		r.ringRead(ring, d, true)
	case r.ent.Spread(d):
		r.log.AddCrossing(r.domainOf(d))
	case r.acceptPushes():
		r.attribute(d)
	case r.besideRing(d):
	default:
		r.log.AddCrossing(verdict.Device)
		r.log.Fail(verdict.Device, "T4", "Address", "posted entries of a ring that were not read, or bytes of a "+
			"piece that were not read",
			fmt.Sprintf("%d B at %#x", d.N, d.Addr), r.hdr.String())
	}
}

// ringRead handles a read of ring entries, which must be whole, posted and not read before [Q3, T2]. It returns
// false for any other read, after recording a mismatch if report is set.
func (r *Referee) ringRead(node *memory.Range[attribution.Entry], d *attribution.Read, report bool) bool {
	ctx, entry, dom, rule := &r.tx.queue(node.Owner.Queue).Ctx, nicspec.WqeBytes, verdict.Txq(int(node.Owner.Queue)),
		"T2"
	rx := node.Owner.Kind == memory.RxRing
	if rx {
		ctx, entry, dom, rule = &r.rx.queue(node.Owner.Queue).Ctx, nicspec.RxDescBytes,
			verdict.Rxq(int(node.Owner.Queue)), "Q3"
	}
	at := int(d.Addr - ctx.RingBase)
	if at%entry != 0 || d.N%entry != 0 {
		if report {
			r.log.AddCrossing(dom)
			r.log.Fail(dom, rule, "Address", fmt.Sprintf("whole entries of %d B", entry),
				fmt.Sprintf("%d B at byte %d of the ring", d.N, at))
		}
		return false
	}
	from := ctx.CI
	if !rx {
		from = r.tx.queue(node.Owner.Queue).Oldest
	}
	first := from + (uint16(at/entry)-from)&(ctx.Size()-1)
	count := uint16(d.N / entry)
	if why := r.unreadable(node.Owner.Queue, rx, first, count); why != "" {
		if report {
			r.log.AddCrossing(dom)
			r.log.Fail(dom, rule, "read", "posted entries that were not read yet",
				fmt.Sprintf("entries %d..%d: %s", first,
					first+count-1, why), fmt.Sprintf("producer index %d, consumer index %d", ctx.PI, ctx.CI),
				r.hdr.String())
		}
		return false
	}
	d.Stray, d.Kind, d.Queue, d.First, d.Count = false, node.Owner.Kind, node.Owner.Queue, first, count
	r.log.AddCrossing(dom)
	if rx {
		q := r.rx.queue(d.Queue)
		d.Epoch = q.epoch
		for i := range count {
			s := q.Slot(first + i)
			s.State, s.Index = rings.Asked, first+i
		}
		return true
	}
	q := r.tx.queue(d.Queue)
	d.Epoch = q.Epoch
	r.checkFetch(q, first, count)
	r.fetchedWhileStopped(q)
	for i := range count {
		r.ent.Unpush(&q.Queue, first+i)
		q.Slot(first + i).State = rings.Asked
	}
	return true
}

// besideRing reports whether a read lies beyond a ring's end, where the next entry would be if the index did not
// wrap. If so, it records a mismatch of the ring's rule, which points at the code that reads rings.
func (r *Referee) besideRing(d *attribution.Read) bool {
	beside := func(dom verdict.Domain, rule string, ctx *core.Queue, from uint16, entry uint64) bool {
		off := d.Addr - ctx.RingBase
		i := uint16(off / entry)
		if off%entry != 0 || uint64(d.N)%entry != 0 || off/entry < uint64(ctx.Size()) || off/entry > math.MaxUint16 ||
			i-from >= ctx.PI-from {
			return false
		}
		r.log.AddCrossing(dom)
		r.log.Fail(dom, rule, "Address", fmt.Sprintf("entry %d in slot %d of the ring", i, i&(ctx.Size()-1)),
			fmt.Sprintf("%d B at byte %d, beyond its end", d.N, off), r.hdr.String())
		return true
	}
	for i := range r.tx.queues {
		if q := &r.tx.queues[i]; q.Open && beside(q.Domain(), "T2", &q.Ctx, q.Oldest, nicspec.WqeBytes) {
			return true
		}
	}
	for i := range r.rx.queues {
		if q := &r.rx.queues[i]; q.open && beside(q.Domain(), "Q3", &q.Ctx, q.Ctx.CI, nicspec.RxDescBytes) {
			return true
		}
	}
	return false
}

// unreadable returns the reason for which the device may not read these entries, empty if it may.
func (r *Referee) unreadable(queue uint16, rx bool, first, count uint16) string {
	var ctx *core.Queue
	var state func(uint16) rings.State
	from := uint16(0)
	if rx {
		q := r.rx.queue(queue)
		ctx, from = &q.Ctx, q.Ctx.CI
		state = func(i uint16) rings.State { return q.Slot(i).State }
	} else {
		q := r.tx.queue(queue)
		ctx, from = &q.Ctx, q.Oldest
		state = func(i uint16) rings.State {
			if s := q.Slot(i); !r.unread(s) {
				return s.State
			}
			return rings.Idle
		}
	}
	for i := range count {
		if state(first+i) != rings.Idle && first+i-from < ctx.PI-from {
			return fmt.Sprintf("entry %d was read before, or its pushed bytes were used", first+i)
		}
	}
	if last := first + count - 1; last-from >= ctx.PI-from && !r.acceptMaybe(queue, rx, last) {
		return fmt.Sprintf("entry %d is not posted", last)
	}
	return ""
}

// acceptMaybe takes a doubtful doorbell as accepted if it posted the entry with index `last`, which the device reads.
func (r *Referee) acceptMaybe(queue uint16, rx bool, last uint16) bool {
	if rx {
		q := r.rx.queue(queue)
		if !q.doubtful || last-q.Ctx.CI >= q.doubtfulPI-q.Ctx.CI {
			return false
		}
		q.rung(q.doubtfulPI, r.now)
		if !q.draining {
			r.regs.Rxq(q.ID).PI = q.Ctx.PI
		}
	} else {
		q := r.tx.queue(queue)
		if !q.doubtful || last-q.Oldest >= q.doubtfulPI-q.Oldest {
			return false
		}
		r.accept(q)
	}
	return true
}

// pieceRead handles a read of a piece.
func (r *Referee) pieceRead(e *attribution.Entry, piece int, d *attribution.Read) {
	r.ent.Ask(e, piece, d)
	r.log.AddCrossing(e.Queue.Domain())
	r.checkTurn(e, d)
	r.checkWholeRead(e, d)
	r.checkPushedEarly(e, "a read")
}
