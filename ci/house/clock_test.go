package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// clocked lists calls that make a test depend on the clock: on a slow, busy or paused machine it would fail although
// nothing is wrong. A test that never ends is reported by the time limit of go test.
var clocked = map[string][]string{
	"time":    {"Now", "Since", "Until"}, // inside require and assert
	"context": {"WithTimeout", "WithTimeoutCause"},
	"require": {"Eventually", "Eventuallyf", "EventuallyWithT", "Never", "Neverf", "WithinDuration"},
	"assert":  {"Eventually", "Eventuallyf", "EventuallyWithT", "Never", "Neverf", "WithinDuration"},
}

// TestNoTestGoesByTheClock checks that tests call none of the functions that the map `clocked` lists. Benchmarks may.
func TestNoTestGoesByTheClock(t *testing.T) {
	files := 0
	walkExt(t, "_test.go", func(path string) {
		if filepath.Base(path) == "bench_test.go" {
			return
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root(t), path), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, call := range byTheClock(f) {
			t.Errorf("%s:%d: a test does not go by the clock: want a wait for what happens", path,
				set.Position(call).Line)
		}
	})
	require.Greater(t, files, 50, "the walk must have found the tree")
}

func TestClockIsSeen(t *testing.T) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "x_test.go", `package x
func TestX(t *testing.T) {
	begin := time.Now()
	t.Log(time.Since(begin))
	require.Less(t, time.Since(begin), limit)
	assert.True(t, func() bool { return time.Now().Before(end) }())
	require.Eventually(t, is, limit, tick)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
}`, 0)
	require.NoError(t, err)
	var lines []int
	for _, p := range byTheClock(f) {
		lines = append(lines, set.Position(p).Line)
	}
	require.Equal(t, []int{5, 6, 7, 8}, lines)
}

// byTheClock returns the positions of a file's calls to functions that the map `clocked` lists.
func byTheClock(f *ast.File) (found []token.Pos) {
	judged := 0
	var stack []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n == nil {
			if from, _ := called(stack[len(stack)-1]); judges(from) {
				judged--
			}
			stack = stack[:len(stack)-1]
			return false
		}
		stack = append(stack, n)
		from, name := called(n)
		if slices.Contains(clocked[from], name) && (from != "time" || judged > 0) {
			found = append(found, n.Pos())
		}
		if judges(from) {
			judged++
		}
		return true
	})
	return found
}

func judges(from string) bool { return from == "require" || from == "assert" }

// called returns the two parts of a call such as time.Now(): time and Now. They are empty if the node is no call of
// that form.
func called(n ast.Node) (from, name string) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if id, ok := sel.X.(*ast.Ident); ok {
		return id.Name, sel.Sel.Name
	}
	return "", ""
}
