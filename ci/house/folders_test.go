package house

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostFiles is how many files of code a folder may have, tests apart: with more it is a corridor, not a room.
const mostFiles = 26

// corridors are folders with more files. A number here is lowered when a folder has been divided, and never raised.
var corridors = map[string]int{
	"golden": 36,
}

func TestFolders(t *testing.T) {
	top, count := root(t), map[string]int{}
	require.NoError(t, filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != top && (strings.HasPrefix(name, ".") || name == "testdata") {
			return filepath.SkipDir
		}
		code := slices.Contains([]string{".go", ".sv", ".svh", ".cpp", ".h", ".py"}, filepath.Ext(path))
		if dir, err := filepath.Rel(top, filepath.Dir(path)); err == nil && code && !strings.HasSuffix(path, "_test.go") {
			count[dir]++
		}
		return nil
	}))
	require.NotEmpty(t, count)
	for dir, n := range count {
		assert.LessOrEqual(t, n, max(mostFiles, corridors[dir]), "%s has %d files: divide it into rooms", dir, n)
	}
	for dir, n := range corridors {
		assert.Equal(t, n, count[dir], "%s: the number of a corridor follows its files", dir)
		assert.Greater(t, n, mostFiles, "%s is no corridor any more: strike it out", dir)
	}
}
