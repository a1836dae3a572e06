package transport

import (
	"fmt"

	"nictwin/stack/verbs"
)

// next lists the states that may follow each state, besides RESET and ERR (IBTA 10.3.1).
var next = [...][]verbs.State{
	verbs.QPSReset: {verbs.QPSInit},
	verbs.QPSInit:  {verbs.QPSInit, verbs.QPSRTR},
	verbs.QPSRTR:   {verbs.QPSRTS},
	verbs.QPSRTS:   {verbs.QPSRTS, verbs.QPSSQD},
	verbs.QPSSQD:   {verbs.QPSSQD, verbs.QPSRTS},
	verbs.QPSSQE:   {verbs.QPSRTS},
	verbs.QPSErr:   nil,
}

// change checks a transition and performs it.
func (b *base) change(to verbs.State, a *Attr) error {
	if !b.allowsTransition(to) {
		return fmt.Errorf("%w: %v to %v", ErrState, b.state, to)
	}
	connects := b.state == verbs.QPSInit && to == verbs.QPSRTR || b.state == verbs.QPSRTR
	if connects && to != verbs.QPSErr && to != verbs.QPSReset {
		if a == nil {
			return fmt.Errorf("%w: %v to %v without attributes", ErrState, b.state, to)
		}
		if err := a.Validate(b.spec.Kind); err != nil {
			return err
		}
		b.attr = *a
		if b.spec.Kind != UD {
			b.ah.init(a.Path)
		}
	}
	b.state = to
	return nil
}

// allowsTransition reports whether the current state may be followed by another.
func (b *base) allowsTransition(to verbs.State) bool {
	if to == verbs.QPSReset || to == verbs.QPSErr {
		return true
	}
	for _, s := range next[b.state] {
		if s == to {
			return true
		}
	}
	return false
}

// reset discards all posted requests, without completions. The ends of copies in flight will be ignored.
func (b *base) reset() {
	for b.sq.Len() > 0 {
		r := b.sq.Pop()
		r.AH = nil
		b.spare = append(b.spare, r)
		b.ended++
	}
	for b.done.Len() > 0 {
		b.done.Pop()
	}
	if r := b.in.recv; r != nil {
		b.rq.free(r)
	}
	b.in, b.lastWQESeen, b.cnpDue = inbound{}, false, false
	for !b.shared && b.rq.Len() > 0 {
		b.rq.free(b.rq.take())
	}
}

// receives reports whether the current state accepts packets.
func (b *base) receives() bool {
	switch b.state {
	case verbs.QPSRTR, verbs.QPSRTS, verbs.QPSSQD, verbs.QPSSQE:
		return true
	}
	return false
}

// wellFormed checks the header fields whose errors drop a packet silently (IBTA 9.6.1).
func (b *base) wellFormed(p *Packet) bool {
	const full = 0x8000 // full membership bit of a P_Key; two limited members must not communicate (IBTA 10.9.3)
	k := p.BTH.PKey
	return p.BTH.TVer == 0 && k&^full == b.spec.PKey&^full && (k|b.spec.PKey)&full != 0
}
