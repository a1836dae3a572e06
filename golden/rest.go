package golden

import (
	"fmt"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
)

// restSide is what is known of the pin busy [B8]: rests are told of when they,
// or a part of them, are over, and most of what the device holds shows when it holds it no more.
type restSide struct {
	seen int64 // latest cycle in which the pin was 0

	held int64 // latest cycle in which the device held something:
	what string
	dom  Domain

	data int64 // the latest frame to be sent, or piece of a copy, was read by then
}

func (s *restSide) init() { s.seen, s.held, s.data = never, never, never }

// Rest takes a time in which the pin busy was 0 [B8]. It comes after the
// crossings up to its last cycle. A referee that is told of none does not judge
// the pin.
func (r *Referee) Rest(x boundary.Rest) {
	if r.fault != "" {
		return
	}
	if x.First > x.Last || x.Last < r.now {
		r.fault = fmt.Sprintf("rest from cycle %d to %d is out of order after cycle %d", x.First, x.Last, r.now)
		return
	}
	s := &r.rest
	if s.held >= x.First {
		r.failRest(s.dom, s.what, s.held)
	}
	if r.rd.open > 0 {
		r.readsAt(x)
	}
	s.seen = x.Last
}

var _ boundary.RestObserver = (*Referee)(nil).Rest

// holds says that the device held something from the cycle after one on, up to
// another.
func (r *Referee) holds(d Domain, what string, since, until int64) {
	s := &r.rest
	if since >= until {
		return
	}
	if s.seen > since {
		r.failRest(d, what, s.seen)
	}
	if until > s.held {
		s.held, s.what, s.dom = until, what, d
	}
}

// leaves says that something leaves for which bytes were read. What waits for
// CTRL.tx_enable does not count, wherever it waits [B8].
func (r *Referee) leaves(d Domain, what string) {
	if r.tx.offSince == forever {
		r.holds(d, what, r.rest.data, r.x.First)
	}
}

// txEnabled notes that entries may go on that waited for CTRL.tx_enable.
func (r *Referee) txEnabled() { r.rest.data = max(r.rest.data, r.now+nicspec.VisibleCycles) }

// readsAt checks that no read was outstanding during a rest.
func (r *Referee) readsAt(x boundary.Rest) {
	for i := range r.rd.tags {
		d := &r.rd.tags[i]
		if at := max(x.First, d.issued+1); d.open && at <= x.Last && at < d.issued+d.tLo {
			r.failRest(r.domainOf(d), "a read that is outstanding", at)
			return
		}
	}
}

func (r *Referee) failRest(d Domain, what string, cycle int64) {
	m := r.fail(d, "B8", "busy", "1: the device holds "+what, "0")
	m.Cycle = cycle
}
