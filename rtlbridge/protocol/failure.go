package protocol

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// InfraError is a failure of the device process or of the connection to it, as opposed to a wrong result: it
// died, hung, flooded, sent invalid frames or stopped. Err is the cause (*DeviceError, *ProtocolError,
// ErrTimeout, ErrClosed, ...).
type InfraError struct {
	Device    string // name of the device
	Op        string // operation in progress
	Cycle     uint64 // device cycle reached; 0 if the device never ran, or that is not known
	Exit      string // how the process ended; "" if it is remote or was still running
	LastWords string // the end of its standard error, "" if there was none
	Err       error
}

func (e *InfraError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "device %s, %s", e.Device, e.Op)
	if e.Cycle > 0 {
		fmt.Fprintf(&s, " at cycle %d", e.Cycle)
	}
	fmt.Fprintf(&s, ": %v", e.Err)
	if e.Exit != "" {
		fmt.Fprintf(&s, "; process: %s", e.Exit)
	}
	if w := strings.TrimSpace(e.LastWords); w != "" && !strings.Contains(e.Err.Error(), w) {
		fmt.Fprintf(&s, "; last words: %s", w)
	}
	return s.String()
}

// Unwrap returns the cause.
func (e *InfraError) Unwrap() error { return e.Err }

// Crashed reports whether the device's process ended on its own, or gave up its simulation.
func (e *InfraError) Crashed() bool {
	if said, ok := errors.AsType[*DeviceError](e.Err); ok {
		return said.Code == CodeAssert || said.Code == CodeFinish || said.Code == CodeInternal
	}
	return errors.Is(e.Err, ErrClosed)
}

// noMemory matches the last words of a device that got no memory.
var noMemory = regexp.MustCompile(`std::bad_alloc|[Cc]annot allocate memory|out of memory`)

// Is reports whether the failure was ErrMemory: only the device's last words show it.
func (e *InfraError) Is(target error) bool {
	return target == ErrMemory && noMemory.MatchString(e.LastWords)
}

type infraCause string

func (c infraCause) Error() string { return string(c) }

// Causes of an InfraError.
const (
	ErrTimeout infraCause = "no answer in time: the device hangs"
	ErrClosed  infraCause = "the device closed the connection"
	ErrMemory  infraCause = "the device got no memory"
	ErrFlood   infraCause = "the device sends more than it was asked for"
)
