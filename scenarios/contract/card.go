package contract

import (
	"testing"

	"nictwin/models/board"
	"nictwin/models/nicspec"
	"nictwin/scenarios/contract/kit"
)

// RunOnCard holds a NIC to every check of the suite that does not need a plain board, on a card with links, switch, caches
// and DRAM.
func RunOnCard(t *testing.T, name string, sizes nicspec.Build, build kit.Build, card *board.CardSpec) {
	runChecksOn(t, name, sizes, build, cardSuite(sizes), card)
}

// cardSuite is every check that such a NIC can be held to on a card.
func cardSuite(sizes nicspec.Build) (all []kit.Check) {
	for _, c := range suite(sizes) {
		if plainOnly[c.Name] == "" {
			all = append(all, c)
		}
	}
	return all
}
