package cache

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/lockfile"
)

// TestLockSaysForWhomItWaits checks that a process that must wait for a lock reports once which process
// holds it, and that one that need not wait reports nothing.
func TestLockSaysForWhomItWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	silent := func(format string, args ...any) { t.Errorf(format, args...) }
	unlock, err := BuildLock.Lock(t.Context(), path, silent)
	require.NoError(t, err)

	said := make(chan string, 8)
	done := make(chan error, 1)
	go func() {
		release, err := BuildLock.Lock(t.Context(), path,
			func(format string, args ...any) { said <- fmt.Sprintf(format, args...) })
		if err == nil {
			release()
		}
		done <- err
	}()
	me := lockfile.Me()
	require.Equal(t, "waiting for "+me+", which builds the same, while it shows that it lives", <-said)
	unlock()
	require.NoError(t, <-done)
	require.Empty(t, said, "it is said once")

	unlock, err = BuildLock.Lock(t.Context(), path, silent)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	_, err = BuildLock.Lock(ctx, path, func(string, ...any) {})
	require.ErrorIs(t, err, enough)
	require.ErrorContains(t, err, "waiting for "+me)
	unlock()
	_, err = BuildLock.Lock(t.Context(), filepath.Join(path, "no", "folder"), silent)
	require.ErrorContains(t, err, "build cache")
}

// TestLockWaitsForTheLiving checks that waiting lasts as long as the holder gives signs of life, and ends
// with an error if it gives none.
func TestLockWaitsForTheLiving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	still := BuildLock
	still.Beat = 100 * BuildLock.Silence
	quiet := func(string, ...any) {}

	synctest.Test(t, func(t *testing.T) {
		release, err := BuildLock.Lock(t.Context(), path, quiet)
		require.NoError(t, err)
		time.AfterFunc(3*BuildLock.Silence, release)
		release, err = BuildLock.Lock(t.Context(), path, quiet)
		require.NoError(t, err)
		release()

		release, err = still.Lock(t.Context(), path, quiet)
		require.NoError(t, err)
		_, err = BuildLock.Lock(t.Context(), path, quiet)
		me := lockfile.Me()
		require.ErrorContains(t, err, path+" is locked by "+me+", which has shown no sign of life for 5m0s (the last "+
			"at ")
		release()
	})
}
