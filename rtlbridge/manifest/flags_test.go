package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest/manifesttest"
)

// TestManifestFlags checks that options that would redirect the output, or generate something else, are
// refused by name, and that others are accepted.
func TestManifestFlags(t *testing.T) {
	with := func(flags ...string) error {
		_, err := Parse("dut.yaml", []byte(manifesttest.Good+"verilator_flags: ['"+strings.Join(flags, "', '")+"']\n"))
		return err
	}
	for _, f := range []string{"-o", "--hierarchical", "--Mdir", "-Mdir", "--Mdir=x", "--exe", "--main", "--lib-create",
		"--protect-lib", "--prefix",
		"--mod-prefix", "-CFLAGS", "-LDFLAGS", "-MAKEFLAGS", "--make", "-j", "--build", "--binary", "--sc", "--no-MMD",
		"--threads", "--savable",
		"--trace", "--coverage", "--pins-bv", "-f", "-F", "-FI", "--top-module", "--xml-output", "--gdb"} {
		require.ErrorContains(t, with("--stats", f, "x"), "dut.yaml:18: verilator_flags: "+f+" is not for a manifest: ")
	}
	require.NoError(t, with("-Wno-fatal", "--stats", "-y", "lib", "+libext+.v", "-DNAME=a b", "--timescale-override",
		"1ns/1ns", "-O3", "--flatten"))
}

// TestMacroFlags checks that a macro without a value is never taken for one of Verilator's own options:
// -DEBUG for -debug.
func TestMacroFlags(t *testing.T) {
	for _, f := range []string{"-DEBUG", "--DEBUG", "+define+EBUG"} {
		args, faults := TakeFlags([]string{"--stats", f}, nil)
		require.Empty(t, faults)
		require.Equal(t, []string{"-stats", "+define+EBUG"}, args)
	}
	args, faults := TakeFlags([]string{"-DEBUG=1"}, nil)
	require.Empty(t, faults)
	require.Equal(t, []string{"-DEBUG=1"}, args)
}
