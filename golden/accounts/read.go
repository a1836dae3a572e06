package accounts

import (
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
)

// Range bounds the values that a read of an account may return.
type Range struct {
	Balance, Drawn, Seq Span
	Slow, Fast          bool // the account may be slow; it may be fast
}

// Span is a range of numbers, from lo to hi.
type Span struct{ lo, hi uint32 }

func (s *Span) add(lo, hi uint32) { s.lo, s.hi = min(s.lo, lo), max(s.hi, hi) }

// Has reports whether a number lies in the span.
func (s Span) Has(v uint32) bool { return v >= s.lo && v <= s.hi }

func (s Span) String() string { return verdict.Between(uint64(s.lo), uint64(s.hi)) }

// Range returns the bounds for the values that a read may show. The read was accepted in cycle `asked` and is answered
// now: it shows the writes accepted before it, and any number of the frames under way. `unsure` is the number of
// frames under way whose queue is not known yet.
func (a *Account) Range(asked int64, unsure int) Range {
	var c Range
	none := Span{lo: 1<<32 - 1}
	c.Balance, c.Drawn, c.Seq = none, none, none
	under := uint32(a.Pending + len(a.early) + unsure)
	for i := range a.states {
		s := a.states[i]
		for at := s.applied - a.forgotten; ; at++ {
			if at >= len(a.writes) || a.writes[at].cycle > asked {
				c.see(&s.Account, under)
			}
			if at >= len(a.writes) {
				break
			}
			s.apply(&a.writes[at])
		}
	}
	return c
}

func (c *Range) see(s *core.Account, under uint32) {
	least := s.Balance - min(under, s.Balance)
	c.Balance.add(least, s.Balance)
	c.Drawn.add(s.Drawn, s.Drawn+under)
	c.Seq.add(s.Seq, s.Seq+under)
	c.Slow = c.Slow || s.Slow || s.Latch && under > 0 && least == 0
	c.Fast = c.Fast || !s.Slow
}

// Join widens c by the bounds o of a read at an earlier time.
func (c *Range) Join(o *Range) {
	c.Balance.add(o.Balance.lo, o.Balance.hi)
	c.Drawn.add(o.Drawn.lo, o.Drawn.hi)
	c.Seq.add(o.Seq.lo, o.Seq.hi)
	c.Slow, c.Fast = c.Slow || o.Slow, c.Fast || o.Fast
}

// State reports whether the account may be in the given state.
func (c *Range) State(slow bool) bool { return slow && c.Slow || !slow && c.Fast }
