package contract

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic"
	"nictwin/rtlbridge"
	"nictwin/scenarios/board"
)

// powerUpAreas are the checks that are played again from random contents of every register and memory: each table, ring and
// buffer is used before anything was in it.
var powerUpAreas = []string{"registers/", "tables/", "drops/", "rings/", "statuses/", "errors/", "chaos/"}

// Nothing that the RTL does depends on what it holds before reset: the very inputs of checks give the same outputs, at the
// same cycles, whether it powers up with zeros, with ones, or at random by two seeds.
func TestRandomPowerUp(t *testing.T) {
	zeros, err := board.Build(t.Context(), manifest, "speed", board.Eth{Ports: 1}, nil)
	require.NoError(t, err)
	random, err := board.Build(t.Context(), manifest, "debug", board.Eth{Ports: 1}, nil)
	require.NoError(t, err)
	played := 0
	for _, c := range suite(nic.DefaultSpec()) {
		if !within(c.name, powerUpAreas) {
			continue
		}
		played++
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "inputs")
			t.Run("record", func(t *testing.T) { record(t, &c, zeros, file) })
			want := playback(t, zeros, file)
			for _, contents := range []string{"+verilator+rand+reset+1", "+verilator+seed+1", "+verilator+seed+2"} {
				require.Equal(t, want, playback(t, random, file, contents), contents)
			}
		})
	}
	require.Greater(t, played, 30)
}

func within(name string, areas []string) bool {
	for _, a := range areas {
		if strings.HasPrefix(name, a) {
			return true
		}
	}
	return false
}

// record runs a check with the device's inputs going to a file.
func record(t *testing.T, c *check, dev *rtlbridge.Device, file string) {
	f, err := os.Create(file)
	require.NoError(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	t.Cleanup(func() { // after the rig has closed the device
		require.NoError(t, w.Flush())
		require.NoError(t, f.Close())
	})
	c.on(t, nic.DefaultSpec(), func(s board.Spec) (*board.Board, error) {
		s.NIC, s.Built, s.Record = board.RTL, dev, w
		return board.New(s)
	}, 0)
}

// playback is what the device makes of a recording, wall time aside.
func playback(t *testing.T, dev *rtlbridge.Device, file string, plusArgs ...string) rtlbridge.PlaybackResult {
	t.Helper()
	p, err := rtlbridge.Playback(t.Context(), dev, file, plusArgs...)
	require.NoError(t, err)
	require.NotZero(t, p.Cycles)
	p.Wall = 0
	return p
}
