package mem

import "nictwin/models/fifo"

// Relay is an access that a Target passes on to the memory behind it, in the place of the one that it was given.
type Relay struct {
	Access
	From *Access
}

// Relays is a free list of relays. Ended is called for each when the memory behind is done with it.
type Relays struct {
	Ended func(*Relay)

	idle fifo.Free[Relay]
}

// Get returns a relay that asks for the same as an access.
func (p *Relays) Get(a *Access) *Relay {
	r, fresh := p.idle.Get()
	if fresh {
		r.Done = func(*Access) { p.Ended(r) }
	}
	r.From = a
	r.Op, r.By, r.Addr, r.Data, r.Span, r.Err = a.Op, a.By, a.Addr, a.Data, a.Span, nil
	return r
}

// Put takes a relay back, and returns the access that it stood for and how it went.
func (p *Relays) Put(r *Relay) (from *Access, err error) {
	from, err = r.From, r.Err
	r.From, r.Data = nil, nil
	p.idle.Put(r)
	return from, err
}
