package nicspec_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec/emit"
	"nictwin/models/nic/nicspec/schema"
)

func contract(t testing.TB) *schema.Contract {
	t.Helper()
	c, err := schema.Load("nic.yaml")
	require.NoError(t, err)
	return c
}

// TestGeneratedFilesAreFresh: the generated files are those that nic.yaml generates now, and there
// are no others.
func TestGeneratedFilesAreFresh(t *testing.T) {
	files, err := emit.All(contract(t))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, f := range files {
		known[f.Path] = true
		got, err := os.ReadFile(filepath.FromSlash(f.Path))
		if err != nil {
			t.Errorf("%v; run go generate ./models/nic/nicspec", err)
			continue
		}
		if !bytes.Equal(got, f.Data) {
			t.Errorf("%s line %d is not what nic.yaml gives; run go generate ./models/nic/nicspec", f.Path,
				firstDiff(got, f.Data))
		}
	}
	old, err := filepath.Glob("*_gen.go")
	require.NoError(t, err)
	for _, path := range old {
		if !known[path] {
			t.Errorf("%s is generated no more; run go generate ./models/nic/nicspec", path)
		}
	}
}

// firstDiff returns the number of the first line in which a and b differ.
func firstDiff(a, b []byte) int {
	la, lb := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range la {
		if i >= len(lb) || !bytes.Equal(la[i], lb[i]) {
			return i + 1
		}
	}
	return len(la)
}
