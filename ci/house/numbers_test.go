package house

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"nictwin/models/sim/specfile"
)

// TestNumbersInYAML checks that every number in our YAML files is the same number in all versions of YAML. It covers
// files without a strict reader, too: claims, the contract, exclusions.
func TestNumbersInYAML(t *testing.T) {
	found := 0
	walkExt(t, ".yaml", func(path string) {
		text, err := os.ReadFile(filepath.Join(root(t), path))
		require.NoError(t, err)
		var doc yaml.Node
		require.NoError(t, yaml.Unmarshal(text, &doc))
		found++
		checkNumbers(t, path, &doc)
	})
	require.Greater(t, found, 100)
}

func checkNumbers(t *testing.T, path string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && !specfile.Quoted(n) {
		if err := specfile.CheckNumber(n.Value); err != nil {
			t.Errorf("%s:%d: %v", path, n.Line, err)
		}
	}
	for _, x := range n.Content {
		checkNumbers(t, path, x)
	}
}
