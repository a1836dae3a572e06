package program

import (
	"fmt"
	"strings"

	"nictwin/models/nic/nicspec"
)

// Builds lists the NIC builds that programs can be made for: the default, and the extremes that [B2] and [N1] allow.
var Builds = []struct {
	Name   string
	change func(s *nicspec.Build)
}{
	{"default", func(*nicspec.Build) {}},
	{"small", func(s *nicspec.Build) { s.NumRxq, s.NumTxq, s.NumKeys, s.NumRules = 4, 4, 16, 4 }},
	{"large", func(s *nicspec.Build) {
		s.NumRxq, s.NumTxq, s.NumKeys, s.NumRules = nicspec.RxqMax, nicspec.TxqMax, 4096, nicspec.RulesMax
	}},
	{"bare", func(s *nicspec.Build) { s.Parts = 0 }}, // without any optional part
}

// SizesOf returns the build of that name; the empty name is the default.
func SizesOf(name string) (nicspec.Build, error) {
	s := nicspec.DefaultBuild()
	var names []string
	for _, b := range Builds {
		if b.Name == name || name == "" {
			b.change(&s)
			return s, nil
		}
		names = append(names, b.Name)
	}
	return s, fmt.Errorf("build %q: want one of %s", name, strings.Join(names, ", "))
}
