package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// all reads the remaining packets.
func all(t *testing.T, r *Reader) (packets []string) {
	t.Helper()
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return packets
		}
		require.NoError(t, err)
		packets = append(packets, string(p.Data))
	}
}

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// Files and pipes can be read repeatedly from the start, and by several readers at once.
func TestReadAgain(t *testing.T) {
	raw := pcap(binary.LittleEndian, magicMicro, 1, []byte("one"), []byte("two"), make([]byte, 1<<18), []byte("four"))
	want := []string{"one", "two", string(make([]byte, 1<<18)), "four"}
	for name, raw := range map[string][]byte{"plain": raw, "gzip": packed(t, raw)} {
		file, pipe := filepath.Join(t.TempDir(), "file"), fifo(t)
		require.NoError(t, os.WriteFile(file, raw, 0o600))
		wrote := make(chan error, 1)
		go func() { wrote <- os.WriteFile(pipe, raw, 0o600) }()
		for _, path := range []string{file, pipe} {
			f, err := Open(t.Context(), path)
			require.NoError(t, err)
			require.Equal(t, path == pipe, f.IsPipe())
			a, err := f.Packets()
			require.NoError(t, err)
			require.Equal(t, path == file && name == "plain", f.Ends())
			require.Equal(t, want, all(t, a))
			require.NoError(t, a.Rewind())
			b, err := f.Packets()
			require.NoError(t, err)
			p, err := b.Next()
			require.NoError(t, err)
			require.Equal(t, want[0], string(p.Data))
			require.Equal(t, want, all(t, a))
			require.Equal(t, want[1:], all(t, b))
			require.NoError(t, errors.Join(a.Close(), b.Close(), f.Close()))
		}
		require.NoError(t, <-wrote)
	}
}

// Canceling the context ends the wait for a pipe, whether nobody has opened it for writing or nobody writes.
func TestWaitsEnd(t *testing.T) {
	enough := errors.New("enough")
	for _, opened := range []bool{false, true} {
		path := fifo(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		f, err := Open(ctx, path)
		require.NoError(t, err)
		go func() {
			if opened {
				w, err := os.OpenFile(path, os.O_WRONLY, 0)
				if err == nil {
					defer w.Close()
					_, _ = w.Write(pcap(binary.LittleEndian, magicMicro, 1)) // may fail: the reader waits anyway
				}
			}
			cancel(enough)
			<-t.Context().Done()
		}()
		r, err := f.Packets()
		if err == nil {
			_, err = r.Next()
		}
		require.ErrorIs(t, err, enough)
		require.NoError(t, f.Close())
	}
}

// If a file has been replaced by another one between two readings, the second reading fails.
func TestAnotherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	raw := pcap(binary.LittleEndian, magicMicro, 1, frame)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	f, err := Open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+"2", raw, 0o600))
	require.NoError(t, os.Rename(path+"2", path))
	_, err = f.Packets()
	require.EqualError(t, err, path+": is another file than when it was read first")
}

// Reading a pipe fails if its copy cannot be created in the temporary folder.
func TestNoRoomForACopy(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	f, err := Open(t.Context(), fifo(t))
	require.NoError(t, err)
	_, err = f.Packets()
	require.ErrorContains(t, err, "a copy of the pipe: ")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, f.Close())
}
