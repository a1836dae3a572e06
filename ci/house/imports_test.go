package house

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "nictwin/"

// room is a top-level folder with the packages of this module that it may import, and the reason.
type room struct {
	may []string
	why string
	not []string // packages that only the folder's tests may import
}

var rooms = map[string]room{
	"models": {[]string{"models"}, "the reference must not know who uses it", nil},
	"stack": {[]string{"models", "stack"}, "the stack runs on any NIC, so it knows formats, bus and time only",
		[]string{"models/nic", "models/board", "models/rnic", "models/rnic/core"}},
	"golden":    {[]string{"models", "golden"}, "the referee judges whatever stands behind the ports", nil},
	"rtlbridge": {[]string{"models", "rtlbridge"}, "a bridged device is just another component with ports", nil},
	"scenarios": {[]string{"models", "stack", "golden", "rtlbridge", "docs", "scenarios"},
		"the runner puts boards together; pipelines use it, not the reverse", nil},
	"ci": {[]string{"models", "stack", "golden", "rtlbridge", "scenarios", "ci"},
		"only the command line stands above it", nil},
	"cmd":       {[]string{"scenarios", "ci", "rtlbridge"}, "flags in, exit code out: it owns no logic", nil},
	"docs":      {[]string{}, "pages are quoted as they are", nil},
	"verilator": {[]string{"models/ref"}, "references beside devices are as those of users", nil},
}

// timeless lists packages that must not know simulated time: they may not import a package in timelessBans, even
// indirectly.
var timeless = []string{
	"models/nic/core", "models/nic/ring", "models/nic/bitset", "models/nic/nicspec", "models/format/wire",
	"models/format/tlp", "models/format/tlp/order", "models/fabric/nicswitch/route", "models/format/ether",
	"models/nic/dma", "models/sim/fifo", "models/sim/quantity", "models/memory/mem", "models/memory/mem/memtest",
	"models/memory/armcache/core", "models/memory/memmap", "models/ref", "models/rnic/rnicspec",
	"models/rnic/core", "models/fabric/etherlink/core", "golden", "stack/driver", "stack/rnicverbs",
	"stack/rnicverbs/provider", "stack/verbs", "stack/verbs/verbstest", "stack/pipe",
	"stack/pipe/copyengine", "stack/cc", "stack/transport", "stack/transport/seq", "stack/apps",
	"stack/rb2", "stack/rpc", "stack/ceio/credit", "stack/ceio/ring", "stack/ceio/manager",
	"stack/ceio/bypass",
	"stack/baseline/shring/ring", "stack/baseline/hostcc/control",
}

var timelessBans = map[string]string{
	"github.com/sarchlab/akita/v3/sim": "Akita is time",
	module + "models/sim/simcore":      "simcore is time",
	module + "models/nic":              "it is a timed component; its function is models/nic/core",
	module + "models/fabric/root":      "it is a timed component",
	module + "models/rnic":             "it is a timed component; its function is models/rnic/core",
	module + "models/fabric/pcielink":  "it is a timed component",
	module + "models/fabric/nicswitch": "it is a timed component; its function is models/fabric/nicswitch/route",
	module + "models/fabric/etherlink": "it is a timed component; its function is models/fabric/etherlink/core",
	module + "models/inject":           "decorators stand in timed links",
	module + "models/server/cpu":       "it is a timed component",
	module + "models/memory/dram":      "it is a timed component",
	module + "models/memory/armcache":  "it is a timed component; its function is models/memory/armcache/core",
	module + "models/memory/memlink":   "it is a timed component",
	module + "models/sim/pace":         "rates are time",
	module + "models/format/msg": "messages carry times; what they carry is in models/format/tlp and " +
		"models/format/ether",
	"math/rand": "seeds are parameters, randomness is not global",
}

// blind lists rooms (top-level folders) that must not read the environment or files; callers pass in what they need.
// Exceptions: the generator of models/nic/nicspec writes files, and models/sim/fixedseed is for tests.
var blind = []string{"golden", "models", "stack"}

// viewer is the only folder that imports more of Akita than sim, in files with a build tag.
const viewer = "scenarios/observe/akitaview/"

// TestPlainBuild checks that the program built without tags does not depend on the viewer's packages.
func TestPlainBuild(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./cmd/nictwin")
	list.Dir = root(t)
	out, err := list.Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, module+strings.TrimSuffix(viewer, "/"))
	for _, imp := range deps {
		for _, ban := range []string{"github.com/sarchlab/akita/v3/tracing", "github.com/sarchlab/akita/v3/monitoring",
			"github.com/mattn", "github.com/gorilla"} {
			if strings.HasPrefix(imp, ban) {
				t.Errorf("cmd/nictwin imports %s: only a build with the tag akitaview may", imp)
			}
		}
	}
}

func TestImports(t *testing.T) {
	files := 0
	walk(t, func(path string) {
		parts := strings.Split(filepath.ToSlash(path), "/")
		r, ok := rooms[parts[0]]
		require.True(t, ok, "%s: top-level folder %q is not a room of the house", path, parts[0])
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), path), nil, parser.ImportsOnly)
		require.NoError(t, err)
		files++
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			checkImport(t, path, parts[0], r, imp)
		}
	})
	require.Greater(t, files, 50, "the walk must have found the tree")
}

func checkImport(t *testing.T, path, from string, r room, imp string) {
	t.Helper()
	if strings.HasPrefix(imp, module) {
		if !r.allows(imp) {
			t.Errorf("%s imports %s: %s may import %v only, because %s", path, imp, from, r.may, r.why)
		}
		if slices.Contains(r.not, strings.TrimPrefix(imp, module)) && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s imports %s: only tests of %s may, because %s", path, imp, from, r.why)
		}
		if c, ok := corners[filepath.ToSlash(filepath.Dir(path))]; ok && !c.allows(imp) && !c.testsOf(path, imp) {
			t.Errorf("%s imports %s: its folder may import %v only, because %s", path, imp, c.may, c.why)
		}
	}
	if strings.HasPrefix(imp, "github.com/sarchlab/akita/v3/") && imp != "github.com/sarchlab/akita/v3/sim" &&
		!strings.HasPrefix(path, viewer) {
		t.Errorf("%s imports %s: only Akita's sim package, the others pull in cgo, a database and a web server", path,
			imp)
	}
	if imp == "os" && slices.Contains(blind, from) && !strings.HasSuffix(path, "_test.go") &&
		!strings.HasPrefix(path, "models/nic/nicspec/") && !strings.HasPrefix(path, "models/sim/fixedseed/") {
		t.Errorf("%s imports os: no variable or file of the machine may have a say in a verdict", path)
	}
	if imp == "C" {
		t.Errorf("%s uses cgo: the tree builds without a C compiler", path)
	}
}

// TestFunctionApartFromTime checks the imports of packages that must not know simulated time.
func TestFunctionApartFromTime(t *testing.T) {
	imports := importGraph(t)
	for _, pkg := range timeless {
		if _, ok := imports[module+pkg]; !ok {
			t.Errorf("%s has gone: mend the list", pkg)
		}
		seen := map[string]bool{}
		var visit func(from, way string)
		visit = func(from, way string) {
			for _, imp := range imports[from] {
				if why, banned := timelessBans[imp]; banned {
					t.Errorf("%s imports %s (%s): %s", pkg, imp, way, why)
				}
				if !seen[imp] {
					seen[imp] = true
					visit(imp, way+" > "+imp)
				}
			}
		}
		visit(module+pkg, pkg)
	}
}

// importGraph returns the imports of every package, tests excepted.
func importGraph(t *testing.T) map[string][]string {
	t.Helper()
	graph := map[string][]string{}
	walk(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), path), nil, parser.ImportsOnly)
		require.NoError(t, err)
		pkg := module + filepath.ToSlash(filepath.Dir(path))
		list := graph[pkg]
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			list = append(list, imp)
		}
		graph[pkg] = list
	})
	return graph
}

// TestSeeds checks that property tests have fixed seeds: seeded by the clock, a test fails today and passes tomorrow.
func TestSeeds(t *testing.T) {
	const fixed, rapid = module + "models/sim/fixedseed", "pgregory.net/rapid"
	seeded, drawn := map[string]bool{}, map[string]string{}
	walkExt(t, "_test.go", func(path string) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root(t), path), nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range f.Imports {
			switch spec.Path.Value {
			case strconv.Quote(fixed):
				seeded[filepath.Dir(path)] = true
			case strconv.Quote(rapid):
				drawn[filepath.Dir(path)] = path
			}
		}
	})
	delete(drawn, filepath.FromSlash("models/sim/fixedseed"))
	require.NotEmpty(t, drawn)
	for dir, path := range drawn {
		if !seeded[dir] {
			t.Errorf("%s draws by rapid, and no test of its package imports _ %q: its seed would be the clock's", path,
				fixed)
		}
	}
}

// allows reports whether imp lies in one of the folders.
func (r room) allows(imp string) bool {
	for _, dir := range r.may {
		if imp == module+dir || strings.HasPrefix(imp, module+dir+"/") {
			return true
		}
	}
	return false
}

// testsOf reports whether a file is a test that may import imp.
func (r room) testsOf(path, imp string) bool {
	return strings.HasSuffix(path, "_test.go") && slices.Contains(r.not, strings.TrimPrefix(imp, module))
}

// walk visits every Go file outside testdata, by its path from the root.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	walkExt(t, ".go", visit)
}

// walkExt visits every file outside testdata with an extension, by its path from the root.
func walkExt(t *testing.T, ext string, visit func(path string)) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != top && (name == "testdata" || strings.HasPrefix(name, ".") || name == "out" ||
				name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, ext) {
			rel, err := filepath.Rel(top, path)
			if err != nil {
				return err
			}
			visit(rel)
		}
		return nil
	})
	require.NoError(t, err)
}

// root returns the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		require.NotEqual(t, up, dir, "go.mod not found above the test")
		dir = up
	}
}
