package report

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/coverage"
	"nictwin/scenarios/observe/result"
)

// browser is a tab of a headless Chromium.
type browser struct {
	t   testing.TB
	ctx context.Context
}

// open opens a page in a tab of this width, with colour scheme light or dark.
func open(t testing.TB, page string, width int64, scheme string) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	require.NoError(t, err, "chromium is missing: apt-get install chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t, ctx}
	b.do(chromedp.EmulateViewport(width, 900))
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(t, err)
	b.do(chromedp.Navigate("file://" + page))
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

// eval evaluates an expression.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b.t, err, expression)
	return v
}

// becomes waits until an expression is true.
func (b *browser) becomes(expression string) {
	b.t.Helper()
	for tries := 0; !eval[bool](b, expression); tries++ {
		require.Less(b.t, tries, 3000, "%s: not within a minute", expression)
		b.do(chromedp.Sleep(20 * time.Millisecond))
	}
}

// click clicks the first element that matches.
func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(chromedp.ScrollIntoView(selector))
	b.do(chromedp.Click(selector))
}

// press gives an element the focus and presses Enter.
func (b *browser) press(selector string) {
	b.t.Helper()
	b.do(chromedp.Focus(selector), chromedp.KeyEvent(kb.Enter))
}

// bigRun writes the artifacts of a run with that many findings, each with crossings of its own, and that many cases.
func bigRun(t testing.TB, findings, cases int) (dir string) {
	cycles := make([]int64, findings)
	for i := range cycles {
		cycles[i] = int64(400*i + 200)
	}
	o := mismatch(cycles...)
	for i := range o.Findings {
		f := &o.Findings[i]
		crossing := fmt.Sprintf("\n    cycle %d..%d TLP in: CplD SC len=16DW bc=64 la=0x40 req=02:00.0 tag=0x%02x "+
			"cpl=00:00.0, 64 B 02a214000000000007a1a900%08x", i, i, i%256, i*2654435761%(1<<32))
		f.Text += "\n  latest crossings of rxq 1:" + strings.Repeat(crossing, 16)
		if i%3 == 1 {
			f.Rule, f.Field = "T5", "byte"
			f.Expected, f.Got = strings.Repeat("00", 64), strings.Repeat("00", 60)+"ff00ff00"
		}
	}
	for i := range cases {
		o.Scenarios = append(o.Scenarios, result.ScenarioPlayed{Name: fmt.Sprintf("sweep:size=%d", i), NIC: "rtl",
			Result: "pass", Digest: fmt.Sprintf("%064x", i), Messages: i, Bytes: uint64(i) << 12})
	}
	for _, path := range []string{"rx", "tx"} {
		o.Latency = append(o.Latency, judge.Latency{Path: path, Count: 4, Min: 1, Max: 900,
			Bins: []judge.LatencyBin{
				{From: 1, To: 1, Count: 1}, {From: 30, To: 31, Count: 2}, {From: 896, To: 959, Count: 1}}})
	}
	lines := coverage.Share{Hit: 9, Total: 10}
	o.RTLCoverage = &coverage.Report{Lines: lines, Toggles: coverage.Share{Hit: 1, Total: 3},
		Modules: []*coverage.Module{{Name: "nic_parse", Lines: lines, Holes: []string{"nic_parse.sv:5: branch"}}}}
	return artifacts(t, o, manyEvents(40*findings))
}

// BenchmarkBigPage measures the time to DOMContentLoaded of a page of 1,000 findings and 300 cases. The goal is at most
// 1,000 ms on a quiet machine.
func BenchmarkBigPage(b *testing.B) {
	page := write(b, New([]*Run{load(b, bigRun(b, 1000, 300))}))
	tab := open(b, filepath.Join(page, result.PageFile), 1200, "light")
	took := 0.0
	for b.Loop() {
		tab.do(chromedp.Reload())
		took += eval[float64](tab, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`)
	}
	b.ReportMetric(took/float64(b.N), "ms/DOMContentLoaded")
}

// A page of 1,000 findings and 300 cases is small, and its last finding opens.
func TestBigPage(t *testing.T) {
	page := write(t, New([]*Run{load(t, bigRun(t, 1000, 300))}))
	info, err := filepath.Glob(filepath.Join(page, result.PageFile))
	require.NoError(t, err)
	require.Len(t, info, 1)
	size := sizeOf(t, info[0])
	b := open(t, info[0], 1200, "light")
	require.Less(t, size, int64(2_000_000))

	require.Equal(t, 1000, eval[int](b, `document.querySelectorAll("article.finding").length`))
	b.do(chromedp.Evaluate[chromedp.Void](`location.hash = "#f997"`))
	b.becomes(`document.querySelector("#f997 .diff") !== null && document.activeElement.closest("#f997") !== null`)
	b.click("#f997 .draw")
	b.becomes(`document.querySelectorAll("#f997 .ladder svg .tip").length === 42`)
	require.Equal(t, "399000", eval[string](b, `document.querySelector("#f997 .cyc.at").textContent`))
}

// Every button and link does what its label says.
func TestClicks(t *testing.T) {
	b := open(t, filepath.Join(write(t, New([]*Run{load(t, bigRun(t, 30, 3))})), result.PageFile), 1200, "light")
	expanded := func(id string) string {
		return eval[string](b, `document.querySelector("#`+id+` h3 button").getAttribute("aria-expanded")`)
	}
	require.Equal(t, "true", expanded("f0"))
	require.Equal(t, "false", expanded("f1"))
	for _, id := range []string{"f1", "f25"} { // HTML in the page, and one that its script unpacks
		b.click("#" + id + " h3 button")
		body := `document.querySelector("#` + id + ` .body")`
		b.becomes(body + `.checkVisibility() && ` + body + `.innerText.includes("Reproduce")`)
		require.Equal(t, "true", expanded(id))
	}
	note := eval[string](b, `document.querySelector("#f25 .note").textContent`)
	require.Contains(t, note, "bytes differ, the first at byte 60")
	b.click("#f1 h3 button")
	require.False(t, eval[bool](b, `document.querySelector("#f1 .body").checkVisibility()`))

	shown := func() string { return eval[string](b, `document.querySelector("#shown").textContent`) }
	b.click(`.pick[data-group="1"]`)
	require.Equal(t, "10 of 30", shown())
	require.Equal(t, 1, eval[int](b, `document.querySelectorAll('.pick[aria-pressed="true"][data-group="1"]').length`))
	require.False(t, eval[bool](b, `document.querySelector("#f0").checkVisibility()`))
	b.click("#all")
	require.Equal(t, "30 of 30", shown())
	b.do(chromedp.SendKeys("#filter", "cycle 2600"))
	b.becomes(`document.querySelector("#shown").textContent === "1 of 30"`)

	b.click("#f6 h3 button")
	b.click("#f6 .draw")
	require.Equal(t, 0, eval[int](b, `document.querySelectorAll("#f5 svg").length`), "ladders are drawn when opened")
	b.becomes(`document.querySelectorAll("#f6 .ladder svg .tip").length > 20`)
	require.Contains(t, eval[string](b, `document.querySelector("#f6 .ladder tbody").textContent`), "← the finding")
	b.click("#f6 .copy")
	b.becomes(`["Copied", "Selected"].includes(document.querySelector("#f6 .copy").textContent)`)

	background := func() string { return eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
	require.Equal(t, "rgb(255, 255, 255)", background())
	b.press("#theme")
	require.Equal(t, "rgb(13, 17, 23)", background())
	b.do(chromedp.Reload())
	require.Equal(t, "rgb(13, 17, 23)", background(), "the choice stays")
	b.press("#theme")
	require.Equal(t, "rgb(255, 255, 255)", background())
}

// Every finding and every control can be reached and opened by the keyboard.
func TestKeyboard(t *testing.T) {
	b := open(t, filepath.Join(write(t, New([]*Run{load(t, bigRun(t, 30, 3))})), result.PageFile), 1200, "dark")
	require.Equal(t, "rgb(13, 17, 23)", eval[string](b, `getComputedStyle(document.body).backgroundColor`))
	b.do(chromedp.KeyEvent(kb.Tab))
	require.Equal(t, "Skip to the content", eval[string](b, `document.activeElement.textContent`))
	require.GreaterOrEqual(t, eval[float64](b, `document.activeElement.getBoundingClientRect().left`), 0.0)
	b.do(chromedp.KeyEvent(kb.Enter))
	require.Equal(t, "main", eval[string](b, `document.activeElement.id`))
	b.do(chromedp.Focus("#f0 h3 button"), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.becomes(`document.activeElement.closest("#f1") !== null && document.querySelector("#f1 .body").checkVisibility()`)
	b.do(chromedp.KeyEvent(kb.End), chromedp.KeyEvent(" "))
	b.becomes(`document.activeElement.closest("#f29") !== null`)
	b.becomes(`document.querySelector("#f29 .body").innerText.includes("Reproduce")`)
	b.do(chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowUp))
	require.Equal(t, "f0", eval[string](b, `document.activeElement.closest("article").id`))

	reached := map[string]bool{} // elements reached by the Tab key, from the first finding on
	for range 40 {
		b.do(chromedp.KeyEvent(kb.Tab))
		reached[eval[string](b, `document.activeElement.className || document.activeElement.tagName`)] = true
	}
	for _, name := range []string{"js draw", "small js copy", "A", "SUMMARY"} {
		require.Contains(t, reached, name)
	}
}

// accessible is a script that returns what a screen reader could not use.
//
//go:embed testdata/accessible.js
var accessible string

// The page has landmarks, headings, names and contrast in both colour schemes, and fits a phone's screen.
func TestAccessible(t *testing.T) {
	dir := bigRun(t, 12, 3)
	r := New([]*Run{load(t, dir)})
	require.NoError(t, r.Compare(dir))
	page := filepath.Join(write(t, r), result.PageFile)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 375} {
			t.Run(fmt.Sprintf("%s %d", scheme, width), func(t *testing.T) {
				b := open(t, page, width, scheme)
				b.click("#f0 .draw")
				b.becomes(`document.querySelector("#f0 .ladder svg") !== null`)
				eval[bool](b, `document.querySelectorAll("details").forEach((d) => { d.open = true }), true`)
				require.Empty(t, eval[[]string](b, accessible))
			})
		}
	}
}

// Without scripts, the page shows the first findings and their commands.
func TestWithoutScripts(t *testing.T) {
	page := filepath.Join(write(t, New([]*Run{load(t, bigRun(t, 12, 3))})), result.PageFile)
	b := open(t, "/dev/null", 1200, "light")
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
	b.do(chromedp.Navigate("file://" + page))
	text, err := chromedp.Run(b.ctx, chromedp.Text("#f9"))
	require.NoError(t, err)
	require.Contains(t, text, "nictwin replay a.pcap")
	require.NotContains(t, text, "Copy")
}
