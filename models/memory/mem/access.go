package mem

import (
	"errors"
	"fmt"
)

// LineBytes is the size of a cache line, the unit of Clean and Invalidate.
const LineBytes = 64

// Op is the operation of an access.
type Op uint8

// Values of Op.
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

// Agent is the kind of initiator of an access. Caches treat devices and cores differently.
type Agent uint8

// Values of Agent.
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
	Data []byte        // bytes of a Read or Write
	Span int           // number of bytes that a Clean or Invalidate covers
	Err  error         // set before Done is called; nil if all went well
	Done func(*Access) // must not be nil

	// Line, if set, makes a Write a run (see Runner). It is called when n more bytes have taken
	// effect.
	Line func(a *Access, n int, more bool)

	// Again says of a Read that the initiator has the same lines, or is already reading them: last-level caches do not
	// count a further lookup of an I/O buffer.
	Again bool

	inside bool // set by Verify: the access lies inside memory
}

// Verify calls t.Check for an access that t was given, unless an earlier Verify has done so. A
// target whose Check only asks one other memory, and which passes its accesses on to that memory,
// calls it: the other memory, which calls Verify itself, then need not check again.
func (a *Access) Verify(t Target) error {
	if a.inside {
		return nil
	}
	err := t.Check(a.Op, a.Addr, a.Len())
	a.inside = err == nil
	return err
}

// Ask copies the request of another access, which was verified, to this one, which is then issued on its behalf.
func (a *Access) Ask(of *Access) {
	a.Op, a.By, a.Addr, a.Data, a.Span, a.Err, a.inside = of.Op, of.By, of.Addr, of.Data, of.Span, nil, of.inside
	a.Again = of.Again
}

// Len returns the number of bytes that the access covers.
func (a *Access) Len() int {
	if a.Op.Moves() {
		return len(a.Data)
	}
	return a.Span
}

// Finish sets the result and calls Done. A Target must not use the access afterwards.
func (a *Access) Finish(err error) {
	a.Err, a.inside = err, false
	a.Done(a)
}

// Target is a memory, or a model of a cache, delay or link in front of one.
type Target interface {
	Access(a *Access)

	// Check returns the error of an access to n bytes at addr if they do not all lie inside memory,
	// else nil.
	Check(op Op, addr uint64, n int) error
}

// Holder is a Target that can be full. While it is, a component that feeds it from a link leaves
// packets on the link, so that the link blocks its sender.
type Holder interface {
	Target
	Full() bool
	// OnRoom registers f to be called whenever the Holder stops being full.
	OnRoom(f func())
}

// Backdoor reads and writes bytes at once, without time, counters or watches. It serves to prepare
// and inspect memory; initiators on the bus use accesses.
type Backdoor interface {
	Read(addr uint64, b []byte) error
	Write(addr uint64, b []byte) error
}

// Errors of accesses. Every error of an access wraps one of them.
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
	There string // what is at the address instead of memory for this access
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("mem: %v of %d B at %#x: %v: %s", e.Op, e.Len, e.Addr, ErrNoMemory, e.There)
}

// Unwrap returns ErrNoMemory.
func (e *RangeError) Unwrap() error { return ErrNoMemory }
