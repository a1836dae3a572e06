package blocks

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/shell/home/hometest"
	"nictwin/scenarios/suite/blocks/kit"
)

// open builds and starts a block.
func open(t *testing.T, b *kit.Block) *Device {
	t.Helper()
	h, err := hometest.Find()
	require.NoError(t, err)
	d, err := Open(t.Context(), b, h.Block(b.Name), nil, build.VariantSpeed, os.Stderr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestAllBlocksOfBothArePlayed checks that every Go file and RTL module of the same name are played as a pair, except
// rx and tx, which consist of pairs.
func TestAllBlocksOfBothArePlayed(t *testing.T) {
	h, err := hometest.Find()
	require.NoError(t, err)
	timed, err := filepath.Glob(filepath.Join(h.Dir, "models", "nic", "*.go"))
	require.NoError(t, err)
	function, err := filepath.Glob(filepath.Join(h.Dir, "models", "nic", "core", "*.go"))
	require.NoError(t, err)
	both := map[string]bool{}
	for _, f := range append(timed, function...) {
		name := strings.TrimSuffix(filepath.Base(f), ".go")
		modules, err := filepath.Glob(filepath.Join(h.RTL(), "*", "nic_"+name+".sv"))
		require.NoError(t, err)
		if len(modules) > 0 && name != "rx" && name != "tx" {
			both[name] = true
		}
	}
	require.ElementsMatch(t, Names(), slices.Collect(maps.Keys(both)))
	for _, b := range All() {
		require.FileExists(t, filepath.Join(h.Dir, b.Go))
		require.FileExists(t, filepath.Join(h.RTL(), b.RTL))
	}
}

// TestBlocks plays every block, with and without stalls, and checks that a run can be repeated exactly.
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
