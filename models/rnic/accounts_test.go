package rnic

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// accountRig is a connection to a queue pair with account 5, whose slow packets go to memory of endpoint 0.
type accountRig struct {
	*rig
	a, b     *testQP
	events   testQP // its completion queue has the events
	from, to uint64
	posted   int // receive entries
}

const accountArea = 1 << 16 // bytes that WRITEs may write to; SENDs have as many behind them

func newAccountRig(t *testing.T, x rnicspec.SetAccount) *accountRig {
	r := &accountRig{rig: newRig(t, 2, testSpec())}
	for _, h := range r.hosts {
		h.region(1)
	}
	r.a, r.b = r.hosts[0].qp(rnicspec.RC, 1), r.hosts[1].qp(rnicspec.RC, 1)
	connect(r.a, r.b, 1024)
	h := r.hosts[1]
	r.from, r.to = r.hosts[0].alloc(1, 4*accountArea), h.alloc(1, 2*accountArea)
	r.hosts[0].fill(r.from, 4*accountArea, 3)
	r.events = testQP{h: h, cqAddr: h.alloc(1, rnicspec.CQEBytes<<ringLog)}
	h.do(&rnicspec.CreateCQ{CQN: 600, Log: ringLog, Addr: r.events.cqAddr})
	x.Account, x.QPN, x.SlotBytes, x.Events, x.Slow = 5, r.b.n, 1024, 600, h.alloc(0, 1024<<x.Log)
	h.do(&x)
	return r
}

// credit writes AccountCredit, drain AccountDrain.
func (r *accountRig) credit(c rnicspec.Credit) {
	require.NoError(r.t, r.hosts[1].mmio.Write32(rnicspec.Account(5, rnicspec.AccountCredit), c.Word()))
}

func (r *accountRig) drain(n uint32) {
	require.NoError(r.t, r.hosts[1].mmio.Write32(rnicspec.Account(5, rnicspec.AccountDrain), n))
}

func (r *accountRig) state() (s rnicspec.AccountState) {
	at := rnicspec.Account(5, rnicspec.AccountCredit)
	require.NoError(r.t, r.hosts[1].mmio.Read(at, 8, func(v uint64, err error) {
		require.NoError(r.t, err)
		s = rnicspec.AccountStateOf(v)
	}))
	r.run()
	return s
}

// write posts a WRITE of n bytes from offset src to offset `at` of the area, with immediate data if imm.
func (r *accountRig) write(src, at, n int, imm bool) {
	w := rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: uint32(n), LocalVA: r.from + uint64(src),
		LocalKey: 2, RemoteVA: r.to + uint64(at), RemoteKey: 2}
	if imm {
		w.Opcode = rnicspec.WriteImm
		r.b.postRecv(rnicspec.RecvWQE{ID: uint64(r.posted), Key: 2})
		r.posted++
	}
	r.a.post(w)
}

// A message of WRITEs that WRITE_IMM closes uses up the credits; the rest of its packets wait in the memory of the
// card, and its completion with them, until they are drained. The account stays Slow until it is resumed.
func TestAccount(t *testing.T) {
	r := newAccountRig(t, rnicspec.SetAccount{Credits: 5, Latch: true, Log: 4})
	nic := r.hosts[1].nic
	r.write(0, 0, 4096, false)
	r.write(4096, 4096, 4096, true)
	r.run()
	require.Len(t, r.a.poll(), 2, "acknowledged")
	require.Equal(t, rnicspec.AccountState{Slow: true, Waiting: 3}, r.state())
	require.EqualValues(t, 5, nic.Counter(rnicspec.CntFast))
	require.EqualValues(t, 3, nic.Counter(rnicspec.CntSlow))
	require.Empty(t, r.b.poll(), "the message is not whole")
	require.False(t, nic.Idle())
	events := r.events.poll()
	require.Len(t, events, 2, "out of credits, and a message that waits")
	require.Equal(t, rnicspec.EventSlow, events[1].Opcode)
	require.EqualValues(t, 3, events[1].Bytes)
	require.Zero(t, events[1].Written)

	r.drain(2)
	r.run()
	require.Empty(t, r.b.poll())
	r.credit(rnicspec.Credit{Credits: 6, Resume: true})
	require.True(t, r.state().Slow, "a slow packet waits")
	r.drain(9)
	r.run()
	got := r.b.poll()
	require.Len(t, got, 1)
	require.EqualValues(t, 5, got[0].Drawn)
	require.EqualValues(t, 3, got[0].Slow)
	require.Equal(t, r.hosts[0].bytes(r.from, 8192), r.hosts[1].bytes(r.to, 8192))
	require.Equal(t, rnicspec.AccountState{Balance: 6}, r.state())
	events = r.events.poll()
	require.Len(t, events, 2)
	require.Equal(t, rnicspec.EventDrained, events[0].Opcode)
	require.EqualValues(t, 2, events[0].Imm, "copied")
	require.EqualValues(t, 1, events[0].Bytes, "left")
	require.EqualValues(t, 1, events[1].Written)
	require.True(t, nic.Idle())

	r.credit(rnicspec.Credit{Credits: 9, Take: true})
	require.Zero(t, r.state().Balance)
	r.write(0, 0, 1024, true)
	r.run()
	require.True(t, r.state().Slow)
	r.a.post(rnicspec.WQE{Opcode: rnicspec.Read, Flags: sig, Length: 1024, LocalVA: r.from + accountArea, LocalKey: 2,
		RemoteVA: r.to, RemoteKey: 2})
	require.NoError(t, r.e.RunUntil(r.e.Now()+10*simcore.Microsecond))
	require.Len(t, r.a.poll(), 1, "the READ waits for the slow packet")
	events = r.events.poll()
	require.Equal(t, rnicspec.EventBlocked, events[len(events)-1].Opcode)
	require.EqualValues(t, 1, events[len(events)-1].Bytes)
	r.drain(1)
	r.run()
	require.Len(t, r.a.poll(), 1)
}

// With any credits, drains and resumes, whatever the order, everything arrives once and in order: a completion is seen
// with all bytes before it, overlapping WRITEs leave the latest, and no packet takes more credits than were given.
func TestAccountSchedules(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 42))
		r := newAccountRig(t, rnicspec.SetAccount{Credits: rng.Uint32N(20), Latch: seed%2 == 0, Log: 2 + uint8(seed%4),
			Mark: 3})
		given := r.state().Balance
		want := make([]byte, accountArea)
		arrived := 0
		for step := 0; arrived < 30; step++ {
			require.Less(t, step, 20_000, "seed %d: it does not end", seed)
			if r.posted < 30 && r.posted < arrived+8 {
				at, n := rng.IntN(accountArea/2), 1+rng.IntN(5000)
				src := at + 1001*r.posted // overlapping WRITEs have different bytes
				r.write(src, at, n, true)
				copy(want[at:], r.hosts[0].bytes(r.from+uint64(src), n))
			}
			switch rng.IntN(4) {
			case 0:
				n := rng.Uint32N(6)
				r.credit(rnicspec.Credit{Credits: n, Resume: rng.IntN(2) == 0})
				given += n
			case 1:
				r.drain(rng.Uint32N(5))
			}
			require.NoError(t, r.e.RunUntil(r.e.Now()+simcore.Ps(rng.IntN(3_000_000))))
			r.events.poll()
			r.a.poll()
			for _, c := range r.b.poll() {
				require.EqualValues(t, arrived, c.ID)
				require.Equal(t, rnicspec.OK, c.Status)
				require.LessOrEqual(t, c.Drawn, given)
				arrived++
			}
		}
		r.drain(1 << 10)
		r.run()
		require.Equal(t, want, r.hosts[1].bytes(r.to, accountArea), "seed %d", seed)
		nic := r.hosts[1].nic
		require.EqualValues(t, given, uint64(r.state().Balance)+nic.Counter(rnicspec.CntFast), "seed %d", seed)
		require.NotZero(t, nic.Counter(rnicspec.CntSlow))
		require.True(t, nic.Idle(), "seed %d", seed)
	}
}

// A queue pair that fails copies its slow packets by itself, so that their completions come before the flushed ones.
func TestAccountFails(t *testing.T) {
	r := newAccountRig(t, rnicspec.SetAccount{Log: 4})
	r.write(0, 0, 2048, true)
	r.b.postRecv(rnicspec.RecvWQE{ID: 7, Key: 2})
	r.run()
	r.a.post(rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: 64, LocalVA: r.from, LocalKey: 2,
		RemoteVA: r.to, RemoteKey: 99})
	r.run()
	got := r.b.poll()
	require.Len(t, got, 2)
	require.Equal(t, rnicspec.OK, got[0].Status)
	require.Equal(t, rnicspec.Flushed, got[1].Status)
	require.Equal(t, r.hosts[0].bytes(r.from, 2048), r.hosts[1].bytes(r.to, 2048))
	r.hosts[1].do(&rnicspec.DestroyQP{QPN: r.b.n})
	require.Zero(t, r.state())
}

// Commands about accounts are refused by reason.
func TestAccountRefused(t *testing.T) {
	r := newAccountRig(t, rnicspec.SetAccount{Log: 4})
	h := r.hosts[1]
	c := h.qp(rnicspec.RC, 1)
	good := rnicspec.SetAccount{Account: 6, QPN: c.n, SlotBytes: 4096, Events: 600}
	for _, x := range []struct {
		why    rnicspec.Refusal
		change func(*rnicspec.SetAccount)
	}{
		{rnicspec.RefusedState, func(*rnicspec.SetAccount) {}}, // not connected
		{rnicspec.RefusedNumber, func(x *rnicspec.SetAccount) { x.Account = 5 }},
		{rnicspec.RefusedNumber, func(x *rnicspec.SetAccount) { x.Account = 64 }},
		{rnicspec.RefusedNumber, func(x *rnicspec.SetAccount) { x.QPN = 99 }},
		{rnicspec.RefusedNumber, func(x *rnicspec.SetAccount) { x.Events = 99 }},
		{rnicspec.RefusedState, func(x *rnicspec.SetAccount) { x.QPN = r.b.n }},
	} {
		bad := good
		x.change(&bad)
		h.refused(x.why, &bad)
	}
	connect(r.hosts[0].qp(rnicspec.RC, 1), c, 1024)
	for _, change := range []func(*rnicspec.SetAccount){
		func(x *rnicspec.SetAccount) { x.SlotBytes = 1023 }, func(x *rnicspec.SetAccount) { x.Log = 16 },
		func(x *rnicspec.SetAccount) { x.Credits = 1 << 24 }, func(x *rnicspec.SetAccount) { x.Slow = 8 },
	} {
		bad := good
		change(&bad)
		h.refused(rnicspec.RefusedValue, &bad)
	}
	h.do(&good)
	require.NoError(t, h.mmio.Write32(rnicspec.Account(7, rnicspec.AccountDrain), 1))
	r.run()
	require.EqualValues(t, 1, h.nic.Counter(rnicspec.CntWrongAccess))
}

// A slow packet that cannot be read back fails its queue pair, and no message with it or behind it ends well.
func TestAccountUnreadable(t *testing.T) {
	r := newAccountRig(t, rnicspec.SetAccount{Log: 4})
	r.write(0, 0, 2048, true)
	r.write(0, 0, 1024, true)
	r.run()
	const nowhere = 1 << 50
	(*r.hosts[1].nic.accounts[5].line.Front()).slot += nowhere
	r.drain(3)
	r.run()
	got := r.b.poll()
	require.Len(t, got, 2)
	require.Equal(t, rnicspec.LocalProtection, got[0].Status, "its first packet is lost")
	require.Equal(t, rnicspec.Flushed, got[1].Status)
}

// A queue pair with slow packets that nobody asks for can be destroyed once they have been copied, which the first
// attempt begins.
func TestAccountDestroyed(t *testing.T) {
	r := newAccountRig(t, rnicspec.SetAccount{Log: 4})
	r.write(0, 0, 2048, false)
	r.run()
	r.hosts[1].refused(rnicspec.RefusedState, &rnicspec.DestroyQP{QPN: r.b.n})
	require.Equal(t, r.hosts[0].bytes(r.from, 2048), r.hosts[1].bytes(r.to, 2048))
	r.hosts[1].do(&rnicspec.DestroyQP{QPN: r.b.n})
	require.True(t, r.hosts[1].nic.Idle())
}

// A region into which slow packets are still to be copied is removed once they have been, which the first attempt
// begins; from then on no request can use it.
func TestAccountDeregistered(t *testing.T) {
	r := newAccountRig(t, rnicspec.SetAccount{Log: 4})
	h := r.hosts[1]
	r.write(0, 0, 2048, false)
	r.run()
	r.a.poll()
	h.refused(rnicspec.RefusedState, &rnicspec.DestroyMR{Key: 2})
	require.Equal(t, r.hosts[0].bytes(r.from, 2048), h.bytes(r.to, 2048))
	h.refused(rnicspec.RefusedNumber, &rnicspec.CreateMR{Key: 2, PageLog: 12, Bytes: 4096})
	r.write(0, 4096, 1024, false)
	r.run()
	require.Equal(t, rnicspec.RemoteAccess, r.a.poll()[0].Status)
	h.do(&rnicspec.DestroyMR{Key: 2})
	h.refused(rnicspec.RefusedNumber, &rnicspec.DestroyMR{Key: 2})
	h.do(&rnicspec.CreateMR{Key: 2, PageLog: 12, Bytes: 4096})
}
