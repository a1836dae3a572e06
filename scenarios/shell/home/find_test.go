package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindOrder(t *testing.T) {
	one, two := someHome(t), someHome(t)
	empty := t.TempDir()
	t.Setenv(Env, two)
	h, err := Find("")
	require.NoError(t, err)
	require.Equal(t, two, h.Dir)

	t.Chdir(filepath.Join(one, "deep", "er"))
	h, err = Find("../..")
	require.NoError(t, err)
	require.Equal(t, one, h.Dir, "the flag goes before the environment")

	var nf *NotFoundError
	_, err = Find(empty)
	require.ErrorAs(t, err, &nf)
	require.ErrorContains(t, err, "--home: "+empty+" is not nictwin's folder")
	t.Setenv(Env, empty)
	_, err = Find("")
	require.ErrorContains(t, err, "NICTWIN_HOME: "+empty)
}

// Neither the working folder nor the folders above it are searched: anybody may have created them.
func TestWorkingFolderIsNoHome(t *testing.T) {
	dir := someHome(t)
	t.Setenv(Env, "")
	for _, at := range []string{dir, filepath.Join(dir, "deep", "er"), filepath.Join(dir, "verilator")} {
		t.Chdir(at)
		_, err := Find("") // the test's program lies in a temporary folder, above which there is no home
		require.ErrorContains(t, err, "name it with --home or NICTWIN_HOME")
		_, err = Resolve("a", "")
		require.ErrorContains(t, err, "was not found above")
	}
}

// A home is refused if its owner could not have replaced the program: its code would be compiled and run.
func TestWhoseHome(t *testing.T) {
	const me, admin, other, builder = 1000, 1001, 1002, 1003
	dir := someHome(t)
	exe := filepath.Join(dir, "deep", "nictwin")
	for _, c := range []struct {
		what                       string
		above, verilator, mark, by int // owners: of the folder, verilator/ in it, its marker file, the program
		ok                         bool
	}{
		{"a clone of mine", me, me, me, me, true},
		{"installed by root", 0, 0, 0, 0, true},
		{"somebody else's clone, program and all", other, other, other, other, true},
		{"a clone of one user in which root builds", other, other, other, 0, true},
		{"mine in a folder of root, as /tmp", 0, me, me, me, true},
		{"the owner of the program's", 0, builder, builder, builder, true},
		{"put by another one into a folder of root, as /tmp", 0, other, other, me, false},
		{"put by another one into a folder that a group may write", admin, other, other, me, false},
		{"put into mine by another one", me, me, other, me, false},
	} {
		owners := map[string]int{dir: c.above, filepath.Join(dir, tree): c.verilator, filepath.Join(dir, mark): c.mark,
			exe: c.by, filepath.Join(dir, harness): c.verilator}
		s := search{me, func(path string) (int, error) { return owners[path], nil }}
		h, err := s.above(exe)
		require.Equal(t, dir, h.Dir, c.what)
		if c.ok {
			require.NoError(t, err, c.what)
			continue
		}
		var untrusted *UntrustedError
		require.ErrorAs(t, err, &untrusted, c.what)
		require.Equal(t, other, untrusted.Owner)
		require.ErrorContains(t, err, "belongs to user 1002, who is neither you nor root")
		require.True(t, strings.HasPrefix(untrusted.Path, filepath.Join(dir, tree)))
	}
	id, err := owner(dir)
	require.NoError(t, err)
	require.Equal(t, os.Geteuid(), id)
	var nf *NotFoundError
	_, err = search{me, owner}.above("/nictwin")
	require.ErrorAs(t, err, &nf)
}
