package verbs

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

func queues(t QPType, s State) *Queues {
	ahs := map[AH]PD{3: 1, 4: 2}
	return &Queues{
		Type: t, State: s, PD: 1, Dev: &everything, PathMTU: 1024, MaxMessage: 1 << 30,
		Cap:  QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 32},
		AHOf: func(h AH) (PD, bool) { pd, ok := ahs[h]; return pd, ok },
	}
}

var allTypes = []QPType{QPTRC, QPTUC, QPTUD, QPTRawPacket, QPTSolar}

// TestOperations checks which operations each type has, against IBTA table 35.
func TestOperations(t *testing.T) {
	has := map[QPType]string{
		QPTRC: "write write_imm send send_imm read cas add inv send_inv nop",
		QPTUC: "write write_imm send send_imm inv nop",
		QPTUD: "send send_imm", QPTRawPacket: "send", QPTSolar: "write read",
	}
	names := map[Opcode]string{WRWrite: "write", WRWriteImm: "write_imm", WRSend: "send", WRSendImm: "send_imm",
		WRRead:    "read",
		WRCmpSwap: "cas", WRFetchAdd: "add", WRLocalInv: "inv", WRSendInv: "send_inv", WRNop: "nop", 8: "-", 10: "-",
		200: "-"}
	for _, typ := range allTypes {
		q := queues(typ, QPSRTS)
		for op, n := range names {
			err := q.CheckSend(&SendWR{Opcode: op, AH: 3, Flags: SendSignaled})
			if words := " " + has[typ] + " "; n != "-" && contains(words, " "+n+" ") {
				require.NoError(t, err, "%v %v", typ, op)
			} else {
				require.ErrorContains(t, err, "not supported by", "%v %v", typ, op)
				require.ErrorIs(t, err, EINVAL)
			}
		}
	}
}

func contains(s, part string) bool {
	for i := range len(s) - len(part) + 1 {
		if s[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

// TestPostingStates checks in which states requests may be posted, against IBTA 10.3.1.
func TestPostingStates(t *testing.T) {
	for s, want := range map[State]struct{ send, recv bool }{
		QPSReset: {false, false}, QPSInit: {false, true}, QPSRTR: {false, true}, QPSRTS: {true, true},
		QPSSQD: {true, true},
		QPSSQE: {true, true}, QPSErr: {true, true},
	} {
		q := queues(QPTRC, s)
		require.Equal(t, want.send, q.CheckSend(&SendWR{Opcode: WRSend}) == nil, "%v", s)
		require.Equal(t, want.recv, q.CheckRecv(&RecvWR{}) == nil, "%v", s)
		r := NewRegions(1)
		require.Equal(t, s == QPSErr || s == QPSSQE, q.SendStatus(&SendWR{Opcode: WRSend}, r) == WCFlushErr, "%v", s)
		require.Equal(t, s == QPSErr, q.RecvStatus(&RecvWR{}, 0, r) == WCFlushErr, "%v", s)
	}
}

// TestRefusedRequests checks the errors of requests that may not be posted.
func TestRefusedRequests(t *testing.T) {
	ud := queues(QPTUD, QPSRTS)
	rc := queues(QPTRC, QPSRTS)
	full, srq, bare := queues(QPTRC, QPSRTS), queues(QPTRC, QPSRTS), queues(QPTRC, QPSRTS)
	full.SendUsed, full.RecvUsed, srq.HasSRQ = 4, 4, true
	bare.Dev = &DeviceAttr{}
	three := make([]SGE, 3)
	for _, c := range []struct {
		q     *Queues
		w     SendWR
		errno Errno
		says  string
	}{
		{full, SendWR{Opcode: WRSend}, ENOMEM, "full"},
		{rc, SendWR{Opcode: WRSend, SGEs: three}, EINVAL, "3 pieces of memory: the queue pair was created with 2"},
		{rc, SendWR{Opcode: WRSend, Flags: SendInline, Inline: make([]byte, 33)}, EINVAL,
			"33 B inline: the queue pair was created with 32"},
		{rc, SendWR{Opcode: WRRead, Flags: SendInline}, EINVAL, "inline data with RDMA_READ"},
		{rc, SendWR{Opcode: WRFetchAdd, Flags: SendInline}, EINVAL, "inline data with ATOMIC_FETCH_AND_ADD"},
		{rc, SendWR{Opcode: WRSend, Flags: 16}, EINVAL, "send flags 0x10: want 0xf at most"},
		{ud, SendWR{Opcode: WRSend}, EINVAL, "address handle 0 does not exist"},
		{ud, SendWR{Opcode: WRSend, AH: 4}, EINVAL, "address handle 4: it is of another protection domain"},
		{ud, SendWR{Opcode: WRSend, AH: 3, RemoteQPN: 1 << 24}, EINVAL, "remote queue pair 0x1000000: want 24 bits"},
		{bare, SendWR{Opcode: WRCmpSwap}, EOPNOTSUPP, "operation ATOMIC_CMP_AND_SWP: the device lacks it"},
		{bare, SendWR{Opcode: WRSendInv}, EOPNOTSUPP, "operation SEND_WITH_INV: the device lacks it"},
	} {
		err := c.q.CheckSend(&c.w)
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, "post_send: "+c.errno.Error())
		require.ErrorIs(t, err, c.errno)
	}
	require.ErrorIs(t, full.CheckRecv(&RecvWR{}), ENOMEM)
	require.ErrorContains(t, srq.CheckRecv(&RecvWR{}), "post_recv: EINVAL: the queue pair has a shared receive queue")
	require.ErrorContains(t, rc.CheckRecv(&RecvWR{SGEs: three}), "post_recv: EINVAL: 3 pieces")
}

// TestStatuses checks keys, rights and bounds of the pieces of a request, depending on its operation.
func TestStatuses(t *testing.T) {
	r := NewRegions(8)
	ro, err := r.Register(1, 0x1000, 100, 0)
	require.NoError(t, err)
	rw, err := r.Register(1, 0x1000, 100, AccessLocalWrite)
	require.NoError(t, err)
	other, err := r.Register(2, 0x1000, 100, AccessLocalWrite)
	require.NoError(t, err)
	for _, c := range []struct {
		op     Opcode
		s      SGE
		status Status
	}{
		{WRSend, SGE{0x1000, 100, ro.LKey}, WCSuccess},
		{WRSend, SGE{0x1000, 101, ro.LKey}, WCLocProtErr},
		{WRSend, SGE{0xfff, 1, ro.LKey}, WCLocProtErr},
		{WRSend, SGE{0x1063, 1, ro.LKey}, WCSuccess},
		{WRSend, SGE{0x1064, 1, ro.LKey}, WCLocProtErr},
		{WRSend, SGE{^uint64(0), 2, ro.LKey}, WCLocProtErr},
		{WRSend, SGE{0x1000, 1, other.LKey}, WCLocProtErr},
		{WRSend, SGE{0, 0, 12345}, WCSuccess},
		{WRWrite, SGE{0x1000, 1, 0}, WCLocProtErr},
		{WRRead, SGE{0x1000, 100, ro.LKey}, WCLocProtErr},
		{WRRead, SGE{0x1000, 100, rw.LKey}, WCSuccess},
		{WRCmpSwap, SGE{0x1000, 8, ro.LKey}, WCLocProtErr},
		{WRCmpSwap, SGE{0x1000, 8, rw.LKey}, WCSuccess},
		{WRFetchAdd, SGE{0x1000, 4, rw.LKey}, WCLocLenErr},
		{WRLocalInv, SGE{0, 1, 0}, WCSuccess},
		{WRNop, SGE{0, 1, 0}, WCSuccess},
	} {
		q := queues(QPTRC, QPSRTS)
		require.Equal(t, c.status, q.SendStatus(&SendWR{Opcode: c.op, SGEs: []SGE{c.s}}, r), "%+v", c)
	}
	ud, rc := queues(QPTUD, QPSRTS), queues(QPTRC, QPSRTS)
	big := []SGE{{0x1000, 1000, rw.LKey}, {0x1000, 25, rw.LKey}}
	require.Equal(t, WCLocLenErr, ud.SendStatus(&SendWR{Opcode: WRSend, SGEs: big}, r))
	rc.MaxMessage = 1024
	require.Equal(t, WCLocLenErr, rc.SendStatus(&SendWR{Opcode: WRSend, SGEs: big}, r))

	recv := RecvWR{SGEs: []SGE{{0x1000, 50, rw.LKey}, {0x1032, 50, ro.LKey}}}
	require.Equal(t, WCSuccess, rc.RecvStatus(&recv, 50, r), "the second piece is not touched")
	require.Equal(t, WCLocProtErr, rc.RecvStatus(&recv, 51, r))
	require.Equal(t, WCLocLenErr, rc.RecvStatus(&recv, 101, r))
}

// TestRegions checks registering, looking up, invalidating and deregistering of regions.
func TestRegions(t *testing.T) {
	r := NewRegions(2)
	for _, a := range []Access{AccessRemoteWrite, AccessRemoteAtomic, 1 << 4} {
		_, err := r.Register(1, 0, 1, a)
		require.ErrorIs(t, err, EINVAL)
	}
	_, err := r.Register(1, ^uint64(0), 2, 0)
	require.ErrorIs(t, err, EINVAL)
	_, err = r.Register(1, 5, 0, 0)
	require.ErrorIs(t, err, EINVAL)
	m, err := r.Register(1, ^uint64(0), 1, AccessLocalWrite|AccessRemoteWrite)
	require.NoError(t, err)
	require.True(t, r.Remote(1, m.RKey, ^uint64(0), 1, AccessRemoteWrite))
	require.False(t, r.Remote(2, m.RKey, ^uint64(0), 1, AccessRemoteWrite), "another protection domain")
	require.False(t, r.Remote(1, m.RKey, ^uint64(0), 1, AccessRemoteRead))
	require.True(t, r.Remote(1, 99, 0, 0, AccessRemoteRead), "no bytes need no region")
	_, err = r.Register(1, 0, 1, 0)
	require.NoError(t, err)
	_, err = r.Register(1, 0, 1, 0)
	require.ErrorIs(t, err, ENOMEM)
	require.False(t, r.Invalidate(2, m.RKey))
	require.True(t, r.Invalidate(1, m.RKey))
	require.False(t, r.Remote(1, m.RKey, ^uint64(0), 1, AccessRemoteWrite))
	require.True(t, r.Local(1, &SGE{^uint64(0), 1, m.LKey}, AccessLocalWrite), "invalidation ends remote rights only")
	_, err = r.Deregister(m.LKey)
	require.NoError(t, err)
	_, err = r.Deregister(m.LKey)
	require.ErrorIs(t, err, EINVAL)
	again, err := r.Register(1, 0, 1, 0)
	require.NoError(t, err)
	require.NotEqual(t, m.LKey, again.LKey, "a key that has ended names nothing")
	require.False(t, r.Local(1, &SGE{0, 1, m.LKey}, 0))
	require.True(t, r.Local(1, &SGE{0, 1, again.LKey}, 0))
}

// TestObjects checks that limits are kept, that an object can only use objects that exist, and that it cannot be
// destroyed while others use it.
func TestObjects(t *testing.T) {
	o := NewObjects(map[Kind]Numbers{KindPD: {1, 2}, KindCQ: {0, 8}, KindQP: {2, 2}})
	pd, err := o.Create("alloc_pd", KindPD)
	require.NoError(t, err)
	cq, err := o.Create("create_cq", KindCQ)
	require.NoError(t, err)
	a, b := Object{KindPD, pd}, Object{KindCQ, cq}
	qp, err := o.Create("create_qp", KindQP, a, b, b)
	require.NoError(t, err)
	require.EqualValues(t, 2, qp)
	require.ErrorIs(t, o.Destroy("dealloc_pd", a), EBUSY)
	require.ErrorContains(t, o.Destroy("destroy_cq", b), "verbs: destroy_cq: EBUSY: CQ 0: 2 objects still use it")
	_, err = o.Create("create_qp", KindQP, Object{KindPD, 9})
	require.ErrorIs(t, err, EINVAL)
	_, err = o.Create("create_qp", KindQP, a)
	require.NoError(t, err)
	_, err = o.Create("create_qp", KindQP, a)
	require.ErrorIs(t, err, ENOMEM)
	require.NoError(t, o.Destroy("destroy_qp", Object{KindQP, qp}))
	require.NoError(t, o.Destroy("destroy_cq", b))
	require.ErrorIs(t, o.Destroy("destroy_cq", b), EINVAL)
	require.ErrorIs(t, o.Destroy("dealloc_pd", a), EBUSY)
	require.NoError(t, o.Destroy("destroy_qp", Object{KindQP, 3}))
	require.NoError(t, o.Destroy("dealloc_pd", a))
	_, err = o.Create("create_srq", KindSRQ)
	require.ErrorIs(t, err, ENOMEM, "a kind without numbers")
}

// TestNotifier checks which completion raises an event after which requests.
func TestNotifier(t *testing.T) {
	good, bad := &WC{}, &WC{Status: WCFlushErr}
	for _, c := range []struct {
		ask       []bool // arguments of the calls of Request, in order
		wc        *WC
		solicited bool
		event     bool
	}{
		{nil, good, true, false}, {[]bool{false}, good, false, true}, {[]bool{true}, good, false, false},
		{[]bool{true}, good, true, true},
		{[]bool{true}, bad, false, true}, {[]bool{true, false}, good, false, true},
		{[]bool{false, true}, good, false, true},
	} {
		var n Notifier
		for _, only := range c.ask {
			n.Request(only)
		}
		require.Equal(t, c.event, n.Added(c.wc, c.solicited), "%+v", c)
		if c.event {
			require.False(t, n.Added(bad, true), "one event for each request")
		}
	}
}

// TestCompletions checks that Completions behaves as a bounded queue under any sequence of calls.
func TestCompletions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 5).Draw(t, "size")
		c, want, over, id := NewCompletions(size), []WC(nil), false, uint64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				id++
				wc := WC{ID: id, QPN: uint32(rapid.IntRange(0, 1).Draw(t, "qpn"))}
				fits := !over && len(want) < size
				over = over || !fits
				require.Equal(t, fits, c.Add(&wc))
				if fits {
					want = append(want, wc)
				}
			case 2:
				wcs := make([]WC, rapid.IntRange(0, 3).Draw(t, "room"))
				empty := len(want) == 0
				n, err := c.Poll(wcs)
				require.Equal(t, over && empty, err != nil)
				require.Equal(t, min(len(wcs), len(want)), n)
				for i := range n {
					require.Equal(t, want[i], wcs[i])
				}
				want = want[n:]
			default:
				var kept []WC
				for _, wc := range want {
					if wc.QPN != 1 {
						kept = append(kept, wc)
					}
				}
				want = kept
				c.Drop(1)
			}
		}
	})
}

// TestNoAllocations checks that checking a valid request, and polling, allocate nothing.
func TestNoAllocations(t *testing.T) {
	r := NewRegions(1)
	m, err := r.Register(1, 0x1000, 100, AccessLocalWrite)
	require.NoError(t, err)
	q, c, wcs := queues(QPTUD, QPSRTS), NewCompletions(4), make([]WC, 4)
	w := SendWR{Opcode: WRSend, AH: 3, SGEs: []SGE{{0x1000, 8, m.LKey}}}
	recv := RecvWR{SGEs: w.SGEs}
	bad := false
	require.Zero(t, testing.AllocsPerRun(100, func() {
		bad = bad || q.CheckSend(&w) != nil || q.SendStatus(&w, r) != WCSuccess || q.CheckRecv(&recv) != nil ||
			q.RecvStatus(&recv, 8, r) != WCSuccess
		c.Add(&wcs[0])
		n, err := c.Poll(wcs)
		bad = bad || n != 1 || err != nil
	}))
	require.False(t, bad)
}
