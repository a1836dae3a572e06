package emulation

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build/toolchain"
)

// TestAgent runs the tests of the agent's parts, with sanitizers: the host's end of the link, and the size of grants.
func TestAgent(t *testing.T) {
	t.Parallel()
	tools, err := toolchain.Find("")
	require.NoError(t, err)
	const harness, agent = "../../verilator/harness", "../../verilator/shell/agent"
	for test, needs := range map[string][]string{"link_test": {filepath.Join(agent, "link.cpp")}, "grant_test": nil} {
		program := filepath.Join(t.TempDir(), test)
		out, err := exec.Command(tools.Cxx, append(needs, "-std=c++20", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
			"-fsanitize=address,undefined", "-pthread", "-I", harness, "-I", agent, "-I", tools.IncludeDir,
			filepath.Join(agent, "tests", test+".cpp"), "-o", program)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		out, err = exec.Command(program).CombinedOutput()
		require.NoError(t, err, "%s: %s", test, strings.TrimSpace(string(out)))
	}
}
