package contract

import (
	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var accountRaceChecks = []check{{"accounts/credits while frames draw", "A3 A5", calm, creditsWhileDrawing}}

// creditsWhileDrawing writes credits as fast as they go while frames draw one after another: neither gets lost, whichever meet.
func creditsWhileDrawing(r *rig) {
	a := &account{index: 3, balance: 1 << 20, rule: 4, fastQ: 1, slowQ: 2}
	r.ways(a.fastQ, a.slowQ)
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
