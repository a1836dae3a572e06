package own

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"nictwin/models/ref/remote"
)

// mostText limits the bytes that errors and findings quote from a reference.
const mostText = 2000

// clipped returns the beginning of a text from the reference.
func clipped(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "") + " …"
}

// mistake returns an error about the reference at a position that the compiler named.
func (p *Program) mistake(file string, line int, format string, a ...any) error {
	return &RefError{File: p.userFile(file), Line: line, What: clipped(fmt.Sprintf(format, a...))}
}

// during describes the call into the reference that is in progress.
func during(n remote.Note) string {
	switch {
	case n.What == "":
		return "before the first call, where its package is initialized"
	case n.Over:
		return "after " + n.What
	}
	return "in " + n.What
}

// explain ends the process and returns the reason for which it has not answered.
func (c *Player) explain(err error) error {
	note := c.x.under()
	switch over, odd := (*overError)(nil), (*remote.FrameError)(nil); {
	case c.ctx.Err() != nil:
		c.x.kill()
		return context.Cause(c.ctx)
	case errors.As(err, &over):
		c.x.quit()
		c.x.close()
		return c.exceeded(note, over)
	case errors.As(err, &odd):
		c.x.kill()
		c.x.close()
		return c.blame(note, "what came from its process is no answer: %v", odd)
	}
	alive := !c.x.ended(ending)
	c.x.close()
	if alive || !c.x.ended(0) {
		return c.blame(note, "its process has closed the channel to nictwin or written into it, %s (%v)", during(note),
			err)
	}
	return c.end(note)
}

// exceeded returns the error about a limit that the reference exceeded.
func (c *Player) exceeded(note remote.Note, over *overError) error {
	t := readTrace(c.x.trace(), "goroutine 1 ")
	if t.file == "" {
		t.file, t.line = note.File, note.Line
	}
	return c.blameAt(t, "%v %s", over, during(note))
}

// end returns the error about a process that ended.
func (c *Player) end(note remote.Note) error {
	s, _ := c.x.cmd.ProcessState.Sys().(syscall.WaitStatus)
	const panicked = 2 // exit code of Go's runtime after a panic, unless GOTRACEBACK makes it abort
	text := c.x.trace()
	if text != "" && (s.ExitStatus() == panicked || s.Signaled() && s.Signal() == syscall.SIGABRT) {
		return c.panicked(note, text)
	}
	_, _ = c.program.output.Write([]byte(text)) // the process did not panic, so this is ordinary output
	switch {
	case s.Signaled():
		return c.lost("its process was ended by a signal (%v) %s, and nobody knows by whom", s.Signal(), c.where(note))
	case s.ExitStatus() == remote.NoChannel:
		return c.blame(note, "its process has closed the channel to nictwin, %s", during(note))
	}
	return c.blame(note, "it ended its process with exit code %d %s, by os.Exit or log.Fatal for example",
		s.ExitStatus(), during(note))
}

// panicked returns the error about a process that ended with a trace of Go's runtime.
func (c *Player) panicked(note remote.Note, text string) error {
	t := readTrace(text, "")
	what := t.what
	if t.outOfMemory() {
		what = fmt.Sprintf("it needs more than %d MB of memory (--ref-mb): %s", c.program.Limits.MB, t.what)
	}
	if t.file == "" {
		t.file, t.line = note.File, note.Line
	}
	return c.blameAt(t, "%s", what)
}

// blame returns a RefError about the call in progress or, without one, a LostError.
func (c *Player) blame(note remote.Note, format string, a ...any) error {
	return c.blameAt(traced{file: note.File, line: note.Line}, format, a...)
}

// blameAt returns a *RefError if the position is known, else a *LostError.
func (c *Player) blameAt(t traced, format string, a ...any) error {
	if t.file == "" {
		return c.lost(format, a...)
	}
	return c.program.mistake(t.file, t.line, format, a...)
}

// where describes the call into the reference that is in progress, with the position of the called function.
func (c *Player) where(note remote.Note) string {
	if note.File == "" {
		return during(note)
	}
	return fmt.Sprintf("%s (%s:%d)", during(note), c.program.userFile(note.File), note.Line)
}

// lost returns the error about a process that ended for an unknown reason.
func (c *Player) lost(format string, a ...any) error {
	return &LostError{Dir: c.program.Dir, What: fmt.Sprintf(format, a...), Words: lastWords(c.x.trace())}
}

// lastWords returns the first lines of a trace.
func lastWords(trace string) string {
	if len(trace) > mostText {
		trace = trace[:mostText]
	}
	return strings.ToValidUTF8(strings.TrimRight(trace, "\n"), "?")
}
