package rnic

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// books counts the bytes that cross a NIC's boundary.
type books struct {
	frames        [2]int // bytes of frames received and sent
	written, read int    // payload bytes written to and read from memory
}

func (b *books) observe(t testing.TB) boundary.Observer {
	return func(x boundary.Crossing) {
		switch x.Kind {
		case boundary.FrameIn:
			b.frames[0] += len(x.Frame.Data)
			return
		case boundary.FrameOut:
			b.frames[1] += len(x.Frame.Data)
			return
		}
		h, err := x.TLP.Header()
		require.NoError(t, err)
		switch {
		case x.Kind == boundary.TLPOut && h.Kind == tlp.MWr:
			b.written += len(x.TLP.Data)
		case x.Kind == boundary.TLPIn && h.Kind == tlp.CplD:
			b.read += len(x.TLP.Data)
		}
	}
}

// Two NICs carry READs, WRITEs and SENDs that are drawn from a seed. At every step, neither may
// have received more bytes of frames than the other has sent, nor written more payload than the
// other has read from its memory. In the end, all payload, work entries, receive entries and
// completion entries must have arrived, and nothing else.
func TestConservation(t *testing.T) {
	for seed := range uint64(3) {
		r, a, b := connected(t, rnicspec.RC, testSpec())
		var near, far books
		r.hosts[0].nic.Observe(near.observe(t))
		r.hosts[1].nic.Observe(far.observe(t))
		rng := rand.New(rand.NewPCG(seed, 5))
		src, dst := a.h.alloc(arm, 1<<20), b.h.alloc(hst, 1<<20)
		buf := b.h.alloc(arm, 1<<20)
		// bytes of WRITEs and SENDs; bytes of READs; receive entries; work entries
		pushed, fetched, sends, posts := 0, 0, 0, 0
		ends, received, most := 0, 0, 0
		for range 40 {
			for range 1 + rng.IntN(6) {
				n := 4 * (1 + rng.IntN(4000))
				w := rnicspec.WQE{Opcode: [...]rnicspec.Opcode{rnicspec.Write, rnicspec.Read,
					rnicspec.Send}[rng.IntN(3)], Flags: sig, Length: uint32(n),
					LocalVA: src + uint64(4*rng.IntN(1<<17)), LocalKey: keyA, RemoteVA: dst + uint64(4*rng.IntN(1<<17)),
					RemoteKey: keyH}
				switch w.Opcode {
				case rnicspec.Read:
					fetched += n
				case rnicspec.Send:
					b.postRecv(rnicspec.RecvWQE{VA: buf, Length: 1 << 19, Key: keyA})
					sends++
					fallthrough
				default:
					pushed += n
				}
				posts++
				a.put(w)
			}
			a.ring()
			for range rng.IntN(20) {
				require.NoError(t, r.e.RunUntil(r.e.Now()+simcore.Ps(rng.IntN(300))*simcore.Nanosecond))
				require.LessOrEqual(t, far.frames[0], near.frames[1])
				require.LessOrEqual(t, near.frames[0], far.frames[1])
				require.LessOrEqual(t, far.written-rnicspec.CQEBytes*sends, near.read,
					"WRITEs and SENDs come from memory")
				require.LessOrEqual(t, near.written-rnicspec.CQEBytes*posts, far.read, "READs, too")
				most = max(most, near.frames[1]-far.frames[0])
			}
			r.run()
			ends, received = ends+len(a.poll()), received+len(b.poll())
		}
		require.Equal(t, []int{posts, sends}, []int{ends, received})
		require.Equal(t, near.frames[1], far.frames[0])
		require.Equal(t, far.frames[1], near.frames[0])
		require.Equal(t, fetched+rnicspec.CQEBytes*posts, near.written)
		require.Equal(t, pushed+rnicspec.CQEBytes*sends, far.written)
		require.Equal(t, pushed+rnicspec.WQEBytes*posts, near.read)
		require.Equal(t, fetched+rnicspec.RecvBytes*sends, far.read)
		require.Positive(t, most, "nothing was ever on the cable")
		require.Zero(t, r.pools.TLPs.Live())
		require.Zero(t, r.hosts[0].nic.Counter(rnicspec.CntRetries))
	}
}
