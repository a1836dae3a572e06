package mem

import "nictwin/models/sim/fifo"

// Relay is an access that a Target passes on to the memory behind it in place of one that it was
// given.
type Relay struct {
	Access
	From *Access
	Past int // bytes of a run that took effect before the line being reported

	line func(a *Access, n int, more bool)
}

// Relays is a free list of relays. Ended is called when the memory behind is done with a relay.
type Relays struct {
	Ended func(*Relay)
	Line  func(r *Relay, n int, more bool) // for lines of runs (Runner); nil: runs are not relayed

	idle fifo.Free[Relay]
}

// Get returns a relay that makes the same request as an access.
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

// Put takes a relay back, and returns the access that it stood for and that access's error.
func (p *Relays) Put(r *Relay) (from *Access, err error) {
	from, err = r.From, r.Err
	r.From, r.Data = nil, nil
	p.idle.Put(r)
	return from, err
}
