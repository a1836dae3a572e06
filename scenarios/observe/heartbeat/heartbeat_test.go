package heartbeat

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ticks calls tick for each second after `from`, up to and including `to`.
func ticks(b *Beat, from, to int) {
	for s := from + 1; s <= to; s++ {
		b.tick(time.Duration(s) * time.Second)
	}
}

// A line comes at each interval, with the status, the rate since the line before, and the time left.
func TestLines(t *testing.T) {
	var out bytes.Buffer
	b := New(&out, "replay", "frames", 30*time.Second)
	b.Count(0, 6000)
	ticks(b, 0, 10)
	require.True(t, b.Wants())
	require.False(t, b.Wants(), "once for each look")
	b.Count(1200, 6000)
	b.Report(Status{Doing: "traffic of a.pcap", Cycle: 812345, Mark: 7, Busy: "txq 3: 12, port 0: 4"})
	ticks(b, 10, 30)
	require.Equal(t, "nictwin replay: after 30s; traffic of a.pcap; cycle 812345; 1200 of 6000 frames, 40/s; "+
		"unfinished: txq 3: 12, port 0: 4; about 2m0s left\n", out.String())
	out.Reset()
	b.Count(1500, 6000)
	ticks(b, 30, 60)
	require.Contains(t, out.String(), "after 1m0s; traffic of a.pcap; cycle 812345; 1500 of 6000 frames, 10/s; ")
	require.Contains(t, out.String(), "; about 3m0s left\n")
}

// Without a unit of progress, such as "frames", a heartbeat line gives only the time since the start.
func TestNoProgressKnown(t *testing.T) {
	var out bytes.Buffer
	ticks(New(&out, "bench", "", 30*time.Second), 0, 60)
	require.Equal(t, "nictwin bench: after 30s\nnictwin bench: after 1m0s\n", out.String())
}

// Lines also come while a run stands still, and say for how long; a changed mark counts as progress.
func TestNothingMoves(t *testing.T) {
	var out bytes.Buffer
	b := New(&out, "replay", "frames", 30*time.Second)
	b.Count(10, 100)
	b.Report(Status{Mark: 1})
	ticks(b, 0, 120)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 4)
	require.NotContains(t, lines[0], "nothing has moved", "it moved within the interval")
	require.Contains(t, lines[1], "; nothing has moved for 59s")
	require.NotContains(t, lines[1], "left")
	require.Contains(t, lines[3], "; nothing has moved for 1m59s")
	out.Reset()
	b.Report(Status{Mark: 2})
	ticks(b, 120, 150)
	require.NotContains(t, out.String(), "nothing has moved")
}

// Without a known total, a line says neither the total nor the time left.
func TestUnknownEnd(t *testing.T) {
	var out bytes.Buffer
	b := New(&out, "fuzz", "programs", 30*time.Second)
	b.Count(60, 0)
	ticks(b, 0, 30)
	require.Equal(t, "nictwin fuzz: after 30s; 60 programs, 2/s\n", out.String())
}

// If the share of the work that is done is given, the time left follows from it and not from the number of units.
func TestShare(t *testing.T) {
	var out bytes.Buffer
	b := New(&out, "run", "cases", 30*time.Second)
	b.Count(1, 2)
	b.Share(0.75)
	ticks(b, 0, 30)
	require.Contains(t, out.String(), "1 of 2 cases, 0.03333/s; about 10s left")
}

// A nil Beat accepts every call.
func TestNone(t *testing.T) {
	var b *Beat
	b.Start()
	b.Count(1, 2)
	b.Share(1)
	b.Report(Status{})
	require.False(t, b.Wants())
	b.Stop()
}

// lines counts what is written, for a reader in another goroutine.
type lines struct {
	mu   sync.Mutex
	n    int
	more chan struct{}
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n++; l.n == 3 {
		close(l.more)
	}
	return len(b), nil
}

// The goroutine prints while the run does nothing, and prints nothing after Stop. It runs beside calls of Count and
// Report, so that go test -race finds races.
func TestGoroutine(t *testing.T) {
	l := &lines{more: make(chan struct{})}
	b := New(l, "replay", "frames", time.Millisecond)
	b.Start()
	for i := range 1000 {
		b.Count(i, 1000)
		b.Report(Status{Mark: uint64(i)})
	}
	<-l.more // lines come although the run makes no calls
	b.Stop()
	l.mu.Lock()
	before := l.n
	l.mu.Unlock()
	b.Stop() // again
	require.Equal(t, before, l.n)
}

var _ io.Writer = (*lines)(nil)
