package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/lockfile"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	text, pipe := filepath.Join(dir, "text"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(text, []byte("hello, world"), 0o644))
	require.NoError(t, syscall.Mkfifo(pipe, 0o644))
	b, err := Read(text, 12)
	require.NoError(t, err)
	require.Equal(t, "hello, world", string(b))
	_, err = Read(text, 11)
	require.EqualError(t, err, "read "+text+": longer than 11 bytes, which is the most that is read")
	_, err = Read("/proc/self/environ", 0)
	require.ErrorContains(t, err, "longer than 0 bytes", "whatever size the system tells")
	_, err = Read(dir, 10)
	require.EqualError(t, err, "read "+dir+": is a folder")
	_, err = Read(filepath.Join(dir, "none"), 10)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, endless := range []string{pipe, "/dev/zero", "/dev/null"} {
		_, err = Read(endless, 10)
		require.ErrorContains(t, err, endless+": is a pipe or a device, which may never end")
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Probe(dir))
	require.NoError(t, Probe(filepath.Join(dir, "none", "deep")))
	t.Chdir(dir)
	require.NoError(t, Probe("none"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, os.WriteFile("file", nil, 0o644))
	require.ErrorContains(t, Probe("file/deep"), "file")
	require.EqualError(t, Probe("file"), "write in file: not a directory")
	require.Error(t, Probe("/proc/self/none"))
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	require.NoError(t, Write(path, []byte("one")))
	require.NoError(t, Write(path, []byte("two")))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "two", string(b))

	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.Error(t, Write(folder, []byte("three")), "a folder is there")
	require.NoFileExists(t, folder+Unfinished)
	require.Error(t, Write(filepath.Join(dir, "none", "x"), nil))
}

func nobody(string, ...any) {}

// A wait for a lock names the holder, ends at an interruption or at its limit, and leaves the file unchanged.
func TestWithLockGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	held, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		assert.NoError(t, WithLock(t.Context(), path, nobody, func() error { close(held); <-release; return nil }))
	})
	<-held
	never := func() error { t.Error("called without the lock"); return nil }
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("a reason")
	said := ""
	p := lockTimes{poll: time.Millisecond, notice: time.Millisecond, grace: time.Millisecond, most: time.Hour}
	say := func(format string, a ...any) { said = fmt.Sprintf(format, a...); cancel(reason) }
	err := p.withLock(ctx, path, say, never)
	who := lockfile.Me()
	require.Equal(t, "waiting for "+who+", which has locked "+path+".lock", said)
	require.ErrorIs(t, err, reason)
	require.EqualError(t, err, "write "+path+": "+who+" has locked "+path+".lock: a reason")
	p.most = time.Millisecond
	var locked *LockedError
	require.ErrorAs(t, p.withLock(t.Context(), path, nobody, never), &locked)
	require.ErrorContains(t, locked, "for more than 1ms")
	require.NoFileExists(t, path)
	close(release)
	wg.Wait()
	require.NoFileExists(t, path+lockExt)
	require.NoError(t, WithLock(ctx, path, nobody, func() error { return nil }),
		"a lock that is free is taken, whatever the context")
}

// Concurrent calls of WithLock on one file lose no write and leave no lock behind.
func TestWithLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	const writers, times = 8, 25
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range times {
				assert.NoError(t, WithLock(t.Context(), path, nobody, func() error {
					text, err := Read(path, 1000)
					if err != nil && !errors.Is(err, fs.ErrNotExist) {
						return err
					}
					return Write(path, append(text, 'x'))
				}))
			}
		})
	}
	wg.Wait()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, text, writers*times)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
	wrong := errors.New("wrong")
	require.ErrorIs(t, WithLock(t.Context(), path, nobody, func() error { return wrong }), wrong)
	require.ErrorIs(t, WithLock(t.Context(), filepath.Join(path, "x"), nobody, func() error { return nil }),
		syscall.ENOTDIR)
}
