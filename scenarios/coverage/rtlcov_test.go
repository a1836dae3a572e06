package coverage

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/rtlbridge/build"
)

// covered writes the two files of a coverage build: hits has the values of its counters; points has a line for each
// counter: its number, file, line, kind, module, the signal or statement that it counts, and the range of bits.
func covered(t *testing.T, dir, name, points string, hits ...byte) {
	t.Helper()
	b := append([]byte("NTHITS02"), make([]byte, 40)...)
	binary.LittleEndian.PutUint64(b[40:], uint64(len(hits)))
	text := strings.ReplaceAll(points, " | ", "\t")
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+build.HitsExt), append(append(b, hits...), hits...), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+build.PointsExt), []byte(text), 0o644))
}

const onePort = `0 | ../rtl/nic_a.sv | 3 | toggle | nic_a__P1 | x | 2 | 0
3 | ../rtl/nic_a.sv | 5 | branch | nic_a__P1 | if | -1 | -1
4 | ../rtl/nic_a.sv | 5 | branch | nic_a__P1 | else | -1 | -1
5 | ../rtl/nic_b.sv | 2 | toggle | nic_b | job[0].len | 7 | 7
6 | ../rtl/nic_b.sv | 2 | toggle | nic_b | job[1].len | 7 | 7
7 | ../rtl/nic_b.sv | 4 | toggle | nic_b | en[0].ok | -1 | -1
`

func loaded(t *testing.T) (sites []*Site, dir string) {
	t.Helper()
	dir = t.TempDir()
	covered(t, dir, "one", onePort, 2, 1, 0, 1, 0, 0, 5, 0)
	covered(t, dir, "two", "0 | ../rtl/nic_a.sv | 3 | toggle | nic_a__P2 | x | 1 | 1\n", 1)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "receive"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "receive", "nic_a.sv"), []byte("1\n2\nlogic x\n4\nif (broken) "+
		"begin\n"), 0o644))
	sites, err := Load(dir)
	require.NoError(t, err)
	return sites, dir
}

// Hits are merged over instances, lanes and builds. A bit counts as hit only if a single run changed it both ways: one
// change each in two runs does not count.
func TestMergeAndHoles(t *testing.T) {
	sites, _ := loaded(t)
	r := NewReport(sites, nil)
	require.Equal(t, Share{Hit: 1, Total: 2}, r.Lines)
	require.Equal(t, Share{Hit: 2, Total: 5}, r.Toggles)
	require.InDelta(t, 40, r.Toggles.Percent(), 0.01)
	require.Equal(t, []string{"nic_a.sv:3: x[2:1]", "nic_a.sv:5: else"}, r.Modules[0].Holes)
	require.Equal(t, []string{"nic_b.sv:4: en[].ok"}, r.Modules[1].Holes)
	var text strings.Builder
	require.NoError(t, r.Write(&text, 1))
	require.Contains(t, text.String(), "and 1 more in nic_a")
}

func TestExclusions(t *testing.T) {
	sites, dir := loaded(t)
	list := []*Exclusion{
		{Module: "nic_a", Signal: "x[2:1]", Why: "constant"},
		{Module: "nic_a", Line: "(broken)", What: "else", Why: "defensive"},
		{Module: "nic_*", Signal: "en[].ok", Why: "reserved"},
	}
	require.NoError(t, Exclude(sites, list, dir))
	r := NewReport(sites, list)
	require.Equal(t, Share{Hit: 1, Total: 1, Excluded: 1}, r.Lines)
	require.Equal(t, Share{Hit: 2, Total: 2, Excluded: 3}, r.Toggles)
	require.InDelta(t, 40, r.Toggles.WithAll(), 0.01)
	var text strings.Builder
	require.NoError(t, r.Write(&text, 1))
	require.Contains(t, text.String(), "excluded: nic_a x[2:1] (2): constant")
}

// An exclusion that matches nothing in the RTL, or a site that was hit, is refused: it would hide a hole or a mistake.
func TestExclusionsThatAreWrong(t *testing.T) {
	for want, x := range map[string]*Exclusion{
		"matches nothing": {Module: "nic_a", Signal: "y", Why: "gone"},
		"1 of its 3 sites were hit, first nic_a.sv:3: x[0]":    {Module: "nic_a", Signal: "x", Why: "not so"},
		`exclusion nic_a "broken" : 1 of its 2 sites were hit`: {Module: "nic_a", Line: "broken", Why: "not so"},
		"nic_b.sv is in 0 folders of ":                         {Module: "nic_b", Line: "x", Why: "no source"},
		`exclusion nic_a "if (other)" else: matches nothing`: {Module: "nic_a", Line: "if (other)", What: "else",
			Why: "gone"},
		"exclusion nic_a x[9:7]: matches nothing": {Module: "nic_a", Signal: "x[9:7]", Why: "too wide"},
		"exclusion nic_b job[].len[7]: 1 of its 1 sites were hit": {
			Module: "nic_b", Signal: "job[].len[7]", Why: "not so",
		},
	} {
		sites, dir := loaded(t)
		if x.Module == "nic_b" && x.Line != "" {
			sites = append(sites, &Site{Module: "nic_b", Line: 1, What: "if"})
		}
		require.ErrorContains(t, Exclude(sites, []*Exclusion{x}, dir), want)
	}
}

func TestListsOfExclusions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.yaml")
	for text, want := range map[string]string{
		"- {module: a, signal: b, why: c}\n":          "",
		"- {module: a, signal: b}\n":                  "entry 1: want module and why",
		"- {module: a, why: b}\n":                     "entry 1 (a): want signal or line",
		"- {module: a, signal: b, line: c, why: d}\n": "entry 1 (a): want signal or line",
		"- {module: a, signal: b, because: c}\n":      "because",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		_, err := ReadExclusions(file)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	require.NoError(t, os.WriteFile(file, []byte("- {module: [a, b], signal: [c, d], why: e}\n- {module: f, line: g, "+
		"what: if, why: h}\n"), 0o644))
	list, err := ReadExclusions(file)
	require.NoError(t, err)
	require.Equal(t, []*Exclusion{{Module: "a", Signal: "c", Why: "e"}, {Module: "a", Signal: "d", Why: "e"},
		{Module: "b", Signal: "c", Why: "e"},
		{Module: "b", Signal: "d", Why: "e"}, {Module: "f", Line: "g", What: "if", Why: "h"}}, list)
	_, err = ReadExclusions(file + ".none")
	require.ErrorContains(t, err, "exclusions: ")
}

// Load takes the folder's name literally, even if it contains characters of glob patterns.
func TestFolderNamedLikeAPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[1]*")
	require.NoError(t, os.Mkdir(dir, 0o755))
	covered(t, dir, "one", onePort, 2, 1, 0, 1, 0, 0, 5, 0)
	sites, err := Load(dir)
	require.NoError(t, err)
	require.NotEmpty(t, sites)
}

func TestFoldersWithoutCoverage(t *testing.T) {
	_, err := Load(t.TempDir())
	require.ErrorContains(t, err, "no coverage in ")
	dir := t.TempDir()
	covered(t, dir, "one", onePort, 1)
	_, err = Load(dir)
	require.ErrorContains(t, err, "point 1 has counter 2 of 1")
}

func TestLanes(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "a[3]": "a[]", "a[1][3]": "a[][]", "a[1].b[2]": "a[].b[]", "g[1].a": "g[].a",
	} {
		require.Equal(t, want, lanes(name))
	}
}
