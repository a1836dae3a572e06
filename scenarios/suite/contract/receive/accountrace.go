package receive

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// AccountRaceChecks write accounts and credits while frames draw on them.
var AccountRaceChecks = []kit.Check{
	{Name: "accounts/credits while frames draw", Rules: "A3 A5", Stalls: kit.Calm, Run: creditsWhileDrawing},
	{Name: "accounts/written while frames wait", Rules: "A1 A3 A4", Stalls: kit.Calm, Run: writtenWhileWaiting},
}

// writtenWhileWaiting rewrites an account while frames that drew on it wait for their descriptors. Each frame keeps the
// account_seq that it drew, and frames after the write are numbered from 0.
func writtenWhileWaiting(r *kit.Rig) {
	const n = 3
	a := &Account{Index: 7, Balance: 9, Rule: 1, FastQ: 1, SlowQ: 2}
	OpenPosted(r, a.SlowQ)
	x := r.OpenRx(a.FastQ, 5, nil)
	SetAccount(r, a)
	for range 4 {
		r.Bed.Faults.Clear()
		require.NoError(r.T,
			r.Bed.Faults.Add(inject.Fault{From: x.At(x.PI), To: x.At(x.PI) + 1, Count: 1, Delay: r.Bed.Cycles(2000)}))
		r.Post(x, n)
		for range n {
			r.Play(kit.FrameTo(a.Index, kit.FrameOf(64)))
		}
		r.Run(600)
		a.Balance += 5
		SetAccount(r, a)
		r.Quiet()
		left := n
		for r.Next(&x.Ring) != nil {
			left--
		}
		require.Zero(r.T, left, "frames not delivered on the fast path")
	}
}

// creditsWhileDrawing writes credits as fast as possible while frames draw credits one after another: neither a write
// nor a draw may be lost when both happen in one cycle.
func creditsWhileDrawing(r *kit.Rig) {
	a := &Account{Index: 3, Balance: 1 << 20, Rule: 4, FastQ: 1, SlowQ: 2}
	OpenPosted(r, a.FastQ, a.SlowQ)
	SetAccount(r, a)
	for round := range 4 {
		const n = 90
		for range n {
			r.Play(kit.FrameTo(a.Index, kit.FrameOf(64)))
		}
		r.Run(round)
		for k := range uint32(2 * n) {
			r.Write(nicspec.RegAccountCredit(a.Index), k%5<<8)
			a.Balance += k % 5 << 8
		}
		r.Until("the frames are delivered", func() bool {
			for r.Next(&r.Rx[a.FastQ].Ring) != nil {
				a.Draw(false)
			}
			return a.drawn == uint32(n*(round+1))
		})
		r.Quiet()
		CheckAccount(r, a)
		require.Nil(r.T, r.Next(&r.Rx[a.SlowQ].Ring))
		r.Post(r.Rx[a.FastQ], n)
	}
}
