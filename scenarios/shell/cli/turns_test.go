package cli

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run"
)

// Cases that fail beside the one that was shrunk are named, a few of many; those that pass are not.
func TestUnshrunk(t *testing.T) {
	played := func(name, nic string, fails bool) *Run {
		p := &run.Played{Case: &run.Case{Spec: run.Spec{Name: name}, Name: name}}
		if fails {
			p.Findings = []result.Finding{{Text: "x"}}
		}
		return &Run{p, nic}
	}
	list := []*Run{played("a", "model", true), played("a", "rtl", false)}
	require.Empty(t, unshrunk(list))
	list[1] = played("a", "rtl", true)
	require.Equal(t, "only the first case that fails is shrunk, a on model; not shrunk: a on rtl; "+
		"--only and --nic play one of them", unshrunk(list))
	for i := range 4 {
		list = append(list, played(fmt.Sprintf("b%d", i), "", true))
	}
	require.Contains(t, unshrunk(list), "not shrunk: a on rtl, b0, b1 and 2 more; ")
}
