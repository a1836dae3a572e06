package build

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

// TestAttacks checks with the real Verilator and compiler that no manifest can make checking or building
// run a command of its own.
func TestAttacks(t *testing.T) {
	const pipe = `"--pipe-filter", "touch PWNED"`
	for _, x := range []struct {
		name, from, to string
		files          map[string]string
		err            string // "" is a design that is built
	}{
		{"sources", "[a.sv]", "[" + pipe + ", a.sv]", map[string]string{"--pipe-filter": "", "touch PWNED": ""},
			`dut.yaml:3: sources: "--pipe-filter" is an option and not a path`},
		{"source after variable", "[a.sv]", "[$NONE--pipe-filter, $NONE-FI, a.sv]", nil, "no file matches"},
		{"source with command", "[a.sv]", "[a.sv, $(touch PWNED).sv]", nil, "no commands run in a manifest"},
		{"source of C++", "[a.sv]", "[a.sv, b.cpp]", map[string]string{"b.cpp": "#error x"},
			`"b.cpp" is C++ or an object`},
		{"objects in a pattern", "[a.sv]", "[a.sv, lib/*]", map[string]string{"lib/b.so": ""},
			`b.so" is C++ or an object`},
		{"name with a line's end", "[a.sv]", `["a.sv\n--pipe-filter"]`, nil, "cannot be a path here"},
		{"file list", "[a.sv]", "[x.f, a.sv]", map[string]string{"x.f": "--pipe-filter\ntouch PWNED\n"},
			`x.f:1: option "--pipe-filter" is not supported`},
		{"nested list", "[a.sv]", "[x.f]", map[string]string{"x.f": "-f -y\n"},
			`x.f:1: "-y" is an option and not a path`},
		{"endless lists", "[a.sv]", "[x.f]", map[string]string{"x.f": strings.Repeat("-f x.f\n", 9)},
			"does it include itself?"},
		{"include folder", "top: m", "top: m\ninclude_dirs: [--pipe-filter]", nil, "is an option and not a path"},
		{"top", "top: m", `top: "m; touch PWNED"`, nil, "is not a module name"},
		{"flag", "top: m", "top: m\nverilator_flags: [" + pipe + "]", nil, "--pipe-filter is not for a manifest"},
		{"flag with value", "top: m", "top: m\nverilator_flags: ['--pipe-filter touch']", nil,
			"is an option and its value"},
		{"compiler's flags", "top: m", "top: m\nverilator_flags: [-CFLAGS, -fplugin=x.so]", nil,
			"-CFLAGS is not for a manifest"},
		{"unknown flag", "top: m", "top: m\nverilator_flags: [--debug]", nil,
			`"--debug" is not for a manifest; allowed are -Wall`},
		{"value that is an option", "top: m", "top: m\nverilator_flags: [-y, " + pipe + "]", nil,
			`-y: "--pipe-filter": needs a path`},
		{"folder that is an option", "top: m", "top: m\nverilator_flags: ['+incdir+.+-x']", nil,
			`+incdir+.+-x: "-x" is an option`},
		{"macro of two lines", "top: m", `top: m` + "\n" + `defines: {A: "1\n2"}`, nil, "defines.A:"},
		{"parameter", "top: m", "top: m\nparameters: {A: $(touch PWNED)}", nil, "dut.yaml:3: parameters.A:"},
		{"harmless", "top: m", "top: m\ndefines: {A: $(touch PWNED), EBUG: '', B: '`touch PWNED`'}\ninclude_dirs: [inc]\nverilator_flags: [-DX=$(touch PWNED), --stats, -Wno-WIDTH]",
			map[string]string{"inc/a.sv": "module m; endmodule", "--pipe-filter": "x"}, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := manifesttest.Plant(t, x.from, x.to, x.files)
			elsewhere := t.TempDir()
			t.Chdir(elsewhere)
			before := snapshot(t, dir, elsewhere)
			m, err := manifest.Load(dir)
			if err == nil {
				_, err = Check(t.Context(), m, true)
			} else {
				require.NoError(t, LintFaulty(t.Context(), dir))
			}
			if x.err != "" {
				require.ErrorContains(t, err, x.err)
				var me *manifest.Error
				require.ErrorAs(t, err, &me)
			} else {
				require.NoError(t, err)
				_, err = Build(m, Options{CacheDir: t.TempDir()})
				require.NoError(t, err)
			}
			require.Equal(t, before, snapshot(t, dir, elsewhere))
		})
	}
}

// TestGeneratedPaths checks that Verilator reads the files that the manifest names, not others of the same
// name, and that generated sources do not contain the path of the tree.
func TestGeneratedPaths(t *testing.T) {
	dir := manifesttest.Plant(t, "top: m", "top: m\ninclude_dirs: [inc]",
		map[string]string{"inc/a.sv": "module m; endmodule"})
	m, err := manifest.Load(dir)
	require.NoError(t, err)
	b, err := prepare(m, Options{HarnessDir: "../../verilator/harness"})
	require.NoError(t, err)
	require.NoError(t, b.makeScratch())
	defer b.cleanUp()
	ports, err := b.verilate()
	require.NoError(t, err)
	require.Len(t, ports, strings.Count(manifesttest.Header, "\n"), "of a.sv, not of inc/a.sv")
	files, err := filepath.Glob(filepath.Join(b.objDir(), "*.cpp"))
	require.NoError(t, err)
	stops := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NotContains(t, string(text), b.work, f)
		stops += bytes.Count(text, []byte(`VL_STOP_MT("a.sv", 8,`))
	}
	require.NotZero(t, stops)
}

// TestCacheWithBlanks checks that a cache works whose path Verilator cannot handle.
func TestCacheWithBlanks(t *testing.T) {
	t.Setenv("NICTWIN_CACHE", filepath.Join(t.TempDir(), "a b"))
	m, err := manifest.Load(fifoYAML)
	require.NoError(t, err)
	c, err := Check(t.Context(), m, true)
	require.NoError(t, err)
	require.Len(t, c.Ports, 17)
}
