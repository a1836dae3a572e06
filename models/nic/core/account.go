package core

import "nictwin/models/nic/nicspec"

// Account is one credit account [A1].
type Account struct {
	Balance uint32 // credits, 24 bits
	Latch   bool   // a frame without credit makes the state Slow
	Slow    bool   // state of the account
	Drawn   uint32 // credits drawn since the account was set
	Seq     uint32 // account_seq of the next frame
}

// AccountUse is a rule's use of an account [A2].
type AccountUse struct {
	On    bool // the frame draws on one
	ID    uint8
	Queue uint16 // the slow queue
}

// Fast reports whether a frame taken now goes the fast way [A2].
func (a *Account) Fast() bool { return !a.Slow && a.Balance > 0 }

// Look updates the state for a frame that is taken, even if it is dropped later [A2]. It reports
// whether the frame goes the fast way.
func (a *Account) Look() (fast bool) {
	fast = a.Fast()
	a.Slow = a.Slow || a.Latch && !fast
	return fast
}

// Draw accounts for a frame that is delivered [A3] and returns its account_seq.
func (a *Account) Draw(fast bool) (seq uint32) {
	if fast {
		a.Balance--
		a.Drawn++
	}
	a.Seq++
	return a.Seq - 1
}

// Bits of a write of ACCOUNT_CREDIT.
const (
	creditBits   = nicspec.CreditMax
	creditTake   = 1 << 30
	creditResume = 1 << 31
)

// Credit applies a write of ACCOUNT_CREDIT [A5].
func (a *Account) Credit(v uint32) {
	n := v & creditBits
	if v&creditTake != 0 {
		a.Balance -= min(n, a.Balance)
	} else {
		a.Balance = min(a.Balance+n, nicspec.CreditMax)
	}
	a.Slow = a.Slow && v&creditResume == 0
}

// credit returns what ACCOUNT_CREDIT reads.
func (a *Account) credit() uint32 {
	if a.Slow {
		return a.Balance | 1<<31
	}
	return a.Balance
}

// Account returns the state of an account, nil beyond the build.
func (r *Regs) Account(i int) *Account {
	if uint(i) >= uint(len(r.accounts)) {
		return nil
	}
	return &r.accounts[i]
}

// writeAccount stores an entry of table Account.
func (r *Regs) writeAccount(b []byte, e *Effect) {
	f := nicspec.DecodeAccountEntry(b)
	if f.Balance > nicspec.CreditMax || f.Latch > 1 {
		e.Status = nicspec.TableStatusBadValue
		return
	}
	r.accounts[e.Index] = Account{Balance: f.Balance, Latch: f.Latch == 1}
	e.Kind = EffectAccountWritten
}

func (a *Account) encode(dst []byte) {
	f := nicspec.AccountEntryFields{Balance: a.Balance, Latch: bit(a.Latch, 0), Slow: bit(a.Slow, 0), Drawn: a.Drawn,
		Seq: a.Seq}
	f.Encode(dst)
}
