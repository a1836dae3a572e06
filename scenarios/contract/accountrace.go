package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/inject"
	"nictwin/models/nicspec"
)

var accountRaceChecks = []check{
	{"accounts/credits while frames draw", "A3 A5", calm, creditsWhileDrawing},
	{"accounts/written while frames wait", "A1 A3 A4", calm, writtenWhileWaiting},
}

// writtenWhileWaiting writes an account anew while frames that draw on it wait for their descriptors: each draws on what it
// found, so that the new numbers begin at 0.
func writtenWhileWaiting(r *rig) {
	const n = 3
	a := &account{index: 7, balance: 9, rule: 1, fastQ: 1, slowQ: 2}
	r.openPosted(a.slowQ)
	x := r.openRx(a.fastQ, 5, nil)
	r.setAccount(a)
	for range 4 {
		r.b.Faults.Clear()
		require.NoError(r.t, r.b.Faults.Add(inject.Fault{From: x.At(x.PI), To: x.At(x.PI) + 1, Count: 1, Delay: r.b.Cycles(2000)}))
		r.post(x, n)
		for range n {
			r.play(to(a.index, frameOf(64)))
		}
		r.run(600)
		a.balance += 5
		r.setAccount(a)
		r.quiet()
		left := n
		for r.next(&x.ring) != nil {
			left--
		}
		require.Zero(r.t, left, "frames that are not delivered the fast way")
	}
}

// creditsWhileDrawing writes credits as fast as they go while frames draw one after another: neither gets lost, whichever meet.
func creditsWhileDrawing(r *rig) {
	a := &account{index: 3, balance: 1 << 20, rule: 4, fastQ: 1, slowQ: 2}
	r.openPosted(a.fastQ, a.slowQ)
	r.setAccount(a)
	for round := range 4 {
		const n = 90
		for range n {
			r.play(to(a.index, frameOf(64)))
		}
		r.run(round)
		for k := range uint32(2 * n) {
			r.write(nicspec.RegAccountCredit(a.index), k%5<<8)
			a.balance += k % 5 << 8
		}
		r.until("the frames are delivered", func() bool {
			for r.next(&r.rx[a.fastQ].ring) != nil {
				a.draw(false)
			}
			return a.drawn == uint32(n*(round+1))
		})
		r.quiet()
		r.stands(a)
		require.Nil(r.t, r.next(&r.rx[a.slowQ].ring))
		r.post(r.rx[a.fastQ], n)
	}
}
