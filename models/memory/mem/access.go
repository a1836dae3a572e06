package mem

import (
	"errors"
	"fmt"
)

// LineBytes is the size of a cache line: what Clean and Invalidate act on.
const LineBytes = 64

// Op says what an access does.
type Op uint8

// The operations.
const (
	Read       Op = iota // fills Data
	Write                // stores Data
	Clean                // writes dirty lines back and keeps them
	Invalidate           // drops lines, dirty ones without write-back
)

var opNames = [...]string{"read", "write", "clean", "invalidate"}

func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Moves reports whether accesses of this kind carry bytes.
func (o Op) Moves() bool { return o <= Write }

// Agent is who accesses memory. Caches treat devices and cores differently.
type Agent uint8

// The agents.
const (
	Device Agent = iota // behind a bus: a NIC, a copy engine
	Core                // a processor core
	Agents              // how many there are
)

func (g Agent) String() string {
	switch g {
	case Device:
		return "device"
	case Core:
		return "core"
	}
	return fmt.Sprintf("Agent(%d)", uint8(g))
}

// Access is one operation on Len() bytes at Addr. The initiator owns it, may
// keep it in a struct of its own and may use it again after Done.
type Access struct {
	Op   Op
	By   Agent
	Addr uint64
	Data []byte        // of a Read or Write
	Span int           // bytes that a Clean or Invalidate covers
	Err  error         // set before Done is called; nil if all went well
	Done func(*Access) // must not be nil

	// Line, if set, makes a Write a run (Runner): n bytes more took effect.
	Line func(a *Access, n int, more bool)

	inside bool // Verify found it to lie inside memory
}

// Verify is t.Check for an access that t was given. A target that hands accesses on to the memory which its Check asks,
// and no other, calls it: then that memory, which Verifies in its turn, need not look again.
func (a *Access) Verify(t Target) error {
	if a.inside {
		return nil
	}
	err := t.Check(a.Op, a.Addr, a.Len())
	a.inside = err == nil
	return err
}

// Ask makes a ask the same as an access that was Verified, on whose behalf it is made.
func (a *Access) Ask(of *Access) {
	a.Op, a.By, a.Addr, a.Data, a.Span, a.Err, a.inside = of.Op, of.By, of.Addr, of.Data, of.Span, nil, of.inside
}

// Len is the number of bytes that the access covers.
func (a *Access) Len() int {
	if a.Op.Moves() {
		return len(a.Data)
	}
	return a.Span
}

// Finish sets the result and calls Done: the last thing that a Target does
// with an access.
func (a *Access) Finish(err error) {
	a.Err, a.inside = err, false
	a.Done(a)
}

// Target is what can be accessed: a memory, or what stands before one.
type Target interface {
	Access(a *Access)

	// Check returns the error with which an access to n bytes at addr would
	// fail because they do not all lie inside memory, or nil.
	Check(op Op, addr uint64, n int) error
}

// Holder is a Target that can be full: who feeds it from a link leaves there what
// it would have to keep for it, so that the link holds its sender.
type Holder interface {
	Target
	Full() bool
	// OnRoom has f called whenever it is full no longer.
	OnRoom(f func())
}

// Backdoor reads and writes bytes at once, past time, counters and watches: for
// preparing memory and for looking at it, not for initiators on the bus.
type Backdoor interface {
	Read(addr uint64, b []byte) error
	Write(addr uint64, b []byte) error
}

// Reasons why an access fails. Errors wrap one of them.
var (
	ErrNoMemory = errors.New("no memory there")      // outside of every memory
	ErrAborted  = errors.New("access aborted")       // the memory gave up on it
	ErrPoisoned = errors.New("data known to be bad") // Data is set, and bad
)

// RangeError tells of an access that does not lie inside memory.
type RangeError struct {
	Op    Op
	Addr  uint64
	Len   int
	There string // what is there instead
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("mem: %v of %d B at %#x: %v: %s", e.Op, e.Len, e.Addr, ErrNoMemory, e.There)
}

// Unwrap returns ErrNoMemory.
func (e *RangeError) Unwrap() error { return ErrNoMemory }
