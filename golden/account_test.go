package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/arrivals"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// The referee follows an account by account_seq [A4], so it must accept completion entries of the fast and the slow
// queue in either order. The test swaps neighbours of different queues.
func TestAccountEntriesBetweenRings(t *testing.T) {
	cfg, clean := calmParts(t)
	p := newTape(t, clean)
	swapped := 0
	for i := range p.s {
		seq, ok := accountSeq(&p.s[i])
		for k := i + 1; ok && k < len(p.s) && k < i+200; k++ {
			next, same := accountSeq(&p.s[k])
			if !same || next != seq+1 {
				continue
			}
			if rxCqe(2)(&p.s[i]) != rxCqe(2)(&p.s[k]) {
				p.move(i, k)
				p.s[k].First, p.s[k].Last = p.s[k-1].First, p.s[k-1].Last
				swapped++
			}
			break
		}
	}
	require.NotZero(t, swapped)
	got := judge(t, cfg, p.s)
	require.True(t, got.Passed(), "%v", got)
}

// accountSeq returns the account_seq of a completion entry of the test's account.
func accountSeq(x *boundary.Crossing) (uint32, bool) {
	if !rxCqe(2)(x) && !rxCqe(3)(x) {
		return 0, false
	}
	return nicspec.RxCqe(x.TLP.Data).AccountSeq(), true
}

// A rule was written while a frame came in, so the frame may or may not have drawn on an account. If the account is
// then written, the referee must keep both possibilities: while the write may not have taken effect (cycle 600), and
// later, as long as no frame has shown its effect (cycle 1000).
func TestFrameThatMayHaveDrawn(t *testing.T) {
	for _, now := range []int64{600, 1000} {
		r, err := New(DefaultConfig(defaultRig().spec.Build))
		require.NoError(t, err)
		a := &r.rx.accounts[0]
		a.Written(0, 0, &core.Account{Seq: 1})
		r.now = 578
		r.accountWritten(0, 0, &core.Account{Balance: 5})
		r.now = now
		alts := []core.RxVerdict{{Rule: 2, Drop: core.NoDrop}, {Rule: 2, Drop: core.NoDrop}}
		alts[1].Account.On, alts[1].Account.Queue = true, 1
		f := &arrivals.Frame{Last: now - 10, Alts: alts}
		require.True(t, r.passRivals(f, &alts[0], r.rx.queue(0), make(nicspec.RxCqe, nicspec.RxCqeSize)))
		both := a.Range(now, 0)
		require.Equal(t, "0 to 1", both.Drawn.String(), "drawn on since it was set, or not: %s", a.Describe())
		require.Equal(t, "4 to 5", both.Balance.String())
	}
}
