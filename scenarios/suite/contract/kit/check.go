package kit

import (
	"strings"

	"nictwin/models/board"
	"nictwin/scenarios/bed/testbed"
)

// Build puts the NIC under test on a board. The spec describes everything around the NIC; Build chooses the kind of
// NIC.
type Build func(testbed.Spec) (*testbed.Bed, error)

// Check is one test of the suite.
type Check struct {
	Name   string
	Rules  string // rules of docs/nic.md, separated by spaces
	Stalls []int  // percent of cycles with back-pressure, a run for each; nil: a single run without
	Run    func(*Rig)
}

// Title returns the check's name with its rules: registers/shapes [G1] [P8].
func (c *Check) Title() string {
	return c.Name + " [" + strings.Join(strings.Fields(c.Rules), "] [") + "]"
}

// Around changes the endpoint of the board for some checks, by their names.
var Around = map[string]func(*board.Endpoint){}

// Credits sets the number of link credits for some checks, by their names. In other checks no TLP ever waits for
// credits.
var Credits = map[string]int{}

// Percentages of back-pressure for the field Stalls of checks.
var (
	Calm    []int
	Stalled = []int{0, 30, 60}
)
