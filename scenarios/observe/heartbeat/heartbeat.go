package heartbeat

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"time"
)

// Status is a snapshot of a run.
type Status struct {
	Doing string // what the run does, such as the capture that it plays
	Cycle int64  // cycle of the device; 0: unknown
	Mark  uint64 // a number that changes with any progress
	Busy  string // posted work that is not finished, by queue where known; empty: none, or unknown
}

// Beat holds the progress of a run, and prints it line by line.
type Beat struct {
	command string
	unit    string // name of the counted units, such as frames; empty: the command reports no progress
	every   time.Duration
	w       io.Writer

	done, total atomic.Int64
	share       atomic.Uint64 // float64 bits of the share of the work that is done; 0: the share is `done` / `total`
	status      atomic.Pointer[Status]
	wanted      atomic.Bool

	printed line          // figures of the line printed last
	seen    line          // figures at the latest change
	moved   time.Duration // time of the latest change
	stop    chan struct{}
	stopped chan struct{}
}

// line holds the figures of a line that later lines are compared with.
type line struct {
	at   time.Duration
	done int64
	mark uint64
}

// Ticks is the number of times per interval that a Beat checks whether anything has moved.
const Ticks = 10

// New returns a Beat that prints to w, at an interval that must be positive; the command counts units, such as frames.
// Without a unit, lines only say how long the command has run.
func New(w io.Writer, command, unit string, every time.Duration) *Beat {
	return &Beat{command: command, unit: unit, every: every, w: w}
}

// Start begins to print. It is called once, and Stop after it.
func (b *Beat) Start() {
	if b == nil {
		return
	}
	b.stop, b.stopped = make(chan struct{}), make(chan struct{})
	begin := time.Now()
	ticker := time.NewTicker(max(b.every/Ticks, time.Millisecond))
	go func() {
		defer close(b.stopped)
		defer ticker.Stop()
		for {
			select {
			case <-b.stop:
				return
			case <-ticker.C:
				b.tick(time.Since(begin))
			}
		}
	}()
}

// Stop ends the printing: no line comes after it has returned.
func (b *Beat) Stop() {
	if b == nil || b.stop == nil {
		return
	}
	close(b.stop)
	<-b.stopped
	b.stop = nil
}

// Count sets how many units are done; total is 0 if unknown.
func (b *Beat) Count(done, total int) {
	if b != nil {
		b.done.Store(int64(done))
		b.total.Store(int64(total))
	}
}

// Share sets the share of the work that is done, from 0 to 1, if the units that Count counts differ in size.
func (b *Beat) Share(share float64) {
	if b != nil {
		b.share.Store(math.Float64bits(share))
	}
}

// Wants reports whether a new Status is wanted; it is true about once per tick.
func (b *Beat) Wants() bool { return b != nil && b.wanted.Load() && b.wanted.Swap(false) }

// Report sets the status.
func (b *Beat) Report(s Status) {
	if b != nil {
		b.status.Store(&s)
	}
}

// tick checks whether anything has moved, and prints a line if one is due.
func (b *Beat) tick(at time.Duration) {
	now := line{at: at, done: b.done.Load()}
	s := b.status.Load()
	if s != nil {
		now.mark = s.Mark
	}
	if now.done != b.seen.done || now.mark != b.seen.mark {
		b.seen, b.moved = now, at
	}
	b.wanted.Store(true)
	if at-b.printed.at < b.every {
		return
	}
	_, _ = io.WriteString(b.w, b.text(now, s)) // an error would have to be reported on the same stderr
	b.printed = now
}

// text returns the line.
func (b *Beat) text(now line, s *Status) string {
	parts := []string{fmt.Sprintf("nictwin %s: after %v", b.command, rounded(now.at))}
	if s != nil && s.Doing != "" {
		parts = append(parts, s.Doing)
	}
	if s != nil && s.Cycle > 0 {
		parts = append(parts, fmt.Sprintf("cycle %d", s.Cycle))
	}
	if b.unit == "" {
		return strings.Join(parts, "; ") + "\n"
	}
	parts = append(parts, b.counted(now))
	if s != nil && s.Busy != "" {
		parts = append(parts, "unfinished: "+s.Busy)
	}
	if idle := now.at - b.moved; idle >= b.every {
		parts = append(parts, fmt.Sprintf("nothing has moved for %v", rounded(idle)))
	} else if left := b.left(now); left != "" {
		parts = append(parts, left)
	}
	return strings.Join(parts, "; ") + "\n"
}

// counted returns how many units are done, and their rate since the latest line.
func (b *Beat) counted(now line) string {
	text := fmt.Sprintf("%d %s", now.done, b.unit)
	if total := b.total.Load(); total > 0 {
		text = fmt.Sprintf("%d of %d %s", now.done, total, b.unit)
	}
	rate := float64(now.done-b.printed.done) / (now.at - b.printed.at).Seconds()
	return fmt.Sprintf("%s, %.4g/s", text, rate)
}

// left estimates the time left from the share that is done; "" if that is unknown.
func (b *Beat) left(now line) string {
	share := math.Float64frombits(b.share.Load())
	if total := b.total.Load(); share == 0 && total > 0 {
		share = float64(now.done) / float64(total)
	}
	if share <= 0 || share > 1 {
		return ""
	}
	return fmt.Sprintf("about %v left", rounded(time.Duration(float64(now.at)/share*(1-share))))
}

// rounded rounds a time to what a reader needs of it.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
