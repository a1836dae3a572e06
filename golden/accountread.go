package golden

import (
	"fmt"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

func (s *span) add(lo, hi uint32) { s.lo, s.hi = min(s.lo, lo), max(s.hi, hi) }

func (s span) has(v uint32) bool { return v >= s.lo && v <= s.hi }

func (s span) String() string { return between(uint64(s.lo), uint64(s.hi)) }

// accountAt is the account whose credit register stands at an offset, nil if
// none does.
func (r *Referee) accountAt(off uint32) *account {
	i := (int(off) - nicspec.RegAccountCreditBase) / nicspec.RegAccountCreditStride
	if int(off) < nicspec.RegAccountCreditBase || i >= len(r.rx.accounts) {
		return nil
	}
	return &r.rx.accounts[i]
}

// accountRange is what a read sees now that was accepted in a cycle: the writes
// before it, and none or all of the frames on their way.
func (r *Referee) accountRange(a *account, asked int64) accountRange {
	var c accountRange
	none := span{lo: 1<<32 - 1}
	c.balance, c.drawn, c.seq = none, none, none
	under := uint32(a.pending + len(a.early) + r.rx.unsure)
	for i := range a.states {
		s := a.states[i]
		for at := s.applied - a.gone; ; at++ {
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

func (c *accountRange) see(s *core.Account, under uint32) {
	least := s.Balance - min(under, s.Balance)
	c.balance.add(least, s.Balance)
	c.drawn.add(s.Drawn, s.Drawn+under)
	c.seq.add(s.Seq, s.Seq+under)
	c.slow = c.slow || s.Slow || s.Latch && under > 0 && least == 0
	c.fast = c.fast || !s.Slow
}

// join adds what a read may show that was still on its way.
func (c *accountRange) join(o *accountRange) {
	c.balance.add(o.balance.lo, o.balance.hi)
	c.drawn.add(o.drawn.lo, o.drawn.hi)
	c.seq.add(o.seq.lo, o.seq.hi)
	c.slow, c.fast = c.slow || o.slow, c.fast || o.fast
}

// state reports whether the account may be in a state.
func (c *accountRange) state(slow bool) bool { return slow && c.slow || !slow && c.fast }

// creditRead compares a read of ACCOUNT_CREDIT [A5]; could is what it might
// show when it was accepted.
func (r *Referee) creditRead(a *account, could accountRange, asked int64, off, got uint32) {
	now := r.accountRange(a, asked)
	could.join(&now)
	const slowBit = 1 << 31
	if v := got &^ slowBit; !could.balance.has(v) || !could.state(got&slowBit != 0) {
		r.failRegister("A5", off, fmt.Sprintf("balance %v, slow %v", could.balance, could.slow), fmt.Sprintf("%#x", got))
	}
}

// accountWord compares a word of an account's entry.
func (r *Referee) accountWord(f *entryRead, off uint32, class wordClass, want, got uint32) {
	now := r.accountRange(&r.rx.accounts[f.queue], f.cycle)
	could := f.account
	could.join(&now)
	ok, text := false, ""
	switch class {
	case wordBalance:
		ok, text = could.balance.has(got), could.balance.String()
	case wordSlow:
		const slowByte = 0xff00
		ok = (got^want)&^slowByte == 0 && got&slowByte <= 1<<8 && could.state(got&slowByte != 0)
		text = fmt.Sprintf("%#x, slow %v", want&^slowByte, could.slow)
	case wordDrawn:
		ok, text = could.drawn.has(got), could.drawn.String()
	case wordSeq:
		ok, text = could.seq.has(got), could.seq.String()
	}
	if !ok {
		r.failRegister("A1", off, text, fmt.Sprintf("%#x", got))
	}
}
