package bypass_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/ceio/bypass"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
	"nictwin/stack/rnicverbs"
	"nictwin/stack/rnicverbs/provider"
)

const (
	key    = 3
	mtu    = 1024
	memory = 8 << 20   // address of the first flow's messages, at both ends
	room   = 128 << 10 // bytes of all messages of a flow
	slow   = 64 << 20  // address of slow packets
)

// slotted makes an rnic fit into a card's NIC slot.
type slotted struct{ *rnic.Comp }

func (s slotted) Period() simcore.Ps      { return s.Spec().Freq.Period() }
func (s slotted) EthBits() int            { return 0 }
func (s slotted) Begin(func() bool) error { return nil }
func (s slotted) Check() error            { return s.Err() }
func (s slotted) Cycles() int64           { return s.Cycle() }
func (s slotted) Close() error            { return nil }

// end is a card with an RDMA NIC, driven from its Arm.
type end struct {
	card *board.Card
	nic  *rnic.Comp
	dev  *rnicverbs.Device
}

func newEnd(t *testing.T, e *simcore.Engine, pools *board.Pools, n byte) *end {
	card, err := board.CardPreset("bf2")
	require.NoError(t, err)
	card.Name, card.EthBits = "Card["+string('0'+rune(n))+"]", 0
	card.Endpoint.Ahead = 0
	spec, err := rnic.Preset("bluefield2")
	require.NoError(t, err)
	spec.Limits[1] = spec.Limits[0] // the host root has the same limits as the Arm's
	x := &end{}
	x.card, err = board.NewCard(e, pools, card, func(s board.Slot) (_ board.NIC, err error) {
		x.nic, err = rnic.Builder{Scheduler: s.Engine, Spec: spec, Frames: s.Frames, TLPs: s.TLPs}.Build(s.Name)
		return slotted{x.nic}, err
	})
	require.NoError(t, err)
	x.dev, err = rnicverbs.Open(rootbus.Bus{Regs: x.card.Root.MMIO(nicspec.RequesterArm), Memory: x.card.Memory},
		driver.NewArena(1<<20, 2<<20))
	require.NoError(t, err)
	require.NoError(t, e.Run())
	x.dev.SetPort(rnicspec.SetPort{MAC: mac(n), IP: ip(n)})
	x.dev.RegMR(rnicspec.CreateMR{Key: key, Access: rnicspec.AllAccess, PageLog: 21, Bytes: 1 << 30})
	return x
}

func mac(n byte) [6]byte { return [6]byte{2, 0, 0, 0, 0, n} }

func ip(n byte) [16]byte { return [16]byte{10, 0, 0, n} }

// qp returns a queue pair, with the completion queue of both its rings.
func (x *end) qp(t *testing.T) (*rnicverbs.QP, *rnicverbs.CQ) {
	const log = 7
	cq, err := x.dev.NewCQ(log + 1)
	require.NoError(t, err)
	q, err := x.dev.NewQP(rnicverbs.QPConfig{Type: rnicspec.RC, SendLog: log, RecvLog: log, Send: cq, Recv: cq})
	require.NoError(t, err)
	return q, cq
}

func (x *end) connect(q, peer *rnicverbs.QP, to byte) {
	q.Connect(rnicspec.ModifyQP{State: rnicspec.RTS, DestQP: peer.Num(), PMTU: mtu, Access: rnicspec.AllAccess,
		Handle:  x.dev.NewAH(rnicspec.CreateAH{MAC: mac(to), IP: ip(to), TTL: 64}),
		MaxRead: 16, MinRNR: 1, Retries: 7, RNRRetry: 7, Timeout: 10})
}

// bed is a controller at the second of two ends, and flows of WRITEs to that end.
type bed struct {
	t       *testing.T
	e       *simcore.Engine
	ends    [2]*end
	c       *bypass.Controller
	flows   []*flow
	rng     *rand.Rand
	share   uint32
	reading bool // the state of an account
}

// flow writes one message behind the other. The last WRITE of a message has immediate data.
type flow struct {
	qp      [2]*rnicverbs.QP
	cq      [2]*rnicverbs.CQ
	from    uint64
	posted  int              // bytes
	written int              // bytes in the receiver's memory, in order
	wrong   []uint64         // addresses of writes out of order
	last    []int            // of messages that are not taken yet, the end of each
	taken   []provider.Drawn // of messages that were taken, but not reported as processed
}

func newBed(t *testing.T, rng *rand.Rand, flows int, s bypass.Spec) *bed {
	b := &bed{t: t, e: simcore.NewEngine(), rng: rng}
	pools := new(board.Pools)
	for i := range b.ends {
		b.ends[i] = newEnd(t, b.e, pools, byte(i))
	}
	eth := simcore.LinkSpec{Latency: 100 * simcore.Nanosecond, Rate: simcore.Gbps(100), Credits: 1024,
		CreditLatency: 100 * simcore.Nanosecond, OverheadBytes: 24}
	require.NoError(t, board.Cable("Cable", b.e, eth, b.ends[0].card.NIC.Eth(0), b.ends[1].card.NIC.Eth(0)))
	var err error
	b.c, err = bypass.New(b.ends[1].dev, s, slow)
	require.NoError(t, err)
	b.share = uint32(b.c.Share())
	for i := range flows {
		b.add(memory + uint64(i)*room)
	}
	require.NoError(t, b.e.Run())
	for _, x := range b.ends {
		require.NoError(t, x.dev.Err())
	}
	return b
}

// add opens a flow whose messages are at an address.
func (b *bed) add(from uint64) {
	f := &flow{from: from}
	b.flows = append(b.flows, f)
	for i, x := range b.ends {
		f.qp[i], f.cq[i] = x.qp(b.t)
	}
	for i, x := range b.ends {
		x.connect(f.qp[i], f.qp[1-i], byte(1-i))
	}
	b.c.Open(f.qp[1].Num(), func(err error) { require.NoError(b.t, err) })
	bytes := make([]byte, room)
	for i := range bytes {
		bytes[i] = byte(b.rng.Uint32())
	}
	require.NoError(b.t, b.ends[0].card.Memory.Write(from, bytes))
	_, err := b.ends[1].card.Memory.Watch(from, room, func(addr uint64, n int) {
		if addr != from+uint64(f.written) {
			f.wrong = append(f.wrong, addr)
		}
		f.written += n
	})
	require.NoError(b.t, err)
}

// post posts a message of some WRITEs, as far as there is room.
func (b *bed) post(f *flow) {
	const writes, bytes = 5, 5000
	n := 1 + b.rng.IntN(writes)
	if f.posted == room || f.qp[0].Room() < n || f.qp[1].RecvRoom() == 0 {
		return
	}
	require.NoError(b.t, f.qp[1].Recv(&rnicspec.RecvWQE{Key: key}))
	require.NoError(b.t, f.qp[1].RingRecv())
	for i := range n {
		w := rnicspec.WQE{Opcode: rnicspec.Write, Flags: rnicspec.FlagSignalled, LocalKey: key, RemoteKey: key,
			Length: uint32(min(1+b.rng.IntN(bytes), room-f.posted)), LocalVA: f.from + uint64(f.posted),
			RemoteVA: f.from + uint64(f.posted)}
		f.posted += int(w.Length)
		if i == n-1 || f.posted == room {
			w.Opcode = rnicspec.WriteImm
		}
		require.NoError(b.t, f.qp[0].Post(&w))
		if w.Opcode == rnicspec.WriteImm {
			break
		}
	}
	f.last = append(f.last, f.posted)
	if b.rng.IntN(3) == 0 && f.qp[0].Room() > 0 {
		b.readBack(f, 1+b.rng.IntN(min(f.posted, bytes)))
	}
	require.NoError(b.t, f.qp[0].Ring())
}

// readBack posts a READ of n bytes that have been posted, to where they came from.
func (b *bed) readBack(f *flow, n int) {
	at := f.from + uint64(b.rng.IntN(f.posted-n+1))
	require.NoError(b.t, f.qp[0].Post(&rnicspec.WQE{Opcode: rnicspec.Read, Flags: rnicspec.FlagSignalled,
		LocalKey: key, RemoteKey: key, Length: uint32(n), LocalVA: at, RemoteVA: at}))
}

// take takes the messages that have arrived, and reports some of those taken so far as processed.
func (b *bed) take(f *flow) {
	for i := range f.cq {
		require.NoError(b.t, f.cq[i].Poll(func(c *rnicspec.CQE) {
			require.Equal(b.t, rnicspec.OK, c.Status)
			if i == 1 {
				require.GreaterOrEqual(b.t, f.written, f.last[0], "a completion before the bytes of its message")
				f.last, f.taken = f.last[1:], append(f.taken, provider.Drawn{Credits: c.Drawn, Slow: c.Slow})
			}
		}, func(int) {}))
	}
	for len(f.taken) > 0 && b.rng.IntN(4) > 0 {
		b.c.Processed(f.qp[1].Num(), f.taken[0])
		f.taken = f.taken[1:]
	}
}

// checkBalance checks that an account has no more credits than its flow's share.
func (b *bed) checkBalance(account int) {
	if b.reading {
		return
	}
	b.reading = true
	at := rnicspec.Account(uint32(account), rnicspec.AccountCredit)
	require.NoError(b.t, b.ends[1].card.Root.MMIO(nicspec.RequesterArm).Read(at, 8, func(v uint64, err error) {
		b.reading = false
		require.NoError(b.t, err)
		require.LessOrEqual(b.t, rnicspec.AccountStateOf(v).Balance, b.share)
	}))
}

// TestWrites checks over drawn schedules that every WRITE's bytes reach memory once and in order, whether its packets
// are fast or slow, that a message completes behind its bytes, that READs return what WRITEs before them have written,
// and that no account has more than its share, however late applications take messages.
func TestWrites(t *testing.T) {
	var sum bypass.Stats
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := bypass.DefaultSpec()
		s.Flows = 1 + rng.IntN(3)
		s.Credits = []int{0, s.Flows, 8 * s.Flows, 40 * s.Flows}[rng.IntN(4)]
		s.Batch, s.LogSlots = 1+rng.IntN(4), 1+rng.IntN(6)
		s.MarkAt = min(rng.IntN(4), 1<<s.LogSlots-1)
		b, lazy := newBed(t, rng, s.Flows, s), 1+rng.IntN(4)*rng.IntN(8)
		for step := 0; !b.done(); step++ {
			require.Less(t, step, 20_000, "seed %d, %+v: it does not end", seed, s)
			for i, f := range b.flows {
				if rng.IntN(2) == 0 {
					b.post(f)
				}
				if step%lazy == 0 {
					b.take(f)
				}
				b.checkBalance(i)
			}
			require.NoError(t, b.e.RunUntil(b.e.Now()+simcore.Ps(rng.IntN(2_000_000))))
		}
		require.NoError(t, b.e.Run())
		b.checkEnd(seed, &sum)
	}
	require.NotZero(t, sum.Exhausted)
	require.NotZero(t, sum.Drains)
	require.NotZero(t, sum.Resumes)
}

// done reports whether all messages of all flows were taken and reported as processed.
func (b *bed) done() bool {
	for _, f := range b.flows {
		if f.posted < room || len(f.last) > 0 || len(f.taken) > 0 {
			return false
		}
	}
	return true
}

// checkEnd checks the final memory and counts, and adds the controller's statistics to sum.
func (b *bed) checkEnd(seed uint64, sum *bypass.Stats) {
	t, x := b.t, b.ends[1]
	for i, f := range b.flows {
		want, got := make([]byte, room), make([]byte, room)
		require.NoError(t, b.ends[0].card.Memory.Read(f.from, want))
		require.NoError(t, x.card.Memory.Read(f.from, got))
		require.Empty(t, f.wrong, "seed %d, flow %d", seed, i)
		require.Equal(t, room, f.written, "seed %d, flow %d: bytes written", seed, i)
		require.Equal(t, want, got, "seed %d, flow %d", seed, i)
	}
	st := b.c.Stats()
	require.Equal(t, x.nic.Counter(rnicspec.CntSlow), st.Copies, "seed %d", seed)
	require.True(t, x.nic.Idle(), "seed %d", seed)
	require.NoError(t, x.dev.Err())
	sum.Exhausted, sum.Drains, sum.Resumes = sum.Exhausted+st.Exhausted, sum.Drains+st.Drains, sum.Resumes+st.Resumes
}

// TestSpecs checks that wrong parameters are refused by field, and that flows beyond the accounts are.
func TestSpecs(t *testing.T) {
	for want, change := range map[string]func(*bypass.Spec){
		"flows 65: want 0 to 64":      func(s *bypass.Spec) { s.Flows = 65 },
		"credits -1: want 0 to":       func(s *bypass.Spec) { s.Credits = -1 },
		"credits 3: 4 flows have":     func(s *bypass.Spec) { s.Flows, s.Credits = 4, 3 },
		"batch 0: want 1 to":          func(s *bypass.Spec) { s.Batch = 0 },
		"log_slots 0: want 1 to":      func(s *bypass.Spec) { s.LogSlots = 0 },
		"mark_at -1: want 0 to":       func(s *bypass.Spec) { s.MarkAt = -1 },
		"batch 0: want 1 to 16777215": func(s *bypass.Spec) { s.Batch, s.MarkAt = 0, -1 },
	} {
		s := bypass.DefaultSpec()
		change(&s)
		require.ErrorContains(t, s.Validate(), want)
	}
	s := bypass.DefaultSpec()
	s.Flows, s.LogSlots = 1, 3
	require.EqualValues(t, 8*bypass.SlotBytes, s.SlowBytes())
	b := newBed(t, rand.New(rand.NewPCG(1, 1)), 1, s)
	var err error
	b.c.Open(99, func(e error) { err = e })
	require.EqualError(t, err, "bypass: queue pair 99: all 1 accounts are in use: want more flows")
	b.c.Close(b.flows[0].qp[1].Num())
	b.c.Processed(b.flows[0].qp[1].Num(), provider.Drawn{Credits: 5}) // of a flow that was closed: no effect
	require.Zero(t, b.c.Stats())
}
