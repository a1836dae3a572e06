package rtlbridge

import (
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
	unlock, err := lock(path, silent)
	require.NoError(t, err)

	said := make(chan string, 8)
	done := make(chan error, 1)
	go func() {
		release, err := lock(path, func(format string, args ...any) { said <- fmt.Sprintf(format, args...) })
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

	unlock, err = lock(path, silent)
	require.NoError(t, err)
	unlock()
	_, err = lock(filepath.Join(path, "no", "folder"), silent)
	require.ErrorContains(t, err, "build cache")
}
