package core

import "nictwin/models/nic/nicspec"

// Account is one credit account [A1].
type Account struct {
	Balance uint32 // credits, 24 bits
	Latch   bool   // the state becomes Slow when a frame finds no credit
	Slow    bool   // state of the account
	Drawn   uint32 // credits drawn since the account was set
	Seq     uint32 // account_seq of the next frame
}

// AccountUse is a rule's use of an account [A2].
type AccountUse struct {
	On    bool   // the rule names an account
	ID    uint8  // number of the account
	Queue uint16 // queue for frames that go the slow way
}

// Fast reports whether a frame taken now goes the fast way [A2].
func (a *Account) Fast() bool { return !a.Slow && a.Balance > 0 }

// Look applies [A2] to a frame that is taken out of the receive buffer, even if it is dropped
// later: the state may become Slow. It reports whether the frame goes the fast way.
func (a *Account) Look() (fast bool) {
	fast = a.Fast()
	a.Slow = a.Slow || a.Latch && !fast
	return fast
}

// Draw takes a credit for a delivered frame if that goes to the fast ring, and returns the frame's account_seq [A3].
func (a *Account) Draw(fast bool) (seq uint32) {
	if fast {
		a.Balance--
		a.Drawn++
	}
	a.Seq++
	return a.Seq - 1
}

// Fields of a value written to ACCOUNT_CREDIT.
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

// credit returns the value that a read of ACCOUNT_CREDIT gives.
func (a *Account) credit() uint32 {
	if a.Slow {
		return a.Balance | 1<<31
	}
	return a.Balance
}

// Account returns the state of account i, or nil if the build has no such account.
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
