package cache

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// put creates a folder with files of these names.
func put(t *testing.T, dir string, names ...string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, n := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), make([]byte, 1000), 0o644))
	}
}

func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func itemNames(items []Item) (names []string) {
	for _, i := range items {
		names = append(names, i.Name)
	}
	return names
}

// Names of parts of a cache, in the states that Clean distinguishes.
const (
	cacheOld     = "nic-speed-00000000000000000000" // a build that was not used for long
	cacheNew     = "nic-tuned-11111111111111111111"
	cacheUsed    = "fifo-debug-22222222222222222222"
	cacheMade    = "fifo-waves-33333333333333333333" // being made anew
	cacheBroken  = "fifo-speed-44444444444444444444" // without a record
	cacheObjects = "runtime-55555555555555555555"
	cacheLock    = "nic-speed-66666666666666666666.lock"
	cacheLeft    = "build-1" // a scratch folder without a lock, last changed long ago
	cacheYoung   = "build-2" // a scratch folder without a lock, just made
)

// fillCache creates a cache with all these parts; cacheUsed is in use by this process, cacheMade is being
// built.
func fillCache(t *testing.T) (dir, root string) {
	t.Helper()
	dir = t.TempDir()
	root = filepath.Join(dir, "rtl")
	for _, b := range []string{cacheOld, cacheNew, cacheUsed, cacheMade} {
		put(t, filepath.Join(root, b), "dut", RecordFile)
		put(t, root, b+LockExt)
	}
	put(t, filepath.Join(root, cacheBroken), "dut")
	put(t, filepath.Join(root, cacheObjects), "verilated.o", UsedFile)
	put(t, filepath.Join(root, cacheLeft), "x")
	put(t, filepath.Join(root, cacheYoung), "x")
	put(t, filepath.Join(root, "mine"), "thesis.tex")
	put(t, root, cacheLock, "notes")
	old := time.Now().Add(-100 * 24 * time.Hour)
	for _, p := range []string{cacheOld + "/" + RecordFile, cacheLeft, cacheUsed + "/" + RecordFile} {
		require.NoError(t, os.Chtimes(filepath.Join(root, p), old, old))
	}
	require.NoError(t, Use(filepath.Join(root, cacheUsed, RecordFile)))
	unlock, err := BuildLock.Lock(t.Context(), filepath.Join(root, cacheMade+LockExt), t.Logf)
	require.NoError(t, err)
	t.Cleanup(unlock)
	return dir, root
}

func TestClean(t *testing.T) {
	left := []string{cacheLeft, cacheLock}
	for _, x := range []struct {
		o    CleanOptions
		gone []string
	}{
		{CleanOptions{}, left},
		{CleanOptions{Older: 30 * 24 * time.Hour}, append(left, cacheOld)},
		{CleanOptions{All: true}, append(left, cacheOld, cacheNew, cacheBroken, cacheObjects)},
	} {
		slices.Sort(x.gone)
		dir, root := fillCache(t)
		before := listing(t, root)
		x.o.CacheDir, x.o.DryRun = dir, true
		dry, err := Clean(x.o)
		require.NoError(t, err)
		require.Equal(t, before, listing(t, root), "a dry run removes nothing")

		x.o.DryRun = false
		wet, err := Clean(x.o)
		require.NoError(t, err)
		require.Equal(t, x.gone, itemNames(wet.Removed))
		require.Equal(t, dry.Removed, wet.Removed)
		require.Equal(t, dry.Kept, wet.Kept)
		stays := slices.DeleteFunc(before, func(name string) bool {
			return slices.Contains(x.gone, name) || slices.Contains(x.gone, name[:len(name)-len(filepath.Ext(name))])
		})
		require.Equal(t, stays, listing(t, root), "locks of builds go with them, files that are not ours stay")
		require.FileExists(t, filepath.Join(root, "mine", "thesis.tex"))

		var bytes int64
		for _, i := range wet.Removed {
			require.Positive(t, i.Bytes, i.Name)
			bytes += i.Bytes
		}
		require.Equal(t, bytes, wet.Bytes)
		for _, i := range wet.Kept {
			if x.o.All || i.Name == cacheYoung {
				require.Contains(t, i.Why, "in use", i.Name)
			}
		}
	}
}

// TestOldReferences checks that programs of references that an earlier version stored beside the cache are
// removed when they are a day old, and their folder with the last one. Other files there stay.
func TestOldReferences(t *testing.T) {
	dir := t.TempDir()
	const old, young = "010eb7a6ed9c1672", "084348c3dbd5528a"
	put(t, filepath.Join(dir, "references", old, "src"), "r.go")
	put(t, filepath.Join(dir, "references", young), "nictwin")
	put(t, filepath.Join(dir, "references", "mine"), "thesis.tex")
	long := time.Now().Add(-25 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "references", old), long, long))
	for _, dry := range []bool{true, false} {
		c, err := Clean(CleanOptions{CacheDir: dir, DryRun: dry})
		require.NoError(t, err)
		gone := Item{Name: "../references/" + old, Kind: "old reference", Bytes: 1000,
			Why: "left by an earlier version"}
		require.Equal(t, []Item{gone}, c.Removed)
		require.Len(t, c.Kept, 1)
		require.Equal(t, "../references/"+young, c.Kept[0].Name)
		require.Contains(t, c.Kept[0].Why, "in use, maybe")
	}
	require.Equal(t, []string{young, "mine"}, listing(t, filepath.Join(dir, "references")))

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "references", "mine")))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "references", young), long, long))
	_, err := Clean(CleanOptions{CacheDir: dir})
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(dir, "references"))
}

// TestUseIsNoted checks that a build found in the cache gets the time of this use, and counts as in use
// until this process ends, even if it is rebuilt.
func TestUseIsNoted(t *testing.T) {
	dir, root := fillCache(t)
	record := filepath.Join(root, cacheOld, RecordFile)
	older := CleanOptions{CacheDir: dir, Older: 30 * 24 * time.Hour}
	for range 2 {
		require.NoError(t, Use(record))
		c, err := Clean(older)
		require.NoError(t, err)
		require.NotContains(t, itemNames(c.Removed), cacheOld)
		c, err = Clean(CleanOptions{CacheDir: dir, All: true})
		require.NoError(t, err)
		require.Contains(t, itemNames(c.Kept), cacheOld)
		require.NoError(t, os.RemoveAll(filepath.Dir(record)))
		require.ErrorIs(t, Use(record), os.ErrNotExist)
		put(t, filepath.Dir(record), RecordFile)
	}
	f, err := TryLock(record)
	require.NoError(t, err)
	require.ErrorIs(t, Use(record), os.ErrNotExist, "while another one removes it")
	require.NoError(t, f.Close())
}

// TestLockOfAFileThatIsRemoved checks that a process that waits for a lock whose file is removed meanwhile
// then locks the new file at the path.
func TestLockOfAFileThatIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	first, err := BuildLock.Lock(t.Context(), path, t.Logf)
	require.NoError(t, err)
	waits := make(chan struct{}, 1)
	second := make(chan error, 1)
	go func() {
		_, err := BuildLock.Lock(t.Context(), path, func(string, ...any) { waits <- struct{}{} })
		second <- err
	}()
	<-waits
	require.NoError(t, os.Remove(path))
	first()
	require.NoError(t, <-second)
	_, err = TryLock(path)
	require.ErrorIs(t, err, ErrInUse)
}

// TestKilledBuild starts this test program again, kills it during a build, and checks that cleaning removes
// its leftovers.
func TestKilledBuild(t *testing.T) {
	if root := os.Getenv("RTLBRIDGE_SCRATCH"); root != "" {
		s, err := NewScratch(root)
		require.NoError(t, err)
		fmt.Printf("dir %s\n", s.Dir)
		io.Copy(io.Discard, os.Stdin) // blocks until this process is killed
		return
	}
	root := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledBuild$")
	cmd.Env = append(os.Environ(), "RTLBRIDGE_SCRATCH="+root)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var dir string
	_, err = fmt.Fscanf(out, "dir %s\n", &dir)
	require.NoError(t, err)
	put(t, filepath.Join(dir, "obj"), "Vdut.cpp")
	objects := filepath.Join(root, cacheObjects)
	put(t, objects, "verilated.o", "verilated.o"+UnfinishedObject(dir), "verilated.o"+UnfinishedObject("another"))

	require.NoError(t, Sweep(root))
	require.FileExists(t, filepath.Join(dir, "obj", "Vdut.cpp"), "its process lives")
	require.Len(t, listing(t, objects), 3)
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait()
	require.NoError(t, Sweep(root))
	require.NoDirExists(t, dir)
	require.Equal(t, []string{"verilated.o", "verilated.o" + UnfinishedObject("another")},
		slices.Sorted(slices.Values(listing(t, objects))))
}

// TestCleanReference checks that programs of references are cleaned like builds of devices.
func TestCleanReference(t *testing.T) {
	dir := t.TempDir()
	const name = "skid-" + Reference + "-77777777777777777777"
	entry := filepath.Join(dir, "rtl", name)
	put(t, entry, RecordFile, "reference")
	put(t, filepath.Dir(entry), name+LockExt)
	c, err := Clean(CleanOptions{CacheDir: dir})
	require.NoError(t, err)
	require.Empty(t, c.Removed)
	require.Len(t, c.Kept, 1)
	require.Equal(t, Reference, c.Kept[0].Kind)
	c, err = Clean(CleanOptions{CacheDir: dir, All: true})
	require.NoError(t, err)
	require.Equal(t, []string{name}, itemNames(c.Removed))
	require.EqualValues(t, 2000, c.Bytes)
	require.Empty(t, listing(t, filepath.Dir(entry)), "its lock goes with it")
}
