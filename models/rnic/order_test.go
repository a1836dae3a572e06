package rnic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/simcore"
)

// receives are the IDs and the states of the receive entries that ended, in the order of their completions.
func (q *testQP) receives() (ids []uint64, states []rnicspec.Status) {
	for _, c := range q.poll() {
		if c.Opcode == rnicspec.Recv {
			ids, states = append(ids, c.ID), append(states, c.Status)
		}
	}
	return ids, states
}

// scarce has few contexts, each held for so long that requests wait for them.
func scarce() Spec {
	s := testSpec()
	s.Contexts, s.Prefetch = Contexts{Endpoint: 1, Reserve: 1, Hold: 5 * simcore.Microsecond}, 8
	return s
}

// The messages of a queue pair are completed in order, whatever endpoint each goes to: one for the host does not overtake those that
// wait for a context of the Arm's. It holds no context meanwhile, so that others get on.
func TestCompletionsKeepTheirOrderAcrossEndpoints(t *testing.T) {
	r, a, b := connected(t, rnicspec.RC, scarce())
	a.h.nic.contexts.most, a.h.nic.spec.Contexts.Hold = 1000, 0 // it sends faster than the other one has contexts
	const n, each = 24, 512
	src := a.h.alloc(arm, n*each)
	sent := a.h.fill(src, n*each, 3)
	bufs := [2]uint64{b.h.alloc(arm, n*each), b.h.alloc(hst, n*each)}
	at := func(i uint64) (ep int, va uint64) {
		ep = int(i % 4 / 3) // three for the Arm, one for the host
		return ep, bufs[ep] + i*each
	}
	for i := range uint64(n) {
		ep, va := at(i)
		b.postRecv(rnicspec.RecvWQE{ID: i, VA: va, Length: each, Key: uint32(ep + 1)})
		a.put(rnicspec.WQE{Opcode: rnicspec.Send, ID: i, Flags: sig, Length: each, LocalVA: src + i*each, LocalKey: keyA})
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

// The receive entries of a queue pair that fails are completed in order: those that are read while the request it failed by has not had
// its effects are flushed behind it.
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
		a.put(rnicspec.WQE{Opcode: rnicspec.Send, ID: i, Flags: sig, Length: each, LocalVA: src + i*each, LocalKey: keyA})
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
