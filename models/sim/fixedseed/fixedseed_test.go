package fixedseed

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDrawsRepeat(t *testing.T) {
	draw := func() (all []uint64) {
		rapid.Check(t, func(t *rapid.T) { all = append(all, rapid.Uint64().Draw(t, "x")) })
		return all
	}
	first := draw()
	require.Greater(t, len(first), 1)
	require.Equal(t, first, draw())
}
