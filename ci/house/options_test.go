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

// disturbances matches names of options for faults, stalls and similar effects. Package inject adds these
// from outside; an option inside a component would be a second mechanism.
var disturbances = regexp.MustCompile(`(?i)stall|fault|jitter|^hold|^drop|corrupt`)

// exempt lists the packages of models whose specs may name disturbances: inject, packages that insert its
// decorators, and tests.
var exempt = map[string]bool{"models/inject": true, "models/board": true, "models/nic/nictest": true}

// TestComponentsHaveNoDisturbances checks that faults, stalls and jitter are decorators, not options
// of components.
func TestComponentsHaveNoDisturbances(t *testing.T) {
	specs := 0
	walk(t, func(path string) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if !strings.HasPrefix(dir, "models/") || strings.HasSuffix(path, "_test.go") || exempt[dir] {
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
