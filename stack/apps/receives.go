package apps

import (
	"errors"

	"nictwin/stack/verbs"
)

// receives is a receive queue: a queue pair's, or one that all queue pairs of a server share.
type receives struct {
	end    *end // whose it is; nil: shared
	side   *side
	area   area
	memory bool // its requests have some
	key    uint32
	total  int // requests that will be posted
	posted int
	spec   *Spec
	post   func([]verbs.RecvWR) (int, error)

	idle []int // slots that no request has, as there was no room for it
	wr   [1]verbs.RecvWR
	sges []verbs.SGE
}

// begin posts a request for each slot.
func (r *receives) begin() {
	for s := range r.area.slots {
		if len(r.idle) > 0 { // there is no room
			r.idle = append(r.idle, s)
		} else {
			r.give(s)
		}
	}
}

// give posts a request with the memory of a slot, unless all have been posted.
func (r *receives) give(slot int) {
	if r.posted >= r.total || r.withheld() || r.end != nil && r.end.stopped {
		return
	}
	n := 0
	if r.memory {
		n = r.area.piece * r.area.pieces
	}
	r.sges = r.area.spans(r.sges[:0], slot, n, max(r.area.piece, 1), r.key)
	r.misuse()
	r.wr[0] = verbs.RecvWR{ID: recvBit | uint64(r.posted)<<slotBits | uint64(slot), SGEs: r.sges}
	_, err := r.post(r.wr[:])
	switch {
	case err == nil:
		r.posted++
	case errors.Is(err, verbs.ENOMEM):
		r.idle = append(r.idle, slot)
		r.side.short = true
	default:
		r.side.refused(r, err)
	}
}

// again posts what found no room, until there is none again: then it returns false.
func (r *receives) again() bool {
	idle := len(r.idle)
	for i := range idle {
		if r.give(r.idle[i]); len(r.idle) > idle {
			r.idle = append(r.idle[:0], r.idle[i+1:]...)
			return false
		}
	}
	r.idle = r.idle[:0]
	return true
}

// misuse does to a request what the spec asks for.
func (r *receives) misuse() {
	x := r.spec.Misuse
	if !r.strikes() || r.posted != x.Message {
		return
	}
	if x.What == BadReceive {
		r.sges[0].LKey ^= strangeKey
		return
	}
	r.sges[0].Length = uint32(r.spec.size(x.Message) - 1 + r.spec.header())
}

// strikes reports whether a request of the queue may be one that the spec wants wrong.
func (r *receives) strikes() bool {
	x := r.spec.Misuse
	return x != nil && x.What.receive() && r.end != nil && r.end.flow == 0 && !r.end.client
}

// withheld reports whether the next request is one that is never posted.
func (r *receives) withheld() bool {
	return r.strikes() && r.spec.Misuse.What == NoReceive && r.posted >= r.spec.Misuse.Message
}

// strangeKey makes another key of one: of a region that nobody has registered.
const strangeKey = 0x00ff_ff00

// header is what a receive request has before the message.
func (s *Spec) header() int {
	if s.Transport == UD {
		return verbs.GRHBytes
	}
	return s.prefix()
}
