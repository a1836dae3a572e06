package house

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const (
	mostColumns = 120
	tabWidth    = 4
)

// sources returns the files of the repository that have one of the extensions, by their paths from its top. Folders
// whose names begin with a dot and testdata are left out.
func sources(t *testing.T, extensions ...string) (paths []string) {
	top := root(t)
	require.NoError(t, filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if path != top && (strings.HasPrefix(name, ".") || name == "testdata" || name == "out" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if slices.Contains(extensions, filepath.Ext(path)) {
			rel, err := filepath.Rel(top, path)
			require.NoError(t, err)
			paths = append(paths, rel)
		}
		return nil
	}))
	require.NotEmpty(t, paths)
	return paths
}

// columns returns the width of a line, with tabs at multiples of four.
func columns(line string) (n int) {
	for _, r := range line {
		if r == '\t' {
			n += tabWidth - n%tabWidth
		} else {
			n++
		}
	}
	return n
}

// wideBy reports whether a line may be wide: a row of a table, or a line with a URL.
func wideBy(path, line string) bool {
	text := strings.TrimSpace(line)
	return filepath.Ext(path) == ".md" && strings.HasPrefix(text, "|") || strings.Contains(text, "://")
}

// TestColumns checks that lines fit a screen. Generated files and testdata are exempt, as are tables of pages and lines
// with URLs; entries of the changelog have a limit of their own. testdata/columns.txt has the number of wide lines that
// each file may still have, most of them in string literals that may not be wrapped; that number may only fall.
func TestColumns(t *testing.T) {
	top, wide := root(t), map[string]int{}
	for _, path := range sources(t, ".go", ".sv", ".svh", ".v", ".cpp", ".h", ".py", ".sh", ".md", ".yaml") {
		text, err := os.ReadFile(filepath.Join(top, path))
		require.NoError(t, err)
		require.True(t, utf8.Valid(text), path)
		if path == "CHANGELOG.md" || bytes.Contains(text[:min(len(text), 300)], []byte("enerated")) {
			continue
		}
		s := bufio.NewScanner(bytes.NewReader(text))
		s.Buffer(nil, len(text)+1)
		for s.Scan() {
			if columns(s.Text()) > mostColumns && !wideBy(path, s.Text()) {
				wide[filepath.ToSlash(path)]++
			}
		}
	}
	onlyFall(t, "testdata/columns.txt", wide, fmt.Sprintf("lines of more than %d columns, with tabs of %d", mostColumns, tabWidth))
}

func TestColumnsOfLines(t *testing.T) {
	require.Equal(t, 9, columns("\tab\tc"))
	require.Equal(t, 2, columns("é…"))
	require.True(t, wideBy("a.md", " | x |"))
	require.False(t, wideBy("a.go", " | x |"))
}
