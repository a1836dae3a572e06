package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/manifest"
)

// TestFolderNamedLikeAPattern checks that characters of a pattern in the name of a manifest's folder are
// taken literally.
func TestFolderNamedLikeAPattern(t *testing.T) {
	for _, name := range []string{"a[1]", "[", "*", "a?b", `a\b`, "a]b"} {
		dir := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.Mkdir(dir, 0o755))
		for _, f := range []string{"x.sv", "y.sv"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, f), nil, 0o644))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "list.f"), []byte("y.sv\n"), 0o644))
		s, err := Expand(&manifest.Manifest{Path: filepath.Join(dir, "dut.yaml"), Sources: []string{"x.sv", "list.f"}})
		require.NoError(t, err, name)
		require.Equal(t, []string{filepath.Join(dir, "x.sv"), filepath.Join(dir, "y.sv")}, s.Files)
		s, err = Expand(&manifest.Manifest{Path: filepath.Join(dir, "dut.yaml"), Sources: []string{"[xy].sv"}})
		require.NoError(t, err, name)
		require.Len(t, s.Files, 2)
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, f := range []string{"b.sv", "a.sv", "sub/c.sv", "sub/d.sv", "sub/inc/x.svh"} {
		write(f, "")
	}
	write("top.f", "// comment\na.sv\n-f sub/more.f\n*.sv # all\n")
	write("sub/more.f", "+incdir+inc\n+define+A=1+B\nd.sv\nc.sv\n")
	m := &manifest.Manifest{Path: filepath.Join(dir, "dut.yaml"), Sources: []string{"top.f", "b.sv"}}
	s, err := Expand(m)
	require.NoError(t, err)
	var names []string
	for _, f := range s.Files {
		names = append(names, m.Rel(f))
	}
	require.Equal(t, []string{"a.sv", "sub/d.sv", "sub/c.sv", "b.sv"}, names)
	require.Equal(t, []string{"A=1", "B"}, s.Defines)
	require.Equal(t, []string{filepath.Join(dir, "sub/inc")}, s.IncDirs)

	write("loop.f", "-f loop.f\n")
	write("bad.f", "x.sv\n--trace\n")
	m.Sources = []string{"loop.f", "bad.f", "none*.sv", "sub", "/dev/zero", "/proc/self/maps", "pipe.f"}
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.f"), 0o600))
	for i := range 12 {
		write(fmt.Sprintf("twice%d.f", i), strings.Repeat(fmt.Sprintf("-f twice%d.f\n", i+1), 3))
	}
	write("twice12.f", "a.sv\n")
	_, err = Expand(m)
	require.Error(t, err)
	m.Sources = append(m.Sources, "twice0.f")
	_, err = Expand(m)
	for _, want := range []string{"sub is no regular file", "/dev/zero is no regular file",
		"/proc/self/maps is no regular file or folder", "pipe.f is no regular file of at most",
		"does it include itself?", "more than 1000 file lists", "bad.f:1: no file matches",
		`bad.f:2: option "--trace"`, "no file matches " + dir} {
		require.ErrorContains(t, err, want)
	}
}
