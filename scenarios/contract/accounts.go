package contract

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nicspec"
)

var accountChecks = []check{
	{"accounts/the two ways", "A1 A2 A3 A4", stalled, bothPaths},
	{"accounts/latch", "A1 A2 A5", stalled, latchedAccount},
	{"accounts/credits", "A5 G1", calm, accountCredits},
	{"accounts/dropped frames", "A2 A3 R7 R8 R9", stalled, accountDrops},
	{"accounts/each by itself", "A1 A2 A3", stalled, manyAccounts},
	{"accounts/values", "A6 G6", calm, accountValues},
	{"accounts/order over both rings", "A4 A5 R11", stalled, accountOrder},
}

var accountRssChecks = []check{{"accounts/groups of RSS", "A2 A3 S3", stalled, accountGroups}}

// account is a credit account as section 10 has it.
type account struct {
	index         int
	balance       uint32
	latch, slow   bool
	drawn, seq    uint32
	rule          int
	fastQ, slowQ  int
	group, rssLog int // action Rss if rssLog is not 0
}

// slowPath reports whether a frame that is taken goes the slow path.
func (a *account) slowPath() (slow bool) {
	if !a.slow && a.balance > 0 {
		return false
	}
	a.slow = a.slow || a.latch
	return true
}

// draw is what a frame does that is delivered: it has this ordinal.
func (a *account) draw(slow bool) (seq uint32) {
	if !slow {
		a.balance--
		a.drawn++
	}
	a.seq++
	return a.seq - 1
}

// setAccount writes an account and the rule that draws on it, for frames to the queue that its index names.
func (r *rig) setAccount(a *account) {
	r.t.Helper()
	f := nicspec.AccountEntryFields{Balance: a.balance}
	if a.latch {
		f.Latch = 1
	}
	r.commit(nicspec.TableAccount, a.index, encode(&f, nicspec.AccountEntrySize))
	r.setAccountRule(a)
}

// credit writes ACCOUNT_CREDIT, and waits until that is in force.
func (r *rig) credit(a *account, credits uint32, take, resume bool) {
	r.t.Helper()
	v := credits
	switch {
	case take:
		v |= 1 << 30
		a.balance -= min(a.balance, credits)
	default:
		a.balance = min(a.balance+credits, nicspec.CreditMax)
	}
	if resume {
		v |= 1 << 31
		a.slow = false
	}
	r.write(nicspec.RegAccountCredit(a.index), v)
	r.synced()
}

// stands demands that an account is as it should be, by its register and by its table entry.
func (r *rig) stands(a *account) {
	r.t.Helper()
	want := nicspec.AccountEntryFields{Balance: a.balance, Drawn: a.drawn, Seq: a.seq}
	v := a.balance
	if a.latch {
		want.Latch = 1
	}
	if a.slow {
		want.Slow = 1
		v |= 1 << 31
	}
	require.Equal(r.t, want, nicspec.DecodeAccountEntry(r.entry(nicspec.TableAccount, a.index)), "account %d", a.index)
	require.Equal(r.t, v, r.read(nicspec.RegAccountCredit(a.index)), "ACCOUNT_CREDIT[%d]", a.index)
}

// draws plays n frames that draw on an account, and demands that each goes its way.
func (r *rig) draws(a *account, n int) {
	r.t.Helper()
	first := r.ordinal()
	for i := range n {
		r.play(to(a.index, flow(first+i)))
	}
	for i := range n {
		slow, q := a.slowPath(), a.fastQ
		if a.rssLog > 0 {
			f := parsed(flow(first+i), r.roce)
			q = r.indir[(a.group+int(rssHash(r.rssKey, flow(first+i), &f)&(1<<a.rssLog-1)))%nicspec.RssEntries]
		}
		if slow {
			q = a.slowQ
		}
		seq := a.draw(slow)
		r.delivered(r.rx[q], first+i, uint16(a.rule), func(f *nicspec.RxCqeFields) { f.SlowPath, f.AccountSeq = slow, seq })
		r.post(r.rx[q], 1)
	}
	r.quiet()
}

// openPosted opens receive queues with descriptors.
func (r *rig) openPosted(queues ...int) {
	r.t.Helper()
	r.write(nicspec.RegCtrl, 1)
	for _, q := range queues {
		r.post(r.openRx(q, 7, nil), 100)
	}
}

func bothPaths(r *rig) {
	r.openPosted(1, 2)
	a := &account{index: 9, balance: 5, rule: 3, fastQ: 1, slowQ: 2}
	r.setAccount(a)
	r.stands(a)
	r.draws(a, 12)
	r.stands(a)
	require.EqualValues(r.t, 5, a.drawn)
	for _, n := range []uint32{1, 2, 30} {
		r.credit(a, n, false, false)
		r.draws(a, int(n)/2+3)
		r.stands(a)
	}
	a.balance, a.drawn, a.seq = 4, 0, 0 // written anew
	r.setAccount(a)
	r.draws(a, 6)
	r.stands(a)
	a.fastQ, a.slowQ = 2, 2 // one queue for both ways
	r.credit(a, 3, false, false)
	r.setAccountRule(a)
	r.draws(a, 6)
	r.stands(a)
}

// setAccountRule writes the rule of an account alone.
func (r *rig) setAccountRule(a *account) {
	r.t.Helper()
	e := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(a.fastQ), AccountEn: 1, Account: uint8(a.index), SlowQueue: uint16(a.slowQ)}
	if a.rssLog > 0 {
		e.Action, e.Queue, e.RssLog = nicspec.ActionRss, uint16(a.group), uint8(a.rssLog)
	}
	e.Value[13], e.Mask[13] = uint8(a.index), 0xff
	r.rule(a.rule, e)
}

// latchedAccount has an account that stays slow until it is told to go on.
func latchedAccount(r *rig) {
	r.openPosted(1, 2)
	a := &account{index: 63, balance: 3, latch: true, rule: 0, fastQ: 1, slowQ: 2}
	r.setAccount(a)
	r.draws(a, 3)
	r.stands(a) // no credit left, but no frame has found none
	require.False(r.t, a.slow)
	r.draws(a, 1)
	require.True(r.t, a.slow)
	r.stands(a)
	r.credit(a, 10, false, false)
	r.draws(a, 4)
	r.stands(a)
	r.credit(a, 2, true, false)
	r.draws(a, 1)
	r.credit(a, 0, false, true)
	r.draws(a, 10)
	r.stands(a)
	r.credit(a, 5, true, true) // takes, and goes on: the next frame finds none
	r.stands(a)
	r.draws(a, 2)
	r.credit(a, 1, false, true)
	r.draws(a, 2)
	a.balance, a.drawn, a.seq, a.slow = 2, 0, 0, false // a table write makes it Fast
	r.setAccount(a)
	r.stands(a)
	r.draws(a, 3)
	r.stands(a)
}

// accountCredits adds and takes up to the limits, with one write or two in one TLP.
func accountCredits(r *rig) {
	a, b := &account{index: 4, rule: 0}, &account{index: 5, rule: 1}
	r.setAccount(a)
	r.setAccount(b)
	for _, c := range []struct {
		n    uint32
		take bool
	}{{0, false}, {1, true}, {7, false}, {3, true}, {4, true}, {nicspec.CreditMax - 1, false}, {1, false}, {1, false}, {nicspec.CreditMax, false},
		{nicspec.CreditMax, true}, {nicspec.CreditMax, true}, {0x80_0000, false}, {0x80_0000, false}, {0xff_fffe, true}, {2, true}} {
		r.credit(a, c.n, c.take, false)
		r.stands(a)
	}
	r.write2(nicspec.RegAccountCredit(4), 11, 22)
	r.write2(nicspec.RegAccountCredit(4), 1|1<<30, 0x3f00_0002) // bits 29:24 are not defined
	r.synced()
	a.balance, b.balance = 10, 24
	r.stands(a)
	r.stands(b)
	require.Equal(r.t, uint64(24)<<32|10, r.read2(nicspec.RegAccountCredit(4)))
	for i := range nicspec.NumAccounts {
		if i != a.index && i != b.index {
			require.Zero(r.t, r.read(nicspec.RegAccountCredit(i)), "account %d", i)
		}
	}
}

// accountDrops drops frames behind an account in every way: they draw nothing, but may make it slow.
func accountDrops(r *rig) {
	r.openPosted(1, 2)
	a := &account{index: 7, balance: 2, latch: true, rule: 3, fastQ: 6, slowQ: 2}
	r.setAccount(a)
	f := to(7, blob(300, 1))
	r.dropped("the fast queue is off", nicspec.CntRxDropQueueOff, f, f, f)
	r.stands(a)
	r.openRx(6, 2, nil)
	r.dropped("no descriptor in the fast queue", nicspec.CntRxDropNoDesc, f, f)
	r.stands(a)
	a.fastQ = 1
	r.setAccountRule(a)
	r.draws(a, 2)
	a.slowQ = 6
	r.setAccountRule(a)
	a.slow = true // a frame that is dropped changes the state
	r.dropped("no descriptor in the slow queue", nicspec.CntRxDropNoDesc, f)
	r.stands(a)
	r.credit(a, 1, false, false)
	r.disable(nicspec.TableRxq, 6)
	r.dropped("the slow queue is off", nicspec.CntRxDropQueueOff, f)
	r.openRx(6, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 299 })
	r.dropped("too long for the slow queue", nicspec.CntRxDropTooLong, f)
	r.stands(a)
	r.credit(a, 0, false, true)
	r.draws(a, 1)
	r.stands(a)
}

// manyAccounts has every account at work, some of them named by two rules.
func manyAccounts(r *rig) {
	r.openPosted(1, 2, 3, 4)
	var all []*account
	for i := range 16 {
		index := i * 4
		if i == 15 {
			index = 63
		}
		a := &account{index: index, balance: uint32(i % 5), latch: i%3 == 0, rule: i, fastQ: 1 + i%2, slowQ: 3 + i%2}
		r.setAccount(a)
		all = append(all, a)
	}
	rng := rand.New(rand.NewPCG(51, 9))
	for range 40 {
		a := all[rng.IntN(len(all))]
		switch rng.IntN(3) {
		case 0:
			r.credit(a, uint32(rng.IntN(4)), rng.IntN(4) == 0, rng.IntN(2) == 0)
		default:
			r.draws(a, 1+rng.IntN(5))
		}
	}
	for _, a := range all {
		r.stands(a)
	}
	// Two rules draw on one account.
	a, b := *all[1], *all[1]
	b.rule, b.fastQ, b.slowQ = all[2].rule, 2, 4
	e := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 2, AccountEn: 1, Account: uint8(a.index), SlowQueue: 4}
	e.Value[13], e.Mask[13] = 200, 0xff
	r.rule(b.rule, e)
	r.credit(&a, 1, false, true)
	first := r.ordinal()
	seq := a.seq
	r.play(to(200, blob(80, 1)), to(a.index, blob(90, 1)))
	slow := a.balance == 1
	r.delivered(r.rx[2], first, uint16(b.rule), func(f *nicspec.RxCqeFields) { f.AccountSeq = seq })
	q := a.fastQ
	if slow {
		q = a.slowQ
	}
	r.delivered(r.rx[q], first+1, uint16(a.rule), func(f *nicspec.RxCqeFields) { f.AccountSeq, f.SlowPath = seq+1, slow })
}

func accountValues(r *rig) {
	for i, c := range []struct {
		balance uint32
		latch   uint8
		want    nicspec.TableStatus
	}{{0, 0, tblOk}, {nicspec.CreditMax, 1, tblOk}, {nicspec.CreditMax + 1, 0, tblBad}, {1 << 31, 0, tblBad}, {5, 2, tblBad}, {5, 255, tblBad}} {
		f := nicspec.AccountEntryFields{Balance: c.balance, Latch: c.latch, Slow: 1, Drawn: 77, Seq: 78} // the last three are read-only
		require.Equal(r.t, c.want, r.command(nicspec.TableOpWrite, nicspec.TableAccount, i, encode(&f, nicspec.AccountEntrySize)), "%+v", c)
		want := nicspec.AccountEntryFields{}
		if c.want == tblOk {
			want = nicspec.AccountEntryFields{Balance: c.balance, Latch: c.latch}
		}
		require.Equal(r.t, want, nicspec.DecodeAccountEntry(r.entry(nicspec.TableAccount, i)), "%+v", c)
	}
	type f = nicspec.RuleEntryFields
	for _, c := range []valueCase[f]{
		{"good", func(*f) {}, tblOk},
		{"account 63", func(e *f) { e.Account = 63 }, tblOk},
		{"account 64", func(e *f) { e.Account = 64 }, tblBad},
		{"account 255", func(e *f) { e.Account = 255 }, tblBad},
		{"account_en 2", func(e *f) { e.AccountEn = 2 }, tblBad},
		{"account_en 128", func(e *f) { e.AccountEn = 128 }, tblBad},
		{"the last slow_queue", func(e *f) { e.SlowQueue = uint16(r.sizes.NumRxq - 1) }, tblOk},
		{"slow_queue beyond", func(e *f) { e.SlowQueue = uint16(r.sizes.NumRxq) }, tblBad},
		{"slow_queue far beyond", func(e *f) { e.SlowQueue = 0xffff }, tblBad},
		{"action Drop", func(e *f) { e.Action = nicspec.ActionDrop }, tblBad},
		{"not valid and bad", func(e *f) { e.Valid, e.Account = 0, 64 }, tblBad},
		{"without account_en the rest is ignored", func(e *f) { e.AccountEn, e.Account, e.SlowQueue, e.Action = 0, 255, 0xffff, nicspec.ActionDrop }, tblOk},
	} {
		e := f{Valid: 1, Action: nicspec.ActionQueue, Queue: 1, AccountEn: 1, Account: 3, SlowQueue: 2}
		c.mod(&e)
		b := encode(&e, nicspec.RuleEntrySize)
		require.Equal(r.t, c.want, r.command(nicspec.TableOpWrite, nicspec.TableRule, 2, b), c.name)
		if c.want == tblOk {
			require.Equal(r.t, r.built(&nicspec.RuleEntryInfo, b), r.entry(nicspec.TableRule, 2)[:len(b)], c.name)
		}
	}
}

// accountOrder lets frames come on all ports while credits come and go: account_seq merges the two rings.
func accountOrder(r *rig) {
	const n = 240
	r.write(nicspec.RegCtrl, 1)
	rings := []*rxRing{r.openRx(1, 9, nil), r.openRx(2, 9, nil)}
	for _, x := range rings {
		r.post(x, 2*n)
	}
	a := &account{index: 11, balance: 3, latch: true, rule: 3, fastQ: 1, slowQ: 2}
	r.setAccount(a)
	rng := rand.New(rand.NewPCG(52, 9))
	for i := range n {
		for p := range r.sizes.Ports {
			r.playOn(p, to(11, frameOf(60+rng.IntN(300))))
		}
		if i%8 == 7 {
			r.write(nicspec.RegAccountCredit(11), uint32(rng.IntN(12))|uint32(rng.IntN(4)/3)<<30|uint32(rng.IntN(2))<<31)
			r.run(rng.IntN(900))
		}
	}
	r.quiet()
	total := n * r.sizes.Ports
	merged, slow := make([]nicspec.RxCqe, total), 0
	for i, x := range rings {
		for e := nicspec.RxCqe(r.next(&x.ring)); e != nil; e = r.next(&x.ring) {
			require.Less(r.t, int(e.AccountSeq()), total)
			require.Nil(r.t, merged[e.AccountSeq()], "account_seq %d is there twice", e.AccountSeq())
			require.Equal(r.t, i == 1, e.SlowPath())
			merged[e.AccountSeq()] = e
			slow += i
		}
	}
	var ordinals [2]int
	for i, e := range merged {
		require.NotNil(r.t, e, "account_seq %d is in neither ring", i)
		require.EqualValues(r.t, ordinals[e.Port()], e.PortSeq(), "ordinal of the frame with account_seq %d", i)
		ordinals[e.Port()]++
	}
	got := nicspec.DecodeAccountEntry(r.entry(nicspec.TableAccount, 11))
	require.Equal(r.t, [2]int{total, total - slow}, [2]int{int(got.Seq), int(got.Drawn)})
	require.Positive(r.t, slow)
	require.Positive(r.t, total-slow)
}

// accountGroups has the fast way spread over queues.
func accountGroups(r *rig) {
	r.rssKeyAt(9)
	r.write(nicspec.RegCtrl, 1)
	r.spread(3, entriesOf(250, 4))
	r.openPosted(9)
	a := &account{index: 21, balance: 10, rule: 6, slowQ: 9, group: 250, rssLog: 4}
	r.setAccount(a)
	r.draws(a, 14)
	r.credit(a, 20, false, false)
	r.draws(a, 25)
	r.stands(a)
}
