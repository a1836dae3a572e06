package driver

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
)

// Bits of ACCOUNT_CREDIT [A5].
const (
	creditTake   = 1 << 30
	creditResume = 1 << 31
	creditSlow   = 1 << 31 // read value: the account is in state Slow
)

func (d *Driver) account(a int, credits int) error {
	if err := d.needPart(nicspec.PartAccounts, "credit account", "accounts"); err != nil {
		return err
	}
	if credits < 0 || credits > nicspec.CreditMax {
		return errors.Join(checkIndex("account", a, nicspec.NumAccounts),
			fmt.Errorf("driver: account %d: %d credits: want 0 to %d", a, credits, nicspec.CreditMax))
	}
	return checkIndex("account", a, nicspec.NumAccounts)
}

// SetAccount sets an account's balance and makes it Fast; drawn and seq restart at 0 [A1]. With latch, once a frame has
// found no credit, all frames take the slow path until ResumeAccount.
func (d *Driver) SetAccount(a, balance int, latch bool) error {
	if err := d.account(a, balance); err != nil {
		return err
	}
	f := nicspec.AccountEntryFields{Balance: uint32(balance)}
	if latch {
		f.Latch = 1
	}
	var entry [nicspec.AccountEntrySize]byte
	f.Encode(entry[:])
	return d.WriteTable(nicspec.TableAccount, a, entry[:])
}

// AddCredit adds to an account's balance at once, without a command [A5]. The balance saturates at 2^24 - 1.
func (d *Driver) AddCredit(a, credits int) error { return d.credit(d.bus, a, credits, 0) }

// AddCreditBy is AddCredit through the caller's own bus, such as a queue's.
func (d *Driver) AddCreditBy(b Bus, a, credits int) error { return d.credit(b, a, credits, 0) }

// TakeCredit subtracts from an account's balance at once. The balance saturates at 0.
func (d *Driver) TakeCredit(a, credits int) error { return d.credit(d.bus, a, credits, creditTake) }

// TakeCreditBy is TakeCredit through the caller's own bus.
func (d *Driver) TakeCreditBy(b Bus, a, credits int) error {
	return d.credit(b, a, credits, creditTake)
}

// ResumeAccount adds to an account's balance and makes it Fast, at once and atomically.
func (d *Driver) ResumeAccount(a, credits int) error { return d.ResumeAccountBy(d.bus, a, credits) }

// ResumeAccountBy is ResumeAccount through the caller's own bus.
func (d *Driver) ResumeAccountBy(b Bus, a, credits int) error {
	return d.credit(b, a, credits, creditResume)
}

func (d *Driver) credit(b Bus, a, credits int, how uint32) error {
	if err := d.account(a, credits); err != nil {
		return err
	}
	d.write32(b, nicspec.RegAccountCredit(a), uint32(credits)|how)
	return nil
}

// ReadCredit reads an account's balance and state.
func (d *Driver) ReadCredit(a int, done func(balance int, slow bool)) error {
	if err := d.account(a, 0); err != nil {
		return err
	}
	d.ReadReg(nicspec.RegAccountCredit(a), 4, func(v uint64) { done(int(v&nicspec.CreditMax), v&creditSlow != 0) })
	return nil
}

// ReadAccount reads all fields of an account.
func (d *Driver) ReadAccount(a int, done func(nicspec.AccountEntryFields)) error {
	if err := d.account(a, 0); err != nil {
		return err
	}
	return d.ReadTable(nicspec.TableAccount, a, nicspec.AccountEntrySize,
		func(b []byte) { done(nicspec.DecodeAccountEntry(b)) })
}
