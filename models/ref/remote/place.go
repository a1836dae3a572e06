package remote

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"nictwin/models/ref"
)

// Note describes the latest call into the reference.
type Note struct {
	Calls uint64 // number of calls so far
	Over  bool   // the latest call has returned
	What  string // name of the latest call; empty: no call yet
	// Position of the called function or, if that is not in the user's files, of the reference function. File is the
	// name that the compiler gives.
	File string
	Line int
}

// entered writes a note of the call that is about to be made.
func (s *server) entered(c ref.Call) {
	s.calls++
	what := c.What
	if c.Stream != "" {
		what += " of stream " + c.Stream
	}
	if !strings.HasPrefix(c.File, Package+"/") { // a callback of models/ref, such as that of NewCompleter
		c.File, c.Line = ref.Place(s.reference)
	}
	s.last = Note{s.calls, false, what, c.File, c.Line}
	s.write()
}

// idle notes that no call is in progress.
func (s *server) idle() {
	s.last.Over = true
	s.write()
}

// write writes server.last, the note of the latest call, to the note's file. A failed write is ignored: the note is
// read only if the process ends without an answer.
func (s *server) write() {
	n := &s.last
	b := strconv.AppendBool(append(strconv.AppendUint(nil, n.Calls, 10), '\t'), n.Over)
	b = append(append(append(append(b, '\t'), n.What...), '\t'), n.File...)
	b = append(strconv.AppendInt(append(b, '\t'), int64(n.Line), 10), '\n')
	_, _ = s.note.WriteAt(b, 0)
}

// NoteBytes is the largest number of bytes that are read of a note.
const NoteBytes = 4096

// ParseNote parses a note. It returns the zero Note if the note is incomplete.
func ParseNote(b []byte) (n Note) {
	line, _, whole := strings.Cut(string(b), "\n")
	f := strings.Split(line, "\t")
	if !whole || len(f) != 5 {
		return Note{}
	}
	calls, err1 := strconv.ParseUint(f[0], 10, 64)
	over, err2 := strconv.ParseBool(f[1])
	at, err3 := strconv.Atoi(f[4])
	if err1 != nil || err2 != nil || err3 != nil {
		return Note{}
	}
	return Note{calls, over, f[2], f[3], at}
}

// mistake describes the mistake of a reference that panicked with a value, or ended its goroutine (nil).
func (s *server) mistake(value any) *Mistake {
	x := &Mistake{What: fmt.Sprint(value)}
	switch value.(type) {
	case nil:
		x.What = "it ended the goroutine that calls it (runtime.Goexit)"
	case error:
	default:
		x.What = "panic: " + x.What
	}
	var m *ref.Mistake
	if err, ok := value.(error); ok && errors.As(err, &m) && m.File != "" {
		x.File, x.Line = m.File, m.Line
	} else if x.File, x.Line = userFrame(); x.File == "" {
		x.File, x.Line = ref.Place(s.reference)
	}
	return x
}

// userFrame returns the position of the innermost function of the reference on the stack.
func userFrame() (file string, line int) {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, Prefix) {
			return f.File, f.Line
		}
		if !more {
			return "", 0
		}
	}
}
