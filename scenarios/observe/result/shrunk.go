package result

import (
	"fmt"
	"strings"
)

// Names of the files with the shrunk input of a replay, by port, and of a scenario.
const (
	ShrunkCapture    = "shrunk.pcapng"
	shrunkSecondPort = "shrunk-1.pcapng"
	ShrunkScenario   = "shrunk.yaml"
)

// ShrunkCaptures are the names of the files for the packets of each port.
var ShrunkCaptures = []string{ShrunkCapture, shrunkSecondPort}

// Roles of input files.
const (
	RoleCapture  = "capture"
	RoleScenario = "scenario"
)

// InputFile is an input in memory.
type InputFile struct {
	Name string
	Role string
	Data []byte
}

// InputSize counts the packets, work entries or messages of an input.
type InputSize struct {
	Packets  int `json:"packets,omitempty"`  // of captures, in all passes
	Entries  int `json:"entries,omitempty"`  // work entries that a replay posts
	Messages int `json:"messages,omitempty"` // of a scenario
}

func (s InputSize) String() string {
	var parts []string
	for _, x := range []struct {
		n         int
		one, many string
	}{{s.Packets, "packet", "packets"}, {s.Entries, "work entry", "work entries"},
		{s.Messages, "message", "messages"}} {
		switch {
		case x.n == 1:
			parts = append(parts, "1 "+x.one)
		case x.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.many))
		}
	}
	return strings.Join(parts, " and ")
}

// Shrunk is a smaller input that fails as the whole one did.
type Shrunk struct {
	Files    []string          `json:"files,omitempty"`    // paths of the smaller input; none without artifacts
	Settings map[string]string `json:"settings,omitempty"` // flags that differ from those of the whole run
	Original InputSize         `json:"original"`
	Shrunk   InputSize         `json:"shrunk"`
	Trials   int               `json:"trials"`
	WallS    float64           `json:"wall_s"`
	Whole    string            `json:"whole,omitempty"` // command line that repeats the whole run

	Inputs []InputFile `json:"-"` // the smaller input
}

func (s *Shrunk) String() string {
	return fmt.Sprintf("%v of %v, in %d trials and %.1f s", s.Shrunk, s.Original, s.Trials, s.WallS)
}
