package private

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The domain must know which cache has which line after any sequence of changes, and keep at most
// twice as many pages as have lines.
func TestFilter(t *testing.T) {
	d, rng, want := NewDomain(), rand.New(rand.NewPCG(1, 2)), map[uint64]uint64{}
	for range 3 {
		require.NoError(t, d.join(&Cache{}))
	}
	most := 0
	for i := range 50_000 {
		line, c := rng.Uint64N(pageLines*2000), rng.IntN(3)
		switch {
		case want[line]>>c&1 != 0:
			want[line] &^= 1 << c
			d.remove(d.caches[c], line)
		case i < 20_000 || want[line] != 0:
			want[line] |= 1 << c
			d.add(d.caches[c], line)
		}
		if p := d.find(line / pageLines); p != nil {
			require.Equal(t, want[line], p.holders[line%pageLines])
			require.Equal(t, want[line] != 0, p.cached>>(line%pageLines)&1 != 0)
		} else {
			require.Zero(t, want[line])
		}
		most = max(most, len(d.pages))
		require.LessOrEqual(t, len(d.pages), max(most, 2*d.held+fewPages))
	}
	pages := map[uint64]bool{}
	for line, holders := range want {
		if holders != 0 {
			pages[line/pageLines] = true
		}
	}
	require.Len(t, pages, d.held)

	for line, holders := range want { // replace all lines by others: pages without lines must be removed
		for c := range 3 {
			if holders>>c&1 != 0 {
				d.remove(d.caches[c], line)
			}
		}
	}
	require.Zero(t, d.held)
	for n := range uint64(10_000) {
		d.add(d.caches[0], (1<<20+n)*pageLines)
		d.remove(d.caches[0], (1<<20+n)*pageLines)
	}
	require.LessOrEqual(t, len(d.pages), fewPages+1)
}
