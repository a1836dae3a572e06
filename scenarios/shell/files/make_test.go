package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Make creates folders, also behind links to folders, and says which of them are new.
func TestMake(t *testing.T) {
	t.Chdir(t.TempDir())
	made, err := Make("a/b/")
	require.NoError(t, err)
	require.Equal(t, []string{"a/b", "a"}, made)
	made, err = Make("a/b")
	require.NoError(t, err)
	require.Empty(t, made)
	require.NoError(t, os.Symlink("a", "link"))
	made, err = Make("link/c")
	require.NoError(t, err)
	require.Equal(t, []string{"link/c"}, made)
	require.DirExists(t, "a/c")
	_, err = Make(".")
	require.NoError(t, err)
}

// Make says of a path that no folder can have what is in the way, and changes nothing.
func TestMakeRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink("gone/deep", "dangling"))
	require.NoError(t, os.Symlink("loop", "loop"))
	require.NoError(t, os.WriteFile("file", nil, 0o644))
	const nowhere = "dangling is a link to gone/deep, which does not exist: create that folder, or choose another name"
	for dir, want := range map[string]string{
		"dangling":   nowhere,
		"dangling/x": nowhere,
		"loop":       "loop: a link leads to itself: choose another name",
		"loop/x":     "loop/x: a link leads to itself: choose another name",
		"file":       "file is a file: want a folder, or a name that is free",
		"file/x":     "file/x: a part of the path is a file: want folders",
		"/proc/none": "/proc/none cannot be created: no such file or directory; choose another folder",
	} {
		made, err := Make(dir)
		require.EqualError(t, err, want)
		require.Empty(t, made)
	}
	for _, link := range []string{"dangling", "loop"} {
		info, err := os.Lstat(link)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&fs.ModeSymlink)
	}
	list, err := filepath.Glob("*")
	require.NoError(t, err)
	require.Equal(t, []string{"dangling", "file", "loop"}, list)
}
