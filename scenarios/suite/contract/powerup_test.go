package contract

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/build"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/suite/contract/kit"
)

// powerUpAreas lists, by number of ports, the prefixes of the checks that are replayed from random contents of every
// register and memory. These checks use each table, ring and buffer before anything was written to it. For two ports it
// lists the checks that depend on ports.
var powerUpAreas = [board.MaxPorts + 1][]string{
	1: {"registers/", "tables/", "drops/", "rings/", "statuses/", "errors/", "chaos/"},
	2: {"drops/", "pause/", "ports/", "chaos/"},
}

// TestRandomPowerUp checks that the RTL does not depend on its contents before reset: the same inputs must give the
// same outputs in the same cycles after power-up with zeros, with ones, and with random contents of two seeds.
func TestRandomPowerUp(t *testing.T) {
	for ports := 1; ports <= board.MaxPorts; ports++ {
		t.Run(fmt.Sprintf("ports %d", ports), func(t *testing.T) { randomPowerUp(t, ports) })
	}
}

func randomPowerUp(t *testing.T, ports int) {
	sizes := nicspec.DefaultBuild()
	sizes.Ports = ports
	path, err := nicManifest()
	require.NoError(t, err)
	zeros, err := device.Build(t.Context(), path, "speed", device.Eth{Ports: ports}, nil)
	require.NoError(t, err)
	random, err := device.Build(t.Context(), path, "debug", device.Eth{Ports: ports}, nil)
	require.NoError(t, err)
	played := 0
	all := slices.DeleteFunc(suite(sizes), func(c kit.Check) bool { return !within(c.Name, powerUpAreas[ports]) })
	for _, c := range sample(all, 2, 0) {
		played++
		t.Run(c.Name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "inputs")
			t.Run("record", func(t *testing.T) { record(t, &c, sizes, zeros, file) })
			want := playback(t, zeros, file)
			for _, contents := range []string{"+verilator+rand+reset+1", "+verilator+seed+1", "+verilator+seed+2"} {
				require.Equal(t, want, playback(t, random, file, contents), contents)
			}
		})
	}
	require.Greater(t, played, 10)
}

func within(name string, areas []string) bool {
	for _, a := range areas {
		if strings.HasPrefix(name, a) {
			return true
		}
	}
	return false
}

// record runs a check and records the device's inputs in a file.
func record(t *testing.T, c *kit.Check, sizes nicspec.Build, dev *build.Device, file string) {
	f, err := os.Create(file)
	require.NoError(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	t.Cleanup(func() { // registered here, so that it runs after the rig's cleanup has closed the device
		require.NoError(t, w.Flush())
		require.NoError(t, f.Close())
	})
	on(c, t, sizes, func(s testbed.Spec) (*testbed.Bed, error) {
		s.NIC, s.Built, s.Record = device.RTL, dev, w
		return testbed.New(s)
	}, 0, nil)
}

// playback returns the device's response to a recording, without the wall time, which differs in each run.
func playback(t *testing.T, dev *build.Device, file string, plusArgs ...string) build.PlaybackResult {
	t.Helper()
	p, err := build.Playback(t.Context(), dev, file, plusArgs...)
	require.NoError(t, err)
	require.NotZero(t, p.Cycles)
	p.Wall = 0
	return p
}
