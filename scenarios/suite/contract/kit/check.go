package kit

import (
	"strings"

	"nictwin/models/board"
	"nictwin/scenarios/bed/testbed"
)

// Build puts the NIC under test on a board. The spec describes everything around the NIC; Build
// itself chooses the kind of NIC.
type Build func(testbed.Spec) (*testbed.Bed, error)

// Check is one test of the suite.
type Check struct {
	Name   string
	Rules  string // of docs/nic.md, separated by spaces
	Stalls []int  // percent of cycles with back-pressure, one run each; nil: calm only
	Run    func(*Rig)
}

// Title returns the check's name with its rules: registers/shapes [G1] [P8].
func (c *Check) Title() string {
	return c.Name + " [" + strings.Join(strings.Fields(c.Rules), "] [") + "]"
}

// Around changes the board's endpoint for some checks, by name.
var Around = map[string]func(*board.Endpoint){}

// Credits are the link credits of some checks, by name. Other checks have enough that no TLP ever
// waits for credits.
var Credits = map[string]int{}

// Back-pressure under which checks run.
var (
	Calm    []int
	Stalled = []int{0, 30, 60}
)
