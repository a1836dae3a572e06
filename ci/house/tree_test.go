package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Largest numbers of lines of files and functions, and of columns in RTL. Generated files are exempt:
// nobody edits them.
const (
	maxGoLines    = 400
	maxRTLLines   = 300
	maxRTLColumns = 100
)

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	docs := map[string]bool{}
	walk(t, func(path string) {
		dir := filepath.Dir(path)
		if _, seen := docs[dir]; !seen {
			docs[dir] = false
		}
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), path), nil,
			parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		if f.Doc != nil {
			if name := f.Name.Name; name != "main" {
				want := "Package " + name + " "
				require.True(t, strings.HasPrefix(f.Doc.Text(), want), "%s: its comment begins with %q", path, want)
			}
			docs[dir] = true
		}
	})
	for dir, ok := range docs {
		require.True(t, ok, "%s has no package comment: say what it is for, what it is not, and its invariants", dir)
	}
}

func TestNoTestSkips(t *testing.T) {
	walk(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(filepath.ToSlash(path), "ci/house/") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), path), nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok &&
				(sel.Sel.Name == "Skip" || sel.Sel.Name == "Skipf" || sel.Sel.Name == "SkipNow") {
				if x, ok := sel.X.(*ast.Ident); ok && (x.Name == "t" || x.Name == "b" || x.Name == "tb") {
					t.Errorf("%s calls %s.%s: a test that does not run proves nothing", path, x.Name, sel.Sel.Name)
				}
			}
			return true
		})
	})
}

func TestFilesStayReadable(t *testing.T) {
	walk(t, func(path string) {
		if strings.HasSuffix(path, "_gen.go") {
			return
		}
		b, err := os.ReadFile(filepath.Join(root(t), path))
		require.NoError(t, err)
		if n := bytes.Count(b, []byte("\n")); n > maxGoLines {
			t.Errorf("%s has %d lines, the limit is %d", path, n, maxGoLines)
		}
	})
}

func TestRTLIsCleanByItself(t *testing.T) {
	found := 0
	err := filepath.WalkDir(filepath.Join(root(t), "verilator"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".go") {
			require.Equal(t, "ref", filepath.Base(filepath.Dir(path)),
				"%s: C++ and Go in one folder break a build without cgo; references of devices are in folders ref",
				path)
			return nil
		}
		if !strings.HasSuffix(path, ".sv") {
			return nil
		}
		found++
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(b), "lint_off", "%s: fix the cause, lint without waivers", path)
		require.NotContains(t, string(b), "import \"DPI", "%s: no DPI in the design", path)
		if n := bytes.Count(b, []byte("\n")); n > maxRTLLines && !strings.HasSuffix(path, "nic_pkg.sv") {
			t.Errorf("%s has %d lines, the limit is %d", path, n, maxRTLLines)
		}
		shortLines(t, path, b)
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, found, 10, "the walk must have found the RTL")
}

// shortLines checks that no line of an RTL file exceeds maxRTLColumns.
func shortLines(t *testing.T, path string, text []byte) {
	t.Helper()
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if n := utf8.RuneCount(bytes.TrimRight(line, "\n")); n > maxRTLColumns {
			t.Errorf("%s:%d has %d columns, the limit is %d", path, number, n, maxRTLColumns)
		}
	}
}
