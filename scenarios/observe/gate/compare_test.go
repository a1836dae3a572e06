package gate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/observe/result"
)

func of(r Run) *Baseline { return &Baseline{Schema: schema, Runs: []*Run{&r}} }

func texts(old, now Run, slower float64) (list []string) {
	worse, _ := Compare(of(old), of(now), slower)
	return result.Texts(worse)
}

func TestSlowerComparisons(t *testing.T) {
	old := Run{Name: "fuzz rtl", Checked: 1000, WallS: 10}
	require.Empty(t, texts(old, Run{Name: "fuzz rtl", Checked: 1000, WallS: 11.9}, 0.2))
	require.Empty(t, texts(old, Run{Name: "fuzz rtl", Checked: 2000, WallS: 20}, 0.2), "more work takes longer")
	slow := Run{Name: "fuzz rtl", Checked: 1000, WallS: 12.1}
	require.Equal(t, []string{"fuzz rtl: a comparison took 1.21e+04 µs, 1e+04 before"}, texts(old, slow, 0.2))
	require.Empty(t, texts(old, slow, -1))
	old.WallS = 0.9
	require.Empty(t, texts(old, slow, 0.2), "too short to time")
}

func TestLostScores(t *testing.T) {
	read := func(text string) Run {
		o := &result.Object{}
		require.NoError(t, json.Unmarshal([]byte(text), o))
		names, err := scores(o)
		require.NoError(t, err)
		return Run{Name: "bench", Scores: names}
	}
	old := read(`{"results": [{"name": "a", "ok": true, "goal": 1}, {"name": "limit", "ok": true, "at_most": true},
		{"name": "claim", "ok": true, "verdict": "pass"}, {"name": "anchor", "ok": true, "verdict": "anchor"},
		{"name": "free", "ok": true}, {"name": "slow", "ok": false, "goal": 1}]}`)
	require.Equal(t, []string{"a", "limit", "claim"}, old.Scores)
	now := read(`{"results": [{"name": "a", "ok": false, "goal": 1}, {"name": "limit", "ok": true, "at_most": true},
		{"name": "claim", "ok": false, "verdict": "miss"}, {"name": "slow", "ok": true, "goal": 1}]}`)
	require.Equal(t, []string{"bench: score lost: a", "bench: score lost: claim"}, texts(old, now, -1))
	require.Empty(t, texts(now, Run{Name: "bench", Scores: append(now.Scores, "other")}, -1))
	_, err := scores(&result.Object{Results: []any{1}})
	require.Error(t, err)
}

func TestLostPoints(t *testing.T) {
	old := Run{Name: rtl, RTL: &Hit{10, 20}}
	require.Empty(t, texts(old, Run{Name: rtl, RTL: &Hit{10, 21}}, -1))
	require.Equal(t, []string{"coverage of the RTL: 19 bits were hit, 20 before"},
		texts(old, Run{Name: rtl, RTL: &Hit{11, 19}}, -1))
	old = Run{Name: "fuzz rtl", Bins: map[string][]string{"b": {"1", "2"}, "a": {"1"}}}
	require.Equal(t, []string{"fuzz rtl: coverage lost: a: 1", "fuzz rtl: coverage lost: b: 2"},
		texts(old, Run{Name: "fuzz rtl", Bins: map[string][]string{"b": {"1", "3"}}}, -1))
}

func TestKindsHaveNoNumbers(t *testing.T) {
	a := result.Finding{Domain: result.Run, Text: "cycle 17: stuck\nmore"}
	b := result.Finding{Domain: result.Run, Text: "cycle 25: stuck\nless"}
	require.Equal(t, kind(&a), kind(&b))
	b.Rule = "R8"
	require.Equal(t, "run, R8", kind(&b))
}

func TestUnreadableBaselines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "base.json")
	for name, text := range map[string]string{
		"empty": "", "no object": "[]", "another schema": `{"schema":2,"revision":"","runs":[{"name":"a"}]}`,
		"no runs": `{"schema":1,"revision":"","runs":[]}`, "a hole": `{"schema":1,"revision":"","runs":[null]}`,
		"unknown": `{"schema":1,"revision":"","runs":[{"name":"a","x":1}]}`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		_, err := Read(file)
		require.ErrorContains(t, err, "want a file that nictwin gate --write made", name)
	}
	for _, wrong := range []string{"", "20", "-1%", "x%", "NaN%"} {
		_, err := ParseSlower(wrong)
		require.ErrorContains(t, err, "want a percentage such as 20%, or any", wrong)
	}
}

// TestTargets checks that results replace neither an input nor a file of another kind.
func TestTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("base.json", `{"schema": 1, "runs": [{}]}`)
	write("notes.md", "notes")
	write("gate.xml", "<?xml version=\"1.0\"?>\n<testsuites name=\"x\">")
	write("run/summary.json", "{}")
	dirs := []string{"run"}
	for _, path := range []string{"base.json", "new.json", "run/new.json"} {
		require.NoError(t, CheckWrite(path, dirs), path)
	}
	for _, path := range []string{"gate.xml", "new.xml"} {
		require.NoError(t, CheckJUnit(path, "base.json", dirs), path)
	}
	require.EqualError(t, CheckWrite("notes.md", dirs),
		"notes.md: is no baseline: want a new file, or one that gate wrote")
	require.ErrorContains(t, CheckWrite("run/summary.json", dirs),
		"is one of the artifacts in run: want a file elsewhere")
	require.ErrorContains(t, CheckJUnit("run/../base.json", "base.json", dirs), "is the baseline: want another file")
	require.ErrorContains(t, CheckJUnit("run/summary.json", "", dirs), "is one of the artifacts in run")
	require.ErrorContains(t, CheckJUnit("notes.md", "", dirs), "is no JUnit XML: want a new file")
}

// TestBaselinesThatNobodyWrote checks that a baseline that was edited is refused.
func TestBaselinesThatNobodyWrote(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema": 1, "revision": "", "runs": [{"name": "a"}]} {}`:             "is no baseline of schema 1",
		`{"schema": 1, "revision": "", "runs": [{"name": "a"}, {"name": "a"}]}`: `has the run "a" twice`,
		`{"schema": 1, "revision": "", "runs": [{"name": "a", "wall_s": -1}]}`:  "has a run of -1 s",
		`{"schema": 1, "revision": "", "runs": [{"name": "a\nPASS  held"}]}`:    "has a name with control characters",
		`{"schema": 1, "revision": "", "runs": [{"checked": 1}]}`:               "has a run without a name",
	} {
		path := filepath.Join(t.TempDir(), "base.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := Read(path)
		require.ErrorContains(t, err, want, text)
	}
}
