package receive

import (
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// AccountChecks check accounts and their slow path [A].
var AccountChecks = []kit.Check{
	{Name: "accounts/the two ways", Rules: "A1 A2 A3 A4", Stalls: kit.Stalled, Run: bothPaths},
	{Name: "accounts/latch", Rules: "A1 A2 A5", Stalls: kit.Stalled, Run: latchedAccount},
	{Name: "accounts/credits", Rules: "A5 G1", Stalls: kit.Calm, Run: accountCredits},
	{Name: "accounts/dropped frames", Rules: "A2 A3 R7 R8 R9", Stalls: kit.Stalled, Run: accountDrops},
	{Name: "accounts/each by itself", Rules: "A1 A2 A3", Stalls: kit.Stalled, Run: manyAccounts},
	{Name: "accounts/values", Rules: "A6 G6", Stalls: kit.Calm, Run: accountValues},
	{Name: "accounts/order over both rings", Rules: "A4 A5 R11", Stalls: kit.Stalled, Run: accountOrder},
}

// AccountRssChecks combine accounts with RSS.
var AccountRssChecks = []kit.Check{{Name: "accounts/groups of RSS", Rules: "A2 A3 S3", Stalls: kit.Stalled,
	Run: accountGroups}}

// Account models a credit account as section 10 defines it.
type Account struct {
	Index         int
	Balance       uint32
	Latch, slow   bool
	drawn, seq    uint32
	Rule          int
	FastQ, SlowQ  int
	group, rssLog int // the rule has action Rss if rssLog is not 0
}

// SlowPath returns whether the next accepted frame takes the slow path.
func (a *Account) SlowPath() (slow bool) {
	if !a.slow && a.Balance > 0 {
		return false
	}
	a.slow = a.slow || a.Latch
	return true
}

// Draw updates the account for a delivered frame and returns the frame's account_seq.
func (a *Account) Draw(slow bool) (seq uint32) {
	if !slow {
		a.Balance--
		a.drawn++
	}
	a.seq++
	return a.seq - 1
}

// SetAccount writes an account, and a rule that draws on it for frames to the queue with the account's number.
func SetAccount(r *kit.Rig, a *Account) {
	r.T.Helper()
	f := nicspec.AccountEntryFields{Balance: a.Balance}
	if a.Latch {
		f.Latch = 1
	}
	r.Commit(nicspec.TableAccount, a.Index, kit.Encode(&f, nicspec.AccountEntrySize))
	setAccountRule(r, a)
}

// credit writes ACCOUNT_CREDIT, and waits until the write has taken effect.
func credit(r *kit.Rig, a *Account, credits uint32, take, resume bool) {
	r.T.Helper()
	v := credits
	switch {
	case take:
		v |= 1 << 30
		a.Balance -= min(a.Balance, credits)
	default:
		a.Balance = min(a.Balance+credits, nicspec.CreditMax)
	}
	if resume {
		v |= 1 << 31
		a.slow = false
	}
	r.Write(nicspec.RegAccountCredit(a.Index), v)
	r.Synced()
}

// CheckAccount checks an account's state, in its register and in its table entry.
func CheckAccount(r *kit.Rig, a *Account) {
	r.T.Helper()
	want := nicspec.AccountEntryFields{Balance: a.Balance, Drawn: a.drawn, Seq: a.seq}
	v := a.Balance
	if a.Latch {
		want.Latch = 1
	}
	if a.slow {
		want.Slow = 1
		v |= 1 << 31
	}
	require.Equal(r.T, want, nicspec.DecodeAccountEntry(r.Entry(nicspec.TableAccount, a.Index)), "account %d", a.Index)
	require.Equal(r.T, v, r.Read(nicspec.RegAccountCredit(a.Index)), "ACCOUNT_CREDIT[%d]", a.Index)
}

// drawFrames plays n frames that draw on an account, and checks that each takes the expected path.
func drawFrames(r *kit.Rig, a *Account, n int) {
	r.T.Helper()
	first := r.Ordinal()
	for i := range n {
		r.Play(kit.FrameTo(a.Index, flow(first+i)))
	}
	for i := range n {
		slow, q := a.SlowPath(), a.FastQ
		if a.rssLog > 0 {
			f := kit.Parsed(flow(first+i), r.Roce)
			q = r.Indir[(a.group+int(kit.RSSHash(r.RssKey, flow(first+i), &f)&(1<<a.rssLog-1)))%nicspec.RssEntries]
		}
		if slow {
			q = a.SlowQ
		}
		seq := a.Draw(slow)
		r.Delivered(r.Rx[q], first+i, uint16(a.Rule), func(f *nicspec.RxCqeFields) {
			f.SlowPath, f.AccountSeq = slow,
				seq
		})
		r.Post(r.Rx[q], 1)
	}
	r.Quiet()
}

// OpenPosted opens receive queues and posts descriptors to them.
func OpenPosted(r *kit.Rig, queues ...int) {
	r.T.Helper()
	r.Write(nicspec.RegCtrl, 1)
	for _, q := range queues {
		r.Post(r.OpenRx(q, 7, nil), 100)
	}
}

func bothPaths(r *kit.Rig) {
	OpenPosted(r, 1, 2)
	a := &Account{Index: 9, Balance: 5, Rule: 3, FastQ: 1, SlowQ: 2}
	SetAccount(r, a)
	CheckAccount(r, a)
	drawFrames(r, a, 12)
	CheckAccount(r, a)
	require.EqualValues(r.T, 5, a.drawn)
	for _, n := range []uint32{1, 2, 30} {
		credit(r, a, n, false, false)
		drawFrames(r, a, int(n)/2+3)
		CheckAccount(r, a)
	}
	a.Balance, a.drawn, a.seq = 4, 0, 0 // the next write of the table entry sets these values
	SetAccount(r, a)
	drawFrames(r, a, 6)
	CheckAccount(r, a)
	a.FastQ, a.SlowQ = 2, 2 // fast and slow path lead to one queue
	credit(r, a, 3, false, false)
	setAccountRule(r, a)
	drawFrames(r, a, 6)
	CheckAccount(r, a)
}

// setAccountRule writes only the rule of an account.
func setAccountRule(r *kit.Rig, a *Account) {
	r.T.Helper()
	e := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: uint16(a.FastQ), AccountEn: 1,
		Account: uint8(a.Index), SlowQueue: uint16(a.SlowQ)}
	if a.rssLog > 0 {
		e.Action, e.Queue, e.RssLog = nicspec.ActionRss, uint16(a.group), uint8(a.rssLog)
	}
	e.Value[13], e.Mask[13] = uint8(a.Index), 0xff
	r.Rule(a.Rule, e)
}

// latchedAccount uses an account with latch set, which stays slow until it is resumed.
func latchedAccount(r *kit.Rig) {
	OpenPosted(r, 1, 2)
	a := &Account{Index: 63, Balance: 3, Latch: true, Rule: 0, FastQ: 1, SlowQ: 2}
	SetAccount(r, a)
	drawFrames(r, a, 3)
	CheckAccount(r, a) // the credit is used up, but no frame has been refused credit yet
	require.False(r.T, a.slow)
	drawFrames(r, a, 1)
	require.True(r.T, a.slow)
	CheckAccount(r, a)
	credit(r, a, 10, false, false)
	drawFrames(r, a, 4)
	CheckAccount(r, a)
	credit(r, a, 2, true, false)
	drawFrames(r, a, 1)
	credit(r, a, 0, false, true)
	drawFrames(r, a, 10)
	CheckAccount(r, a)
	credit(r, a, 5, true, true) // one write removes the credits and resumes Fast: no credit is left
	CheckAccount(r, a)
	drawFrames(r, a, 2)
	credit(r, a, 1, false, true)
	drawFrames(r, a, 2)
	a.Balance, a.drawn, a.seq, a.slow = 2, 0, 0, false // a table write resets the state to Fast
	SetAccount(r, a)
	CheckAccount(r, a)
	drawFrames(r, a, 3)
	CheckAccount(r, a)
}

// accountCredits adds and takes credits up to the limits, with one write, or two in one TLP.
func accountCredits(r *kit.Rig) {
	a, b := &Account{Index: 4, Rule: 0}, &Account{Index: 5, Rule: 1}
	SetAccount(r, a)
	SetAccount(r, b)
	for _, c := range []struct {
		n    uint32
		take bool
	}{{0, false}, {1, true}, {7, false}, {3, true}, {4, true}, {nicspec.CreditMax - 1, false}, {1, false}, {1, false},
		{nicspec.CreditMax, false},
		{nicspec.CreditMax, true}, {nicspec.CreditMax, true}, {0x80_0000, false}, {0x80_0000, false}, {0xff_fffe, true},
		{2, true}} {
		credit(r, a, c.n, c.take, false)
		CheckAccount(r, a)
	}
	r.Write2(nicspec.RegAccountCredit(4), 11, 22)
	r.Write2(nicspec.RegAccountCredit(4), 1|1<<30, 0x3f00_0002) // bits 29:24 are not defined
	r.Synced()
	a.Balance, b.Balance = 10, 24
	CheckAccount(r, a)
	CheckAccount(r, b)
	require.Equal(r.T, uint64(24)<<32|10, r.Read2(nicspec.RegAccountCredit(4)))
	for i := range nicspec.NumAccounts {
		if i != a.Index && i != b.Index {
			require.Zero(r.T, r.Read(nicspec.RegAccountCredit(i)), "account %d", i)
		}
	}
}

// accountDrops drops frames of an account for every cause: they must draw no credit, but may make the account slow.
func accountDrops(r *kit.Rig) {
	OpenPosted(r, 1, 2)
	a := &Account{Index: 7, Balance: 2, Latch: true, Rule: 3, FastQ: 6, SlowQ: 2}
	SetAccount(r, a)
	f := kit.FrameTo(7, kit.Blob(300, 1))
	r.Dropped("the fast queue is off", nicspec.CntRxDropQueueOff, f, f, f)
	CheckAccount(r, a)
	r.OpenRx(6, 2, nil)
	r.Dropped("no descriptor in the fast queue", nicspec.CntRxDropNoDesc, f, f)
	CheckAccount(r, a)
	a.FastQ = 1
	setAccountRule(r, a)
	drawFrames(r, a, 2)
	a.SlowQ = 6
	setAccountRule(r, a)
	a.slow = true // even a dropped frame makes the account slow
	r.Dropped("no descriptor in the slow queue", nicspec.CntRxDropNoDesc, f)
	CheckAccount(r, a)
	credit(r, a, 1, false, false)
	r.Disable(nicspec.TableRxq, 6)
	r.Dropped("the slow queue is off", nicspec.CntRxDropQueueOff, f)
	r.OpenRx(6, 2, func(f *nicspec.RxqEntryFields) { f.PayBufSize = 299 })
	r.Dropped("too long for the slow queue", nicspec.CntRxDropTooLong, f)
	CheckAccount(r, a)
	credit(r, a, 0, false, true)
	drawFrames(r, a, 1)
	CheckAccount(r, a)
}

// manyAccounts uses every account, some of them named by two rules.
func manyAccounts(r *kit.Rig) {
	OpenPosted(r, 1, 2, 3, 4)
	var all []*Account
	for i := range 16 {
		index := i * 4
		if i == 15 {
			index = 63
		}
		a := &Account{Index: index, Balance: uint32(i % 5), Latch: i%3 == 0, Rule: i, FastQ: 1 + i%2, SlowQ: 3 + i%2}
		SetAccount(r, a)
		all = append(all, a)
	}
	rng := rand.New(rand.NewPCG(51, 9))
	for range 40 {
		a := all[rng.IntN(len(all))]
		switch rng.IntN(3) {
		case 0:
			credit(r, a, uint32(rng.IntN(4)), rng.IntN(4) == 0, rng.IntN(2) == 0)
		default:
			drawFrames(r, a, 1+rng.IntN(5))
		}
	}
	for _, a := range all {
		CheckAccount(r, a)
	}
	// Two rules draw on one account.
	a, b := *all[1], *all[1]
	b.Rule, b.FastQ, b.SlowQ = all[2].Rule, 2, 4
	e := nicspec.RuleEntryFields{Valid: 1, Action: nicspec.ActionQueue, Queue: 2, AccountEn: 1, Account: uint8(a.Index),
		SlowQueue: 4}
	e.Value[13], e.Mask[13] = 200, 0xff
	r.Rule(b.Rule, e)
	credit(r, &a, 1, false, true)
	first := r.Ordinal()
	seq := a.seq
	r.Play(kit.FrameTo(200, kit.Blob(80, 1)), kit.FrameTo(a.Index, kit.Blob(90, 1)))
	slow := a.Balance == 1
	r.Delivered(r.Rx[2], first, uint16(b.Rule), func(f *nicspec.RxCqeFields) { f.AccountSeq = seq })
	q := a.FastQ
	if slow {
		q = a.SlowQ
	}
	r.Delivered(r.Rx[q], first+1, uint16(a.Rule), func(f *nicspec.RxCqeFields) {
		f.AccountSeq, f.SlowPath = seq+1,
			slow
	})
}

func accountValues(r *kit.Rig) {
	for i, c := range []struct {
		balance uint32
		latch   uint8
		want    nicspec.TableStatus
	}{{0, 0, kit.TableOk}, {nicspec.CreditMax, 1, kit.TableOk}, {nicspec.CreditMax + 1, 0, kit.TableBad},
		{1 << 31, 0, kit.TableBad}, {5, 2, kit.TableBad}, {5, 255, kit.TableBad}} {
		// The last three fields are read-only.
		f := nicspec.AccountEntryFields{Balance: c.balance, Latch: c.latch, Slow: 1, Drawn: 77, Seq: 78}
		require.Equal(r.T, c.want,
			r.Command(nicspec.TableOpWrite, nicspec.TableAccount, i, kit.Encode(&f, nicspec.AccountEntrySize)), "%+v",
			c)
		want := nicspec.AccountEntryFields{}
		if c.want == kit.TableOk {
			want = nicspec.AccountEntryFields{Balance: c.balance, Latch: c.latch}
		}
		require.Equal(r.T, want, nicspec.DecodeAccountEntry(r.Entry(nicspec.TableAccount, i)), "%+v", c)
	}
	type f = nicspec.RuleEntryFields
	for _, c := range []kit.ValueCase[f]{
		{Name: "good", Mod: func(*f) {}, Want: kit.TableOk},
		{Name: "account 63", Mod: func(e *f) { e.Account = 63 }, Want: kit.TableOk},
		{Name: "account 64", Mod: func(e *f) { e.Account = 64 }, Want: kit.TableBad},
		{Name: "account 255", Mod: func(e *f) { e.Account = 255 }, Want: kit.TableBad},
		{Name: "account_en 2", Mod: func(e *f) { e.AccountEn = 2 }, Want: kit.TableBad},
		{Name: "account_en 128", Mod: func(e *f) { e.AccountEn = 128 }, Want: kit.TableBad},
		{Name: "the last slow_queue", Mod: func(e *f) { e.SlowQueue = uint16(r.Sizes.NumRxq - 1) }, Want: kit.TableOk},
		{Name: "slow_queue beyond", Mod: func(e *f) { e.SlowQueue = uint16(r.Sizes.NumRxq) }, Want: kit.TableBad},
		{Name: "slow_queue far beyond", Mod: func(e *f) { e.SlowQueue = 0xffff }, Want: kit.TableBad},
		{Name: "action Drop", Mod: func(e *f) { e.Action = nicspec.ActionDrop }, Want: kit.TableBad},
		{Name: "not valid and bad", Mod: func(e *f) { e.Valid, e.Account = 0, 64 }, Want: kit.TableBad},
		{Name: "without account_en the rest is ignored",
			Mod:  func(e *f) { e.AccountEn, e.Account, e.SlowQueue, e.Action = 0, 255, 0xffff, nicspec.ActionDrop },
			Want: kit.TableOk},
	} {
		e := f{Valid: 1, Action: nicspec.ActionQueue, Queue: 1, AccountEn: 1, Account: 3, SlowQueue: 2}
		c.Mod(&e)
		b := kit.Encode(&e, nicspec.RuleEntrySize)
		require.Equal(r.T, c.Want, r.Command(nicspec.TableOpWrite, nicspec.TableRule, 2, b), c.Name)
		if c.Want == kit.TableOk {
			require.Equal(r.T, r.Built(&nicspec.RuleEntryInfo, b), r.Entry(nicspec.TableRule, 2)[:len(b)], c.Name)
		}
	}
}
