package golden

import (
	"fmt"
	"os"
)

func (r *Referee) dbgPlaces(addr uint64) {
	r.places(addr, func(h place) bool {
		c := r.content(h, 1)
		e := h.entry
		v := -1
		if c.kind == isGot {
			v = int(e.buf.part(e.pieces[h.piece].off+h.at, 1)[0])
		}
		fmt.Printf("   q%d e%d p%d fetched %d over %d left %v ghost %v never %v ended %v send %v st %v | kind %d issued %d tag %x v %d settled %v\n", e.queue.id, e.index, h.piece, e.fetched, e.over, e.left, e.ghost, e.never, e.ended, e.plan.Send, e.plan.Status, c.kind, c.issued, c.tag, v, e.settledAt(h.piece, h.at, 1))
		return false
	})
}

var dbgOn = os.Getenv("DBG") != ""
