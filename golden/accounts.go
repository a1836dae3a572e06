package golden

import (
	"fmt"
	"slices"

	"nictwin/golden/accounts"
	"nictwin/golden/arrivals"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// account is a credit account with the frames for which the referee does not know yet whether and where they were
// delivered, and for which that depends on this account alone.
type account struct {
	accounts.Account
	frames []arrivals.List // undecided frames, by port
}

func newAccounts(build *nicspec.Build) []account {
	var all []account
	for _, a := range accounts.New(build) {
		all = append(all, account{a, make([]arrivals.List, build.Ports)})
	}
	return all
}

// canReach reports whether a frame with this verdict can be delivered to a queue.
func canReach(v *core.RxVerdict, queue int) bool {
	return v.Drop == core.NoDrop && (int(v.Queue) == queue || v.Account.On && int(v.Account.Queue) == queue)
}

// accountOf returns the account that a verdict draws on, nil if it draws on none.
func (s *rxSide) accountOf(v *core.RxVerdict) *account {
	if v.Drop != core.NoDrop || !v.Account.On {
		return nil
	}
	return &s.accounts[v.Account.ID]
}

// enterAccount adds a frame to the list of account a, which steers it to its fast or its slow queue. The
// delivery will show which queue it was.
func (r *Referee) enterAccount(a *account, f *arrivals.Frame) {
	slow := r.rx.queue(f.Verdict.Account.Queue)
	f.Place = arrivals.ToAccount
	f.SlowPosted, f.SlowEpoch = slow.postedBefore(f.First-nicspec.VisibleCycles), slow.epoch
	a.frames[f.Port].Push(f)
	a.Pending++
	r.rx.queue(f.Verdict.Queue).pending++
	if f.Verdict.Account.Queue != f.Verdict.Queue {
		slow.pending++
	}
}

// leaveAccount removes a frame that enterAccount added.
func (r *Referee) leaveAccount(f *arrivals.Frame) {
	a := r.rx.accountOf(&f.Verdict)
	a.frames[f.Port].Remove(f)
	a.Pending--
	r.rx.queue(f.Verdict.Queue).pending--
	if f.Verdict.Account.Queue != f.Verdict.Queue {
		r.rx.queue(f.Verdict.Account.Queue).pending--
	}
}

// rxState collects what an account needs to know about the rest of the receive side.
func (r *Referee) rxState(end bool) accounts.RxState {
	x := accounts.RxState{Now: r.now, Oldest: r.now, Linger: r.cfg.LingerCycles, Unsure: r.rx.unsure > 0, End: end}
	for i := range r.rx.ports {
		if p := &r.rx.ports[i]; p.Undecided.Len() > 0 {
			x.Oldest = min(x.Oldest, (*p.Undecided.Front()).Last)
		}
	}
	return x
}

// ageAccount applies the writes that every later frame must see to the account's possible states.
func (r *Referee) ageAccount(a *account) { a.Age(r.rxState(false).Oldest) }

// accountWritten records an accepted write of an account.
func (r *Referee) accountWritten(i int, credit uint32, set *core.Account) {
	a := &r.rx.accounts[i]
	r.ageAccount(a)
	a.Written(r.now, credit, set)
}

// accountDelivered records the delivery of a frame that drew on an account, then advances the account by every
// delivered frame whose turn has come by account_seq.
func (r *Referee) accountDelivered(a *account, e accounts.Event) {
	a.Delivered(e)
	r.accountTurns(a, false)
}

func (r *Referee) accountTurns(a *account, end bool) {
	for e, ok := a.Next(r.rxState(end)); ok; e, ok = a.Next(r.rxState(end)) {
		r.accountTurn(a, &e)
	}
}

// subjectOf returns the frame that an event is about, as the subject of a mismatch.
func subjectOf(e *accounts.Event) verdict.Subject {
	return verdict.Subject{Frame: &verdict.FrameID{Port: e.Port, N: e.Frame}, Index: int(e.Index)}
}

var pathNames = map[bool]string{false: "the fast path", true: "the slow path"}

// accountTurn advances an account's possible states by one delivered frame; frames come in the order of
// account_seq.
func (r *Referee) accountTurn(a *account, e *accounts.Event) {
	d := r.rx.queue(uint16(e.Queue)).Domain()
	if frame, wrong := a.After(e); wrong {
		r.log.FailOf(subjectOf(e), d, "A4", "account_seq", fmt.Sprintf("the frames of port %d in their order", e.Port),
			fmt.Sprintf("frame %d after frame %d", e.Frame, frame), a.Describe())
	}
	r.accountPassedBy(a, e)
	if a.Follow(e, r.rx.unsure > 0) {
		return
	}
	r.log.FailOf(subjectOf(e), d, "A2", "slow_path", fmt.Sprint(!e.Slow), fmt.Sprint(e.Slow),
		fmt.Sprintf("frame %d of port %d, account_seq %d, cannot have taken %s", e.Frame, e.Port, e.Seq,
			pathNames[e.Slow]), a.Describe())
	a.ForcePass(e)
}

// accountPassedBy decides the frames that were overtaken by a later frame of their port [A4]: they
// were dropped.
func (r *Referee) accountPassedBy(a *account, e *accounts.Event) {
	if a.OldFramesPending() {
		return // a frame from before the table write may still be delivered
	}
	l := &a.frames[e.Port]
	for l.Head != nil && int32(e.Frame-l.Head.Seq) > 0 {
		f := l.Head
		r.leaveAccount(f)
		r.accountDropped(a, f, e)
	}
}

// accountDropped judges why a frame was dropped that its account sent to one of two queues. e is the delivery of a
// later frame of the same port, or nil.
func (r *Referee) accountDropped(a *account, f *arrivals.Frame, e *accounts.Event) {
	next := func(queue uint16) uint16 {
		if e != nil && int(queue) == e.Queue {
			return e.Index
		}
		q := r.rx.queue(queue) // the frames pending for the queue take its next indices
		return q.Ctx.CI + uint16(min(q.pending, 1<<12))
	}
	v := &f.Verdict
	k := accounts.FrameFacts{
		Last: f.Last, Out: r.now,
		FastCauses: r.queueCauses(r.rx.queue(v.Queue), f, v, next(v.Queue)),
		SlowCauses: r.queueCauses(r.rx.queue(v.Account.Queue), f, v, next(v.Account.Queue)),
		Certain: r.overflowCause(f) == 0 && r.rx.unsure == 0 && !f.Earlier.Has(nicspec.CntRxDropDisabled) &&
			a.Sure(f.Port, f.Seq, f.Last),
	}
	if e != nil {
		k.Out = e.Out
	}
	k.Others = !k.Certain || a.awaitsOther(f.Port, k.Out)
	m := a.Dropped(k)
	if e != nil {
		a.NotBefore(f.Last)
	}
	r.dropped(&r.rx.ports[f.Port], f, m, e != nil)
}

// awaitsOther reports whether an undecided frame of another port may have reached the account by a cycle.
// Frames of different ports have no order, and a dropped frame can latch an account, too [A2, A3].
func (a *account) awaitsOther(port int, cycle int64) bool {
	for p := range a.frames {
		if f := a.frames[p].Head; p != port && f != nil && f.Last <= cycle {
			return true
		}
	}
	return false
}

// underPresentContext reports whether a frame came in under the queue's present context, and returns the producer
// index that the queue had certainly seen by then [R9].
func underPresentContext(f *arrivals.Frame, q *rxq) (posted uint16, ok bool) {
	switch {
	case q.since >= f.Last:
	case f.Place == arrivals.ToQueue || f.Place == arrivals.ToAccount && int(f.Verdict.Queue) == q.ID:
		return f.Posted, f.Epoch == q.epoch
	case f.Place == arrivals.ToAccount:
		return f.SlowPosted, f.SlowEpoch == q.epoch
	}
	return 0, false
}

// endAccounts processes the remaining deliveries at the end of the run, and reports those that do not fit the
// order of account_seq.
func (r *Referee) endAccounts() {
	for i := range r.rx.accounts {
		a := &r.rx.accounts[i]
		r.accountTurns(a, true)
		if e, left := a.Left(); left {
			r.log.FailOf(subjectOf(&e), r.rx.queue(uint16(e.Queue)).Domain(), "A4", "account_seq",
				fmt.Sprintf("every number once: a frame with %d", a.Seq()),
				fmt.Sprintf("%d and no such frame", e.Seq), a.Describe())
		}
	}
}

// passRivals handles a frame that may have drawn on one of several accounts, or on none: its rule was written
// while it came in, and its completion entry agrees with all of them. For each of these accounts it keeps both
// possibilities, that the account let the frame pass and that the frame never reached the account. It reports
// false, and changes nothing, if there is only one possibility.
func (r *Referee) passRivals(f *arrivals.Frame, by *core.RxVerdict, q *rxq, e nicspec.RxCqe) bool {
	var all []*account
	others := false
	for i := range f.Alts {
		v := &f.Alts[i]
		if v.Rule != by.Rule || v.Roce != by.Roce || !canReach(v, q.ID) {
			continue
		}
		a := r.rx.accountOf(v)
		others = others || v.Account.On != by.Account.On || v.Account.ID != by.Account.ID
		if a == nil || pathQueue(v, e.SlowPath()) != q.ID || slices.Contains(all, a) {
			continue
		}
		if r.ageAccount(a); a.Agrees(e.AccountSeq()) == 2 || e.AccountSeq() == 0 && a.SetPending() {
			all = append(all, a)
		}
	}
	if !others || by.Account.On && (len(all) < 2 || !slices.Contains(all, r.rx.accountOf(by))) {
		return false
	}
	for _, a := range all {
		a.PassMaybe(accounts.FrameFacts{Last: f.Last, Out: r.now, Others: true, Drew: true, Seq: e.AccountSeq(),
			Slow: e.SlowPath()})
	}
	return true
}

// pathQueue returns the receive queue of a frame that draws on an account, given the path it took.
func pathQueue(v *core.RxVerdict, slow bool) int {
	if slow {
		return int(v.Account.Queue)
	}
	return int(v.Queue)
}

// accountAt returns the account whose credit register is at an offset, or nil.
func (r *Referee) accountAt(off uint32) *account {
	i := (int(off) - nicspec.RegAccountCreditBase) / nicspec.RegAccountCreditStride
	if int(off) < nicspec.RegAccountCreditBase || i >= len(r.rx.accounts) {
		return nil
	}
	return &r.rx.accounts[i]
}

// creditRead compares a read of ACCOUNT_CREDIT [A5]. `could` bounds the values at the time when the read was
// accepted: cycle `asked`.
func (r *Referee) creditRead(a *account, could accounts.Range, asked int64, off, got uint32) {
	now := a.Range(asked, r.rx.unsure)
	could.Join(&now)
	const slowBit = 1 << 31
	if v := got &^ slowBit; !could.Balance.Has(v) || !could.State(got&slowBit != 0) {
		r.failRegister("A5", off, fmt.Sprintf("balance %v, slow %v", could.Balance, could.Slow),
			fmt.Sprintf("%#x", got))
	}
}

// accountWord compares one word of an account's table entry.
func (r *Referee) accountWord(f *entryRead, off uint32, class wordClass, want, got uint32) {
	now := r.rx.accounts[f.queue].Range(f.cycle, r.rx.unsure)
	could := f.account
	could.Join(&now)
	ok, text := false, ""
	switch class {
	case wordBalance:
		ok, text = could.Balance.Has(got), could.Balance.String()
	case wordSlow:
		const slowByte = 0xff00
		ok = (got^want)&^slowByte == 0 && got&slowByte <= 1<<8 && could.State(got&slowByte != 0)
		text = fmt.Sprintf("%#x, slow %v", want&^slowByte, could.Slow)
	case wordDrawn:
		ok, text = could.Drawn.Has(got), could.Drawn.String()
	case wordSeq:
		ok, text = could.Seq.Has(got), could.Seq.String()
	}
	if !ok {
		r.failRegister("A1", off, text, fmt.Sprintf("%#x", got))
	}
}
