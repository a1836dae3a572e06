package own

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
)

// mostOutput limits the bytes of output that a campaign shows, mostWritten those that a reference may write in a run.
const (
	mostOutput  = 1 << 20
	mostWritten = 64 << 20
)

// sink shows the output of references, up to a limit. Its field `to` must be set before use.
type sink struct {
	mu    sync.Mutex
	to    io.Writer
	muted bool
	shown int
}

// Write shows bytes up to the limit and drops the others: a reference must not block on its output.
func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := mostOutput - s.shown; n > 0 && !s.muted {
		s.shown += min(n, len(b))
		_, _ = s.to.Write(b[:min(n, len(b))]) // an error is ignored: output is only shown
		if s.shown == mostOutput {
			_, _ = fmt.Fprintf(s.to, "\nthe reference has written %d bytes: no more of its output is shown\n",
				mostOutput)
		}
	}
	return len(b), nil
}

// Mute suppresses the reference's output until the returned function is called.
func (p *Program) Mute() (again func()) {
	mute := func(on bool) {
		p.output.mu.Lock()
		defer p.output.mu.Unlock()
		p.output.muted = on
	}
	mute(true)
	return func() { mute(false) }
}

// mostTrace bounds the part of Go's trace that is kept.
const mostTrace = 4 << 20

// traceBegins matches the first line of a trace of Go's runtime.
var traceBegins = regexp.MustCompile(`^(panic: |fatal error: |runtime: |unexpected fault address|SIG[A-Z0-9]+: )`)

// pump copies a stream of a process's output to a sink, line by line. It keeps the lines that begin as a trace of Go's
// runtime, and all that follow them.
type pump struct {
	to    *sink
	trace bool // the stream may contain a trace of Go's runtime
	mu    sync.Mutex
	kept  bytes.Buffer
	bytes atomic.Int64
	done  chan struct{}
}

// keep keeps a line that belongs to a trace or begins one, and reports whether it has kept it.
func (p *pump) keep(line []byte, begins bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept.Len() == 0 && !(p.trace && begins && traceBegins.Match(line)) {
		return false
	}
	p.kept.Write(line[:min(len(line), mostTrace-p.kept.Len())]) // never fails
	return true
}

// text returns the trace received so far.
func (p *pump) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept.String()
}

func (p *pump) run(f *os.File) {
	defer close(p.done)
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for begins := true; ; {
		line, err := r.ReadSlice('\n')
		p.bytes.Add(int64(len(line)))
		if !p.keep(line, begins) {
			_, _ = p.to.Write(line) // never fails
		}
		begins = bytes.HasSuffix(line, []byte("\n"))
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}
