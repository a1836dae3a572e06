package core

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

func TestAccountRunsOut(t *testing.T) {
	for _, latch := range []bool{false, true} {
		a := Account{Balance: 2, Latch: latch}
		for i, fast := range []bool{true, true, false} {
			require.Equal(t, fast, a.Look())
			require.EqualValues(t, i, a.Draw(fast))
		}
		require.Equal(t, Account{Latch: latch, Slow: latch, Drawn: 2, Seq: 3}, a)
		a.Credit(5)
		require.Equal(t, !latch, a.Fast(), "latch %v: credit alone does not resume", latch)
		a.Credit(creditResume)
		require.True(t, a.Fast())
		require.EqualValues(t, 5, a.Balance)
	}
}

func TestCreditStopsAtItsEnds(t *testing.T) {
	a := Account{Balance: 10}
	a.Credit(nicspec.CreditMax)
	require.EqualValues(t, nicspec.CreditMax, a.Balance)
	a.Credit(creditTake | nicspec.CreditMax - 3)
	require.EqualValues(t, 3, a.Balance)
	a.Credit(creditTake | creditResume | 4)
	require.Zero(t, a.Balance)
	a.Credit(0x3f000000) // reserved bits
	require.Zero(t, a.Balance)
}

func TestAccountRegistersAndRules(t *testing.T) {
	spec := nicspec.DefaultBuild()
	spec.Parts = nicspec.PartAccounts
	r := NewRegs(spec)
	write := func(table nicspec.Table, i int, entry []byte) nicspec.TableStatus {
		for w := range len(entry) / 4 {
			r.Write32(nicspec.RegTblData(w), binary.LittleEndian.Uint32(entry[4*w:]))
		}
		return r.Write32(nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(nicspec.TableOpWrite, table, i))).Status
	}
	rule := func(f nicspec.RuleEntryFields) nicspec.TableStatus {
		var b [nicspec.RuleEntrySize]byte
		f.Encode(b[:])
		return write(nicspec.TableRule, 1, b[:])
	}
	account := func(f nicspec.AccountEntryFields) nicspec.TableStatus {
		var b [nicspec.AccountEntrySize]byte
		f.Encode(b[:])
		return write(nicspec.TableAccount, 63, b[:])
	}
	const bad, ok = nicspec.TableStatusBadValue, nicspec.TableStatusOk
	queue := nicspec.ActionQueue
	require.Equal(t, ok, rule(nicspec.RuleEntryFields{Action: queue, AccountEn: 1, Account: 63, SlowQueue: 63}))
	require.Equal(t, bad, rule(nicspec.RuleEntryFields{Action: queue, AccountEn: 2}))
	require.Equal(t, bad, rule(nicspec.RuleEntryFields{Action: queue, AccountEn: 1, Account: 64}))
	require.Equal(t, bad, rule(nicspec.RuleEntryFields{Action: queue, AccountEn: 1, SlowQueue: 64}))
	require.Equal(t, bad, rule(nicspec.RuleEntryFields{AccountEn: 1}), "a drop draws on nothing")
	require.Equal(t, ok, rule(nicspec.RuleEntryFields{Account: 99, SlowQueue: 999}), "ignored")

	require.Equal(t, ok,
		account(nicspec.AccountEntryFields{Balance: nicspec.CreditMax, Latch: 1, Slow: 1, Drawn: 3, Seq: 4}))
	require.Equal(t, Account{Balance: nicspec.CreditMax, Latch: true}, *r.Account(63))
	require.Equal(t, bad, account(nicspec.AccountEntryFields{Balance: nicspec.CreditMax + 1}))
	require.Equal(t, bad, account(nicspec.AccountEntryFields{Latch: 2}))
	require.Equal(t, nicspec.TableStatusBadIndex, write(nicspec.TableAccount, 64, nil))
	r.Write32(nicspec.RegAccountCredit(63), creditTake|nicspec.CreditMax)
	r.Account(63).Look()
	require.EqualValues(t, 1<<31, r.Read32(nicspec.RegAccountCredit(63)))
	r.Write32(nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(nicspec.TableOpRead, nicspec.TableAccount, 63)))
	require.EqualValues(t, 0x101, r.Read32(nicspec.RegTblData(1)), "latch and state")

	spec.Parts = 0
	r = NewRegs(spec)
	r.Write32(nicspec.RegAccountCredit(3), 7)
	require.Zero(t, r.Read32(nicspec.RegAccountCredit(3)))
	require.Nil(t, r.Account(3))
	require.Equal(t, nicspec.TableStatusNotBuilt, rule(nicspec.RuleEntryFields{Action: queue, AccountEn: 2}))
}
