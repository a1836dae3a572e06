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
	Rules  string // of docs/nic.md, separated by spaces
	Stalls []int  // percent of cycles with back-pressure, one run each; nil: one run without
	Run    func(*Rig)
}

// Title returns the check's name with its rules: registers/shapes [G1] [P8].
func (c *Check) Title() string {
	return c.Name + " [" + strings.Join(strings.Fields(c.Rules), "] [") + "]"
}

// Around changes the board's endpoint for single checks, by their names.
var Around = map[string]func(*board.Endpoint){}

// Credits sets the link credits of single checks, by their names. Other checks have so many that no TLP waits for
// credits.
var Credits = map[string]int{}

// Percentages of back-pressure for the field Stalls of checks.
var (
	Calm    []int
	Stalled = []int{0, 30, 60}
)
