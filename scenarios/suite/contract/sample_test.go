package contract

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// sample returns every n-th check from the k-th on. It is for builds of the NIC, and connections to it, that differ
// little from others on which all checks run. With NICTWIN_LONG (make test-all) it returns all checks.
func sample(all []kit.Check, n, k int) []kit.Check {
	if os.Getenv("NICTWIN_LONG") != "" {
		return all
	}
	var some []kit.Check
	for i := k; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// buildSamples selects the samples of eachBuild's builds. Builds that are not listed run all checks.
var buildSamples = map[string]struct{ n, k int }{"ports 2": {4, 1}, "ports 2 of 256 bits": {2, 0}}

// sampleOf returns the checks that run on a build of eachBuild: all checks that need several ports, and a sample of the
// others.
func sampleOf(name string, sizes nicspec.Build) []kit.Check {
	one, all := sizes, suite(sizes)
	one.Ports = 1
	common := len(suite(one))
	s, ok := buildSamples[name]
	if !ok {
		return all
	}
	return append(sample(all[:common], s.n, s.k), all[common:]...)
}

// TestSamplesLeaveNothingOut checks that in every test each check runs on at least one build that has all parts.
func TestSamplesLeaveNothingOut(t *testing.T) {
	played := map[string]bool{}
	eachBuild(t, func(_ *testing.T, name string, sizes nicspec.Build) {
		for _, c := range sampleOf(name, sizes) {
			played[c.Name] = true
		}
	})
	two := nicspec.DefaultBuild()
	two.Ports = 2
	for _, c := range suite(two) {
		require.True(t, played[c.Name], "%q is in no sample", c.Name)
	}
}
