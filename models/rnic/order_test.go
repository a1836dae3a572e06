package rnic

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/boundary"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// receives returns the IDs and statuses of the receive entries that have completed, in order.
func (q *testQP) receives() (ids []uint64, states []rnicspec.Status) {
	for _, c := range q.poll() {
		if c.Opcode == rnicspec.Recv {
			ids, states = append(ids, c.ID), append(states, c.Status)
		}
	}
	return ids, states
}

// scarce returns a spec with few contexts, each held for so long that requests must wait for them.
func scarce() Spec {
	s := testSpec()
	s.Contexts, s.Prefetch = Contexts{Endpoint: 1, Reserve: 1, Hold: 5 * simcore.Microsecond}, 8
	return s
}

// The messages of a queue pair must complete in order, whatever endpoint each addresses: one for the host must not
// overtake those that wait for a context of the Arm. The waiting message must hold no context meanwhile, so that other
// queue pairs can use it.
func TestCompletionsKeepTheirOrderAcrossEndpoints(t *testing.T) {
	r, a, b := connected(t, rnicspec.RC, scarce())
	a.h.nic.contexts.most, a.h.nic.spec.Contexts.Hold = 1000, 0 // `a` sends faster than contexts of `b` become free
	const n, each = 24, 512
	src := a.h.alloc(arm, n*each)
	sent := a.h.fill(src, n*each, 3)
	bufs := [2]uint64{b.h.alloc(arm, n*each), b.h.alloc(hst, n*each)}
	at := func(i uint64) (ep int, va uint64) {
		ep = int(i % 4 / 3) // three messages for the Arm, one for the host
		return ep, bufs[ep] + i*each
	}
	for i := range uint64(n) {
		ep, va := at(i)
		b.postRecv(rnicspec.RecvWQE{ID: i, VA: va, Length: each, Key: uint32(ep + 1)})
		a.put(rnicspec.WQE{Opcode: rnicspec.Send, ID: i, Flags: sig, Length: each, LocalVA: src + i*each,
			LocalKey: keyA})
	}
	a.ring()
	r.run()
	ids, states := b.receives()
	require.Len(t, ids, n)
	for i := range uint64(n) {
		require.Equal(t, i, ids[i])
		require.Equal(t, rnicspec.OK, states[i])
		_, va := at(i)
		require.Equal(t, sent[i*each:][:each], b.h.bytes(va, each))
	}
	require.Equal(t, [2]int{}, b.h.nic.contexts.used)
}

// The receive entries of a failed queue pair must complete in order: those that were fetched before
// the failing request took effect are flushed behind it.
func TestFlushedEntriesComeBehindTheErrorInOrder(t *testing.T) {
	r, a, b := connected(t, rnicspec.RC, scarce())
	const n, bad, each = 40, 5, 512
	src, buf := a.h.alloc(arm, n*each), b.h.alloc(arm, n*each)
	for i := range uint64(n) {
		w := rnicspec.RecvWQE{ID: i, VA: buf + i*each, Length: each, Key: keyA}
		if i == bad {
			w.Key = 77
		}
		b.postRecv(w)
		a.put(rnicspec.WQE{Opcode: rnicspec.Send, ID: i, Flags: sig, Length: each, LocalVA: src + i*each,
			LocalKey: keyA})
	}
	a.ring()
	r.run()
	ids, states := b.receives()
	require.Len(t, ids, n)
	for i, s := range states {
		want := rnicspec.Flushed
		switch {
		case i < bad:
			want = rnicspec.OK
		case i == bad:
			want = rnicspec.LocalProtection
		}
		require.EqualValues(t, i, ids[i])
		require.Equal(t, want, s, i)
	}
	require.False(t, b.h.nic.Busy())
}

// sends returns the IDs and statuses of the work entries that have completed, in order.
func (q *testQP) sends() (ids []uint64, states []rnicspec.Status) {
	for _, c := range q.poll() {
		if c.Opcode != rnicspec.Recv {
			ids, states = append(ids, c.ID), append(states, c.Status)
		}
	}
	return ids, states
}

// The work entries of a queue pair without acknowledgements must complete in order: the failing one
// and the flushed ones come behind those whose packets have left, and none of their packets leaves.
// The failure is an unknown key, absent memory, or several of them; the first error in order must
// be reported, signalled or not.
func TestUnacknowledgedSendsEndInOrderWhenOneFails(t *testing.T) {
	const unknown, nowhere, n, bad = 77, 99, 10, 5
	want := slices.Repeat([]rnicspec.Status{rnicspec.OK}, bad)
	want = append(append(want, rnicspec.LocalProtection),
		slices.Repeat([]rnicspec.Status{rnicspec.Flushed}, n-bad-1)...)
	for _, typ := range []rnicspec.QPType{rnicspec.UC, rnicspec.UD, rnicspec.Raw} {
		for _, keys := range [][n]uint32{{bad: unknown}, {bad: nowhere}, {bad: nowhere, 7: unknown},
			{bad: nowhere, nowhere, nowhere, 9: nowhere}} {
			r, a, b := connected(t, rnicspec.RC, testSpec())
			a, b = a.h.qp(typ, arm), b.h.qp(typ, arm)
			connect(a, b, 1024)
			a.h.do(&rnicspec.CreateMR{Key: nowhere, Access: rnicspec.AllAccess, PageLog: 21, Bus: 1 << 40,
				Bytes: 1 << 30})
			src, to := a.h.alloc(arm, 4096), mac(1)
			require.NoError(t, a.h.space.Write(src, to[:]))
			w := rnicspec.WQE{Opcode: rnicspec.Send, Length: 1000, LocalVA: src, DestQP: b.n, Handle: 1000 + a.n,
				QKey: 0x11}
			if typ == rnicspec.UC {
				w.Length = 3000
			}
			for i := range uint64(n) {
				b.postRecv(rnicspec.RecvWQE{ID: i, VA: b.h.alloc(arm, 4096), Length: 4096, Key: keyA})
				w.ID, w.LocalKey, w.Flags = i, max(keys[i], keyA), sig
				if i == bad {
					w.Flags = 0
				}
				a.put(w)
			}
			a.ring()
			r.run()
			ids, states := a.sends()
			require.True(t, slices.IsSorted(ids), "%v, keys %d: %v", typ, keys, ids)
			require.Equal(t, want, states, "%v, keys %d", typ, keys)
			require.False(t, a.h.nic.Busy())
			require.Zero(t, a.h.nic.qps[a.n].refs)
			require.Len(t, b.poll(), bad, "%v, keys %d: messages that came", typ, keys)
		}
	}
}

// One message fails twice: its last packet lies beyond the region, which is found when the packet
// is planned, and its first packet reads absent memory, which is found later. The error must be
// reported for this message.
func TestMessageThatFailsTwiceNamesTheError(t *testing.T) {
	const key, n, bad = 99, 6, 2
	r, a, b := connected(t, rnicspec.RC, testSpec())
	a, b = a.h.qp(rnicspec.UC, arm), b.h.qp(rnicspec.UC, arm)
	connect(a, b, 1024)
	w := rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig, Length: 3000, LocalVA: a.h.alloc(arm, 4096), DestQP: b.n}
	a.h.do(&rnicspec.CreateMR{Key: key, Access: rnicspec.AllAccess, PageLog: 21, VA: w.LocalVA, Bus: 1 << 40,
		Bytes: 2048})
	for i := range uint64(n) {
		if w.ID, w.LocalKey = i, keyA; i == bad {
			w.LocalKey = key
		}
		a.put(w)
	}
	a.ring()
	r.run()
	ids, states := a.sends()
	require.Equal(t, []uint64{0, 1, 2, 3, 4, 5}, ids)
	require.Equal(t, []rnicspec.Status{rnicspec.OK, rnicspec.OK, rnicspec.LocalProtection, rnicspec.Flushed,
		rnicspec.Flushed, rnicspec.Flushed}, states)
}

// Queue pairs without acknowledgements must copy inline bytes from the work entry before it is
// dequeued, which is before the packet is made.
func TestInlineBytesOutliveTheirEntry(t *testing.T) {
	for _, typ := range []rnicspec.QPType{rnicspec.RC, rnicspec.UC, rnicspec.UD, rnicspec.Raw} {
		r, a, b := connected(t, rnicspec.RC, testSpec())
		a, b = a.h.qp(typ, arm), b.h.qp(typ, arm)
		connect(a, b, 1024)
		buf := b.h.alloc(arm, 4096)
		b.postRecv(rnicspec.RecvWQE{VA: buf, Length: 4096, Key: keyA})
		w, to := rnicspec.WQE{Opcode: rnicspec.Send, Flags: sig | rnicspec.FlagInline, Length: 32, DestQP: b.n,
			Handle: 1000 + a.n, QKey: 0x11}, mac(1)
		for i := range w.Inline {
			w.Inline[i] = byte(i + 1)
		}
		copy(w.Inline[:], to[:])
		a.post(w)
		r.run()
		require.True(t, bytes.Contains(b.h.bytes(buf, 128), w.Inline[:]), typ)
	}
}

// Datagrams of a queue pair must complete in order, each after it has left, although those to the
// NIC itself need not wait for the wire.
func TestDatagramsOfTwoWaysEndInOrder(t *testing.T) {
	r, a, b := connected(t, rnicspec.UD, testSpec())
	const self, n = 5, 24
	a.h.do(&rnicspec.CreateAH{Handle: self, MAC: mac(0), IP: [16]byte{10, 0, 0, 0}, UDPPort: 0xc000, TTL: 64})
	left, completed := 0, 0
	a.h.nic.Observe(func(x boundary.Crossing) {
		if x.Kind == boundary.FrameOut {
			left++
		}
	})
	_, err := a.h.space.Watch(a.cqAddr, n*rnicspec.CQEBytes, func(uint64, int) {
		completed++
		require.GreaterOrEqual(t, left, completed-completed/12, "frames, at completion %d", completed)
	})
	require.NoError(t, err)
	src := a.h.alloc(arm, 4096)
	for i := range uint64(n) {
		w := rnicspec.WQE{Opcode: rnicspec.Send, ID: i, Flags: sig, Length: 1000, LocalVA: src, LocalKey: keyA,
			DestQP: b.n, Handle: 1000 + a.n, QKey: 0x11}
		if i%12 == 11 {
			w.DestQP, w.Handle, w.Length = a.n, self, 32
		}
		a.put(w)
	}
	a.ring()
	r.run()
	ids, _ := a.sends()
	require.Len(t, ids, n)
	require.Equal(t, n, completed)
	require.True(t, slices.IsSorted(ids), ids)
}

// Requests behind an atomic on its queue pair must take effect after it: they read what it wrote,
// are not overwritten by it, and complete after it. The same must hold between atomics, for memory
// of either endpoint, and when contexts are scarce.
func TestRequestsStayBehindAtomics(t *testing.T) {
	for _, o := range []rnicspec.Opcode{rnicspec.Read, rnicspec.Write, rnicspec.Send} {
		for ep, spec := range []Spec{arm: testSpec(), hst: scarce()} {
			r, a, b := connected(t, rnicspec.RC, spec)
			into, x, other := a.h.alloc(arm, 4096), b.h.alloc(ep, 4096), b.h.alloc(1-ep, 4096)
			put := func(h *host, at, v uint64) {
				require.NoError(t, h.space.Write(at, binary.LittleEndian.AppendUint64(nil, v)))
			}
			value := func(h *host, at uint64) uint64 { return binary.LittleEndian.Uint64(h.bytes(at, 8)) }
			put(b.h, x, 100)
			put(a.h, into+8, 7)
			completed := false
			_, err := b.h.space.Watch(b.cqAddr, 64, func(uint64, int) {
				completed = true
				require.EqualValues(t, 7, value(b.h, x), "%v: completed before it had its effects, or after the next "+
					"atomic had", o)
			})
			require.NoError(t, err)
			b.postRecv(rnicspec.RecvWQE{VA: x, Length: 8, Key: uint32(ep + 1)})
			w := rnicspec.WQE{Opcode: rnicspec.FetchAdd, Flags: sig, Length: 8, LocalVA: into, LocalKey: keyA,
				RemoteVA: x, RemoteKey: uint32(ep + 1), SwapAdd: 5}
			a.put(w)
			w.Opcode, w.LocalVA = o, into+8
			a.put(w)
			w.Opcode, w.LocalVA = rnicspec.FetchAdd, into+16
			a.put(w)
			a.put(rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: 8, LocalVA: into + 8, LocalKey: keyA,
				RemoteVA: other, RemoteKey: uint32(2 - ep)})
			a.ring()
			r.run()
			_, states := a.sends()
			require.Equal(t, slices.Repeat([]rnicspec.Status{rnicspec.OK}, 4), states)
			was := uint64(7)
			if o == rnicspec.Read {
				was = 105
				require.Equal(t, was, value(a.h, into+8))
			}
			require.Equal(t, []uint64{100, was, was + 5},
				[]uint64{value(a.h, into), value(a.h, into+16), value(b.h, x)}, o)
			require.Equal(t, o == rnicspec.Send, completed)
			require.False(t, b.h.nic.Busy())
		}
	}
}

// A queue pair must not wait for the atomics of another one.
func TestAtomicsHoldNoOtherQueuePair(t *testing.T) {
	at := func(busy int) (done simcore.Ps) {
		r, a, b := connected(t, rnicspec.RC, testSpec())
		x, y := a.h.qp(rnicspec.RC, arm), b.h.qp(rnicspec.RC, arm)
		connect(x, y, 1024)
		local, remote := a.h.alloc(arm, 4096), b.h.alloc(arm, 4096)
		w := rnicspec.WQE{Opcode: rnicspec.FetchAdd, Length: 8, LocalVA: local, LocalKey: keyA, RemoteVA: remote,
			RemoteKey: keyA}
		for range busy {
			a.put(w)
		}
		a.ring()
		w.Opcode, w.RemoteVA, w.Flags = rnicspec.Write, remote+64, sig
		x.put(w)
		_, err := b.h.space.Watch(remote+64, 8, func(uint64, int) { done = r.e.Now() })
		require.NoError(t, err)
		x.ring()
		r.run()
		return done
	}
	require.InDelta(t, int64(at(0)), int64(at(10)), float64(100*simcore.Nanosecond), "an atomic takes longer")
}

// The order of a queue pair's messages must not depend on the engine's order of events of one time:
// the effects of several small messages coincide here, also on Akita's engine.
func TestMessagesKeepTheirOrderOnAkitasEngine(t *testing.T) {
	for _, x := range []Contexts{DefaultSpec().Contexts, {Endpoint: 8, Hold: 2 * simcore.Microsecond},
		{Endpoint: 1000}} {
		r := &rig{t: t, any: sim.NewSerialEngine(), pools: new(board.Pools)}
		spec := DefaultSpec()
		spec.Contexts, spec.Prefetch = x, 8 // some messages wait for receive entries to be read
		r.addBF2(2, DefaultSpec(), spec)
		a, b := r.hosts[0].qp(rnicspec.RC, arm), r.hosts[1].qp(rnicspec.RC, arm)
		connect(a, b, 1024)
		const n, each = 32, 64
		src := a.h.alloc(arm, n*each)
		bufs := [2]uint64{b.h.alloc(arm, n*each), b.h.alloc(hst, n*each)}
		for i := range uint64(n) {
			ep := i / 8 % 2
			b.postRecv(rnicspec.RecvWQE{ID: i, VA: bufs[ep] + i*each, Length: each, Key: uint32(ep + 1)})
			a.put(rnicspec.WQE{Opcode: rnicspec.Send, ID: i, Flags: sig, Length: each, LocalVA: src + i*each,
				LocalKey: keyA})
		}
		a.ring()
		r.run()
		ids, _ := b.receives()
		require.Len(t, ids, n)
		require.True(t, slices.IsSorted(ids), "%+v: %v", x, ids)
	}
}
