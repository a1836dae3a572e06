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

// mostFiles limits the source files of a folder, tests excepted: in a larger one it is hard to find
// anything.
const mostFiles = 26

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
		if dir, err := filepath.Rel(top, filepath.Dir(path)); err == nil && code &&
			!strings.HasSuffix(path, "_test.go") {
			count[dir]++
		}
		return nil
	}))
	require.NotEmpty(t, count)
	for dir, n := range count {
		assert.LessOrEqual(t, n, mostFiles, "%s has %d files: divide it into rooms", dir, n)
	}
}
