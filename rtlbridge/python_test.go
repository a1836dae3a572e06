package rtlbridge

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// python runs Python in the client's folder and returns its output.
func python(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "python3", args...)
	c.Dir = "python"
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestPythonClientKeepsVectors checks the Python client against the byte vectors that the Go and C++ sides
// are checked against.
func TestPythonClientKeepsVectors(t *testing.T) {
	require.Contains(t, python(t, "-m", "unittest", "discover", "-s", "tests", "-t", "."), "OK")
}

// TestPythonClientPlays runs the example in the documentation of the Python client, unchanged, with a
// device.
func TestPythonClientPlays(t *testing.T) {
	page, err := os.ReadFile("python/README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(page), "```python\n")
	require.True(t, ok)
	code, _, _ := strings.Cut(rest, "```")
	m, err := manifest.Load("../verilator/duts/ports")
	require.NoError(t, err)
	d, err := build.Build(m, build.Options{Context: t.Context()})
	require.NoError(t, err)
	program, err := filepath.Abs(d.Binary)
	require.NoError(t, err)
	require.Equal(t, "0 {'addr': 0, 'write': 0, 'mode': 2}\n1 {'addr': 1, 'write': 1, 'mode': 2}\n2 {'addr': 2, "+
		"'write': 0, 'mode': 2}\n3 {'addr': 3, 'write': 1, 'mode': 2}\nafter a reset: [9]\n",
		python(t, "-c", code, program))
	require.Equal(t, python(t, "-c", code, program), python(t, "-c", code, program))

	wrong := `
import sys, time
from nictwin_bridge import *
def told(kind, do):
    try:
        do()
    except kind as e:
        print(e)
    else:
        print("nothing was told")
d = Device.launch(sys.argv[1], timeout=2.0)
told(ValueError, lambda: d.advance(1))
told(ValueError, lambda: d.start(tie_offs={"nowhere": 1}))
told(ValueError, lambda: d.start(clocks={"nowhere": (5000, 0)}))
d.start()
told(ValueError, lambda: d.send("nowhere"))
told(ValueError, lambda: d.send("rsp", addr=1))
told(ValueError, lambda: d.send("req", adr=1))
told(ValueError, lambda: d.send("req", b"x"))
told(ValueError, lambda: d.receive("req"))
told(ValueError, lambda: d.advance(0))
told(ValueError, lambda: d.start(stall=101))
d.close()
told(ValueError, lambda: Device("nowhere", bytes(32)))
`
	out := python(t, "-c", wrong, program)
	for _, want := range []string{
		"the device has not been started\n", "no tie-off nowhere; the device has spare_i\n",
		"no clock nowhere; the device has clk_i, aux_clk_i\n", "no stream nowhere; the device has mode, req,",
		"stream rsp is an output of the device\n", "stream req: no field adr; it has addr, write\n",
		"stream req: 1 bytes of data do not go over a stream of kind record; packets have 1 to 1048576\n",
		"no output req; the device has rsp, tick\n", "cycles is 0: want a whole number from 1 to 1048576\n",
		"stall is 101: want a whole number from 0 to 100\n", "address nowhere: want unix:/path or tcp:host:port\n",
	} {
		require.Contains(t, out, want)
	}
}
