package fuzz

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/scenarios/bed/device"
)

// Random programs pass on whole cards, with the Go NIC and the RTL: credits, a switch shared by both endpoints, caches
// and DRAM raise no false alarm.
func TestProgramsOnWholeCards(t *testing.T) {
	long, err := strconv.Atoi(os.Getenv("NICTWIN_LONG"))
	if err != nil {
		long = 1
	}
	for _, preset := range board.SwitchPresetNames {
		for _, nic := range []string{device.Model, device.RTL} {
			runs := 20 * long
			if nic == device.RTL {
				runs = 6 * long
			}
			o := options(nic, runs)
			o.Board = preset
			first := passes(t, o)
			o.Jobs = 1
			require.Equal(t, first.Digest, passes(t, o).Digest, "%s on %s", nic, preset)
		}
	}
}
