package build

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
	"nictwin/rtlbridge/manifest/manifesttest"
)

// attackHeader returns the header that the stub of Verilator makes for any design: ports that fit
// manifesttest.Good, and further outputs.
func attackHeader(outputs ...string) string {
	var s strings.Builder
	s.WriteString(manifesttest.Header)
	seen := map[string]bool{}
	for _, p := range regexp.MustCompile(`&(\w+),`).FindAllStringSubmatch(manifesttest.Header, -1) {
		seen[p[1]] = true
	}
	for _, o := range outputs {
		// The header has no other names: Verilator would escape them in C++.
		if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(o) && !seen[o] && !strings.Contains(o, "__") {
			fmt.Fprintf(&s, "    VL_OUT8(&%s,0,0);\n", o)
		}
		seen[o] = true
	}
	return s.String()
}

// Stubs of the tools, which record their command lines, and make the files that a build needs to continue.
const (
	stubVerilator = `#!/bin/sh
case $1 in --version) echo Verilator 5; exit;; --getenv) echo /nowhere; exit;; esac
printf '%s\0' "$@" '' >>"$STUB_LOG"
[ "$1" = --cc ] || exit 0
/bin/mkdir -p "$5"
/bin/cp "$STUB_HEADER" "$5/Vdut.h"
for last; do :; done
case $last in *nictwin_top*.sv) /bin/cp "$last" "$STUB_LOG.top";; esac
echo 'a.h : /x/verilator_bin' >"$5/Vdut__ver.d"
echo 'VM_CLASSES_FAST += \
	Vdut \
' >"$5/Vdut_classes.mk"
: >"$5/Vdut.cpp"
`
	stubCompiler = `#!/bin/sh
while [ $# -gt 0 ]; do
  if [ "$1" = -o ]; then : >"$2"; /bin/chmod +x "$2"; fi
  shift
done
`
)

// freeNames checks that the text of the module around a design uses each name once.
func freeNames(t *testing.T, text string) {
	head, body, _ := strings.Cut(text, ");\n")
	instance := regexp.MustCompile(`^  \w+ (\w+) \(\n`).FindStringSubmatch(body)
	require.NotNil(t, instance, text)
	seen := map[string]bool{instance[1]: true}
	for _, port := range regexp.MustCompile(`\\(\S+) `).FindAllStringSubmatch(head, -1) {
		require.False(t, seen[port[1]], "%s twice in %s", port[1], text)
		seen[port[1]] = true
	}
}

// attackFields are the values of a manifest that reach a tool, as text of YAML around a value.
var attackFields = []struct{ from, to string }{
	{"a.sv", "%s, a.sv"}, {"a.sv", "x.f, %s"}, {"top: m", "top: %s"}, {"name: x", "name: %s"},
	{"top: m", "top: m\ninclude_dirs: [%s]"}, {"top: m", "top: m\ndefines: {A: %s}"},
	{"top: m", "top: m\ndefines: {%s: 1}"},
	{"top: m", "top: m\nparameters: {A: %s}"}, {"top: m", "top: m\nparameters: {%s: 1}"},
	{"top: m", "top: m\nverilator_flags: [%s]"}, {"top: m", "top: m\nverilator_flags: [--stats, %s, a.sv]"},
	{"top: m", "top: m\nverilator_flags: [%s, touch PWNED]"}, {"top: m", "top: m\ntie_offs: {s_tdata: %s}"},
	{"signal: clk", "signal: %s"}, {"prefix: s", "prefix: %s"}, {"name: in", "name: %s"},
}

// attack returns a manifest with value in one of the fields, or as the whole text.
func attack(field uint8, value string) string {
	n := int(field) % (len(attackFields) + 1)
	if n == len(attackFields) {
		return value
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return value
	}
	return strings.Replace(manifesttest.Good, attackFields[n].from, fmt.Sprintf(attackFields[n].to, quoted), 1)
}

// snapshot returns all files below folders, with checksums of their contents.
func snapshot(t *testing.T, dirs ...string) map[string]string {
	files := map[string]string{}
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				text, err := os.ReadFile(p)
				files[p] = fmt.Sprintf("%x", sha256.Sum256(text))
				return err
			}
			files[p] = ""
			return err
		}))
	}
	return files
}

// Arguments that Verilator may get, defined independently of the table that manifests are checked by: names of
// options without a value and with one, and forms of those with a joined value.
var (
	harmlessFlags = "--cc --lint-only --assert --autoflush --bbox-sys --bbox-unsup --decoration --flatten " +
		"--no-timing --order-clock-delay " +
		"--public-flat-rw --relative-includes --report-unoptflat --stats --stats-vars --structs-packed --sv " +
		"--x-initial-edge --trace-params " +
		"--trace-underscore --coverage-underscore"
	harmlessPairs = "--prefix --Mdir --top-module --output-split --output-split-cfuncs --output-split-ctrace " +
		"--expand-limit --timescale " +
		"--timescale-override --x-assign --x-initial --converge-limit --coverage-max-width --error-limit " +
		"--gate-stmts --if-depth --inline-mult " +
		"--instr-count-dpi --max-num-width --reloop-limit --trace-depth --trace-max-array --trace-max-width " +
		"--unroll-count --unroll-stmts " +
		"--language --default-language --clk --no-clk --unused-regexp --y --v"
	harmlessForms = regexp.MustCompile(
		`^(-O\w|-fno-[a-z-]+|-W[a-z]+(-[A-Za-z0-9_]+)?|-D\w+=[^[:cntrl:]]*|-U\w+|-G\w+=[^[:cntrl:]]+|` +
			`\+define\+\w+[^[:cntrl:]]*|\+\w[\w-]*ext(\+[.\w]+)+|\+notimingchecks)$`)
	harmlessValue = regexp.MustCompile(`^[A-Za-z0-9_/+][A-Za-z0-9_/+.*?-]*$`)
)

// harmless reports the first argument of Verilator that is neither an option known to be harmless, nor a file
// below link, nor the module around the design.
func harmless(args []string, cache string) error {
	link := regexp.MustCompile("^" + regexp.QuoteMeta(cache) +
		`/rtl/build-\d+/design(/[\pL\pM\pN/_.+=,@%:~#^!()\[\]{}-]*)?$`)
	own := regexp.MustCompile("^" + regexp.QuoteMeta(cache) + `/rtl/build-\d+/(obj|lint)$`)
	wrapper := regexp.MustCompile("^" + regexp.QuoteMeta(cache) + `/rtl/build-\d+/nictwin_top_*\.sv$`)
	has := func(list, flag string) bool {
		return strings.Contains(" "+list+" ", " --"+strings.TrimPrefix(strings.TrimLeft(flag, "-"), "no-")+" ") ||
			strings.Contains(" "+list+" ", " --"+strings.TrimLeft(flag, "-")+" ")
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		dir, isDir := strings.CutPrefix(a, "-I")
		dirs, areDirs := strings.CutPrefix(a, "+incdir+")
		switch {
		case isDir && link.MatchString(dir), areDirs && link.MatchString(dirs), link.MatchString(a),
			harmlessForms.MatchString(a), wrapper.MatchString(a):
		case !strings.HasPrefix(a, "-"):
			return fmt.Errorf("argument %q", a)
		case has(harmlessPairs, a) && i+1 < len(args):
			i++
			if v := args[i]; !harmlessValue.MatchString(v) && !own.MatchString(v) && !link.MatchString(v) {
				return fmt.Errorf("option %q with %q", a, v)
			}
		case !has(harmlessFlags, a):
			return fmt.Errorf("option %q", a)
		}
	}
	return nil
}

// FuzzManifestIsSafe checks that, whatever a manifest contains, checking and building it run no command but
// Verilator and the compiler, Verilator only with options known to be harmless, and write nothing outside the
// cache.
func FuzzManifestIsSafe(f *testing.F) {
	for field := range len(attackFields) {
		for _, v := range []string{"--pipe-filter", "a.sv", "$(touch PWNED)", "-CFLAGS", "x\n--exe", "'h10",
			"-Wno-WIDTH", "-y", "$HOME", "odd name.sv"} {
			f.Add(uint8(field), v, "a.sv\n", "odd name.sv", "")
		}
	}
	f.Add(uint8(len(attackFields)), "sources: [--pipe-filter, touch PWNED, a.sv]\n"+manifesttest.Good, "a.sv", "", "")
	f.Add(uint8(1), "a.sv", "--pipe-filter\ntouch PWNED\n+define+A=\x01+B\n+incdir+.+..\n-f -x\n*.sv\n", "-x.sv", "")
	f.Add(uint8(0), "*", "a.sv", "--pipe-filter", "")
	f.Add(uint8(0), "--pipe-filter", "a.sv", "--pipe-filter", "")
	f.Add(uint8(0), "./--pipe-filter", "a.sv", "--pipe-filter", "")
	f.Add(uint8(0), "*", "a.sv", "$(touch PWNED).sv", "")
	f.Add(uint8(0), "a.sv", "", "", "eval dut")
	f.Add(uint8(0), "a.sv", "", "", "eval nictwin_eval name nictwin_name_ nictwin_top")
	tools := f.TempDir()
	require.NoError(f, os.WriteFile(filepath.Join(tools, "verilator"), []byte(stubVerilator), 0o755))
	require.NoError(f, os.WriteFile(filepath.Join(tools, "clang++"), []byte(stubCompiler), 0o755))
	f.Setenv("PATH", tools)
	f.Fuzz(func(t *testing.T, field uint8, value, list, name, outputs string) {
		if len(value)+len(list) > 4096 || strings.Contains(value, "/..") || strings.HasPrefix(value, "/") {
			return // such paths reach files of the machine that runs the test, so results would differ
		}
		dir, elsewhere, cache := t.TempDir(), t.TempDir(), t.TempDir()
		log := filepath.Join(cache, "log")
		header := filepath.Join(cache, "header")
		t.Setenv("STUB_LOG", log)
		t.Setenv("STUB_HEADER", header)
		require.NoError(t, os.WriteFile(header, []byte(attackHeader(strings.Fields(outputs)...)), 0o644))
		t.Setenv("NICTWIN_CACHE", cache)
		t.Setenv("HOME", elsewhere)
		t.Setenv("TMPDIR", elsewhere)
		t.Chdir(elsewhere)
		for file, text := range map[string]string{"a.sv": "", "x.f": list, "dut.yaml": attack(field, value), name: ""} {
			if file == filepath.Base(file) && file != ".." && file != "." { // only plain names are files here
				_ = os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
			}
		}
		before := snapshot(t, dir, elsewhere)
		if m, err := manifest.Load(dir); err != nil {
			_ = LintFaulty(t.Context(), dir)
		} else if _, err = Check(t.Context(), m, true); err == nil {
			_, err = Build(m, Options{})
			require.NoError(t, err, "what was checked can be built")
		}
		require.Equal(t, before, snapshot(t, dir, elsewhere), "written outside the cache")
		if text, err := os.ReadFile(log + ".top"); err == nil {
			freeNames(t, string(text))
		}
		calls, err := os.ReadFile(log)
		if err != nil {
			return // Verilator was not run
		}
		for call := range strings.SplitSeq(strings.TrimSuffix(string(calls), "\x00\x00"), "\x00\x00") {
			require.NoError(t, harmless(strings.Split(call, "\x00"), cache))
		}
	})
}
