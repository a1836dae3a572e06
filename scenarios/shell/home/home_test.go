package home

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// someHome creates a home with devices a and b, and with a folder that is no device.
func someHome(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, f := range []string{mark, "verilator/duts/b/dut.yaml", "verilator/duts/a/dut.yaml",
		"verilator/duts/c/readme", "deep/er/x"} {
		path := filepath.Join(dir, f)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o644))
	}
	return dir
}

func TestDUTs(t *testing.T) {
	h, err := Find(someHome(t))
	require.NoError(t, err)
	names, err := h.DUTs()
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, names)
	require.FileExists(t, filepath.Join(h.Harness(), "device.hpp"))

	require.NoError(t, os.RemoveAll(filepath.Join(h.Dir, duts)))
	names, err = h.DUTs()
	require.NoError(t, err)
	require.Empty(t, names)
}

func TestResolve(t *testing.T) {
	dir := someHome(t)
	out := t.TempDir()
	t.Chdir(out)
	t.Setenv(Env, "")
	require.NoError(t, os.MkdirAll("mine", 0o755))
	require.NoError(t, os.MkdirAll("bare", 0o755))
	require.NoError(t, os.WriteFile("mine/dut.yaml", nil, 0o644))
	require.NoError(t, os.MkdirAll("b", 0o755))
	require.NoError(t, os.WriteFile("b/dut.yaml", nil, 0o644))
	for _, c := range []struct{ dut, home, want, err string }{
		{"a", dir, filepath.Join(dir, "verilator/duts/a/dut.yaml"), ""},
		{"mine", dir, "mine/dut.yaml", ""},
		{"mine", "", "mine/dut.yaml", ""}, // without any home
		{"./mine", "", "mine/dut.yaml", ""},
		{"b", dir, "", "b: a device at home and a folder here have this name: want ./b for the folder"},
		{"./b", dir, "b/dut.yaml", ""},
		{"mine/dut.yaml", "", "mine/dut.yaml", ""},
		{"./bare", "", "", "this folder has no dut.yaml"},
		{"c", dir, "", `no device "c"`},
		{"z", dir, "", "it has a, b"},
		{"z", "", "", "was not found above"}, // a program of a test lies in a temporary folder
		{"no/such.yaml", dir, "", "no/such.yaml: no such manifest"},
		{"such.yaml", dir, "", "such.yaml: no such manifest"},
		{"", dir, "", "no such manifest"},
	} {
		got, err := Resolve(c.dut, c.home)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, "%+v", c)
			continue
		}
		require.NoError(t, err, "%+v", c)
		require.Equal(t, c.want, got, "%+v", c)
	}
}
