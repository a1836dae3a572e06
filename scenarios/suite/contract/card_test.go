package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// onCard returns a preset card and the sizes of a NIC for it.
func onCard(t *testing.T, preset string) (*board.CardSpec, nicspec.Build) {
	t.Helper()
	c, err := board.CardPreset(preset)
	require.NoError(t, err)
	sizes := nicspec.DefaultBuild()
	sizes.Ports, sizes.EthBits = c.Ports, c.EthBits
	return &c, sizes
}

func TestModelOnCards(t *testing.T) {
	for preset, n := range map[string]int{"bf3": 4, "bf2": 16} {
		c, sizes := onCard(t, preset)
		runChecksOn(t, preset, sizes, onModel(&sizes), sample(cardSuite(sizes), n, 1), c)
	}
}

func TestRTLOnCards(t *testing.T) {
	for preset, n := range map[string]int{"bf3": 16, "bf2": 48} {
		c, sizes := onCard(t, preset)
		runChecksOn(t, preset, sizes, onRTL(t, sizes), sample(cardSuite(sizes), n, 1), c)
	}
}

// TestPlainChecksExist checks that every check listed for the plain board is a check of the suite.
func TestPlainChecksExist(t *testing.T) {
	_, sizes := onCard(t, "bf3")
	names := map[string]bool{}
	for _, c := range suite(sizes) {
		names[c.Name] = true
	}
	for name := range plainOnly {
		require.True(t, names[name], "%q is listed in plain.go, but is not a check", name)
	}
	require.Greater(t, len(cardSuite(sizes)), 9*len(plainOnly), "checks that run on cards: want nearly all")
}

// cardSuite returns every check that applies to a card with links, switch, caches and DRAM.
func cardSuite(sizes nicspec.Build) (all []kit.Check) {
	for _, c := range suite(sizes) {
		if plainOnly[c.Name] == "" {
			all = append(all, c)
		}
	}
	return all
}
