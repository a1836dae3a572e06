package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// A write is seen by every frame that came in after its window, by none that
// was delivered before it, and by any between as it likes [A5].
func TestAccountWindow(t *testing.T) {
	const wrote = 1000
	for _, x := range []struct {
		last, out  int64
		fast, slow bool
	}{
		{wrote - 50, wrote - 1, false, true},
		{wrote - 50, wrote, true, true},
		{wrote + nicspec.VisibleCycles, wrote + 500, true, true},
		{wrote + nicspec.VisibleCycles + 1, wrote + 500, true, false},
	} {
		for _, slow := range []bool{false, true} {
			a := account{states: make([]accountState, 1), since: never, writes: []accountWrite{{cycle: wrote, credit: 1}}}
			ok := a.step(&taken{last: x.last, out: x.out, drew: true, slow: slow})
			require.Equal(t, slow && x.slow || !slow && x.fast, ok, "%+v, slow %v", x, slow)
		}
	}
}

// What one frame shows of the order of writes holds for the next.
func TestAccountKeepsWhatFramesShow(t *testing.T) {
	a := account{states: []accountState{{Account: core.Account{Balance: 1}}}, since: never,
		writes: []accountWrite{{cycle: 1000, credit: 1<<30 | 5}, {cycle: 1001, credit: 1}}}
	take := func(seq uint32, slow bool) bool {
		return a.step(&taken{last: 990, out: 1010, drew: true, seq: seq, slow: slow})
	}
	require.True(t, take(0, true), "between the writes")
	require.True(t, take(1, false), "after both")
	require.False(t, take(2, false), "and the credit is gone")
	require.True(t, take(2, true))
	require.Len(t, a.states, 1)
	require.Equal(t, accountState{core.Account{Drawn: 1, Seq: 3}, 2}, a.states[0])
}

// A frame that was dropped may have latched the account.
func TestDroppedFrameLatches(t *testing.T) {
	for _, others := range []bool{false, true} {
		a := account{states: []accountState{{Account: core.Account{Latch: true}}}, since: never,
			writes: []accountWrite{{cycle: 1000, credit: 5}}}
		require.Equal(t, others, a.step(&taken{last: 2000, out: 2010, others: others, drew: true, slow: true}))
	}
	a := account{states: []accountState{{Account: core.Account{Latch: true}}}, since: never}
	k := taken{last: 10, out: 20, certain: true, fast: 1, behind: 0}
	require.False(t, a.step(&k), "no cause on the slow way: it had to be delivered")
	k = taken{last: 10, out: 20, certain: true, fast: 1, behind: 2}
	require.True(t, a.step(&k))
	require.EqualValues(t, 2, k.why)
	require.True(t, a.states[0].Slow)
}

// Completion entries of the two ways leave in any order [A4].
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

// accountSeq is the account_seq of a completion entry of the test's account.
func accountSeq(x *boundary.Crossing) (uint32, bool) {
	if !rxCqe(2)(x) && !rxCqe(3)(x) {
		return 0, false
	}
	return nicspec.RxCqe(x.TLP.Data).AccountSeq(), true
}

// A frame that came in after the window of a table write shows that the account
// was set, though none with a number of before is missing.
func TestAccountSetBeforeAFrame(t *testing.T) {
	o := defaultRig()
	o.spec.Parts = nicspec.PartAccounts
	r, err := New(DefaultConfig(o.spec.Build))
	require.NoError(t, err)
	a := &r.rx.accounts[0]
	a.states[0].Seq = 1
	r.now = 578
	r.accountWritten(0, 0, &core.Account{Balance: 1, Latch: true})
	r.now = 736
	r.accountDelivered(a, accountEvent{frame: 1, last: 719, out: 736})
	require.Empty(t, a.early)
	require.Len(t, a.states, 1)
	require.Equal(t, core.Account{Latch: true, Drawn: 1, Seq: 1}, a.states[0].Account)
	require.Zero(t, r.log.Mismatches())
}

// A frame that may have drawn on an account or not is held against the account as it was set, long ago though no frame has
// shown that yet, or just now.
func TestRivalOfAnAccountThatIsSet(t *testing.T) {
	for _, now := range []int64{600, 1000} {
		r, err := New(DefaultConfig(defaultRig().spec.Build))
		require.NoError(t, err)
		a := &r.rx.accounts[0]
		a.states[0].Seq = 1
		r.now = 578
		r.accountWritten(0, 0, &core.Account{Balance: 5})
		r.now = now
		alts := []core.RxVerdict{{Rule: 2, Drop: core.NoDrop}, {Rule: 2, Drop: core.NoDrop}}
		alts[1].Account.On, alts[1].Account.Queue = true, 1
		f := &rxFrame{last: now - 10, alts: alts}
		require.True(t, r.rivals(f, &alts[0], r.rx.queue(0), make(nicspec.RxCqe, nicspec.RxCqeSize)))
		drawn := 0
		for _, s := range a.states {
			drawn += int(s.Drawn)
		}
		require.Equal(t, []int{2, 1}, []int{len(a.states), drawn}, "drawn on since it was set, or not: %+v", a.states)
	}
}
