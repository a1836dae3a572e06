package lockfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.True(t, IsAt(f, path))
	require.NoError(t, os.Remove(path))
	require.False(t, IsAt(f, path), "removed")
	other, err := os.Create(path)
	require.NoError(t, err)
	require.False(t, IsAt(f, path), "made anew")
	require.True(t, IsAt(other, path))
	require.NoError(t, f.Close())
	require.False(t, IsAt(f, path), "closed")
	require.NoError(t, other.Close())
}
