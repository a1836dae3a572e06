package mem

import (
	"errors"
	"fmt"
)

// LineBytes is the size of a cache line, the unit of Clean and Invalidate.
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

// Agent says who accesses memory. Caches treat devices and cores differently.
type Agent uint8

// The agents.
const (
	Device Agent = iota // behind a bus: a NIC, a copy engine
	Core                // a processor core
	Agents              // number of agents
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

// Access is one operation on Len() bytes at Addr. The initiator owns it, may embed it in a struct,
// and may reuse it after Done.
type Access struct {
	Op   Op
	By   Agent
	Addr uint64
	Data []byte        // of a Read or Write
	Span int           // bytes that a Clean or Invalidate covers
	Err  error         // set before Done is called; nil if all went well
	Done func(*Access) // must not be nil

	// Line, if set, makes a Write a run (see Runner). It is called when n more bytes have taken
	// effect.
	Line func(a *Access, n int, more bool)

	inside bool // Verify found that it lies inside memory
}

// Verify calls t.Check for an access that t was given. A target calls it if it hands accesses on to
// the one memory that its Check asks: that memory, which calls Verify in its turn, then need not
// check again.
func (a *Access) Verify(t Target) error {
	if a.inside {
		return nil
	}
	err := t.Check(a.Op, a.Addr, a.Len())
	a.inside = err == nil
	return err
}

// Ask makes a the same request as of, an access that was Verified and on whose behalf a is made.
func (a *Access) Ask(of *Access) {
	a.Op, a.By, a.Addr, a.Data, a.Span, a.Err, a.inside = of.Op, of.By, of.Addr, of.Data, of.Span, nil, of.inside
}

// Len returns the number of bytes that the access covers.
func (a *Access) Len() int {
	if a.Op.Moves() {
		return len(a.Data)
	}
	return a.Span
}

// Finish sets the result and calls Done. It must be a Target's last use of an access.
func (a *Access) Finish(err error) {
	a.Err, a.inside = err, false
	a.Done(a)
}

// Target is a memory, or a model of a cache, delay or link in front of one.
type Target interface {
	Access(a *Access)

	// Check returns the error of an access to n bytes at addr that do not all lie inside memory, or
	// nil.
	Check(op Op, addr uint64, n int) error
}

// Holder is a Target that can be full. A component that feeds it from a link leaves packets on the
// link while it is full, so that the link blocks its sender.
type Holder interface {
	Target
	Full() bool
	// OnRoom registers f to be called whenever it is no longer full.
	OnRoom(f func())
}

// Backdoor reads and writes bytes at once, without time, counters or watches: for preparing and
// inspecting memory, not for initiators on the bus.
type Backdoor interface {
	Read(addr uint64, b []byte) error
	Write(addr uint64, b []byte) error
}

// Reasons why an access fails. Errors wrap one of them.
var (
	ErrNoMemory = errors.New("no memory there")      // outside every memory
	ErrAborted  = errors.New("access aborted")       // the memory gave up on it
	ErrPoisoned = errors.New("data known to be bad") // Data is set, but known to be bad
)

// RangeError reports an access that does not lie inside memory.
type RangeError struct {
	Op    Op
	Addr  uint64
	Len   int
	There string // what lies there instead
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("mem: %v of %d B at %#x: %v: %s", e.Op, e.Len, e.Addr, ErrNoMemory, e.There)
}

// Unwrap returns ErrNoMemory.
func (e *RangeError) Unwrap() error { return ErrNoMemory }
