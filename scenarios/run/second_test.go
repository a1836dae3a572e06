package run

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/stack/driver"
	"nictwin/stack/driver/rootbus"
	"nictwin/stack/rnicverbs"
)

// loop is a queue pair on each endpoint of a second device, connected to each other by loopback.
type loop struct {
	t    *testing.T
	card *board.Card
	devs [2]*rnicverbs.Device
	cqs  [2]*rnicverbs.CQ
	qps  [2]*rnicverbs.QP
	done int // completions of work entries
}

// Addresses in both memories that neither stack nor applications use, the first region's key, and the message length.
const (
	loopQueues, loopBytes, loopKey = 460 << 20, 462 << 20, 7
	loopMessage                    = 100_000
)

var loopMAC = [6]byte{2, 0, 0, 0, 9, 9}

// newLoop opens verbs on the second device of a card, from the Arm's root and from the host's.
func newLoop(t *testing.T, card *board.Card) *loop {
	l := &loop{t: t, card: card}
	for ep := range l.devs {
		var err error
		l.devs[ep], err = rnicverbs.Open(rootbus.Bus{Regs: card.SecondMMIO(ep), Memory: card.Memory},
			driver.NewArena(mem.Bus(ep, loopQueues), 1<<20))
		require.NoError(t, err)
	}
	d := l.devs[0] // creates everything, so that numbers are unique
	d.SetPort(rnicspec.SetPort{MAC: loopMAC, IP: [16]byte{10, 0, 9, 9}})
	for ep := range l.devs {
		d.RegMR(rnicspec.CreateMR{Key: loopKey + uint32(ep), Access: rnicspec.AllAccess, PageLog: 21,
			VA: mem.Bus(ep, 0), Bus: mem.Bus(ep, 0), Bytes: 1 << 30})
		var err error
		l.cqs[ep], err = d.NewCQ(4)
		require.NoError(t, err)
		l.qps[ep], err = d.NewQP(rnicverbs.QPConfig{Type: rnicspec.RC, SendLog: 4, RecvLog: 4, Send: l.cqs[ep],
			Recv: l.cqs[ep]})
		require.NoError(t, err)
	}
	for ep, q := range l.qps {
		h := d.NewAH(rnicspec.CreateAH{MAC: loopMAC, IP: [16]byte{10, 0, 9, 9}, TTL: 64})
		q.Connect(rnicspec.ModifyQP{State: rnicspec.RTS, DestQP: l.qps[1-ep].Num(), Handle: h, PMTU: 1024,
			Access: rnicspec.AllAccess, MaxRead: 16, MinRNR: 1, Retries: 7, RNRRetry: 7, Timeout: 14})
	}
	return l
}

// text returns the bytes that the WRITE copies: Arm memory holds them before it, host memory after it.
func (l *loop) text() []byte {
	return bytes.Repeat([]byte("second device "), loopMessage/14+1)[:loopMessage]
}

// write posts a WRITE from Arm memory to host memory once the queue pairs are connected.
func (l *loop) write() {
	require.NoError(l.t, l.card.Memory.Write(mem.Bus(nicspec.EndpointArm, loopBytes), l.text()))
	_, err := l.cqs[0].Follow(func() {
		require.NoError(l.t, l.cqs[0].Poll(func(c *rnicspec.CQE) { require.Equal(l.t, rnicspec.OK, c.Status) },
			func(n int) { l.done += n }))
	})
	require.NoError(l.t, err)
	l.devs[0].Then(func() {
		require.NoError(l.t, l.qps[0].Push(&rnicspec.WQE{Opcode: rnicspec.Write, Flags: rnicspec.FlagSignalled,
			Length: loopMessage, LocalVA: mem.Bus(nicspec.EndpointArm, loopBytes), LocalKey: loopKey,
			RemoteVA: mem.Bus(nicspec.EndpointHost, loopBytes), RemoteKey: loopKey + 1}))
	})
}

// check checks the WRITE's bytes, and that the drivers have no errors.
func (l *loop) check() {
	require.Equal(l.t, 1, l.done)
	got := make([]byte, loopMessage)
	require.NoError(l.t, l.card.Memory.Read(mem.Bus(nicspec.EndpointHost, loopBytes), got))
	require.True(l.t, bytes.Equal(l.text(), got))
	for _, d := range l.devs {
		require.NoError(l.t, d.Err())
	}
}

// While the FlexiNS stack runs on a card's NIC, which a referee judges, an rnic in the second slot WRITEs from Arm
// memory to host memory: both deliver the right bytes, on a shared NIC-side channel and on separate ones. A second
// device with nothing to do changes no time.
func TestSecondDevice(t *testing.T) {
	for _, preset := range []string{"bf3-cores", "bf2-cores"} {
		play := func(second string, traffic func(*board.Rack, bool)) *Played {
			c := caseOf(t, "board:\n  servers:\n  - {name: A, preset: "+preset+", cards: [{preset: "+preset+second+
				"}]}\n  - {name: B, preset: "+preset+"}\n  network: {kind: back_to_back}\nstacks: [{kind: flexins, "+
				"flexins: {data_cores: 4}}]\nworkload: {kind: write, both_ways: true, count: 60, sizes: [4096]}")
			p, err := c.Play(t.Context(), Options{Traffic: traffic})
			require.NoError(t, err)
			require.True(t, p.Pass(), texts(p))
			require.NotZero(t, p.NICs[0].Checked)
			return p
		}
		const second = ", second: {device: {kind: rnic, model: bluefield2}}"
		without, idle := play("", nil), play(second, nil)
		require.Equal(t, without.Sim, idle.Sim)
		require.Equal(t, without.Digest, idle.Digest)
		for i := range idle.NICs {
			require.Equal(t, without.NICs[i].Checked, idle.NICs[i].Checked)
			require.Equal(t, without.NICs[i].Cycles, idle.NICs[i].Cycles)
		}
		var l *loop
		busy := play(second, func(r *board.Rack, settled bool) {
			if settled {
				return
			}
			l = newLoop(t, r.Cards()[0])
			l.write()
		})
		l.check()
		require.Equal(t, without.Digest, busy.Digest)
	}
}

// A second device whose peer is not itself gets no answer: nothing leaves the card.
func TestSecondDeviceHasNoCable(t *testing.T) {
	s, err := board.ParseRack("b.yaml", []byte("servers: [{preset: bf3, cards: [{preset: bf3, device: {kind: model}, "+
		"second: {device: {kind: rnic, model: connectx7}}}]}]"))
	require.NoError(t, err)
	e, pools := simcore.NewEngine(), new(board.Pools)
	rack, err := board.NewRack(e, pools, s, device.Slots(device.Spec{NIC: device.Model}, nil))
	require.NoError(t, err)
	card := rack.Cards()[0]
	l := newLoop(t, card)
	h := l.devs[0].NewAH(rnicspec.CreateAH{MAC: [6]byte{2, 1}, IP: [16]byte{10, 0, 9, 8}, TTL: 64})
	away, err := l.devs[0].NewQP(rnicverbs.QPConfig{Type: rnicspec.RC, SendLog: 4, RecvLog: 4, Send: l.cqs[0],
		Recv: l.cqs[0]})
	require.NoError(t, err)
	away.Connect(rnicspec.ModifyQP{State: rnicspec.RTS, DestQP: 9, Handle: h, PMTU: 1024, Access: rnicspec.AllAccess,
		MaxRead: 16, MinRNR: 1, Retries: 1, RNRRetry: 1, Timeout: 4})
	require.NoError(t, e.Run())
	require.NoError(t, away.Push(&rnicspec.WQE{Opcode: rnicspec.Write, Length: 64, LocalVA: loopBytes,
		LocalKey: loopKey, RemoteVA: loopBytes, RemoteKey: loopKey}))
	require.NoError(t, e.Run())
	var got []rnicspec.Status
	require.NoError(t, l.cqs[0].Poll(func(c *rnicspec.CQE) { got = append(got, c.Status) }, func(int) {}))
	require.NoError(t, e.Run())
	require.Equal(t, []rnicspec.Status{rnicspec.RetryExceeded}, got)
	require.Zero(t, pools.TLPs.Live())
	require.True(t, card.Idle())
	require.NoError(t, card.Err())
	require.NoError(t, rack.Close())
}
