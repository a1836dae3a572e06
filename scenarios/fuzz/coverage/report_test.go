package coverage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
)

// A report has a line for each group, and for the first missed bins; with parameter `all`, for every missed bin.
func TestReportForPeople(t *testing.T) {
	r := &coverage.Report{Hit: 1, Bins: 41, Groups: []coverage.GroupReport{{Group: "a", Hit: 1, Bins: 1},
		{Group: "b", Hit: 0, Bins: 10}, {Group: "c", Hit: 0, Bins: 30}}}
	for i := range 40 {
		group := "b"
		if i >= 10 {
			group = "c"
		}
		r.Missing = append(r.Missing, coverage.Bin{Group: group, Bin: fmt.Sprintf("bin %d", i)})
	}
	lines := func(all bool) []string {
		var b strings.Builder
		require.NoError(t, r.Write(&b, all, "the file"))
		return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	}
	short := lines(false)
	require.Len(t, short, 1+3+coverage.FewMissing+1)
	require.Equal(t, "  not hit: b: bin 0", short[4])
	require.Equal(t, "  not hit: 35 more, see the file", short[len(short)-1])
	long := lines(true)
	require.Len(t, long, 1+3+40)
	require.Contains(t, long[3], "      not hit: bin 0")
	require.Contains(t, long[13], "  c ")
	r.Missing = r.Missing[:coverage.FewMissing]
	require.NotContains(t, strings.Join(lines(false), "\n"), "more, see")
}

// Missing is ordered by group. Write relies on it and would otherwise leave out bins.
func TestMissingIsInTheOrderOfTheGroups(t *testing.T) {
	build := nicspec.DefaultBuild()
	build.Ports = 2
	r := coverage.New().Report(coverage.NewUniverse(build))
	var b strings.Builder
	require.NoError(t, r.Write(&b, true, ""))
	require.Equal(t, len(r.Missing), strings.Count(b.String(), "      not hit: "))
	require.Equal(t, r.Bins, len(r.Missing))
}
