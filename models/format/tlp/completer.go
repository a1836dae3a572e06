package tlp

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// Errors of a ReadFunc that determine the status of the completion.
var (
	ErrUnsupported = errors.New("tlp: unsupported request") // ends in UR
	ErrAborted     = errors.New("tlp: completer abort")     // ends in CA
	ErrPoisoned    = errors.New("tlp: poisoned data")       // data is sent with EP set
)

// ReadFunc fills dst with the memory at addr. It is called for parts of the bytes from the first to
// the last enabled one, and for no others. An error that wraps ErrUnsupported, ErrAborted or
// ErrPoisoned becomes a completion; the caller gets any other error.
type ReadFunc func(addr uint64, dst []byte) error

// CplPolicy determines how a Completer splits the data of a read.
type CplPolicy uint8

// The policies for splitting.
const (
	CplLongest CplPolicy = iota // as few completions as MPS allows
	CplEachRCB                  // one completion per RCB
	CplRandom                   // completions end at RCBs drawn from the seed
	numPolicies
)

// Completer answers memory reads with completions.
type Completer struct {
	id     uint16
	limits Limits
	policy CplPolicy
	rng    rand.PCG
}

// NewCompleter returns a completer with the given ID. The seed matters to
// CplRandom only. It fails on limits or a policy that are not legal.
func NewCompleter(id uint16, limits Limits, policy CplPolicy, seed uint64) (*Completer, error) {
	c := &Completer{id: id, policy: policy}
	if policy >= numPolicies {
		return nil, fmt.Errorf("tlp: completion policy is %d, want CplLongest, CplEachRCB or CplRandom", policy)
	}
	if err := c.SetLimits(limits); err != nil {
		return nil, err
	}
	const stream = 0x746c70 // gives this generator another sequence than others with the same seed
	c.rng.Seed(seed, stream)
	return c, nil
}

// SetLimits changes the limits for reads that begin from now on.
func (c *Completer) SetLimits(l Limits) error {
	if err := l.Validate(); err != nil {
		return fmt.Errorf("tlp: limits: %w", err)
	}
	c.limits = l
	return nil
}

// Reply is the answer to one read: a sequence of completions. The replies of a completer may be
// interleaved.
type Reply struct {
	c     *Completer
	req   Header
	split CplSplit
	more  bool
}

// Begin starts the answer to req. It fails if req is not a memory read.
func (c *Completer) Begin(req *Header) (Reply, error) {
	if req.Kind != MRd {
		return Reply{}, fmt.Errorf("tlp: completer asked to answer %v, want MRd", req.Kind)
	}
	off, n := req.Span()
	return Reply{
		c: c, req: *req, more: true,
		split: SplitCompletion(req.Address+uint64(off), n, c.limits.MPS, c.limits.RCB),
	}, nil
}

// More reports whether the reply has further completions.
func (r *Reply) More() bool { return r.more }

// Fetch describes the data of one completion, which must still be read from memory.
type Fetch struct {
	Addr uint64 // address of the first byte
	Data []byte // buffer to fill; empty if there is nothing to read
	left int    // bytes of the read from Addr on
	dws  int
}

// Next makes room in p's own storage for the data of the next completion, and returns which bytes
// of memory belong there; Finish then completes p. Several completions of a reply may be fetched at
// the same time, but must be finished in order. Next panics if the reply has no further completion.
func (r *Reply) Next(p *Packet) Fetch {
	if !r.more {
		panic("tlp: Next of a reply that is over")
	}
	left, choice := r.split.Left(), r.choose()
	piece := r.split.Take(choice)
	r.more = r.split.More()
	lead := int(piece.Addr & (DWBytes - 1))
	dws := (lead + piece.Len + DWBytes - 1) / DWBytes
	data := p.Own(dws * DWBytes)
	f := Fetch{Addr: piece.Addr, left: left, dws: dws}
	if r.req.ZeroLength() {
		clear(data)
		return f
	}
	clear(data[:lead])
	clear(data[lead+piece.Len:])
	f.Data = data[lead : lead+piece.Len]
	return f
}

// Finish makes p the completion for a fetch that ended with err (see ReadFunc). If that ends the
// reply, More is false from then on, and the caller must discard the completions begun after this
// one.
func (r *Reply) Finish(p *Packet, f *Fetch, err error) error {
	h := r.header(f.Addr, f.left)
	switch {
	case err == nil:
	case errors.Is(err, ErrPoisoned):
		h.EP = true
	case errors.Is(err, ErrUnsupported):
		return r.refuse(p, h, StatusUR)
	case errors.Is(err, ErrAborted):
		return r.refuse(p, h, StatusCA)
	default:
		r.more = false
		return fmt.Errorf("tlp: read of %d B at %#x for a completion: %w", len(f.Data), f.Addr, err)
	}
	h.Kind, h.Length = CplD, uint16(f.dws)
	return p.SetHeader(&h)
}

// Fill makes p the next completion, with data read from memory into p's own storage and padded with
// zeros to whole DWs. It panics if the reply has no further completion. After an error the reply
// has ended, and the caller must discard p.
func (r *Reply) Fill(p *Packet, read ReadFunc) error {
	f := r.Next(p)
	var err error
	if len(f.Data) > 0 {
		err = read(f.Addr, f.Data)
	}
	return r.Finish(p, &f, err)
}

// Refuse makes p a completion without data that ends the reply with status StatusUR or StatusCA.
func (r *Reply) Refuse(p *Packet, s Status) error {
	if !r.more {
		panic("tlp: Refuse of a reply that is over")
	}
	if s != StatusUR && s != StatusCA {
		return fmt.Errorf("tlp: read refused with status %v, want UR or CA", s)
	}
	return r.refuse(p, r.header(r.split.addr, r.split.Left()), s)
}

func (r *Reply) refuse(p *Packet, h Header, s Status) error {
	h.Kind, h.Status = Cpl, s
	p.Data = nil
	r.more = false
	return p.SetHeader(&h)
}

// header returns the header, except for kind, length and status, of the completion that starts at addr when `left`
// bytes of the read have not been sent yet.
func (r *Reply) header(addr uint64, left int) Header {
	return Header{
		TC: r.req.TC, Attr: r.req.Attr, RequesterID: r.req.RequesterID, Tag: r.req.Tag,
		CompleterID: r.c.id, ByteCount: uint16(left), LowerAddr: uint8(addr & lowerAddrMask),
	}
}

func (r *Reply) choose() int {
	n := r.split.Choices()
	switch r.c.policy {
	case CplEachRCB:
		return 0
	case CplRandom:
		return int(r.c.rng.Uint64() % uint64(n))
	}
	return n - 1
}
