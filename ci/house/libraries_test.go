package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLibrariesAreListed checks that docs/libraries.md names every module in the program, with its licence, and no
// other.
func TestLibrariesAreListed(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/nictwin")
	list.Dir = root(t)
	out, err := list.Output()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "libraries.md"))
	require.NoError(t, err)
	listed := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| (`.*`) \\|.*\\| [^|]+ \\|$")
	for _, line := range row.FindAllStringSubmatch(string(text), -1) {
		for _, name := range strings.Split(line[1], ", ") {
			listed[strings.Trim(name, "`")] = true
		}
	}
	used := map[string]bool{}
	for _, name := range strings.Fields(string(out)) {
		if name+"/" != module {
			used[name] = true
		}
	}
	require.NotEmpty(t, used)
	require.Equal(t, used, listed)
}
