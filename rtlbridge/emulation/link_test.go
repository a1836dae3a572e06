package emulation

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build/toolchain"
)

// TestAgentLink runs the test of the host's end of the link, with sanitizers.
func TestAgentLink(t *testing.T) {
	tools, err := toolchain.Find("")
	require.NoError(t, err)
	const harness, agent = "../../verilator/harness", "../../verilator/shell/agent"
	program := filepath.Join(t.TempDir(), "link_test")
	out, err := exec.Command(tools.Cxx, "-std=c++20", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
		"-fsanitize=address,undefined", "-pthread", "-I", harness, "-I", agent, "-I", tools.IncludeDir,
		filepath.Join(agent, "tests", "link_test.cpp"), filepath.Join(agent, "link.cpp"), "-o",
		program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program).CombinedOutput()
	require.NoError(t, err, "%s", strings.TrimSpace(string(out)))
}
