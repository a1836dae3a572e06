package receive

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// accountOrder plays frames on all ports while credits are drawn and returned. Sorting by account_seq must merge the
// entries of the account's two rings, for its fast and its slow path, into one sequence.
func accountOrder(r *kit.Rig) {
	const n = 240
	r.Write(nicspec.RegCtrl, 1)
	rings := []*kit.RxRing{r.OpenRx(1, 9, nil), r.OpenRx(2, 9, nil)}
	for _, x := range rings {
		r.Post(x, 2*n)
	}
	a := &Account{Index: 11, Balance: 3, Latch: true, Rule: 3, FastQ: 1, SlowQ: 2}
	SetAccount(r, a)
	rng := rand.New(rand.NewPCG(52, 9))
	for i := range n {
		for p := range r.Sizes.Ports {
			r.PlayOn(p, kit.FrameTo(11, kit.FrameOf(60+rng.IntN(300))))
		}
		if i%8 == 7 {
			r.Write(nicspec.RegAccountCredit(11),
				uint32(rng.IntN(12))|uint32(rng.IntN(4)/3)<<30|uint32(rng.IntN(2))<<31)
			r.Run(rng.IntN(900))
		}
	}
	r.Quiet()
	total := n * r.Sizes.Ports
	merged, slow := make([]nicspec.RxCqe, total), 0
	for i, x := range rings {
		for e := nicspec.RxCqe(r.Next(&x.Ring)); e != nil; e = r.Next(&x.Ring) {
			require.Less(r.T, int(e.AccountSeq()), total)
			require.Nil(r.T, merged[e.AccountSeq()], "account_seq %d occurs twice", e.AccountSeq())
			require.Equal(r.T, i == 1, e.SlowPath())
			merged[e.AccountSeq()] = e
			slow += i
		}
	}
	var ordinals [2]int
	for i, e := range merged {
		require.NotNil(r.T, e, "account_seq %d is in neither ring", i)
		require.EqualValues(r.T, ordinals[e.Port()], e.PortSeq(), "ordinal of the frame with account_seq %d", i)
		ordinals[e.Port()]++
	}
	got := nicspec.DecodeAccountEntry(r.Entry(nicspec.TableAccount, 11))
	require.Equal(r.T, [2]int{total, total - slow}, [2]int{int(got.Seq), int(got.Drawn)})
	require.Positive(r.T, slow)
	require.Positive(r.T, total-slow)
}

// accountGroups uses accounts whose fast path is distributed over queues by RSS.
func accountGroups(r *kit.Rig) {
	rssKeyAt(r, 9)
	r.Write(nicspec.RegCtrl, 1)
	spread(r, 3, entriesOf(250, 4))
	OpenPosted(r, 9)
	a := &Account{Index: 21, Balance: 10, Rule: 6, SlowQ: 9, group: 250, rssLog: 4}
	SetAccount(r, a)
	drawFrames(r, a, 14)
	credit(r, a, 20, false, false)
	drawFrames(r, a, 25)
	CheckAccount(r, a)
}
