package bitset

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// TestBitsetTurns compares the set with a plain list of its members, which are returned in turn.
func TestBitsetTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Set
		var in [256]bool
		last := 0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			i := rapid.IntRange(0, 255).Draw(t, "i")
			if in[i] = rapid.Bool().Draw(t, "set"); in[i] {
				b.Set(i)
			} else {
				b.Clear(i)
			}
			want := -1
			for k := 1; k <= 256; k++ {
				if j := (last + k) % 256; in[j] {
					want = j
					break
				}
			}
			require.Equal(t, want, b.Next())
			require.Equal(t, want < 0, b.Empty())
			if want >= 0 {
				last = want
			}
		}
	})
}
