package transport

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
)

// withScapy returns a Python that has scapy: that of the venv which make setup installs, or the machine's.
func withScapy(t *testing.T) string {
	var tried []string
	for _, python := range []string{"../../.venv/bin/python", "python3"} {
		out, err := exec.Command(python, "-c", "import scapy.contrib.roce").CombinedOutput()
		if err == nil {
			return python
		}
		tried = append(tried, fmt.Sprintf("%s: %v %s", python, err, out))
	}
	require.Fail(t, "this test needs scapy: make setup, or apt-get install python3-scapy", "%s",
		strings.Join(tried, "\n"))
	return ""
}

// TestScapyAgreesOnICRCs compares each packet's ICRC with the one that scapy computes, an independent implementation.
func TestScapyAgreesOnICRCs(t *testing.T) {
	python := withScapy(t)
	frames := emitted(t)
	file := filepath.Join(t.TempDir(), "all.pcap")
	writeCapture(t, file, frames)
	play := func(file string) []string {
		cmd := exec.CommandContext(t.Context(), python, "testdata/icrc.py", file)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		require.NoError(t, err, "scapy: %s", stderr.String())
		return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	}
	lines := play(file)
	require.Len(t, lines, len(frames))
	checked := map[string]int{}
	for i, l := range lines {
		c := strings.Fields(l)
		require.Len(t, c, 3)
		require.Equal(t, fmt.Sprint(frames[i][ipSize(frames[i])+udpSize]), c[0], "frame %d", i)
		require.Equal(t, c[2], c[1], "frame %d, opcode %s: ICRC", i, c[0])
		checked[c[0]]++
	}
	for o := range 256 {
		if wire.Opcode(o).Info().Known {
			require.NotZero(t, checked[fmt.Sprint(o)], "no frame of %v", wire.Opcode(o))
		}
	}
	t.Log(len(frames), "frames", checked)

	frames[0][len(frames[0])-5] ^= 1 // scapy must also find a wrong ICRC
	writeCapture(t, file, frames[:1])
	c := strings.Fields(play(file)[0])
	require.NotEqual(t, c[2], c[1])
	require.NoError(t, os.Remove(file))
}
