package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/waves/fst"
)

// ownDevice is a device of verilator/duts/own. For each of its two bugs it has the port at which the bug
// shows, and the first seed that shows it.
type ownDevice struct {
	name string
	bugs [2]ownBug
}

type ownBug struct {
	stream string
	seed   uint64
}

var ownDevices = []ownDevice{
	{"afifo", [2]ownBug{{"m", 1}, {"m", 4}}},
	{"regs", [2]ownBug{{"r", 1}, {"r", 1}}},
	{"dmard", [2]ownBug{{"request", 1}, {"request", 1}}},
	{"udpsum", [2]ownBug{{"sum", 1}, {"sum", 1}}},
	{"axiwide", [2]ownBug{{"mst.w", 1}, {"mst.w", 1}}},
	{"arbmux", [2]ownBug{{"pay", 3}, {"hdr", 3}}},
}

// ownMost limits the lines of a device's manifest and of its reference; devices compared by a built-in
// check need no reference.
var ownMost = map[string][2]int{"afifo": {15, 0}, "dmard": {15, 30}}

// lines counts the lines of a file without blank lines, comments, package clause and imports; 0 if there is
// no file.
func lines(t *testing.T, path string) (n int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	imports := false
	for l := range strings.Lines(string(b)) {
		l = strings.TrimSpace(l)
		switch {
		case l == "import (":
			imports = true
		case imports:
			imports = l != ")"
		case l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "//") &&
			!strings.HasPrefix(l, "package ") && !strings.HasPrefix(l, "import "):
			n++
		}
	}
	return n
}

// TestOwnDevicesAreAsThePageSays checks the table of docs/own-rtl.md: lengths of manifests and references,
// and ports and seeds at which bugs show.
func TestOwnDevicesAreAsThePageSays(t *testing.T) {
	page, err := os.ReadFile("../../docs/own-rtl.md")
	require.NoError(t, err)
	found, err := os.ReadDir("../../verilator/duts/own")
	require.NoError(t, err)
	require.Len(t, found, len(ownDevices))
	for _, d := range ownDevices {
		dir := filepath.Join("../../verilator/duts/own", d.name)
		_, row, ok := strings.Cut(string(page), fmt.Sprintf("\n| [`%s`](../verilator/duts/own/%s) | ", d.name, d.name))
		require.True(t, ok, "the page has no row for %s", d.name)
		row, _, _ = strings.Cut(row, "\n")
		yaml, golang := lines(t, filepath.Join(dir, "dut.yaml")), lines(t, filepath.Join(dir, "ref", "ref.go"))
		require.Contains(t, row, fmt.Sprintf(" | %d | %d | ", yaml, golang), d.name)
		for _, b := range d.bugs {
			require.Contains(t, row, fmt.Sprintf(": `%s`, %d |", b.stream, b.seed), d.name)
		}
		if most, limited := ownMost[d.name]; limited {
			require.LessOrEqual(t, yaml, most[0], d.name)
			require.LessOrEqual(t, golang, most[1], d.name)
		}
	}
}

// ownRuns is the number of seeds for which a correct device must pass, and within which bugs must be found.
const ownRuns = 20

// quickWave is the device whose waveform is produced in every run of the tests: one with a reference. For a
// device without reference, the script play.txtar does so.
const quickWave = "dmard"

// TestOwnDevices checks that every device of verilator/duts/own passes unchanged, and that with a bug it fails at the
// seed and port that docs/own-rtl.md gives, and leaves a waveform of the mismatch. Each bug needs a build, and its
// waveform another one: the second bugs and the other waveforms are tested only with NICTWIN_LONG (make test-all).
func TestOwnDevices(t *testing.T) {
	long := os.Getenv("NICTWIN_LONG") != ""
	for _, d := range ownDevices {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			o, _ := d.play(t, 0, 0, "never")
			require.EqualValues(t, ownRuns, o.Played.Runs)
			require.Positive(t, o.Played.Compared)
			for i, b := range d.bugs {
				if i > 0 && !long {
					continue
				}
				wave := "never"
				if long || d.name == quickWave {
					wave = "fail"
				}
				o, dir := d.play(t, i+1, 1, wave)
				require.Len(t, o.Findings, 1)
				require.Equal(t, b.stream, o.Findings[0].Stream)
				require.NotNil(t, o.Played.Failed)
				require.Equal(t, b.seed, o.Played.Failed.Seed)
				if wave == "never" {
					continue
				}
				require.Len(t, o.Waves, 1)
				require.LessOrEqual(t, int64(o.Waves[0].From), *o.Findings[0].Cycle)
				require.GreaterOrEqual(t, o.Waves[0].To, *o.Findings[0].Cycle)
				f, err := fst.Read(filepath.Join(dir, "wave.fst"))
				require.NoError(t, err)
				require.Greater(t, f.End, f.Start)
				view, err := os.ReadFile(filepath.Join(dir, "wave.gtkw"))
				require.NoError(t, err)
				require.Contains(t, string(view), "[markername] Adifference")
			}
		})
	}
}

// play runs the command `nictwin play` on the device with the given bug and checks the exit code; it returns the output
// and the artifacts.
func (d *ownDevice) play(t *testing.T, bug, code int, wave string) (*result.Object, string) {
	t.Helper()
	at, err := filepath.Abs(filepath.Join("../../verilator/duts/own", d.name))
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"play", at, "--runs", fmt.Sprint(ownRuns), "--param", fmt.Sprintf("BUG=%d", bug), "--wave", wave,
		"--json", "--out", out}
	if ref := filepath.Join(at, "ref"); lines(t, filepath.Join(ref, "ref.go")) > 0 {
		args = append(args, "--ref", ref)
	}
	c := exec.CommandContext(t.Context(), "nictwin", args...)
	var told bytes.Buffer
	c.Stderr = &told
	c.Env = append(os.Environ(), "NICTWIN_HOME="+filepath.Join(at, "../../../.."))
	text, err := c.Output()
	require.Equal(t, code, c.ProcessState.ExitCode(), "%v\n%s\n%s", err, text, told.String())
	var o result.Object
	require.NoError(t, json.Unmarshal(text, &o))
	return &o, out
}
