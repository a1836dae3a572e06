package rnic

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
)

// The same traffic must give the same digest of events. No bytes may be lost or made: what one side
// reads from its memory, the other must write.
func TestSameDigest(t *testing.T) {
	play := func() uint32 {
		spec, err := Preset("bluefield2")
		require.NoError(t, err)
		spec.Ports, spec.Caches = 1, Caches{QPs: 4, Pages: 4}
		r := newBF2(t, 2, spec)
		rng := rand.New(rand.NewPCG(5, 6))
		var qs [2][]*testQP
		for range 12 {
			a, b := r.hosts[0].qp(rnicspec.RC, arm), r.hosts[1].qp(rnicspec.RC, hst)
			connect(a, b, 1024)
			qs[0], qs[1] = append(qs[0], a), append(qs[1], b)
		}
		for _, h := range r.hosts {
			h.do(&rnicspec.SetContext{Addr: h.alloc(hst, 1<<16), Bytes: 1 << 16})
		}
		written := [2]uint64{}
		before := [2]Traffic{r.hosts[0].nic.Traffic(), r.hosts[1].nic.Traffic()}
		for side := range qs {
			for _, q := range qs[side] {
				for range 10 {
					n := rng.IntN(20_000)
					w := rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, Length: uint32(n),
						LocalVA: q.h.alloc(hst, 20_000), LocalKey: keyH,
						RemoteVA: r.hosts[1-side].alloc(arm, 20_000), RemoteKey: keyA}
					if rng.IntN(2) == 0 {
						w.Opcode = rnicspec.Read
					} else {
						written[1-side] += uint64(n)
					}
					q.put(w)
				}
				q.ring()
			}
		}
		r.run()
		for side := range qs {
			for _, q := range qs[side] {
				got := q.poll()
				require.Len(t, got, 10)
				for _, c := range got {
					require.Equal(t, rnicspec.OK, c.Status)
				}
			}
			h := r.hosts[side]
			require.False(t, h.nic.Busy())
			require.Less(t, uint64(50), h.nic.Counter(rnicspec.CntQPMisses))
			require.NotZero(t, h.nic.Counter(rnicspec.CntPageMisses), "pages of 2 MB: few")
			placed := h.nic.Traffic().Out.Bytes[arm] - before[side].Out.Bytes[arm]
			cqes := uint64(0)
			if side == 0 { // the completion queues of side 0 are in Arm memory
				cqes = 12 * 10 * rnicspec.CQEBytes
			}
			require.InDelta(t, written[side]+cqes, placed, 12*10*4, "whole DWs")
			require.Equal(t, h.nic.spec.Table, h.nic.table.free)
			require.Equal(t, [2]int{}, h.nic.contexts.used)
			require.Zero(t, h.nic.rx.held)
			require.Zero(t, h.nic.tx.held)
			require.Equal(t, h.nic.spec.Tags, h.nic.dma.free.Len())
		}
		require.Zero(t, r.pools.TLPs.Live())
		return r.digest
	}
	require.Equal(t, play(), play())
}

// loop keeps n queue pairs busy: each posts another READ of 64 B when one has ended.
type loop struct {
	r    *rig
	qs   []*testQP
	wqe  [rnicspec.WQEBytes]byte
	next int
	data uint64
}

func newLoop(t testing.TB, n int) *loop {
	x := &loop{r: newRig(t, 2, testSpec())}
	x.r.hosts[0].nic.obs, x.r.hosts[1].nic.obs = nil, nil
	for _, h := range x.r.hosts {
		h.region(arm)
	}
	for range n {
		a, b := x.r.hosts[0].qp(rnicspec.RC, arm), x.r.hosts[1].qp(rnicspec.RC, arm)
		connect(a, b, 1024)
		x.qs = append(x.qs, a)
	}
	x.data = x.r.hosts[0].alloc(arm, 1<<16)
	x.r.hosts[1].alloc(arm, 1<<16)
	return x
}

// round posts one operation on each of 32 queue pairs, in turn, and runs until all have ended.
func (x *loop) round(o rnicspec.Opcode, size uint32) {
	for range 32 {
		q := x.qs[x.next%len(x.qs)]
		x.next++
		w := rnicspec.WQE{Opcode: o, Flags: sig, Length: size, LocalVA: x.data, LocalKey: keyA, RemoteVA: x.data,
			RemoteKey: keyA}
		w.Encode(q.typ, x.wqe[:])
		if q.h.space.Write(q.send+uint64(q.pi&(1<<ringLog-1))*rnicspec.WQEBytes, x.wqe[:]) != nil {
			panic("no memory")
		}
		q.pi++
		if q.h.mmio.Write32(rnicspec.QPPage(q.n)+rnicspec.PageSend, uint32(q.pi)) != nil {
			panic("no register")
		}
	}
	if err := x.r.e.Run(); err != nil {
		panic(err)
	}
}

// No packet may cause an allocation in steady state.
func TestNoAllocations(t *testing.T) {
	for _, o := range []rnicspec.Opcode{rnicspec.Read, rnicspec.Write, rnicspec.FetchAdd} {
		x := newLoop(t, 32)
		size := uint32(4096)
		if o.IsAtomic() {
			size = 8
		}
		for range 50 {
			x.round(o, size)
		}
		require.Zero(t, testing.AllocsPerRun(20, func() { x.round(o, size) }), o)
		require.Equal(t, uint64(0), x.r.hosts[0].nic.Counter(rnicspec.CntRetries))
	}
}

// BenchmarkReads measures 64 B READs over 1 to 1,024 queue pairs: their cost must not depend on
// that number.
func BenchmarkReads(b *testing.B) {
	for _, n := range []int{1, 32, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := newLoop(b, n)
			for range 2*n/32 + 10 {
				x.round(rnicspec.Read, 64)
			}
			b.ResetTimer()
			for range b.N/32 + 1 {
				x.round(rnicspec.Read, 64)
			}
		})
	}
}

// BenchmarkPackets measures messages of 4 KB each way, in which every TLP is an event.
func BenchmarkPackets(b *testing.B) {
	x := newLoop(b, 32)
	for range 20 {
		x.round(rnicspec.Write, 4096)
	}
	b.ResetTimer()
	for range b.N/128 + 1 { // a round has 32 messages of 4 packets of 1 KB
		x.round(rnicspec.Write, 4096)
	}
}

// An operation must take as many events with 1,024 queue pairs as with one, so nothing may scan all
// of them.
func TestEventsPerOperation(t *testing.T) {
	count := func(n int) uint64 {
		x := newLoop(t, n)
		for range 2*n/32 + 4 {
			x.round(rnicspec.Read, 64)
		}
		before := x.r.events
		for range 64 {
			x.round(rnicspec.Read, 64)
		}
		return x.r.events - before
	}
	few, many := count(32), count(1024)
	require.InDelta(t, float64(few), float64(many), 0.1*float64(few))
}
