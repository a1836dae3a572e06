package rnic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

const (
	arm  = nicspec.EndpointArm
	hst  = nicspec.EndpointHost
	keyA = arm + 1
	keyH = hst + 1
)

func connected(t testing.TB, typ rnicspec.QPType, spec Spec) (r *rig, a, b *testQP) {
	r = newRig(t, 2, spec)
	for _, h := range r.hosts {
		h.region(arm)
		h.region(hst)
	}
	a, b = r.hosts[0].qp(typ, arm), r.hosts[1].qp(typ, arm)
	connect(a, b, 1024)
	return r, a, b
}

// Every operation of an RC queue pair must work over two NICs and a cable, with memory of both
// endpoints, and with requests posted in each of the three ways.
func TestBackToBack(t *testing.T) {
	for _, size := range []int{0, 1, 32, 1000, 5000, 100_000} {
		r, a, b := connected(t, rnicspec.RC, testSpec())
		src, into := a.h.alloc(arm, 1<<20), a.h.alloc(hst, 1<<20)
		dst, buf := b.h.alloc(hst, 1<<20), b.h.alloc(arm, 1<<20)
		sent := a.h.fill(src, size, 1)
		held := b.h.fill(dst+1<<19, size, 9)
		b.postRecv(rnicspec.RecvWQE{ID: 70, VA: buf, Length: 1 << 19, Key: keyA})
		b.postRecv(rnicspec.RecvWQE{ID: 71, VA: buf, Length: 1 << 19, Key: keyA})
		n := uint32(size)
		a.put(rnicspec.WQE{Opcode: rnicspec.Write, ID: 1, Length: n, LocalVA: src, LocalKey: keyA, RemoteVA: dst,
			RemoteKey: keyH})
		a.put(rnicspec.WQE{Opcode: rnicspec.Read, ID: 2, Flags: sig, Length: n, LocalVA: into, LocalKey: keyH,
			RemoteVA: dst + 1<<19, RemoteKey: keyH})
		a.put(rnicspec.WQE{Opcode: rnicspec.FetchAdd, ID: 3, Flags: sig, Length: 8, LocalVA: into + 1<<19,
			LocalKey: keyH, RemoteVA: dst + 3<<18, RemoteKey: keyH, SwapAdd: 5})
		a.post(rnicspec.WQE{Opcode: rnicspec.Send, ID: 4, Flags: sig, Length: n, LocalVA: src, LocalKey: keyA})
		r.run()
		w := rnicspec.WQE{Opcode: rnicspec.WriteImm, ID: 5, Flags: sig | rnicspec.FlagInline, Length: 32,
			RemoteVA: dst + 1<<18, RemoteKey: keyH, Imm: 8}
		copy(w.Inline[:], sent)
		a.push(w)
		r.run()
		require.Equal(t, sent, b.h.bytes(dst, size))
		require.Equal(t, held, a.h.bytes(into, size))
		require.Equal(t, sent, b.h.bytes(buf, size))
		require.Equal(t, w.Inline[:], b.h.bytes(dst+1<<18, 32))
		require.EqualValues(t, 5, b.h.bytes(dst+3<<18, 8)[0])
		var ids []uint64
		for _, c := range a.poll() {
			require.Equal(t, rnicspec.OK, c.Status)
			ids = append(ids, c.ID)
		}
		require.Equal(t, []uint64{2, 3, 4, 5}, ids)
		require.Equal(t, []rnicspec.CQE{
			{ID: 70, Bytes: n, QPN: 1, Opcode: rnicspec.Recv, Phase: true},
			{ID: 71, Bytes: 32, QPN: 1, Opcode: rnicspec.RecvWrite, HasImm: true, Imm: 8, Phase: true},
		}, b.poll())
		require.False(t, a.h.nic.Busy())
		require.False(t, b.h.nic.Busy())
		require.Zero(t, r.pools.TLPs.Live())
		require.Zero(t, a.h.nic.Counter(rnicspec.CntRetries))
	}
}

// A small READ must take about the latency that the paper gives for RDMA. A WRITE must take less,
// as it waits for no completion.
func TestLatency(t *testing.T) {
	measure := func(o rnicspec.Opcode) simcore.Ps {
		r, a, b := connected(t, rnicspec.RC, testSpec())
		local, remote := a.h.alloc(arm, 4096), b.h.alloc(arm, 4096)
		from := r.e.Now()
		var at simcore.Ps
		_, err := a.h.space.Watch(a.cqAddr, 64, func(uint64, int) { at = r.e.Now() })
		require.NoError(t, err)
		a.push(rnicspec.WQE{Opcode: o, Flags: sig, Length: 64, LocalVA: local, LocalKey: keyA, RemoteVA: remote,
			RemoteKey: keyA})
		r.run()
		require.Len(t, a.poll(), 1)
		return at - from
	}
	read, write := measure(rnicspec.Read), measure(rnicspec.Write)
	t.Log(read, write)
	require.Less(t, simcore.Microsecond, read)
	require.Less(t, read, 4*simcore.Microsecond)
}

func TestDatagramsAndRaw(t *testing.T) {
	r, a, b := connected(t, rnicspec.UD, testSpec())
	src, buf := a.h.alloc(arm, 4096), b.h.alloc(hst, 4096)
	sent := a.h.fill(src, 1000, 3)
	b.postRecv(rnicspec.RecvWQE{ID: 1, VA: buf, Length: 4096, Key: keyH})
	a.post(rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig, Length: 1000, LocalVA: src, LocalKey: keyA, DestQP: b.n,
		Handle: 1000 + a.n, QKey: 0x11})
	r.run()
	require.Equal(t, []rnicspec.CQE{{ID: 1, Bytes: 1040, QPN: 1, SrcQP: 1, Opcode: rnicspec.Recv, Phase: true}},
		b.poll())
	require.Equal(t, sent, b.h.bytes(buf+40, 1000))
	require.Len(t, a.poll(), 1)

	x, y := a.h.qp(rnicspec.Raw, arm), b.h.qp(rnicspec.Raw, arm)
	connect(x, y, 4096)
	y.postRecv(rnicspec.RecvWQE{ID: 2, VA: buf, Length: 4096, Key: keyH})
	x.post(rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig, Length: 777, LocalVA: src, LocalKey: keyA})
	r.run()
	require.Equal(t, []rnicspec.CQE{{ID: 2, Bytes: 777, QPN: 2, Opcode: rnicspec.Recv, Phase: true}}, y.poll())
	require.Equal(t, sent[:777], b.h.bytes(buf, 777))
	require.Len(t, x.poll(), 1)
}

// Requester and responder on one NIC: transfers from the Arm to the host and back must not cross
// the Ethernet ports.
func TestLoopback(t *testing.T) {
	r := newRig(t, 1, testSpec())
	h := r.hosts[0]
	h.region(arm)
	h.region(hst)
	a, b := h.qp(rnicspec.RC, arm), h.qp(rnicspec.RC, hst)
	connect(a, b, 4096)
	const n = 300_000
	onArm, onHost := h.alloc(arm, 1<<20), h.alloc(hst, 1<<20)
	s2h := h.fill(onArm, n, 1)
	a.post(rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: n, LocalVA: onArm, LocalKey: keyA, RemoteVA: onHost,
		RemoteKey: keyH})
	r.run()
	require.Equal(t, s2h, h.bytes(onHost, n))
	other := h.fill(onHost, n, 99)
	a.post(rnicspec.WQE{Opcode: rnicspec.Read, Flags: sig, Length: n, LocalVA: onArm, LocalKey: keyA, RemoteVA: onHost,
		RemoteKey: keyH})
	r.run()
	require.Equal(t, other, h.bytes(onArm, n))
	require.Len(t, a.poll(), 2)
	require.False(t, h.nic.Busy())
	require.Zero(t, h.nic.Counter(rnicspec.CntRetries))
}
