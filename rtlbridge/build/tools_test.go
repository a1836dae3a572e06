package build

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// stubs are a Verilator and a clang of given versions that only record their command lines; they come first
// in the PATH.
type stubs struct {
	t        *testing.T
	bin, log string
	root     string // folder of the Verilator stub
}

// fillFolder creates a folder with files of these names.
func fillFolder(t *testing.T, dir string, names ...string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, n := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, n), nil, 0o644))
	}
}

const stubRuntime = "libclang_rt.profile-x86_64.a"

// newStubs creates stubs from testdata/tools. The run-time for profiles is in lib/linux, wherever clang
// reports its libraries.
func newStubs(t *testing.T, verilator, clang string) *stubs {
	t.Helper()
	tools, err := filepath.Abs("testdata/tools")
	require.NoError(t, err)
	dir := t.TempDir()
	s := &stubs{t: t, bin: filepath.Join(dir, "bin"), log: filepath.Join(dir, "log"),
		root: filepath.Join(dir, "verilator")}
	require.NoError(t, os.MkdirAll(s.bin, 0o755))
	fillFolder(t, filepath.Join(s.root, "include"), "verilated_trace.h", "verilated_std.sv", "verilated_std_waiver.vlt",
		"other.svh")
	linux := filepath.Join(dir, "clang", "lib", "linux")
	fillFolder(t, linux, stubRuntime)
	s.tool("verilator", filepath.Join(tools, "verilator.sh"), verilator)
	s.tool("clang++", filepath.Join(tools, "clang.sh"), clang)
	s.tool("llvm-profdata", filepath.Join(tools, "profdata.sh"), clang)
	t.Setenv("TOOLS", tools)
	t.Setenv("LOG", s.log)
	t.Setenv("VERILATOR_ROOT", s.root)
	t.Setenv("RUNTIME", filepath.Join(linux, stubRuntime))
	t.Setenv("RUNTIME_DIR", filepath.Join(dir, "clang", "lib", "x86_64-pc-linux-gnu"))
	t.Setenv("PROFDATA", filepath.Join(s.bin, "llvm-profdata"))
	t.Setenv("PATH", s.bin+":/usr/bin:/bin")
	return s
}

func (s *stubs) tool(name, script, version string) {
	s.t.Helper()
	text := fmt.Sprintf("#!/bin/sh\nVERSION=%s exec %s \"$@\"\n", version, script)
	require.NoError(s.t, os.WriteFile(filepath.Join(s.bin, name), []byte(text), 0o755))
}

// build builds the FIFO and returns the command lines that the stubs recorded.
func (s *stubs) build(v Variant) (calls []string, err error) {
	s.t.Helper()
	m, err := manifest.Load(fifoYAML)
	require.NoError(s.t, err)
	require.NoError(s.t, os.RemoveAll(s.log))
	o := Options{Variant: v, CacheDir: s.t.TempDir(), HarnessDir: "../../verilator/harness"}
	if v == VariantTuned {
		o.Training = fifoYAML // the stub of the program does not read the training file
	}
	_, err = Build(m, o)
	text, errLog := os.ReadFile(s.log)
	require.NoError(s.t, errLog)
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

// call returns the single command line that has all these words in this order.
func call(t *testing.T, calls []string, words ...string) string {
	t.Helper()
	var found []string
	for _, c := range calls {
		rest, has := c+" ", true
		for _, w := range words {
			_, after, ok := strings.Cut(rest, " "+w+" ")
			has, rest = has && ok, " "+after
		}
		if has {
			found = append(found, c)
		}
	}
	require.Len(t, found, 1, "%q in\n%s", words, strings.Join(calls, "\n"))
	return found[0]
}

var toolVersions = []struct{ verilator, clang, makefile, libraries string }{
	{"5.006", "14.0.6", "", "-lz"},
	{"5.048", "19.1.7", "ifneq ($(VM_TRACE_FST),)\n    LDLIBS += -llz4 -lz\nendif\n", "-llz4 -lz"},
}

// TestCommandLines checks for each version of Verilator and clang that the tools know all options of their command
// lines, in every variant.
func TestCommandLines(t *testing.T) {
	for _, x := range toolVersions {
		t.Run(x.verilator, func(t *testing.T) {
			s := newStubs(t, x.verilator, x.clang)
			require.NoError(t, os.WriteFile(filepath.Join(s.root, "include", "verilated.mk"), []byte(x.makefile),
				0o644))
			calls, err := s.build(VariantSpeed)
			require.NoError(t, err)
			call(t, calls, "--cc", "--no-assert", "--top-module", "axis_fifo")
			call(t, calls, "-pthread", "-latomic")

			calls, err = s.build(VariantDebug)
			require.NoError(t, err)
			call(t, calls, "--cc", "--assert", "--top-module", "axis_fifo")

			calls, err = s.build(VariantWaves)
			require.NoError(t, err)
			call(t, calls, "--cc", "--trace-fst", "--top-module", "axis_fifo")
			require.True(t, strings.HasSuffix(call(t, calls, "-pthread", "-latomic"), " -latomic "+x.libraries))

			calls, err = s.build(VariantTuned)
			require.NoError(t, err)
			call(t, calls, "-fprofile-generate", "-pthread")
			require.Contains(t, strings.Join(calls, "\n"), " -fprofile-use=")
		})
	}
}

// TestStubsRefuse checks that the stubs reject an option that their version does not have: otherwise
// TestCommandLines could not fail.
func TestStubsRefuse(t *testing.T) {
	newStubs(t, "5.006", "14.0.6")
	dir := t.TempDir()
	for _, x := range []struct{ option, version string }{
		{"--fourstate", "5.048"}, {"--cdc", "5.006"}, {"--no-assert", ""}, {"-Wno-fatal", ""}, {"-fno-split", ""},
		{"-fsplit", "none"},
	} {
		for _, v := range []string{"5.006", "5.048"} {
			t.Setenv("VERSION", v)
			_, err := toolchain.RunTool("x", dir, os.Getenv("TOOLS")+"/verilator.sh", "--Mdir", dir, x.option)
			if x.version == "" || x.version == v {
				require.NoError(t, err, "%s of %s", x.option, v)
			} else {
				require.ErrorContains(t, err, "Invalid option: "+x.option)
			}
		}
	}
}

// TestVerilatorsOwnFiles checks that files that Verilator always reads count as part of its version; a design
// that reads another file, of Verilator's folder or elsewhere, is refused.
func TestVerilatorsOwnFiles(t *testing.T) {
	s := newStubs(t, "5.048", "19.1.7")
	for _, reads := range []string{"/etc/passwd", filepath.Join(s.root, "include", "other.svh"),
		"/tmp/verilator_bin.svh", "/tmp/verilated_std.sv"} {
		t.Setenv("READS", reads)
		_, err := s.build(VariantSpeed)
		require.ErrorContains(t, err, "the design reads "+reads+", which the manifest does not name")
	}
}

// TestCoverageNeedsItsVerilator checks that coverage builds are refused for newer Verilators, whose trace code
// differs.
func TestCoverageNeedsItsVerilator(t *testing.T) {
	s := newStubs(t, "5.048", "19.1.7")
	_, err := s.build(VariantCoverage)
	require.ErrorIs(t, err, toolchain.ErrToolMissing)
	require.ErrorContains(t, err, "variant coverage needs Verilator 5.006: the traces of Verilator 5.048 stub have "+
		"another interface")
}

func TestTuningNamesWhatIsMissing(t *testing.T) {
	_, err := (&toolchain.Tools{Cxx: "/usr/bin/g++"}).Tuning()
	require.ErrorIs(t, err, toolchain.ErrToolMissing)
	require.ErrorContains(t, err, "needs clang++, not g++; install it with: apt-get install")

	for _, x := range toolVersions {
		s := newStubs(t, x.verilator, x.clang)
		major, _, _ := strings.Cut(x.clang, ".")
		missing := func(want string) {
			t.Helper()
			_, err := s.build(VariantTuned)
			require.ErrorIs(t, err, toolchain.ErrToolMissing)
			require.ErrorContains(t, err, want)
		}
		runtime := os.Getenv("RUNTIME")
		require.NoError(t, os.Remove(runtime))
		missing("the run-time for profiles, " + runtime + "; install it with: apt-get install libclang-rt-" + major +
			"-dev")

		// Without an llvm-profdata of its own version, clang prints that of the PATH, or only the name.
		noOther := "llvm-profdata of version " + major + "; install it with: apt-get install llvm-" + major
		s.tool("llvm-profdata", filepath.Join(os.Getenv("TOOLS"), "profdata.sh"), "13.0.1")
		s.tool("llvm-profdata-"+major, filepath.Join(os.Getenv("TOOLS"), "profdata.sh"), "13.0.1")
		missing(noOther)
		t.Setenv("PROFDATA", "llvm-profdata")
		missing(noOther)
		s.tool("llvm-profdata-"+major, filepath.Join(os.Getenv("TOOLS"), "profdata.sh"), x.clang)
		fillFolder(t, filepath.Dir(runtime), stubRuntime)
		_, err := s.build(VariantTuned)
		require.NoError(t, err)
	}
}
