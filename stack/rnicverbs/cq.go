package rnicverbs

import (
	"fmt"

	"nictwin/models/rnic/rnicspec"
	"nictwin/stack/driver"
)

// CQ is a completion queue in memory, polled by its owner.
type CQ struct {
	d    *Device
	bus  driver.Bus
	n    uint32
	addr uint64
	log  uint8
	ci   uint32
	qps  []*QP // queue pairs with completions here, by number

	buf     [rnicspec.CQEBytes]byte
	each    func(*rnicspec.CQE)
	done    func(n int)
	read    func(error) // CQ.entryRead; bound once, so that polling allocates nothing
	cqe     rnicspec.CQE
	count   int
	most    int  // entries that the poll takes; 0: all
	busy    bool // a poll is in progress
	looping bool
	waiting bool // a read is in flight
}

// NewCQ creates a completion queue of 2^log entries.
func (d *Device) NewCQ(log uint8) (*CQ, error) { return d.NewCQOn(nil, log) }

// NewCQOn creates a completion queue of 2^log entries that the core of a bus polls; nil: that of the driver.
func (d *Device) NewCQOn(bus driver.Bus, log uint8) (*CQ, error) {
	if log > rnicspec.MaxLogRing {
		return nil, fmt.Errorf("rnicverbs: completion queue of 2^%d entries: want 2^%d at most", log,
			rnicspec.MaxLogRing)
	}
	size := uint64(rnicspec.CQEBytes) << log
	at, err := d.arena.Alloc(size, rnicspec.CQEBytes)
	if err != nil {
		return nil, err
	}
	d.arena.Mark(at, size, driver.UseCompletions)
	c := &CQ{d: d, bus: d.BusOr(bus), n: d.cqn, addr: at, log: log}
	c.read = c.entryRead
	d.cqn++
	held := true // set until the ring is cleared, because later commands may make the NIC write to it
	d.commands.Push(command{cmd: &rnicspec.CreateCQ{CQN: c.n, Log: log, Addr: at},
		blocked: func() bool { return held }})
	d.bus.Write(at, make([]byte, size), func(err error) {
		if err != nil {
			d.fail(err)
		}
		held = false
		d.next()
	})
	return c, nil
}

// Num returns the number of the completion queue.
func (c *CQ) Num() uint32 { return c.n }

// Poll calls function each for every completion entry that has arrived, and then function done with the number of these
// entries. It returns an error if the previous Poll has not ended.
func (c *CQ) Poll(each func(*rnicspec.CQE), done func(n int)) error { return c.PollMost(0, each, done) }

// PollMost polls as Poll does, but ends after so many entries; 0: when none is left.
func (c *CQ) PollMost(most int, each func(*rnicspec.CQE), done func(n int)) error {
	if c.busy {
		return fmt.Errorf("rnicverbs: completion queue %d is being polled: want that ended first", c.n)
	}
	c.busy, c.each, c.done, c.count, c.most = true, each, done, 0, most
	c.readEntries()
	return nil
}

// serve assigns completion entries with QPN n to a queue pair; q nil ends that.
func (c *CQ) serve(n uint32, q *QP) {
	if missing := int(n) + 1 - len(c.qps); missing > 0 {
		c.qps = append(c.qps, make([]*QP, missing)...)
	}
	c.qps[n] = q
}

// Follow calls f after every write of the NIC to the completion queue. stop ends that.
func (c *CQ) Follow(f func()) (stop func(), err error) {
	return c.bus.Watch(c.addr, rnicspec.CQEBytes<<c.log, f)
}

// readEntries reads entries until it finds one that has not arrived, or a read takes time.
func (c *CQ) readEntries() {
	c.looping = true
	for c.busy && !c.waiting {
		c.waiting = true
		c.bus.Read(c.addr+uint64(c.ci&(1<<c.log-1))*rnicspec.CQEBytes, c.buf[:], c.read)
	}
	c.looping = false
}

// end ends a poll.
func (c *CQ) end() {
	c.busy = false
	if c.done != nil {
		c.done(c.count)
	}
}

// entryRead handles the end of a read of an entry.
func (c *CQ) entryRead(err error) {
	c.waiting = false
	if err != nil {
		c.d.fail(err)
	}
	c.cqe.Decode(c.buf[:])
	if err != nil || c.cqe.Phase != (c.ci>>c.log&1 == 0) {
		c.end()
		return
	}
	c.ci++
	c.count++
	if n := int(c.cqe.QPN); n < len(c.qps) && c.qps[n] != nil {
		c.qps[n].ended(&c.cqe)
	}
	if c.each != nil {
		c.each(&c.cqe)
	}
	if c.most > 0 && c.count == c.most {
		c.end()
		return
	}
	if !c.looping {
		c.readEntries()
	}
}
