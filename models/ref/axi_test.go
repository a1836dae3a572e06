package ref

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every beat of a drawn burst must lie in its range, also of a wrapping one, however small the range.
func TestBurstsStayInTheirRange(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := &axi{bus: 8, ids: 4, addr: 16}
	kinds := map[int]int{}
	for _, o := range []AXIRange{
		{Bytes: 8}, {Base: 64, Bytes: 24}, {Base: 128, Bytes: 128}, {Base: 2048, Bytes: 2048},
		{Base: 4096, Bytes: 12288},
	} {
		for range 5000 {
			b := a.drawBurst(r, &o)
			kinds[b.Kind]++
			for n := range b.Len {
				from, to := b.lanes(n, a.bus)
				at := b.BeatAddr(n) &^ uint64(a.bus-1)
				require.GreaterOrEqual(t, at+uint64(from), o.Base, "%v in %+v", b, o)
				require.LessOrEqual(t, at+uint64(to), o.Base+o.Bytes, "%v in %+v", b, o)
			}
		}
	}
	require.Positive(t, kinds[Wrap])
	require.Positive(t, kinds[Incr])
}
