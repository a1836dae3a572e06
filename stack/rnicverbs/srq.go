package rnicverbs

import (
	"fmt"

	"nictwin/models/rnic/rnicspec"
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
	s.d.commands.Push(command{cmd: &rnicspec.ModifySRQ{SRQN: s.n, Limit: uint32(n)}, blocked: &s.ring.ringPending,
		try: func(_ uint32, err error) { done(err) }})
	s.d.next()
}

// Destroy destroys the queue, which no queue pair may use.
func (s *SRQ) Destroy(done func(error)) {
	s.d.Try(&rnicspec.DestroySRQ{SRQN: s.n}, func(_ uint32, err error) {
		if err == nil {
			s.d.freeSRQ = append(s.d.freeSRQ, s.n)
			err = s.d.arena.Free(s.ring.addr)
		}
		done(err)
	})
}

// Outstanding returns the number of entries without a polled completion entry.
func (s *SRQ) Outstanding() int { return len(s.ids) - len(s.free) }

// Recv writes a receive entry to the ring; RingRecv announces it.
func (s *SRQ) Recv(w *rnicspec.RecvWQE) error {
	b, err := s.ring.slot(0)
	if err != nil {
		return err
	}
	at, id := s.free[len(s.free)-1], w.ID
	s.free = s.free[:len(s.free)-1]
	s.ids[at], s.used[at] = id, true
	w.ID = uint64(at)
	w.Encode(b)
	w.ID = id
	s.ring.store(b)
	return nil
}

// RingRecv rings the doorbell for all receive entries posted.
func (s *SRQ) RingRecv() error { return s.ring.ring() }

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
