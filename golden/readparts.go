package golden

import (
	"fmt"

	"nictwin/golden/memory"
	"nictwin/golden/verdict"
)

// send lets bytes of a read go to a piece.
func (d *readReq) send(t pieceDest) {
	d.dest = append(d.dest, t)
	t.entry.reading++
}

// release lets bytes of a read no longer go to a range of a piece.
func (d *readReq) release(e *txEntry, piece, lo, hi int) {
	for k := len(d.dest) - 1; k >= 0; k-- {
		t := d.dest[k]
		a, b := max(lo, t.lo), min(hi, t.hi)
		if t.entry != e || t.piece != piece || a >= b {
			continue
		}
		d.dest = append(d.dest[:k], d.dest[k+1:]...)
		e.reading--
		if t.lo < a {
			d.send(pieceDest{e, piece, t.from, t.lo, a})
		}
		if b < t.hi {
			d.send(pieceDest{e, piece, t.from + b - t.lo, b, t.hi})
		}
	}
}

// quietReads checks that nothing of a queue is being read [Q5].
func (r *Referee) quietReads(dom verdict.Domain, rx bool, queue int, epoch uint32) {
	for i := range r.rd.tags {
		d := &r.rd.tags[i]
		switch {
		case !d.open || d.stray || r.now >= d.issued+d.tLo:
			continue
		case d.kind == memory.Piece:
			if rx || !r.surelyOf(d, queue) {
				continue
			}
		case int(d.queue) != queue || d.epoch != epoch || (d.kind == memory.RxRing) != rx:
			continue
		}
		r.log.Fail(dom, "Q5", "busy", "1 while a read of the queue is outstanding", "0", fmt.Sprintf("tag %#x: %d B at %#x", i, d.n, d.addr))
	}
}
