package contract

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nicspec"
	"nictwin/scenarios/contract/kit"
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

// each is every n-th check of those that run on cards; all of them in a long test.
func each(sizes nicspec.Build, n int) (some []kit.Check) {
	if os.Getenv("NICTWIN_LONG") != "" {
		n = 1
	}
	for i, c := range cardSuite(sizes) {
		if i%n == 0 {
			some = append(some, c)
		}
	}
	return some
}

func TestModelOnCards(t *testing.T) {
	for preset, n := range map[string]int{"bf3": 2, "bf2": 8} {
		c, sizes := onCard(t, preset)
		runChecksOn(t, preset, sizes, onModel(&sizes), each(sizes, n), c)
	}
}

func TestRTLOnCards(t *testing.T) {
	for preset, n := range map[string]int{"bf3": 8, "bf2": 24} {
		c, sizes := onCard(t, preset)
		runChecksOn(t, preset, sizes, onRTL(t, sizes), each(sizes, n), c)
	}
}

// A check that keeps the plain board is one of the suite.
func TestPlainChecksExist(t *testing.T) {
	_, sizes := onCard(t, "bf3")
	names := map[string]bool{}
	for _, c := range suite(sizes) {
		names[c.Name] = true
	}
	for name := range plainOnly {
		require.True(t, names[name], "%q is listed in plain.go, and is no check", name)
	}
	require.Greater(t, len(cardSuite(sizes)), 9*len(plainOnly), "nearly all run on cards")
}
