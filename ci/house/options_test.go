package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// disturbances are what package inject does from outside: an option of that kind inside a component is a second way to
// have it.
var disturbances = regexp.MustCompile(`(?i)stall|fault|jitter|^hold|^drop|corrupt`)

// assemble are the packages of models whose specs may speak of disturbances: what disturbs, what puts it in, and tests.
var assemble = map[string]bool{"models/inject": true, "models/board": true, "models/nic/nictest": true}

// TestComponentsHaveNoDisturbances: capture, faults, delay and stalls are decorators, not options inside components.
func TestComponentsHaveNoDisturbances(t *testing.T) {
	specs := 0
	walk(t, func(path string) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasPrefix(dir, "models/") || strings.HasSuffix(path, "_test.go") || assemble[dir] {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), path), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			typ, ok := n.(*ast.TypeSpec)
			if !ok || !strings.HasSuffix(typ.Name.Name, "Spec") {
				return true
			}
			fields, ok := typ.Type.(*ast.StructType)
			if !ok {
				return true
			}
			specs++
			for _, field := range fields.Fields.List {
				for _, name := range field.Names {
					if disturbances.MatchString(name.Name) {
						t.Errorf("%s: %s.%s: disturbances come from models/inject, not from options of a component",
							path, typ.Name.Name, name.Name)
					}
				}
			}
			return true
		})
	})
	require.GreaterOrEqual(t, specs, 3, "the walk must have found the specs")
}
