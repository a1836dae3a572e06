package rnicverbs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
)

type slotted struct{ *rnic.Comp }

func (s slotted) Period() simcore.Ps      { return s.Spec().Freq.Period() }
func (s slotted) EthBits() int            { return 0 }
func (s slotted) Begin(func() bool) error { return nil }
func (s slotted) Check() error            { return s.Err() }
func (s slotted) Cycles() int64           { return s.Cycle() }
func (s slotted) Close() error            { return nil }

// node is a card with an rnic, with one driver on the Arm and one on the host.
type node struct {
	card *board.Card
	dev  [2]*Device
	cq   [2]*CQ
}

const key = 3

func newNode(t testing.TB, e *simcore.Engine, pools *board.Pools, n byte) *node {
	card, err := board.CardPreset("bf2")
	require.NoError(t, err)
	card.Name, card.EthBits = "Card["+string('0'+rune(n))+"]", 0
	card.Endpoint.Ahead = 0
	spec, err := rnic.Preset("bluefield2")
	require.NoError(t, err)
	spec.Limits[1] = spec.Limits[0] // the host root has the same limits as the Arm's
	x := &node{}
	x.card, err = board.NewCard(e, pools, card, func(s board.Slot) (board.NIC, error) {
		c, err := rnic.Builder{Scheduler: s.Engine, Spec: spec, Frames: s.Frames, TLPs: s.TLPs}.Build(s.Name)
		return slotted{c}, err
	})
	require.NoError(t, err)
	buses := [2]rootbus.Bus{
		{Regs: x.card.Root.MMIO(nicspec.RequesterArm), Memory: x.card.Memory},
		{Regs: x.card.Host.MMIO(nicspec.RequesterHost), Memory: x.card.Memory},
	}
	for ep := range x.dev {
		x.dev[ep], err = Open(buses[ep], driver.NewArena(uint64(ep)<<nicspec.EndpointShift|1<<20, 1<<20))
		require.NoError(t, err)
		// two drivers share the NIC, so their objects need different numbers
		x.dev[ep].qpn, x.dev[ep].cqn, x.dev[ep].handle = uint32(ep*100), uint32(ep*100), uint32(ep*100)
	}
	require.NoError(t, e.Run())
	for p := range 2 {
		x.dev[0].SetPort(rnicspec.SetPort{Port: uint8(p), MAC: mac(n, p), IP: [16]byte{10, 0, byte(p), n}})
	}
	for ep := range x.dev {
		at := uint64(ep) << nicspec.EndpointShift
		x.dev[ep].RegMR(rnicspec.CreateMR{Key: key + uint32(ep), Access: rnicspec.AllAccess, PageLog: 21, VA: at,
			Bus: at, Bytes: 1 << 30})
		x.cq[ep], err = x.dev[ep].NewCQ(8)
		require.NoError(t, err)
	}
	return x
}

func mac(n byte, port int) [6]byte { return [6]byte{2, 0, 0, 0, byte(port), n} }

func (x *node) qp(t testing.TB, ep int) *QP {
	q, err := x.dev[ep].NewQP(QPConfig{Type: rnicspec.RC, SendLog: 4, RecvLog: 4, Send: x.cq[ep], Recv: x.cq[ep]})
	require.NoError(t, err)
	return q
}

func (x *node) connect(ep int, q, peer *QP, to byte) {
	h := x.dev[ep].NewAH(rnicspec.CreateAH{MAC: mac(to, 0), IP: [16]byte{10, 0, 0, to}, TTL: 64})
	q.Connect(rnicspec.ModifyQP{
		State: rnicspec.RTS, DestQP: peer.Num(), Handle: h, PMTU: 1024, Access: rnicspec.AllAccess, MaxRead: 16,
		MinRNR:  1,
		Retries: 7, RNRRetry: 7, Timeout: 10,
	})
}

func (x *node) poll(t testing.TB, ep int) []rnicspec.CQE {
	var got []rnicspec.CQE
	require.NoError(t, x.cq[ep].Poll(func(c *rnicspec.CQE) { got = append(got, *c) },
		func(n int) { require.Len(t, got, n) }))
	return got
}

// TestVerbs sends through the verbs from the Arm to the host of the same card by loopback, and to the other card's Arm
// over the cable.
func TestVerbs(t *testing.T) {
	e, pools := simcore.NewEngine(), new(board.Pools)
	a, b := newNode(t, e, pools, 1), newNode(t, e, pools, 2)
	eth := simcore.LinkSpec{Latency: 100 * simcore.Nanosecond, Rate: simcore.Gbps(100), Credits: 1024,
		CreditLatency: 100 * simcore.Nanosecond, OverheadBytes: 24}
	require.NoError(t, board.Cable("Cable", e, eth, a.card.NIC.Eth(0), b.card.NIC.Eth(0)))
	out, in := a.qp(t, 0), b.qp(t, 0)
	soc, host := a.qp(t, 0), a.qp(t, 1)
	require.NoError(t, e.Run())
	a.connect(0, out, in, 2)
	b.connect(0, in, out, 1)
	a.connect(0, soc, host, 1)
	a.connect(1, host, soc, 1)
	ready := 0
	a.dev[0].Then(func() { ready++ })
	b.dev[0].Then(func() { ready++ })
	require.NoError(t, e.Run())
	require.Equal(t, 2, ready)
	require.NoError(t, a.dev[0].Err())
	require.NoError(t, a.dev[1].Err())

	const onHost = nicspec.EndpointHost<<nicspec.EndpointShift | 8<<20
	text := []byte("over the cable, and then by the card's own NIC from Arm to host")
	require.NoError(t, a.card.Memory.Write(8<<20, text))
	n := uint32(len(text))
	require.NoError(t, in.Recv(&rnicspec.RecvWQE{ID: 1 << 40, VA: 9 << 20, Length: 4096, Key: key}))
	require.NoError(t, in.RingRecv())
	followed := 0
	_, err := b.cq[0].Follow(func() { followed++ })
	require.NoError(t, err)
	require.NoError(t,
		out.Post(&rnicspec.WQE{Opcode: rnicspec.Send, ID: 7, Length: n, LocalVA: 8 << 20, LocalKey: key}))
	require.NoError(t,
		out.Post(&rnicspec.WQE{Opcode: rnicspec.Write, ID: 8, Flags: rnicspec.FlagSignalled, Length: n,
			LocalVA: 8 << 20, LocalKey: key, RemoteVA: 10 << 20, RemoteKey: key}))
	require.NoError(t, out.Ring())
	require.NoError(t,
		soc.Push(&rnicspec.WQE{Opcode: rnicspec.Write, ID: 9, Flags: rnicspec.FlagSignalled, Length: n,
			LocalVA: 8 << 20, LocalKey: key, RemoteVA: onHost, RemoteKey: key + 1}))
	require.NoError(t, e.Run())
	require.Equal(t, 1, followed)
	var ids []uint64
	for _, c := range a.poll(t, 0) {
		require.Equal(t, rnicspec.OK, c.Status)
		ids = append(ids, c.ID)
	}
	require.ElementsMatch(t, []uint64{8, 9}, ids)
	require.EqualValues(t, 1<<40, b.poll(t, 0)[0].ID)
	for _, at := range []struct {
		card *board.Card
		addr uint64
	}{{b.card, 9 << 20}, {b.card, 10 << 20}, {a.card, onHost}} {
		got := make([]byte, n)
		require.NoError(t, at.card.Memory.Read(at.addr, got))
		require.Equal(t, string(text), string(got))
	}
	require.Equal(t, 16, out.Room(), "the unsignalled entry's slot is free, too")
}

// TestLimits checks that a full ring is reported, and that a command which the NIC refuses ends the driver with an
// error that names it.
func TestLimits(t *testing.T) {
	e, pools := simcore.NewEngine(), new(board.Pools)
	a := newNode(t, e, pools, 1)
	q := a.qp(t, 0)
	require.NoError(t, e.Run())
	for range 16 {
		require.NoError(t, q.Post(&rnicspec.WQE{Opcode: rnicspec.Write}))
	}
	require.ErrorIs(t, q.Post(&rnicspec.WQE{}), ErrFull)
	var state rnicspec.QPState
	q.State(func(s rnicspec.QPState) { state = s })
	require.NoError(t, e.Run())
	require.Equal(t, rnicspec.Init, state)
	q.Connect(rnicspec.ModifyQP{State: rnicspec.RTS, PMTU: 100})
	require.NoError(t, e.Run())
	require.ErrorContains(t, a.dev[0].Err(), "the NIC refuses *rnicspec.ModifyQP")
	require.ErrorContains(t, a.dev[0].Err(), "value out of range")
	require.ErrorIs(t, q.Ring(), ErrStopped)
}

// TestSharedReceiveQueuesRunOut checks that a shared receive queue for which no number is left takes no memory.
func TestSharedReceiveQueuesRunOut(t *testing.T) {
	d := newNode(t, simcore.NewEngine(), new(board.Pools), 1).dev[0]
	d.srqn = rnicspec.MaxSRQs - 2
	events, err := d.NewCQ(4)
	require.NoError(t, err)
	_, err = d.NewSRQ(nil, 4, events, func(error) {})
	require.NoError(t, err)
	left := d.arena.Left()
	for range 3 {
		_, err = d.NewSRQ(nil, 4, events, func(error) {})
		require.ErrorContains(t, err, "all 255 shared receive queues are in use")
		require.Equal(t, left, d.arena.Left())
	}
}

// TestNoAllocations checks that posting, ringing and polling allocate nothing in steady state.
func TestNoAllocations(t *testing.T) {
	e, pools := simcore.NewEngine(), new(board.Pools)
	a := newNode(t, e, pools, 1)
	soc, host := a.qp(t, 0), a.qp(t, 1)
	require.NoError(t, e.Run())
	a.connect(0, soc, host, 1)
	a.connect(1, host, soc, 1)
	require.NoError(t, e.Run())
	w := rnicspec.WQE{Opcode: rnicspec.Write, Flags: rnicspec.FlagSignalled, Length: 64, LocalVA: 8 << 20,
		LocalKey: key,
		RemoteVA: nicspec.EndpointHost<<nicspec.EndpointShift | 8<<20, RemoteKey: key + 1}
	ended, failed := 0, false
	each, done := func(c *rnicspec.CQE) { failed = failed || c.Status != rnicspec.OK }, func(n int) { ended += n }
	round := func() {
		for range 8 {
			failed = soc.Post(&w) != nil || failed
		}
		failed = soc.Ring() != nil || e.Run() != nil || a.cq[0].Poll(each, done) != nil || failed
	}
	for range 100 {
		round()
	}
	require.Zero(t, testing.AllocsPerRun(20, round))
	require.False(t, failed)
	require.Equal(t, 121*8, ended)
}

// TestPollMost checks that a bounded poll leaves the other entries to later ones.
func TestPollMost(t *testing.T) {
	e, pools := simcore.NewEngine(), new(board.Pools)
	a := newNode(t, e, pools, 1)
	soc, host := a.qp(t, 0), a.qp(t, 1)
	require.NoError(t, e.Run())
	a.connect(0, soc, host, 1)
	a.connect(1, host, soc, 1)
	require.NoError(t, e.Run())
	for i := range uint64(5) {
		require.NoError(t, soc.Post(&rnicspec.WQE{Opcode: rnicspec.Write, ID: i, Flags: rnicspec.FlagSignalled,
			Length: 8, LocalVA: 8 << 20, LocalKey: key, RemoteVA: nicspec.EndpointHost<<nicspec.EndpointShift | 8<<20,
			RemoteKey: key + 1}))
	}
	require.NoError(t, soc.Ring())
	require.NoError(t, e.Run())
	var ids []uint64
	for _, want := range []int{2, 2, 1, 0} {
		require.NoError(t, a.cq[0].PollMost(2, func(c *rnicspec.CQE) { ids = append(ids, c.ID) },
			func(n int) { require.Equal(t, want, n) }))
	}
	require.Equal(t, []uint64{0, 1, 2, 3, 4}, ids)
}

// busy is the bus of a NIC that refuses commands some times, since slow packets are still to be copied.
type busy struct {
	driver.Bus
	seq     uint16
	refuses int
}

func (b *busy) WriteReg(uint32, []byte) error {
	b.seq++
	return nil
}

func (b *busy) ReadReg(_ uint32, _ int, done func(uint64, error)) {
	r := rnicspec.Result{Seq: b.seq}
	if b.refuses--; b.refuses >= 0 {
		r.Code = uint16(rnicspec.RefusedState)
	}
	done(r.Word(), nil)
}

// TestDeregistrationWaits checks that a memory region is destroyed again until the NIC has copied what belongs there.
func TestDeregistrationWaits(t *testing.T) {
	b := &busy{refuses: 3}
	d, ended := &Device{bus: b}, false
	d.TryDeregMR(key, func(err error) { ended = err == nil })
	require.True(t, ended)
	require.EqualValues(t, 4, b.seq)
}
