package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"nictwin/scenarios/observe/heartbeat"
)

// bar is a progress bar on a terminal. A nil bar shows nothing.
type bar struct {
	of    string // the things counted, such as frames
	to    *os.File
	bar   *progressbar.ProgressBar
	since time.Time
}

// barWidth is the least width of a terminal, in columns: a bar that wraps could not be redrawn in place.
const barWidth = 70

// newBar returns nil unless f is a terminal that understands a bar and has room for it.
func newBar(f *os.File, of string) *bar {
	if !hasCursor(f) {
		return nil
	}
	// A terminal that does not know its width reports 0.
	if columns, _, err := term.GetSize(int(f.Fd())); err != nil || columns > 0 && columns < barWidth {
		return nil
	}
	return &bar{of: of, to: f}
}

const redraw = 100 * time.Millisecond

// set shows that `done` of `total` items have ended.
func (b *bar) set(done, total int) {
	if b == nil {
		return
	}
	if b.bar == nil {
		b.begin(total, progressbar.OptionShowCount())
	}
	// Drawing fails when the terminal is gone; the run continues.
	_ = b.bar.Set(done)
}

// counting returns a function that shows on the bar, and in the heartbeats, how many of all items have ended.
func (b *bar) counting(h *heartbeat.Beat) func(done, total int) {
	return func(done, total int) {
		b.set(done, total)
		h.Count(done, total)
	}
}

// sharing returns a function that shows how many items have ended, and the share of the work done.
func (b *bar) sharing(h *heartbeat.Beat) func(ended, of int, share float64) {
	return func(ended, of int, share float64) {
		b.share(ended, of, share)
		h.Count(ended, of)
		h.Share(share)
	}
}

// parts is the number of steps of a bar that shows which share of the work is done.
const parts = 10_000

// share shows how many items have ended, and estimates the time left from the share of the work done.
func (b *bar) share(ended, of int, share float64) {
	if b == nil {
		return
	}
	if b.bar == nil {
		b.since = time.Now()
		b.begin(parts, progressbar.OptionSetPredictTime(false))
	}
	b.bar.Describe(fmt.Sprintf("%s %d of %d%s", b.of, ended, of, timeLeft(time.Since(b.since), share)))
	_ = b.bar.Set(int(share * parts)) // fails if the terminal is gone; the run continues
}

// timeLeft estimates the time left of a run at its speed so far. It returns "" early in the run.
func timeLeft(took time.Duration, share float64) string {
	if took < time.Second || share < 0.01 {
		return ""
	}
	return fmt.Sprintf(", %v left", time.Duration(float64(took)/share*(1-share)).Round(time.Second))
}

func (b *bar) begin(total int, more progressbar.Option) {
	b.bar = progressbar.NewOptions(total,
		progressbar.OptionSetWriter(b.to), progressbar.OptionSetDescription(b.of), more,
		progressbar.OptionThrottle(redraw), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		progressbar.OptionEnableColorCodes(colour(b.to)))
}

func (b *bar) end() {
	if b != nil && b.bar != nil {
		_ = b.bar.Clear() // fails if the terminal is gone; the run continues
	}
}

// hasCursor reports whether f is a terminal that can move its cursor.
func hasCursor(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// colour reports whether f is a terminal whose user has not asked for plain text (no-color.org).
func colour(f *os.File) bool { return hasCursor(f) && os.Getenv("NO_COLOR") == "" }

const (
	red   = "\x1b[1;31m"
	green = "\x1b[1;32m"
	reset = "\x1b[0m"
)

// paint writes a word, coloured if w shows colours.
func paint(w io.Writer, code, word string) {
	to := w
	if o, ok := to.(*output); ok {
		to = o.w
	}
	if e, ok := to.(*escaper); ok {
		to = e.w
	}
	if f, ok := to.(*os.File); ok && colour(f) {
		w, word = f, code+word+reset // bypasses the escaper, which would escape the colour codes
	}
	say(w, "%s", word)
}
