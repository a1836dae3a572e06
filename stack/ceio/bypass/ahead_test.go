package bypass_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/ceio/bypass"
	"nictwin/stack/rnicverbs/provider"
)

// request posts a request for n bytes at an offset of a flow's memory.
func (b *bed) request(f *flow, o rnicspec.Opcode, n, at int) {
	require.NoError(b.t, f.qp[0].Post(&rnicspec.WQE{Opcode: o, Flags: rnicspec.FlagSignalled, LocalKey: key,
		RemoteKey: key, Length: uint32(n), LocalVA: f.from + uint64(at), RemoteVA: f.from + uint64(at)}))
	require.NoError(b.t, f.qp[0].Ring())
}

// send posts a WRITE with immediate data for the bytes behind the last one, and waits for its effects.
func (b *bed) send(f *flow, n int) {
	require.NoError(b.t, f.qp[1].Recv(&rnicspec.RecvWQE{Key: key}))
	require.NoError(b.t, f.qp[1].RingRecv())
	b.request(f, rnicspec.WriteImm, n, f.posted)
	f.posted += n
	f.last = append(f.last, f.posted)
	require.NoError(b.t, b.e.Run())
}

// fill sends 40 packets while the application takes none. The share is fast; slow packets are copied until less than
// half of the share is left for copies.
func (b *bed) fill(f *flow) {
	before := b.c.Stats().Copies
	for range 40 {
		b.send(f, 100)
	}
	require.EqualValues(b.t, b.share/2+1, b.c.Stats().Copies-before)
	require.Equal(b.t, int(b.share+b.share/2+1)*100, f.written)
}

// empty takes all messages one by one, and checks that copies are no further ahead than the share.
func (b *bed) empty(f *flow) {
	before := b.c.Stats().Copies
	for len(f.last) > 0 {
		require.NoError(b.t, f.cq[1].Poll(func(c *rnicspec.CQE) {
			f.last, f.taken = f.last[1:], append(f.taken, provider.Drawn{Credits: c.Drawn, Slow: c.Slow})
		}, func(int) {}))
		require.NoError(b.t, b.e.Run())
		for _, x := range f.taken {
			b.c.Processed(f.qp[1].Num(), x)
			require.NoError(b.t, b.e.Run())
			require.LessOrEqual(b.t, b.c.Stats().Copies-before, uint64(x.Slow)+uint64(b.share))
		}
		f.taken = nil
	}
	require.NoError(b.t, f.cq[0].Poll(func(*rnicspec.CQE) {}, func(int) {}))
	require.Equal(b.t, f.posted, f.written)
}

// TestCopiesAhead checks that slow packets are copied ahead of the application within the flow's share, that those of a
// message longer than the share are copied all the same, and that a READ does not wait for the application.
func TestCopiesAhead(t *testing.T) {
	s := bypass.DefaultSpec()
	s.Flows, s.Credits = 1, 8
	b := newBed(t, rand.New(rand.NewPCG(3, 3)), 1, s)
	f := b.flows[0]
	b.fill(f)
	b.empty(f)
	b.send(f, 20*mtu)
	require.Equal(t, f.posted, f.written, "20 packets")
	for range 12 {
		b.send(f, 100)
	}
	require.Less(t, f.written, f.posted)
	b.request(f, rnicspec.Read, 64, room-64)
	require.NoError(t, b.e.Run())
	require.Equal(t, f.posted, f.written, "a READ waits for them")
	require.NoError(t, b.ends[0].dev.Err())
}

// TestReopen checks that the account of a queue pair whose number was used before counts from zero.
func TestReopen(t *testing.T) {
	s := bypass.DefaultSpec()
	s.Flows, s.Credits = 1, 8
	b := newBed(t, rand.New(rand.NewPCG(4, 4)), 1, s)
	for i := range 3 {
		f := b.flows[i]
		b.fill(f)
		b.empty(f)
		for end, q := range f.qp {
			q.DestroyIdle(func(err error) { require.NoError(t, err) })
			require.NoError(t, b.e.Run())
			if q.Release(); end == 1 {
				b.c.Close(q.Num())
			}
		}
		b.add(f.from + room)
		require.NoError(t, b.e.Run())
		require.Equal(t, f.qp[1].Num(), b.flows[i+1].qp[1].Num(), "the number is used again")
	}
}
