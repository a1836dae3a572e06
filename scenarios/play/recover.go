package play

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"nictwin/models/ref"
	"nictwin/models/sim/field"
	"nictwin/scenarios/play/own"
)

// RefError reports a mistake of a user's reference; see package own.
type RefError = own.RefError

// recoverMistake turns a panic in the user's reference into an error. Other panics continue.
func (p *played) recoverMistake(err *error) {
	r := recover()
	if r == nil {
		return
	}
	var m *ref.Mistake
	bad, isErr := r.(error)
	if p.own == nil && !(isErr && errors.As(bad, &m)) {
		panic(r)
	}
	if p.own == nil { // not a user's reference but a check of the manifest
		*err = &SpecError{p.located(field.Errorf("play.check", "%s: %v", p.check, m))}
		return
	}
	file, line := userFrame()
	if errors.As(bad, &m) && m.File != "" {
		file, line = m.File, m.Line
	}
	*err = &RefError{File: file, Line: line, What: fmt.Sprint(r)}
}

// ours lists the packages whose stack frames may lie between a panic and the user's code that caused it.
var ours = []string{"runtime.", "nictwin/models/ref.", "nictwin/scenarios/play.(*"}

// userFrame returns the position of the user's code when it panicked.
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
