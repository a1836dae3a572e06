package contract

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heldElsewhere names, for each rule of the contract that no check of this suite can test, the folder and the test that
// do.
var heldElsewhere = map[string][2]string{
	"B2": {"scenarios/suite/contract", "TestBadParameters"}, // the allowed values; TestRTL builds them
	"C4": {"scenarios/bench", "TestRatesOfTheNICRepeat"},
}

var (
	ruleLine = regexp.MustCompile(`(?m)^- \*\*\[([A-Z]\d+)\]\*\*`)
	testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// rulesOf lists the rules of the contract.
func rulesOf(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/nic.md")
	require.NoError(t, err)
	for _, m := range ruleLine.FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, all, m[1], "a rule number is used twice")
		all = append(all, m[1])
	}
	require.Greater(t, len(all), 100)
	return all
}

// checkedRules returns the contract's rules that are listed in checks, each with the first such check.
func checkedRules() map[string]string {
	all := map[string]string{}
	for _, a := range slices.Concat(areas, portAreas) {
		for _, c := range a.checks {
			for _, rule := range strings.Fields(c.Rules) {
				if all[rule] == "" {
					all[rule] = c.Name
				}
			}
		}
	}
	return all
}

// TestEveryRuleIsHeld checks that every rule of the contract is tested somewhere, and that checks name only rules that
// exist.
func TestEveryRuleIsHeld(t *testing.T) {
	rules, checked := rulesOf(t), checkedRules()
	for _, rule := range rules {
		at, other := heldElsewhere[rule]
		switch {
		case checked[rule] == "" && !other:
			t.Errorf("[%s] of docs/nic.md: no check of the contract suite names it, and heldElsewhere lists no test "+
				"hold it", rule)
		case checked[rule] != "" && other:
			t.Errorf("[%s]: check %q names it, so it need not be listed for %s", rule, checked[rule], at[1])
		case other && !slices.Contains(testsIn(t, at[0]), at[1]):
			t.Errorf("[%s]: test %s does not exist in %s", rule, at[1], at[0])
		}
	}
	for rule, name := range checked {
		if !slices.Contains(rules, rule) {
			t.Errorf("check %q names [%s], which is not in docs/nic.md", name, rule)
		}
	}
}

// testsIn lists the tests of a folder.
func testsIn(t *testing.T, folder string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../..", folder, "*_test.go"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range testFunc.FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
	}
	return all
}
