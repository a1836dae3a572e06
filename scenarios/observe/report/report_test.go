package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/result/resulttest"
	"nictwin/scenarios/shell/files"
)

// artifacts writes a folder of artifacts and returns its path.
func artifacts(t testing.TB, o *result.Object, events string) string {
	t.Helper()
	dir := t.TempDir()
	o.Schema = result.Schema
	text, err := json.Marshal(o)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, result.Summary), text, 0o644))
	if events != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, judge.EventsFile), []byte(events), 0o644))
	}
	return dir
}

// load reads a folder of artifacts.
func load(t testing.TB, dir string) *Run {
	t.Helper()
	r, err := Load(dir)
	require.NoError(t, err)
	return r
}

// write writes a report into a new folder and returns its path.
func write(t testing.TB, r *Report) string {
	t.Helper()
	dir := t.TempDir()
	f, err := files.OpenFolder(dir)
	require.NoError(t, err)
	require.NoError(t, r.Write(f))
	require.NoError(t, f.Close())
	return dir
}

// line returns line i of events.jsonl: a TLP, in every fourth line a frame.
func line(i int) string {
	if i%4 == 0 {
		return fmt.Sprintf(`{"kind":"frame_in","port":0,"n":%d,"first":%d,"last":%d,"bytes":64,"crc32":"0badcafe"}`,
			i/4, 10*i-5, 10*i) + "\n"
	}
	return fmt.Sprintf(`{"kind":"tlp_out","port":0,"n":%d,"first":%d,"last":%d,"bytes":64,"crc32":"0badcafe",`+
		`"text":"MWr32 addr=0x%08x len=16DW"}`, i, 10*i, 10*i, i*64) + "\n"
}

// manyEvents returns a file of n events, one every ten cycles.
func manyEvents(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

// mismatch returns the result of a failed replay with a finding at each of the given cycles.
func mismatch(cycles ...int64) *result.Object {
	o := &result.Object{Command: "replay", Result: "mismatch", Seed: 7, Build: "abc", Revision: "r1", NIC: "rtl",
		Dir: "rx", Checked: 1000, Mismatches: uint64(len(cycles)), Cycles: 90000, WallS: 2,
		Captures: []string{"a.pcap"}, Reproduce: "nictwin replay a.pcap"}
	for i, c := range cycles {
		o.Findings = append(o.Findings, result.Finding{Rule: "H6", Domain: result.Rx, Field: "psn",
			Expected: fmt.Sprint(16777208 + i), Got: "16775423", Cycle: new(c), Queue: new(1), Index: new(i),
			Frame: &result.Frame{Dir: "rx", Number: i, Capture: "a.pcap", Packet: i + 1, Pass: 1},
			Files: []string{"models/nic/core/parse.go", "verilator/rtl/receive/nic_parse.sv"},
			Text: fmt.Sprintf("cycle %d, rxq 1 [H6] psn: differs\n  got X{a=1 b=Ok (0)}\n  expected X{a=2 b=Ok (0)}",
				c),
			Command: "nictwin replay a.pcap"})
	}
	return o
}

// The verdict of a page is that of the worst run.
func TestVerdict(t *testing.T) {
	pass := &result.Object{Command: "replay", Result: "pass", NIC: "model", Checked: 1234567}
	page, err := New([]*Run{load(t, artifacts(t, pass, ""))}).Page(t.TempDir())
	require.NoError(t, err)
	require.Contains(t, string(page), "<title>PASS: nictwin, replay on model</title>")
	require.Contains(t, string(page), "1,234,567 outputs and counters were compared, and nothing differs.")

	broken := &result.Object{Command: "replay", Result: "infrastructure", Error: "the device died",
		Failure: result.Crash, Waves: []result.Wave{{Note: "it fails so"}},
		FromBundle: &result.FromBundle{File: "b.zip", Finding: "a crash", Reproduced: true}}
	for _, c := range []struct {
		runs []*result.Object
		want string
	}{
		{[]*result.Object{pass, broken}, "<title>INFRASTRUCTURE: nictwin, 2 runs"},
		{[]*result.Object{broken, mismatch(1), pass}, "<title>FAIL: nictwin, 3 runs"},
	} {
		var runs []*Run
		for _, o := range c.runs {
			runs = append(runs, load(t, artifacts(t, o, "")))
		}
		page, err := New(runs).Page(t.TempDir())
		require.NoError(t, err)
		require.Contains(t, string(page), c.want)
		for _, text := range []string{"the device died (crash: ", "Waveform: it fails so",
			"Bundle b.zip: reproduced a crash"} {
			require.Contains(t, string(page), text)
		}
	}
}

// The first screen shows all that leads to the fault: rule, values, queue, cycle, packet, RTL file with line, command.
func TestFirstFinding(t *testing.T) {
	o := mismatch(500)
	o.Shrunk, o.Reproduce = &result.Shrunk{Trials: 5}, "nictwin replay shrunk.pcapng"
	home := t.TempDir()
	o.Home = &result.Home{Dir: home}
	rtl := filepath.Join(home, "verilator/rtl/receive/nic_parse.sv")
	require.NoError(t, os.MkdirAll(filepath.Dir(rtl), 0o755))
	require.NoError(t, os.WriteFile(rtl, []byte("// psn\nmodule x;\n  assign r.psn = 1; // the psn\n  psnx\n"), 0o644))
	text, err := New([]*Run{load(t, artifacts(t, o, manyEvents(100)))}).Page(t.TempDir())
	require.NoError(t, err)
	_, first, _ := strings.Cut(string(text), "Look here first")
	first, _, _ = strings.Cut(first, "</section>")
	for _, want := range []string{"[H6]", "psn", "0xfffff8", "0xfff8ff", "6 of 24 bits differ: 0–2, 8–10",
		"<mark>111</mark>", "rxq 1", "cycle 500", "packet 1 of a.pcap",
		"nic_parse.sv</code> <span class=\"note\">line 3<",
		"nictwin replay shrunk.pcapng", "in 5 trials", "The BTH (12 bytes)"} {
		require.Contains(t, first, want)
	}
	require.NotContains(t, string(text), "assign r.psn", "the page quotes no RTL")
}

// Every string of a summary or of events is data, wherever it is shown.
func TestHostileStrings(t *testing.T) {
	evil := `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'` +
		"`${alert(3)}\u202e\x00javascript:alert(4)"
	o := mismatch(500)
	f := &o.Findings[0]
	f.Field, f.Expected, f.Got, f.Text, f.Command, f.Scenario, f.NIC = evil, evil, evil+"x", evil, evil, evil, evil
	f.Stream, f.Files, f.Folder = evil, []string{evil, evil}, evil
	f.Frame.Capture, f.Frame.Time = evil, evil
	f.Block = &result.BlockInput{Name: evil, Op: evil, Request: evil}
	f.Program = &result.Program{File: evil}
	o.Error, o.Reproduce, o.Captures, o.Warnings, o.NIC = evil, evil, []string{evil}, []string{evil}, evil
	o.Revision, o.Build, o.Home = evil, evil, &result.Home{Dir: evil, Revision: evil}
	o.Scenarios = []result.ScenarioPlayed{{Name: evil, NIC: evil, Result: evil, Digest: evil}}
	o.Blocks = []result.BlockPlayed{{Name: evil, RTL: evil}}
	o.Waves = []result.Wave{{FST: evil, SaveFile: evil}}
	o.Latency = []judge.Latency{{Path: "rx", Count: 1, Bins: []judge.LatencyBin{{Count: 1}}}}
	for range inline + 5 {
		o.Findings = append(o.Findings, *f)
	}
	dir := artifacts(t, o, manyEvents(100))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bundle.zip"), nil, 0o644))
	r := New([]*Run{load(t, dir)})
	require.NoError(t, r.Compare(dir))
	text, err := r.Page(t.TempDir())
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "<script"), "only the page's own")
	require.NotContains(t, string(text), "<img")
	require.NotContains(t, string(text), `href="javascript:`)
	d := unpacked(t, text)
	require.Len(t, d.Bodies, 6)
	for _, b := range d.Bodies {
		require.NotContains(t, b, "<script")
		require.NotContains(t, b, "<img")
		require.Contains(t, b, "&lt;img src=x onerror=alert(2)&gt;")
	}
}

// A finding has the crossings around the one at which it was made, and that of its frame, even if it came long before.
func TestLadder(t *testing.T) {
	o := mismatch(1000, 1, 999999)
	o.Findings[0].Frame.Number = 3 // crossing 12; the finding is at crossing 100
	text, err := New([]*Run{load(t, artifacts(t, o, manyEvents(200)+`{"kind":"fra`))}).Page(t.TempDir())
	require.NoError(t, err)
	d := unpacked(t, text)
	require.Len(t, d.Ladders, 3)
	last := func(l *Ladder, row int) float64 { return d.Crossings[l.Rows[row]][5].(float64) }

	l := d.Ladders[0]
	require.Len(t, l.Rows, 1+2*window+1)
	require.EqualValues(t, 1000, last(l, l.At))
	require.EqualValues(t, 120, last(l, l.Frame))
	require.EqualValues(t, 80-12-1, l.Gap)
	require.EqualValues(t, 1200, last(l, len(l.Rows)-1))

	l = d.Ladders[1] // its window is cut off at the first crossing
	require.Equal(t, 1, l.At)
	require.EqualValues(t, 10, last(l, l.At))
	require.Len(t, l.Rows, 2+window)

	l = d.Ladders[2] // its cycle is after the last crossing
	require.EqualValues(t, 1990, last(l, l.At))
	require.Len(t, d.Crossings, (2+window)+(2*window+1)+window, "each crossing once")

	_, err = New([]*Run{load(t, artifacts(t, mismatch(5), "{}\n"))}).Page(t.TempDir())
	require.ErrorContains(t, err, `events.jsonl:1: no "last": want a line of events`)
}

// Shards of one run are merged into one report; runs of different builds are refused.
func TestMerge(t *testing.T) {
	a, b, c := mismatch(10), mismatch(20, 30), mismatch(40)
	b.Captures, b.Result, b.Checked = []string{"b.pcap", "a.pcap"}, "interrupted", 5
	c.Build = "def"
	a.Rx = &result.Received{In: 3, Delivered: 2, Drops: map[string]uint64{"RX_DROP_RUNT": 1}}
	b.Rx = &result.Received{In: 4, Delivered: 2, Drops: map[string]uint64{"RX_DROP_RUNT": 1, "RX_DROP_RULE": 1}}
	runs := []*Run{load(t, artifacts(t, a, "")), load(t, artifacts(t, b, "")), load(t, artifacts(t, c, ""))}
	_, err := Merge(runs)
	require.EqualError(t, err, fmt.Sprintf("--merge: %s has build abc, but %s has def: want shards of one run",
		runs[0].Folders[0], runs[2].Folders[0]))
	m, err := Merge(runs[:2])
	require.NoError(t, err)
	require.Equal(t, "mismatch", m.Object.Result)
	require.EqualValues(t, 1005, m.Object.Checked)
	require.Equal(t, []string{"a.pcap", "b.pcap"}, m.Object.Captures)
	require.Equal(t, map[string]uint64{"RX_DROP_RUNT": 2, "RX_DROP_RULE": 1}, m.Object.Rx.Drops)
	require.Len(t, m.Object.Findings, 3)
	require.Equal(t, runs[1].Folders[0], filepath.Dir(m.path(2, "x")))
	require.Len(t, runs[0].Object.Findings, 1, "the shards stay as they are")
}

// A report against an earlier one says what is new, what is gone and what changed, and continues its history.
func TestAgainst(t *testing.T) {
	before := mismatch(10, 20)
	before.Findings[1].Field, before.Findings[1].Rule = "gone", "S2"
	old := write(t, New([]*Run{load(t, artifacts(t, before, ""))}))
	now := mismatch(30, 40)
	now.Findings[1].Field, now.Checked, now.Revision = "fresh", 900, "r2"
	for i, against := range []string{old, artifacts(t, before, "")} { // a report, or artifacts
		r := New([]*Run{load(t, artifacts(t, now, ""))})
		require.NoError(t, r.Compare(against))
		require.Len(t, r.Against.New, 1)
		require.Equal(t, "fresh", r.Against.New[0].Field)
		require.Len(t, r.Against.Gone, 1)
		require.Equal(t, "gone", r.Against.Gone[0].Field)
		require.Len(t, r.History, 2)
		require.Equal(t, "r1", r.History[0].Revision)
		require.Equal(t, "−10.0%, worse", r.Figures[0].Quality())
		dir := write(t, r)
		text, err := os.ReadFile(filepath.Join(dir, result.PageFile))
		require.NoError(t, err)
		require.Contains(t, string(text), `fresh</span> <span class="tag new">new</span>`)
		require.Contains(t, string(text), "1 new kind of finding, 1 gone.")
		third := New([]*Run{load(t, artifacts(t, now, ""))})
		require.NoError(t, third.Compare(dir))
		require.Len(t, third.History, 3, "%d", i)
	}
	r := New([]*Run{load(t, artifacts(t, now, ""))})
	bad := t.TempDir()
	require.ErrorContains(t, r.Compare(bad), "neither report.json nor artifacts")
	require.NoError(t, os.WriteFile(filepath.Join(bad, result.ReportFile), []byte(`{"schema":9}`), 0o644))
	require.ErrorContains(t, r.Compare(bad), "report.json: schema 9: want 1")
	require.NoError(t, os.WriteFile(filepath.Join(bad, result.ReportFile), []byte(`{"schema":1}`), 0o644))
	require.ErrorContains(t, r.Compare(bad), "report.json: history: is empty")
}

// Files that are no summary are refused, and the error names them.
func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(dir)
	require.ErrorContains(t, err, "no summary.json: want a folder that a run left with --out")
	for text, want := range map[string]string{
		`{"a":1}`:                                 "summary.json is not ours",
		`{"schema":1,"result":"pass"}`:            "summary.json: schema 1: want 2",
		`{"schema":2,"result":"pass","seed":"x"}`: "summary.json: seed: string: want a whole number of 0 or more",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, result.Summary), []byte(text), 0o644))
		_, err := Load(dir)
		require.ErrorContains(t, err, want, text)
	}
}

// The same artifacts give the same page, and report.json is as its schema says.
func TestReportJSON(t *testing.T) {
	dir := artifacts(t, mismatch(10, 20, 30), manyEvents(50))
	r := New([]*Run{load(t, dir)})
	require.NoError(t, r.Compare(dir))
	a, err := r.Page(dir)
	require.NoError(t, err)
	again := New([]*Run{load(t, dir)})
	require.NoError(t, again.Compare(dir))
	b, err := again.Page(dir)
	require.NoError(t, err)
	require.Equal(t, string(a), string(b))

	schema, err := resulttest.Load(resulttest.Report)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(write(t, r), result.ReportFile))
	require.NoError(t, err)
	require.NoError(t, schema.Check(text))
	text, err = os.ReadFile(filepath.Join(write(t, New([]*Run{load(t, artifacts(t, &result.Object{Command: "fuzz",
		Result: "pass"}, ""))})), result.ReportFile))
	require.NoError(t, err)
	require.NoError(t, schema.Check(text))
}
