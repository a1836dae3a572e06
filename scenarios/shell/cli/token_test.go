package cli

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const forever = time.Duration(1<<63 - 1)

func TestSecretFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	digits := strings.Repeat("5a", 32)
	require.NoError(t, os.WriteFile("token", []byte(digits+"\n"), 0o600))
	require.NoError(t, os.WriteFile("open", []byte(digits), 0o600))
	require.NoError(t, os.Chmod("open", 0o640))
	require.NoError(t, os.WriteFile("long", make([]byte, maxTokenFile+1), 0o600))
	text, err := readSecret(t.Context(), "token", forever)
	require.NoError(t, err)
	require.Equal(t, digits+"\n", string(text))
	for _, x := range []struct{ path, wrong string }{
		{"open", "open has mode 0640: only its owner may have access to it; run: chmod 600 open"},
		{"long", "long: longer than 4096 bytes: this is no token"},
		{"/dev/zero", "/dev/zero: longer than 4096 bytes"},
		{".", "is a directory"},
		{"none", "no such file"},
	} {
		_, err := readSecret(t.Context(), x.path, forever)
		require.ErrorContains(t, err, x.wrong)
	}
}

// A pipe is read to its end, in parts and even if its writer comes late, but not longer than the limit, and not after
// an interruption.
func TestSecretPipes(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, unix.Mkfifo("pipe", 0o600))
	_, err := readSecret(t.Context(), "pipe", 0)
	require.EqualError(t, err, "pipe: no whole token within 0s: whoever writes to a pipe must close it then")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrInterrupted)
	_, err = readSecret(ctx, "pipe", forever)
	require.ErrorIs(t, err, ErrInterrupted)

	written := make(chan error, 1)
	go func() {
		w, err := os.OpenFile("pipe", os.O_WRONLY, 0) // waits for the reader
		for _, part := range []string{"to", "ken"} {
			if err == nil {
				time.Sleep(time.Millisecond)
				_, err = w.WriteString(part)
			}
		}
		if err == nil {
			err = w.Close()
		}
		written <- err
	}()
	text, err := readSecret(t.Context(), "pipe", forever)
	require.NoError(t, err)
	require.NoError(t, <-written)
	require.Equal(t, "token", string(text))
}
