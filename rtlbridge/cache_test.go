package rtlbridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who waits for a build says so, and for whom; who does not wait is silent.
func TestLockSaysForWhomItWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	silent := func(format string, args ...any) { t.Errorf(format, args...) }
	unlock, err := lock(t.Context(), path, silent)
	require.NoError(t, err)

	said := make(chan string, 8)
	done := make(chan error, 1)
	go func() {
		release, err := lock(t.Context(), path, func(format string, args ...any) { said <- fmt.Sprintf(format, args...) })
		if err == nil {
			release()
		}
		done <- err
	}()
	me := fmt.Sprintf("process %d (%s)", os.Getpid(), filepath.Base(os.Args[0]))
	require.Equal(t, "waiting for "+me+", which builds the same; 5m0s at most", <-said)
	unlock()
	require.NoError(t, <-done)
	require.Empty(t, said, "it is said once")

	unlock, err = lock(t.Context(), path, silent)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	_, err = lock(ctx, path, func(string, ...any) {})
	require.ErrorIs(t, err, enough)
	require.ErrorContains(t, err, "waiting for "+me)
	unlock()
	_, err = lock(t.Context(), filepath.Join(path, "no", "folder"), silent)
	require.ErrorContains(t, err, "build cache")
}

// A program in the cache that is not the one that was built is built anew, and the log says why. So are objects that builds
// share.
func TestDamagedProgramIsBuiltAnew(t *testing.T) {
	m, err := LoadManifest(fifoManifest)
	require.NoError(t, err)
	dir := t.TempDir()
	var log bytes.Buffer
	d, err := Build(m, BuildOptions{CacheDir: dir, Log: &log})
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
	again, err := Build(m, BuildOptions{CacheDir: dir, Log: &log})
	require.NoError(t, err)
	require.False(t, again.Cached)
	require.Contains(t, log.String(), "building anew")
	now, err := os.ReadFile(again.Binary)
	require.NoError(t, err)
	require.Equal(t, len(whole), len(now))

	again, err = Build(m, BuildOptions{CacheDir: dir})
	require.NoError(t, err)
	require.True(t, again.Cached)

	require.NoError(t, os.Chmod(again.Binary, 0o644))
	_, err = programSum(again.Binary)
	require.ErrorContains(t, err, "is no program")
	_, err = programSum(dir)
	require.ErrorContains(t, err, "is no program")
}
