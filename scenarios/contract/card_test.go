package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nicspec"
)

// onCard is a preset and the sizes of a NIC for it.
func onCard(t *testing.T, preset string) (*board.CardSpec, nicspec.Build) {
	t.Helper()
	c, err := board.CardPreset(preset)
	require.NoError(t, err)
	sizes := nicspec.DefaultBuild()
	sizes.Ports, sizes.EthBits = c.Ports, c.EthBits
	return &c, sizes
}

func TestModelOnCards(t *testing.T) {
	for _, preset := range board.SwitchPresetNames {
		c, sizes := onCard(t, preset)
		RunOnCard(t, preset, sizes, onModel(&sizes), c)
	}
}
