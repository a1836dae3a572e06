package mem

import "nictwin/models/sim/fifo"

// Relay is the access that a Target, such as a cache, makes to the memory behind it in order to serve an access From.
type Relay struct {
	Access
	From *Access
	Past int // bytes of a run whose lines have ended

	line func(a *Access, n int, more bool)
}

// Relays is a free list of relays. Ended is called when the memory that got a relay has completed it.
type Relays struct {
	Ended func(*Relay)
	Line  func(r *Relay, n int, more bool) // called for ended lines of runs (Runner); nil: runs are not relayed

	idle fifo.Free[Relay]
}

// Get returns a relay with the same request as an access.
func (p *Relays) Get(a *Access) *Relay {
	r, fresh := p.idle.Get()
	if fresh {
		r.Done = func(*Access) { p.Ended(r) }
		r.line = func(_ *Access, n int, more bool) { p.Line(r, n, more) }
	}
	r.From, r.Past, r.Line = a, 0, nil
	if a.Line != nil {
		r.Line = r.line
	}
	r.Ask(a)
	return r
}

// Put returns a relay to the list. It returns the access on whose behalf it was made, and its
// error.
func (p *Relays) Put(r *Relay) (from *Access, err error) {
	from, err = r.From, r.Err
	r.From, r.Data = nil, nil
	p.idle.Put(r)
	return from, err
}
