package transport

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/verbs"
)

// weakInterop sends messages of UC or UD from side 0 to side 1. One side is models/rnic.
type weakInterop struct {
	*rig
	kind Kind
	hw   int
	n    uint64
	data [][]byte
	ops  []verbs.Opcode
	next int // number of the next message, as expected over a network without faults
}

const (
	slot   = 1024 // length of a message's buffer on either side
	inSlot = 800  // the longest message
)

func newWeakInterop(t *testing.T, seed uint64) *weakInterop {
	s := weakSchedule(seed)
	x := &weakInterop{kind: draw(&s, 80, UC, UD), hw: draw(&s, 201, 0, 1), n: 1 + s.hash(81)%8}
	x.rig = pair(t, s, x.kind)
	e := x.ends[x.hw]
	e.conn = newHardware(e, x.kind, uint32(100+x.hw))
	a := s.attr(x.hw)
	require.NoError(t, e.conn.Modify(0, verbs.QPSRTS, &a))
	for i := range x.n {
		x.post(t, i)
	}
	for i := range 2*x.n + 1 {
		require.NoError(t,
			x.ends[1].conn.PostRecv(&Recv{ID: i,
				Spans: []Span{{Addr: base64k + i*slot, Len: inSlot + x.before(), Key: keyLocal}}}))
	}
	x.ends[1].complete = x.arrived
	return x
}

// before returns the length of the header that the receiver stores before the message.
func (x *weakInterop) before() uint32 {
	if x.kind == UD && x.hw == 1 {
		return rnicspec.NetBytes
	}
	return 0
}

// post draws message i and schedules its posting, after those of earlier messages.
func (x *weakInterop) post(t *testing.T, i uint64) {
	op, length := []verbs.Opcode{verbs.WRSend, verbs.WRSendImm, verbs.WRWriteImm}[x.hash(82, i)%3],
		min(uint32(x.hash(83, i)%uint64(3*x.mtu)), inSlot)
	if x.kind == UD {
		op, length = []verbs.Opcode{verbs.WRSend, verbs.WRSendImm}[x.hash(82, i)%2], length%uint32(x.mtu+1)
	}
	addr := base64k + i*slot
	m := Send{ID: i, Op: op, Flags: verbs.SendSignaled, Spans: []Span{{Addr: addr, Len: length, Key: keyLocal}},
		Imm:  uint32(i),
		RKey: keyRemote, RemoteAddr: base64k + remoteAt + i*inSlot, AH: NewAH(path(0, x.v6)), RemoteQP: 101,
		RemoteQKey: 0x5555}
	a := x.ends[0]
	x.data, x.ops = append(x.data, x.fill(a, i, addr, length)), append(x.ops, op)
	x.after(Ps(x.hash(84, i)%(2*us))+Ps(i)*2*us, func() {
		require.NoError(t, a.conn.Post(x.now, &m))
		a.pull()
	})
}

// arrived checks that a completion, and the bytes received, belong to a message that was sent.
func (x *weakInterop) arrived(c *Completion) {
	n := c.ByteLen
	at := base64k + c.ID*slot
	if c.Opcode == verbs.WCRecvWriteWithImm {
		at = base64k + remoteAt + uint64(c.Imm)*inSlot
	} else {
		at, n = at+uint64(x.before()), n-x.before()
	}
	got := x.ends[1].at(at, n)
	found := -1
	for i := range x.data {
		if bytes.Equal(got, x.data[i]) && c.HasImm == (x.ops[i] != verbs.WRSend) && (!c.HasImm || c.Imm == uint32(i)) &&
			(found < 0 || i == x.next) {
			found = i
		}
	}
	if found < 0 || c.Status != verbs.WCSuccess || x.kind == UD && c.SrcQP != 100 {
		x.failf("%+v is no message that was sent", *c)
	}
	if x.lossless() && found != x.next {
		x.failf("message %d comes, want %d", found, x.next)
	}
	x.next++
}

// TestInteropDatagrams checks UC and UD between this package and the hardware of models/rnic: a message arrives whole
// or not at all, and over a network without faults exactly once and in order.
func TestInteropDatagrams(t *testing.T) {
	arrived, missing := [2]int{}, [2]int{}
	for seed := uint64(1); seed <= runs(t)/8; seed++ {
		x := newWeakInterop(t, seed)
		x.play()
		require.NoError(t, x.failure, "seed %d: %v, hardware on side %d", seed, x.kind, x.hw)
		a, b := x.ends[0], x.ends[1]
		require.Len(t, a.sends, int(x.n), "seed %d", seed)
		for i, c := range a.sends {
			require.Equal(t, Completion{ID: uint64(i), Opcode: x.ops[i].Completion()}, c, "seed %d", seed)
		}
		if x.lossless() {
			require.Len(t, b.recvs, int(x.n), "seed %d", seed)
		}
		arrived[x.hw], missing[x.hw] = arrived[x.hw]+len(b.recvs), missing[x.hw]+int(x.n)-len(b.recvs)
	}
	t.Log(arrived, "arrived,", missing, "did not")
	for hw := range 2 {
		require.Greater(t, arrived[hw], 1000)
		require.Greater(t, missing[hw], 100)
	}
}
