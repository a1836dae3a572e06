package rnicverbs

import (
	"fmt"

	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
)

// SRQ is a shared receive queue. Its queue pairs take the entries in order and may complete them in any order, so the
// driver's ID of an entry is a place in a table, which is free again once the completion entry was polled. A slot of
// the ring is written again only then, too: with fewer entries outstanding than the ring has, the NIC has read the one
// in the slot.
type SRQ struct {
	d    *Device
	n    uint32
	ring ring
	ids  []uint64 // the callers' IDs
	free []uint32 // places of ids
	used []bool   // by place

	own     Poster      // of the core that the queue was created for
	lock    driver.Lock // of the posters, if there are several
	several bool
	lists   int // lists of entries that posters are yet to write under the lock
}

// Poster posts entries to a shared receive queue from a core.
type Poster struct {
	s       *SRQ
	bus     driver.Bus
	locker  driver.Locker // bus, if it is one
	entries fifo.Queue[rnicspec.RecvWQE]
	lists   fifo.Queue[int] // how many of entries each doorbell announces
	unrung  int             // entries behind the last list

	writeList   func() // bound once, as is listWritten
	listWritten func(error)
}

// NewSRQ creates a shared receive queue of 2^log entries, whose events arrive in a completion queue. The core of a bus
// posts to it; nil: that of the driver.
func (d *Device) NewSRQ(bus driver.Bus, log uint8, events *CQ, done func(error)) (*SRQ, error) {
	const most = rnicspec.MaxSRQs - 1 // number 0 is not used
	if len(d.freeSRQ) == 0 && d.srqn == most {
		return nil, fmt.Errorf("rnicverbs: all %d shared receive queues are in use", most)
	}
	r, err := d.newRing(bus, rnicspec.RecvBytes, log)
	if err != nil {
		return nil, err
	}
	s := &SRQ{d: d, ring: r, ids: make([]uint64, 1<<log), used: make([]bool, 1<<log)}
	s.own.init(s, bus)
	if n := len(d.freeSRQ); n > 0 {
		s.n, d.freeSRQ = d.freeSRQ[n-1], d.freeSRQ[:n-1]
	} else {
		d.srqn++
		s.n = d.srqn
	}
	for i := range s.ids {
		s.free = append(s.free, uint32(len(s.ids)-1-i))
	}
	s.ring.doorbell = rnicspec.SRQDoorbell(s.n)
	s.ring.writeEnded = s.ring.written
	d.Try(&rnicspec.CreateSRQ{SRQN: s.n, Log: log, Addr: r.addr, Events: events.n},
		func(_ uint32, err error) { done(err) })
	return s, nil
}

// Num returns the queue's number.
func (s *SRQ) Num() uint32 { return s.n }

// Limit requests one EventSRQLimit when fewer than n entries are left; 0: none. The NIC learns of it after all entries
// that were rung for.
func (s *SRQ) Limit(n int, done func(error)) {
	s.d.commands.Push(command{cmd: &rnicspec.ModifySRQ{SRQN: s.n, Limit: uint32(n)},
		blocked: func() bool { return s.ring.ringPending || s.lists > 0 },
		try:     func(_ uint32, err error) { done(err) }})
	s.d.next()
}

// Destroy destroys the queue, which no queue pair may use, after what posters are yet to write.
func (s *SRQ) Destroy(done func(error)) {
	s.d.commands.Push(command{cmd: &rnicspec.DestroySRQ{SRQN: s.n}, blocked: func() bool { return s.lists > 0 },
		try: func(_ uint32, err error) {
			if err == nil {
				s.d.freeSRQ = append(s.d.freeSRQ, s.n)
				err = s.d.arena.Free(s.ring.addr)
			}
			if err == nil && s.several {
				err = s.d.arena.Free(s.lock.Addr)
			}
			done(err)
		}})
	s.d.next()
}

// Open returns a poster for the core of another bus; nil: that of the driver. From then on, posters write their entries
// and ring the doorbell under a lock in memory, if their buses are Lockers: the buses of a device either all are, or
// none is.
func (s *SRQ) Open(bus driver.Bus) (*Poster, error) {
	p := &Poster{}
	if p.init(s, bus); p.locker == nil || s.several {
		return p, nil
	}
	const line = 64
	at, err := s.d.arena.Alloc(line, line)
	if err != nil {
		return nil, err
	}
	s.lock.Addr, s.several = at, true
	s.lock.Take(func() {}) // until the core has written what was posted without the lock
	return p, s.own.locker.Defer(s.lock.Free)
}

func (p *Poster) init(s *SRQ, bus driver.Bus) {
	p.s, p.bus = s, s.d.BusOr(bus)
	p.locker, _ = p.bus.(driver.Locker)
	p.writeList, p.listWritten = p.write, p.written
}

// Outstanding returns the number of entries without a polled completion entry.
func (s *SRQ) Outstanding() int { return len(s.ids) - len(s.free) }

// Own returns the poster of the core that the queue was created for.
func (s *SRQ) Own() *Poster { return &s.own }

// Recv writes a receive entry to the ring, or will do so when the core has the lock; RingRecv announces it.
func (p *Poster) Recv(w *rnicspec.RecvWQE) error {
	s := p.s
	switch {
	case s.d.err != nil:
		return ErrStopped
	case len(s.free) == 0:
		return ErrFull
	}
	at, e := s.free[len(s.free)-1], *w
	s.free = s.free[:len(s.free)-1]
	s.ids[at], s.used[at] = w.ID, true
	e.ID = uint64(at)
	if p.locks() {
		p.entries.Push(e)
		p.unrung++
		return nil
	}
	return p.store(&e)
}

// locks reports whether the poster needs the lock.
func (p *Poster) locks() bool { return p.s.several && p.locker != nil }

// store writes an entry to the ring.
func (p *Poster) store(w *rnicspec.RecvWQE) error {
	r := &p.s.ring
	b, err := r.slot(0)
	if err != nil {
		return err
	}
	w.Encode(b)
	r.bus = p.bus
	r.store(b)
	return nil
}

// RingRecv rings the doorbell for all receive entries posted, or will do so when the core has the lock.
func (p *Poster) RingRecv() error {
	if p.s.d.err != nil {
		return ErrStopped
	}
	if !p.locks() {
		return p.ring()
	}
	p.lists.Push(p.unrung)
	p.unrung = 0
	p.s.lists++
	return p.locker.Locked(&p.s.lock, p.writeList, p.listWritten)
}

func (p *Poster) ring() error {
	p.s.ring.bus = p.bus
	return p.s.ring.ring()
}

// write writes the next list of entries and rings the doorbell, under the lock.
func (p *Poster) write() {
	for range p.lists.Pop() {
		e := p.entries.Pop()
		if err := p.store(&e); err != nil {
			p.s.d.fail(err)
			return
		}
	}
	if err := p.ring(); err != nil {
		p.s.d.fail(err)
	}
}

// written is called when the lock is free again.
func (p *Poster) written(err error) {
	if err != nil {
		p.s.d.fail(err)
	}
	p.s.lists--
	p.s.d.next() // a command may have waited
}

// ended frees the place of a completed entry, and sets the caller's ID in the completion entry.
func (s *SRQ) ended(c *rnicspec.CQE) {
	at := c.ID
	if at >= uint64(len(s.used)) || !s.used[at] { // the NIC reports an entry that was never posted
		s.d.fail(fmt.Errorf("rnicverbs: completion entry of queue pair %d for entry %d of shared receive queue %d: "+
			"want one of the %d outstanding", c.QPN, at, s.n, s.Outstanding()))
		return
	}
	c.ID, s.used[at] = s.ids[at], false
	s.free = append(s.free, uint32(at))
	s.ring.ci++
}
