package player

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// CrashError reports a panic of the Go NIC, the referee or the player. It says nothing about the device: no program may
// cause a panic.
type CrashError struct {
	Value any
	Stack []string // top of the stack, innermost first: function and line
}

func (e *CrashError) Error() string {
	return fmt.Sprintf("panic: %v\n  at %s", e.Value, strings.Join(e.Stack, "\n  at "))
}

// guarded turns a panic into an error, so that the program that caused it is known.
func guarded(play func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &CrashError{v, panicStack()}
		}
	}()
	return play()
}

// panicStack returns where the panic being recovered was raised.
func panicStack() (stack []string) {
	const most = 6
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for more, fell := true, false; more && len(stack) < most; {
		var f runtime.Frame
		f, more = frames.Next()
		switch inside := strings.HasPrefix(f.Function, "runtime."); {
		case f.Function == "runtime.gopanic":
			fell = true
		case fell && !inside:
			stack = append(stack, fmt.Sprintf("%s (%s:%d)", f.Function, path.Base(f.File), f.Line))
		}
	}
	return stack
}
