package mem

import (
	"errors"
	"fmt"
)

// Op says what an access does.
type Op uint8

// The operations.
const (
	Read  Op = iota // fills Data
	Write           // stores Data
)

func (o Op) String() string {
	switch o {
	case Read:
		return "read"
	case Write:
		return "write"
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Access is one read or write of len(Data) bytes at Addr. The initiator owns
// it, may keep it in a struct of its own and may use it again after Done.
type Access struct {
	Op   Op
	Addr uint64
	Data []byte
	Err  error         // set before Done is called; nil if all went well
	Done func(*Access) // must not be nil
}

// Finish sets the result and calls Done: the last thing that a Target does
// with an access.
func (a *Access) Finish(err error) {
	a.Err = err
	a.Done(a)
}

// Target is what can be accessed: a memory, or what stands before one.
type Target interface {
	Access(a *Access)
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
