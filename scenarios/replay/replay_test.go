package replay

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func shipped(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../captures/*/*.pcap")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func play(t testing.TB, o Options) *Result {
	t.Helper()
	r, err := New(context.Background(), o)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	res, err := r.Play()
	require.NoError(t, err)
	return res
}

func TestModelPlaysTheShippedCaptures(t *testing.T) {
	for _, stall := range []int{0, 30} {
		o := DefaultOptions()
		o.NIC, o.Captures, o.Stall, o.Seed = "model", shipped(t), stall, 7
		res := play(t, o)
		require.Empty(t, res.Findings)
		require.True(t, res.Pass)
		t.Log("\n" + res.String())
	}
}
