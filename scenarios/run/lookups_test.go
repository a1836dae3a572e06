package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLookupsOfBuffers checks that a server's cores look up each line of a request once in the last-level cache,
// whatever the stack, and that their rings and tables do not count. On PCIe, frames are payload.
func TestLookupsOfBuffers(t *testing.T) {
	const count, lines = 60, 9 // 512 B, and headers of 58 B
	for _, kind := range []string{"ddio", "hostcc", "shring", "ceio"} {
		c := ceioCase(t, ceioText(kind, "", "kind: echo, sizes: [512], depth: 8, count: 60"))
		p, err := c.Play(t.Context(), Options{Stats: StatsFull})
		require.NoError(t, err)
		require.Empty(t, texts(p))
		for _, l := range p.Stats.Links {
			require.Zero(t, l.Classes["other"], "%s: %s, %s", kind, l.Where, l.What)
		}
		totals, levels := map[string]uint64{}, map[string]uint64{}
		for _, x := range p.Stats.Counters {
			totals[x.Where+" "+x.What] = x.Total
		}
		for _, x := range p.Stats.Levels {
			levels[x.Where+" "+x.What] = x.Highest
		}
		const llc = "Server host socket 0 LLC "
		hits, misses := totals[llc+"core I/O buffers read hits"], totals[llc+"core I/O buffers read misses"]
		require.EqualValues(t, count*lines, hits+misses, kind)
		require.Greater(t, totals[llc+"core read hits"]+totals[llc+"core read misses"], hits+misses, kind)
		require.GreaterOrEqual(t, levels[llc+"device, I/O buffers"], uint64(count*lines/2), kind)
	}
}
