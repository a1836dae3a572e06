package files

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// trap creates a folder with a link x that leads to a file (victim) outside of the folder.
func trap(t *testing.T) (dir, victim string) {
	t.Helper()
	dir, victim = t.TempDir(), filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("precious"), 0o600))
	require.NoError(t, os.Symlink(victim, filepath.Join(dir, "x")))
	return dir, victim
}

func holds(t *testing.T, want, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(text))
}

// Nothing is written or read through a link, whatever it leads to, and the link itself stays.
func TestLinksAreRefused(t *testing.T) {
	dir, victim := trap(t)
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "y")))
	f, err := OpenFolder(dir)
	require.NoError(t, err)
	defer f.Close()
	for _, name := range []string{"x", "y"} {
		_, err = f.Create(name)
		require.ErrorContains(t, err, filepath.Join(dir, name)+": "+name+" is a link")
		require.ErrorContains(t, f.Write(name, []byte("bad")), "is a link")
		require.ErrorContains(t, Write(filepath.Join(dir, name), []byte("bad")), "is a link")
		require.ErrorContains(t, Link(filepath.Join(dir, name)), "is a link")
		_, err = f.Read(name, 100)
		require.ErrorContains(t, err, "is a link")
		require.Error(t, f.Replaceable(name))
		_, err = f.fresh(name)
		require.ErrorIs(t, err, os.ErrExist, "a link that comes between looking and making is not followed")
	}
	holds(t, "precious", victim)
	require.NoFileExists(t, filepath.Join(dir, "nowhere"))
	require.NoError(t, Link(victim))
	require.NoError(t, Link(filepath.Join(dir, "none")))
}

// Writing replaces a file instead of overwriting it, so that hard links to it keep the old contents.
func TestOtherNamesOfAFileKeepIt(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	require.NoError(t, os.WriteFile(kept, []byte("precious"), 0o644))
	f, err := OpenFolder(dir)
	require.NoError(t, err)
	defer f.Close()
	for _, name := range []string{"created", "written"} {
		require.NoError(t, os.Link(kept, filepath.Join(dir, name)))
	}
	file, err := f.Create("created")
	require.NoError(t, err)
	_, err = file.WriteString("new")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, f.Write("written", []byte("new")))
	holds(t, "new", filepath.Join(dir, "created"))
	holds(t, "new", filepath.Join(dir, "written"))
	holds(t, "precious", kept)
	names, err := f.Names()
	require.NoError(t, err)
	require.Equal(t, []string{"created", "kept", "written"}, names)
}

// Files go into the folder that was opened, even if it is moved and a link takes its place.
func TestAFolderIsHeld(t *testing.T) {
	base := t.TempDir()
	dir, moved, theirs := filepath.Join(base, "dir"), filepath.Join(base, "moved"), filepath.Join(base, "theirs")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Mkdir(theirs, 0o755))
	f, err := OpenFolder(dir)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, os.Rename(dir, moved))
	require.NoError(t, os.Symlink(theirs, dir))
	require.NoError(t, f.Write("x", []byte("text")))
	holds(t, "text", filepath.Join(moved, "x"))
	require.NoFileExists(t, filepath.Join(theirs, "x"))
	require.NoError(t, os.Mkdir(filepath.Join(moved, "folder"), 0o755))
	require.ErrorContains(t, f.Write("folder", nil), "exists and is not a file")
}

// A lock's file is created and removed. If a link, or a file that is no lock, has the lock's name, that is reported
// early, and the file is left alone.
func TestLocksOfOthersStay(t *testing.T) {
	dir, victim := trap(t)
	do := func() error { t.Error("called without the lock"); return nil }
	path := filepath.Join(dir, "count")
	refused := func(why string) {
		t.Helper()
		require.ErrorContains(t, Lockable(path), path+".lock is "+why)
		require.ErrorContains(t, WithLock(t.Context(), path, nobody, do), path+".lock is "+why)
	}
	require.NoError(t, Lockable(path))
	require.NoFileExists(t, path+lockExt)
	require.NoError(t, os.Rename(filepath.Join(dir, "x"), path+lockExt))
	refused("a link")
	holds(t, "precious", victim)
	require.NoError(t, os.Remove(path+lockExt))
	require.NoError(t, syscall.Mkfifo(path+lockExt, 0o644))
	refused("there, and is no lock")
	require.NoError(t, os.Remove(path+lockExt))
	whole := "nictwin lock of process 1 (killed)\n"
	for _, mine := range []string{
		"", "mine", "process list of mine", "process 1 (killed)", whole[:len(whole)-1], whole + "\n", whole + "mine",
		"mine\n" + whole,
		"nictwin lock of process list of mine\n", "nictwin lock of process 1 (a) (b)\n",
	} {
		require.NoError(t, os.WriteFile(path+lockExt, []byte(mine), 0o644))
		refused("there, and is no lock of nictwin")
		holds(t, mine, path+lockExt)
	}
	require.NoError(t, os.WriteFile(path+lockExt, []byte(whole), 0o644))
	require.NoError(t, Lockable(path))
	require.NoError(t, WithLock(t.Context(), path, nobody, func() error { return nil }), "one that was left is taken")
	require.NoFileExists(t, path+lockExt)
	require.NoError(t, WithLock(t.Context(), path, nobody, func() error {
		require.NoError(t, os.Remove(path+lockExt))
		return os.WriteFile(path+lockExt, []byte("mine"), 0o644)
	}))
	holds(t, "mine", path+lockExt)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing is left beside it")
}

// RemoveFolder removes the given files and their folder, but not a folder that contains anything else.
func TestRemoveFolder(t *testing.T) {
	dir := t.TempDir()
	f, err := OpenFolder(dir)
	require.NoError(t, err)
	defer f.Close()
	for _, name := range []string{"a", "b"} {
		sub, err := f.Sub(name)
		require.NoError(t, err)
		require.NoError(t, sub.Write("x", []byte("ours")))
		require.NoError(t, sub.Close())
	}
	kept := filepath.Join(dir, "b", "kept")
	require.NoError(t, os.WriteFile(kept, []byte("precious"), 0o644))
	for _, name := range []string{"a", "b"} {
		require.NoError(t, f.RemoveFolder(name, "x", "none"))
	}
	require.NoDirExists(t, filepath.Join(dir, "a"))
	require.NoFileExists(t, filepath.Join(dir, "b", "x"))
	holds(t, "precious", kept)
	link, victim := trap(t)
	require.NoError(t, os.Symlink(link, filepath.Join(dir, "c")))
	require.ErrorContains(t, f.RemoveFolder("c", "x"), "is a link")
	holds(t, "precious", victim)
}
