package kit

import (
	"strings"

	"nictwin/models/board"
	"nictwin/scenarios/bed/testbed"
)

// Build puts a board together with the NIC under test on it. The spec says what is wanted of everything around the NIC;
// its kind of NIC is for Build to choose.
type Build func(testbed.Spec) (*testbed.Bed, error)

// Check is one test of the suite.
type Check struct {
	Name   string
	Rules  string // of docs/nic.md, separated by spaces
	Stalls []int  // percent of cycles with back-pressure; nil: calm only
	Run    func(*Rig)
}

// Title is the check's name with its rules: registers/shapes [G1] [P8].
func (c *Check) Title() string {
	return c.Name + " [" + strings.Join(strings.Fields(c.Rules), "] [") + "]"
}

// Around changes the endpoint of some checks, by name.
var Around = map[string]func(*board.Endpoint){}

// Credits are those of the links of some checks, by name; the others have as many as never hold anything back.
var Credits = map[string]int{}

// Back-pressure under which checks run.
var (
	Calm    []int
	Stalled = []int{0, 30, 60}
)
