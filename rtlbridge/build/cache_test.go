package build

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
)

// TestDamagedProgramIsBuiltAnew checks that a program in the cache that differs from the one that was built
// is rebuilt, with the reason in the log; likewise objects shared between builds.
func TestDamagedProgramIsBuiltAnew(t *testing.T) {
	m, err := manifest.Load(fifoYAML)
	require.NoError(t, err)
	dir := t.TempDir()
	var log bytes.Buffer
	d, err := Build(m, Options{CacheDir: dir, Log: &log})
	require.NoError(t, err)
	whole, err := os.ReadFile(d.Binary)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(d.Binary, whole[:len(whole)/2], 0o755))
	objects, err := filepath.Glob(filepath.Join(dir, "rtl", "runtime-*", "*.o"))
	require.NoError(t, err)
	require.NotEmpty(t, objects)
	for _, o := range objects {
		require.NoError(t, os.Truncate(o, 100))
	}
	log.Reset()
	again, err := Build(m, Options{CacheDir: dir, Log: &log})
	require.NoError(t, err)
	require.False(t, again.Cached)
	require.Contains(t, log.String(), "building anew")
	now, err := os.ReadFile(again.Binary)
	require.NoError(t, err)
	require.Equal(t, len(whole), len(now))

	again, err = Build(m, Options{CacheDir: dir})
	require.NoError(t, err)
	require.True(t, again.Cached)

	require.NoError(t, os.Chmod(again.Binary, 0o644))
	_, err = programSum(again.Binary)
	require.ErrorContains(t, err, "is no program")
	_, err = programSum(dir)
	require.ErrorContains(t, err, "is no program")
}
