package nic

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// TestAfter: the next member is the first after the one served last, wrapping around; the one
// served last comes last.
func TestAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 8
		set, last := uint(rapid.IntRange(1, 1<<n-1).Draw(t, "set")), rapid.IntRange(0, n-1).Draw(t, "last")
		want := last
		for {
			if want = (want + 1) % n; set>>want&1 != 0 {
				break
			}
		}
		require.Equal(t, want, after(set, last))
	})
}
