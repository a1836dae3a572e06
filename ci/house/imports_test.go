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

// corners lists folders inside a room that may import less than the rest of the room.
var corners = map[string]room{
	"scenarios/traffic": {
		[]string{"models", "scenarios/traffic"}, "players are plugged into any Ethernet port, whatever device is " +
			"behind it", nil,
	},
	"golden/memory": {[]string{"models/sim/fixedseed"},
		"where ranges lie and which bytes of them were touched, whoever judges that", nil},
	"golden/accounts": {[]string{"models", "golden/counters", "golden/verdict"},
		"what credit accounts can be, whoever asks", nil},
	"golden/cycles": {[]string{"models/sim/fifo"}, "a set of cycles, whatever happened in them", nil},
	"golden/pause": {[]string{"models", "golden/cycles", "golden/verdict"},
		"pauses of a port, whoever holds frames and queues", nil},
	"golden/msix": {[]string{"models", "golden/msix", "golden/verdict"},
		"messages that queues owe, whoever sees them", nil},
	"golden/buffers": {
		[]string{"models", "golden/attribution", "golden/buffers", "golden/memory", "golden/rings", "golden/verdict"},
		"what was written to receive buffers, whoever judges it", nil},
	"golden/arrivals": {[]string{"models", "golden/arrivals", "golden/counters", "golden/verdict", "golden/windows"},
		"frames that came in and are undecided, whoever decides", nil},
	"golden/rings": {[]string{"models", "golden/rings"},
		"doorbells and failed reads of a ring, whoever owns it", nil},
	"golden/attribution": {
		[]string{"models", "golden/attribution", "golden/cycles", "golden/memory", "golden/rings", "golden/verdict"},
		"whose a read or a write was, whoever judges it", nil},
	"golden/counters":    {[]string{"models"}, "what counters may say, whoever judges that", nil},
	"golden/windows":     {[]string{"models"}, "what the configuration was when, whoever asks", nil},
	"golden/verdict":     {[]string{"models"}, "it writes down what others judge", nil},
	"rtlbridge/protocol": {[]string{}, "bytes and their meaning: whoever speaks it, in whatever language", nil},
	"rtlbridge/manifest": {[]string{"rtlbridge/protocol", "rtlbridge/manifest", "models/sim/field", "models/sim/simcore",
		"models/sim/specfile"}, "a file is read and bound, whatever is made of it", nil},
	"rtlbridge/build": {
		[]string{"models", "rtlbridge/protocol", "rtlbridge/manifest", "rtlbridge/build", "rtlbridge/lockfile"},
		"a program is made, whoever talks to it", nil},
	"rtlbridge/build/cache": {[]string{"rtlbridge/build/cache", "rtlbridge/lockfile"},
		"files with names and locks, whatever is in them", nil},
	"rtlbridge/build/toolchain": {[]string{"rtlbridge/build/toolchain"}, "tools are found and run, whatever for", nil},
	"stack/verbs":               {[]string{"models"}, "an interface knows none of its implementations", nil},
	"stack/cc":                  {[]string{"models"}, "how fast to send does not depend on what is sent", nil},
	"stack/pipe": {
		[]string{"models", "stack/driver", "stack/verbs", "stack/pipe"},
		"a pipe carries elements, whoever makes and takes them", nil,
	},
	"scenarios/traffic/capture": {[]string{"models"}, "reading a file takes no device", nil},
	"scenarios/traffic/craft":   {[]string{"models"}, "making a frame takes no device", nil},
	"scenarios/suite/blocks": {
		[]string{"models", "rtlbridge", "scenarios/suite/blocks", "scenarios/traffic/craft", "scenarios/shell/home"},
		"a block alone is compared with its Go twin: no board, driver or referee has a say", nil,
	},
	"scenarios/suite/blocks/kit": {[]string{"models", "scenarios/traffic/craft"},
		"layouts and packets know no device", nil},
	"scenarios/suite/blocks/cells": {[]string{"models", "scenarios/suite/blocks/kit"},
		"a cell knows nothing of the contract, so its reference is of no model",
		[]string{"rtlbridge", "rtlbridge/build", "rtlbridge/manifest", "rtlbridge/protocol",
			"scenarios/suite/blocks", "scenarios/shell/home/hometest"}},
	"scenarios/suite/blocks/receive": {[]string{"models", "scenarios/suite/blocks/kit", "scenarios/traffic/craft"},
		"a pair is a layout, a stimulus and a reference, whoever plays it", nil},
	"scenarios/suite/blocks/transmit": {[]string{"models", "scenarios/suite/blocks/kit", "scenarios/traffic/craft"},
		"a pair is a layout, a stimulus and a reference, whoever plays it", nil},
	"scenarios/suite/blocks/registers": {[]string{"models", "scenarios/suite/blocks/kit", "scenarios/traffic/craft"},
		"a pair is a layout, a stimulus and a reference, whoever plays it", nil},
	"scenarios/suite/contract/kit": {[]string{"models", "golden", "stack/driver", "scenarios/bed/device", "scenarios/bed/judge",
		"scenarios/bed/testbed", "scenarios/traffic"}, "the checks use it, not the reverse", nil},
	"scenarios/fuzz/program": {[]string{"models", "stack/driver", "scenarios/shell/files", "scenarios/traffic/craft"},
		"a program is data: no bed, player or generator has a say", nil},
	"models/ref/remote": {[]string{"models/ref"}, "messages of a reference, whoever starts its process",
		nil},
	"models/ref": {[]string{"models/format/tlp"},
		"a reference says what is right: it knows no player, no time but cycles and no device of ours", nil},
	"scenarios/dutnew": {[]string{"rtlbridge"}, "it sees ports and writes a text, whoever reads it",
		nil},
	"scenarios/observe/waves": {[]string{"models/sim/simcore", "rtlbridge"},
		"a waveform shows pins, whatever is played on them", nil},
	"scenarios/play": {
		[]string{"models/ref", "models/sim/field", "models/sim/specfile", "models/sim/simcore", "rtlbridge",
			"scenarios/shell/home", "scenarios/shell/shard", "scenarios/play/own", "scenarios/traffic/capture",
			"scenarios/observe/waves"},
		"anybody's device is judged by its manifest and its reference: no NIC, board, driver or referee has a say", nil,
	},
	"scenarios/play/own": {
		[]string{"models/ref", "models/sim/field", "rtlbridge/build", "scenarios/shell/home/hometest"},
		"a program is built and held to limits, whatever device it judges", nil},
	"scenarios/observe/akitaview": {[]string{"models", "scenarios/observe/akitaview", "scenarios/bed/device", "scenarios/replay",
		"scenarios/traffic/craft"}, "a viewer sees an engine, whatever runs on it", nil},
	"stack/apps": {
		[]string{"models/sim/field", "models/sim/fifo", "models/sim/fixedseed", "stack/verbs", "stack/rb2"},
		"applications know the verbs, and not what carries them out", nil,
	},
	"stack/rb2": {[]string{"models/sim/field", "models/sim/fixedseed", "stack/verbs"},
		"a ring knows the verbs, and not what carries them out", nil},
	"stack/transport": {
		[]string{"models/format/wire", "models/sim/field", "models/sim/fifo", "stack/verbs", "stack/transport/seq"},
		"it is compared with models/rnic as an independent implementation, and needs no board, memory or congestion " +
			"control",
		[]string{"models/rnic/core", "models/rnic/rnicspec"},
	},
	"stack/transport/seq": {[]string{"models/sim/fifo"}, "numbers and their order know no packet", nil},
	"scenarios/observe/wiretap": {
		[]string{"models", "golden/trace", "scenarios/shell/files", "scenarios/observe/wiretap"},
		"a wire is recorded, whoever sends on it", nil},
	"scenarios/shell/inorder": {nil, "jobs are played in order, whatever they are",
		[]string{"models/sim/fixedseed", "scenarios/shell/inorder"}},
	"scenarios/papers/claims": {nil, "what papers say does not depend on what was built", nil},
	"scenarios/papers/study":  {[]string{"models"}, "what experiments are made of knows none of them", nil},
	"scenarios/papers/plot":   {[]string{"scenarios/papers/study"}, "a picture is of what was recorded", nil},
	"scenarios/papers/requester": {
		[]string{"models"}, "it stands in a board's slot, like any NIC", nil,
	},
	"scenarios/papers/rdma": {
		[]string{"models", "stack", "scenarios/bed/device", "scenarios/papers/study", "scenarios/papers/requester"},
		"an experiment measures; claims are judged elsewhere", nil,
	},
	"scenarios/papers/ring": {
		[]string{"models", "stack", "scenarios/bed/device", "scenarios/papers/study"},
		"an experiment measures; claims are judged elsewhere", nil,
	},
	"scenarios/papers/path": {
		[]string{"models", "stack", "scenarios/bed/device", "scenarios/papers/study", "scenarios/papers/requester"},
		"an experiment measures; claims are judged elsewhere", nil,
	},
}

// timeless lists packages that must not know simulated time: they may not import a package in timelessBans, even
// indirectly.
var timeless = []string{
	"models/nic/core", "models/nic/ring", "models/nic/bitset", "models/nic/nicspec", "models/format/wire",
	"models/format/tlp", "models/format/tlp/order", "models/fabric/nicswitch/route", "models/format/ether",
	"models/nic/dma", "models/sim/fifo", "models/memory/mem", "models/memory/mem/memtest",
	"models/memory/armcache/core", "models/memory/memmap", "models/ref", "models/rnic/rnicspec",
	"models/rnic/core", "models/fabric/etherlink/core", "golden", "stack/driver", "stack/rnicverbs",
	"stack/rnicverbs/provider", "stack/verbs", "stack/verbs/verbstest", "stack/pipe",
	"stack/pipe/copyengine", "stack/cc", "stack/transport", "stack/transport/seq", "stack/apps",
	"stack/rb2",
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

// blind lists rooms that must not read the environment or files; callers pass in what they need. Exceptions: the
// generator of models/nic/nicspec writes files, and models/sim/fixedseed is for tests.
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

// TestFunctionApartFromTime checks the imports of timeless packages.
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
