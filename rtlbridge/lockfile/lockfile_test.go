package lockfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSignature checks that a process recognises its own signature, whatever its program is called.
func TestSignature(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	require.NoError(t, err)
	defer f.Close()
	who, signed := Holder(f)
	require.Equal(t, "another process", who)
	require.False(t, signed, "an empty file is nobody's")
	_, err = f.WriteString("what was there before, which was longer than any signature of a process that has a short " +
		"name")
	require.NoError(t, err)
	args := os.Args
	t.Cleanup(func() { os.Args = args })
	for _, name := range []string{"nictwin", "nictwin (deleted)", "a b", "a\nb", "ä", "\xff"} {
		os.Args = []string{"/usr/bin/" + name}
		require.NoError(t, Sign(f))
		who, signed = Holder(f)
		require.True(t, signed, "%q", name)
		require.Regexp(t, `^process \d+ \([^()]+\)$`, who)
	}
}

// TestTake checks that one process at a time has a lock, whose file exists only during that time.
func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	l, err := Take(path)
	require.NoError(t, err)
	require.NoError(t, Check(path))
	var held *HeldError
	_, err = Take(path)
	require.ErrorAs(t, err, &held)
	require.EqualError(t, held, Me()+" has locked "+path)
	require.NoError(t, l.Release())
	require.NoFileExists(t, path)
	_, err = Take(filepath.Join(path, "none"))
	require.True(t, errors.Is(err, os.ErrNotExist))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)
}
