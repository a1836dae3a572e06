package play

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"nictwin/models/ref"
)

// RefError is a mistake of the user's reference.
type RefError struct {
	File string // empty: not known
	Line int
	What string
}

func (e *RefError) Error() string {
	if e.File == "" {
		return "reference: " + e.What
	}
	return fmt.Sprintf("%s:%d: reference: %s", e.File, e.Line, e.What)
}

var _ error = (*RefError)(nil)

// caught makes an error of a panic in the user's reference. Others go on.
func (p *played) caught(err *error) {
	r := recover()
	if r == nil {
		return
	}
	var m *ref.Mistake
	bad, isErr := r.(error)
	if p.own == nil && !(isErr && errors.As(bad, &m)) {
		panic(r)
	}
	file, line := userFrame()
	*err = &RefError{File: file, Line: line, What: fmt.Sprint(r)}
}

// ours are the packages between a fault and who made it.
var ours = []string{"runtime.", "nictwin/models/ref.", "nictwin/scenarios/play.(*"}

// userFrame is where the user's code was when it panicked.
func userFrame() (file string, line int) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		own := false
		for _, p := range ours {
			own = own || strings.HasPrefix(f.Function, p)
		}
		if !own && f.File != "" {
			return f.File, f.Line
		}
		if !more {
			return "", 0
		}
	}
}
