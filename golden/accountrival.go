package golden

import (
	"slices"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// rivals looks for other accounts, or none, that a frame may have drawn on which was delivered by a verdict: its rule was
// written while it came in, and its completion entry goes with all of them. Each of them then may have let it pass, or
// not. It reports whether there are any.
func (r *Referee) rivals(f *rxFrame, by *core.RxVerdict, q *rxq, e nicspec.RxCqe) bool {
	var all []*account
	others := false
	for i := range f.alts {
		v := &f.alts[i]
		if v.Rule != by.Rule || v.Roce != by.Roce || !leads(v, q.id) {
			continue
		}
		a := r.rx.accountOf(v)
		others = others || v.Account.On != by.Account.On || v.Account.ID != by.Account.ID
		if a == nil || pathQueue(v, e.SlowPath()) != q.id || slices.Contains(all, a) {
			continue
		}
		if r.ageAccount(a); a.agrees(e.AccountSeq()) == 2 || e.AccountSeq() == 0 && a.toBeSet() {
			all = append(all, a)
		}
	}
	if !others || by.Account.On && (len(all) < 2 || !slices.Contains(all, r.rx.accountOf(by))) {
		return false
	}
	for _, a := range all {
		a.perhaps(&taken{last: f.last, out: r.now, others: true, drew: true, seq: e.AccountSeq(), slow: e.SlowPath()})
	}
	return true
}

// pathQueue is the receive queue of a frame that draws on an account, by the path it took.
func pathQueue(v *core.RxVerdict, slow bool) int {
	if slow {
		return int(v.Account.Queue)
	}
	return int(v.Queue)
}

// perhaps lets an account let a frame pass, or not.
func (a *account) perhaps(k *taken) {
	without := slices.Clone(a.states)
	if !a.step(k) {
		return
	}
	for _, s := range without {
		if !slices.Contains(a.states, s) {
			a.states = append(a.states, s)
		}
	}
}
