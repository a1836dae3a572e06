package driver_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/driver"
)

// TestUses compares Uses with an array that holds, for each byte, the use that was marked last.
func TestUses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var u driver.Uses
	var want [512]driver.Use
	for range 2000 {
		from := rng.Uint64N(uint64(len(want)))
		n := 1 + rng.Uint64N(min(40, uint64(len(want))-from))
		use := driver.Use(rng.UintN(4))
		u.Mark(from, n, use)
		for i := range n {
			want[from+i] = use
		}
		for i, x := range want {
			require.Equal(t, x, u.Of(uint64(i)), "byte %d after marking %d B at %d", i, n, from)
		}
	}
}
