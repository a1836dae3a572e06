package blocks

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge"
	"nictwin/scenarios/home"
)

// open builds and starts a block.
func open(t *testing.T, b *Block) *Device {
	t.Helper()
	h, err := home.Find("")
	require.NoError(t, err)
	d, err := Open(t.Context(), b, h.Block(b.Name), rtlbridge.VariantSpeed, os.Stderr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestBlocks plays every block, with and without stalls. A run is the same again.
func TestBlocks(t *testing.T) {
	for _, b := range All() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			d := open(t, b)
			for _, stall := range []int{0, 30} {
				r, err := d.Play(context.Background(), Run{Seed: 1, Stall: stall, Transactions: 400})
				require.NoError(t, err)
				require.Nil(t, r.Mismatch, "%v", r.Mismatch)
				require.Equal(t, 400, r.Requests)
				again, err := d.Play(context.Background(), Run{Seed: 1, Stall: stall, Transactions: 400})
				require.NoError(t, err)
				require.Equal(t, r, again)
				t.Logf("stall %d: %d results compared in %d cycles", stall, r.Compared, r.Cycles)
			}
		})
	}
}
