package tlp

import (
	"errors"
	"fmt"
)

// Pending is the state of an outstanding read at its requester. The tests of Completer check
// completions with it.
type Pending struct {
	req  Header
	next uint64 // address of the first byte still missing
	left int    // bytes still missing, from the first enabled to the last enabled
}

// NewPending returns the state of a read that was just sent. It panics if req is not a memory read.
func NewPending(req *Header) Pending {
	if req.Kind != MRd {
		panic("tlp: pending request is not a read: " + req.String())
	}
	off, n := req.Span()
	return Pending{req: *req, next: req.Address + uint64(off), left: n}
}

// Request returns the read's header.
func (p *Pending) Request() *Header { return &p.req }

// Left returns how many bytes are missing.
func (p *Pending) Left() int { return p.left }

// Done reports whether all completions of the read have come.
func (p *Pending) Done() bool { return p.left == 0 }

// ErrMismatch is wrapped by the errors of Pending.Take for completions that do not fit their
// request.
var ErrMismatch = errors.New("tlp: completion does not fit its request")

// CompletionError reports a completion that ends its request without success.
type CompletionError struct{ Status Status }

func (e *CompletionError) Error() string {
	return fmt.Sprintf("tlp: completion status %v", e.Status)
}

var (
	errCplUR  = &CompletionError{StatusUR}
	errCplCRS = &CompletionError{StatusCRS}
	errCplCA  = &CompletionError{StatusCA}
)

// Take takes the next completion. It returns the bytes of the read that the completion contains, as
// a part of data, and their address; for a zero-length read it returns none.
//
// An unsuccessful status gives a *CompletionError and ends the read. Poisoned data counts, and is
// returned with ErrPoisoned. An error that wraps ErrMismatch says why the completion does not fit
// the read, which is then unchanged.
func (p *Pending) Take(h *Header, data []byte) (addr uint64, b []byte, err error) {
	if !h.Kind.IsCompletion() || h.RequesterID != p.req.RequesterID || h.Tag != p.req.Tag || p.left == 0 {
		return 0, nil, mismatch("%v is not for the read %v with %d B to come", *h, p.req, p.left)
	}
	if h.Status != StatusSC {
		p.left = 0
		return 0, nil, statusError(h.Status)
	}
	if h.Kind != CplD || len(data) != h.PayloadBytes() {
		return 0, nil, mismatch("%v with %d B of data, want CplD with as much as its length says", *h, len(data))
	}
	if int(h.ByteCount) != p.left || uint64(h.LowerAddr) != p.next&lowerAddrMask {
		return 0, nil, mismatch("%v is out of order, want byte count %d, lower address %#x",
			*h, p.left, p.next&lowerAddrMask)
	}
	lead := int(p.next & (DWBytes - 1))
	n := min(len(data)-lead, p.left)
	if (lead+n+DWBytes-1)/DWBytes != int(h.Length) {
		return 0, nil, mismatch("%v brings more than the %d B to come", *h, p.left)
	}
	addr, b = p.next, data[lead:lead+n]
	p.next += uint64(n)
	p.left -= n
	if p.req.ZeroLength() {
		b = nil
	}
	if h.EP {
		err = ErrPoisoned
	}
	return addr, b, err
}

func mismatch(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMismatch, fmt.Sprintf(format, args...))
}

func statusError(s Status) error {
	switch s {
	case StatusUR:
		return errCplUR
	case StatusCRS:
		return errCplCRS
	case StatusCA:
		return errCplCA
	}
	return &CompletionError{s}
}
