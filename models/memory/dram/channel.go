package dram

import (
	"slices"

	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// part is the contiguous piece of an access that lies in one channel.
type part struct {
	x      *transfer
	addr   uint64 // address, within the channel, of the part's first burst
	bank   int
	bursts int
	since  simcore.Ps // time of arrival
	load   bool       // of a background load (DRAM.Background)
}

// bank is the state of one bank of a channel.
type bank struct {
	free    simcore.Ps // time from which the bank can open another row
	end     uint64     // address behind the previous burst
	writes  bool       // the previous burst was a write
	waiting *part      // run of writes that waits for the bank, or nil
	scan    uint64     // number of the scan (see channel.scans) that has seen the oldest part of this bank already
}

// channel schedules one data bus and its banks. It does not know the engine: grant is given the
// time, and returns what starts now or when to call it again.
type channel struct {
	t      Timing
	batch  int
	slots  int    // largest number of reads in window
	stripe uint64 // number of consecutive bytes in one bank
	banks  []bank

	free    simcore.Ps // time from which the bus is free
	writing bool       // the bus is turned to writes
	served  int        // bursts since the bus turned, or since a drain of writes began
	paid    simcore.Ps // outside a drain no write starts earlier: the writes so far have used up the time before

	window  []*part           // reads that the scheduler chooses from, oldest first
	reads   fifo.Queue[*part] // reads that `window` has no room for yet
	waiting []*part           // runs of writes, at most one per bank, in order of dispatch
	writes  fifo.Queue[*part] // writes that wait to be dispatched
	pending int               // bursts in waiting and writes
	scans   uint64            // number of scans (calls of first) so far
	wakeAt  simcore.Ps        // time of the scheduled wake-up plus one; 0: none
	moved   [2]uint64         // bursts read and written
	counts  *Counters
}

func newChannel(s Spec, counts *Counters) channel {
	return channel{
		t: s.Timing(), batch: s.Batch, slots: s.Window, stripe: s.stripe(), banks: make([]bank, s.Banks),
		window: make([]*part, 0, s.Window), waiting: make([]*part, 0, s.Banks), counts: counts,
	}
}

func (c *channel) idle() bool { return len(c.window) == 0 && len(c.waiting) == 0 }

// read accepts a part of a read.
func (c *channel) read(p *part) {
	if len(c.window) < c.slots {
		c.window = append(c.window, p)
		return
	}
	c.reads.Push(p)
}

// write accepts a part of a write.
func (c *channel) write(p *part) {
	c.pending += p.bursts
	c.writes.Push(p)
}

// dispatch makes the oldest write wait for its bank, or appends it to the run of writes that
// already waits there. If neither is possible, the write stays at the head of the queue and blocks
// those behind it. A part that has joined a run is no longer needed.
func (c *channel) dispatch() (p *part, joined bool) {
	if c.writes.Len() == 0 {
		return nil, false
	}
	p = *c.writes.Front()
	switch run := c.banks[p.bank].waiting; {
	case run == nil:
		c.banks[p.bank].waiting = p
		c.waiting = append(c.waiting, p)
	case c.joins(run, p):
		run.bursts += p.bursts
		c.counts.Joined++
		joined = true
	default:
		return nil, false
	}
	c.writes.Pop()
	return p, joined
}

// joins reports whether a write can be appended to a run: it continues in the same row, together they
// have at most `batch` bursts, and both or neither are of a background load.
func (c *channel) joins(run, p *part) bool {
	return run.load == p.load && run.addr+uint64(run.bursts)*burstBytes == p.addr && p.addr&(c.stripe-1) != 0 &&
		run.bursts+p.bursts <= c.batch
}

// ready returns the earliest time at which a part's bank lets it start. A part that continues the
// previous burst finds its row open.
func (c *channel) ready(p *part, write bool) simcore.Ps {
	if c.continues(p, write) {
		return 0
	}
	return c.banks[p.bank].free
}

// continues reports whether a part begins where the previous burst of its bank ended, in the same
// row and direction.
func (c *channel) continues(p *part, write bool) bool {
	b := &c.banks[p.bank]
	return b.end == p.addr && b.writes == write && p.addr&(c.stripe-1) != 0
}

// first returns the index in a list of the oldest part of an access that can start now; -1 if none can. Each bank takes
// its parts in order. `next` is the earliest time at which a part may start.
func (c *channel) first(list []*part, write bool, now simcore.Ps) (i int, next simcore.Ps) {
	c.scans++
	next = simcore.MaxPs
	for i, p := range list {
		if b := &c.banks[p.bank]; b.scan == c.scans {
			continue
		} else {
			b.scan = c.scans
		}
		at := c.ready(p, write)
		if at <= now {
			return i, now
		}
		next = min(next, at)
	}
	return -1, next
}

// grant starts at most one part. It returns the part and the time of its last byte on the bus;
// without a part, the time to call it again.
func (c *channel) grant(now simcore.Ps) (p *part, write bool, at simcore.Ps) {
	if now < c.free {
		return nil, false, c.free
	}
	r, nextRead := c.first(c.window, false, now)
	w, nextWrite := c.first(c.waiting, true, now)
	if w >= 0 && c.mayWrite(r >= 0, now) {
		p := c.waiting[w]
		c.waiting = slices.Delete(c.waiting, w, w+1)
		return p, true, c.start(p, true, now)
	}
	if r >= 0 {
		p := c.window[r]
		c.window = slices.Delete(c.window, r, r+1)
		if c.reads.Len() > 0 {
			c.window = append(c.window, c.reads.Pop())
		}
		return p, false, c.start(p, false, now)
	}
	if !c.draining() { // outside a drain, writes also wait until time c.paid, to keep to their share of time
		nextWrite = max(nextWrite, c.paid)
	}
	return nil, false, max(min(nextRead, nextWrite), now+1)
}

// mayWrite reports whether a write that can start now goes before the reads; readReady is set if a
// read can start, too.
func (c *channel) mayWrite(readReady bool, now simcore.Ps) bool {
	if c.draining() {
		return true
	}
	if c.paid > now {
		return false
	}
	if !readReady {
		return true
	}
	return !c.writing && c.served >= c.batch && (c.pending >= c.batch || now-c.waiting[0].since >= c.patience())
}

// draining reports whether a batch of writes is being drained.
func (c *channel) draining() bool { return c.writing && c.served < c.batch }

// patience returns how long a write waits for others to be drained with it.
func (c *channel) patience() simcore.Ps { return 2 * simcore.Ps(c.batch) * c.t.WriteCost }

// start puts a part on the bus, and returns the time of its last byte.
func (c *channel) start(p *part, write bool, now simcore.Ps) simcore.Ps {
	begin := now
	if write != c.writing {
		begin = max(now, c.free+c.t.Turnaround)
		c.writing, c.served = write, 0
		c.counts.Turnarounds++
	}
	b, cycle := &c.banks[p.bank], c.t.BankRead
	if !write {
		c.moved[0] += uint64(p.bursts)
	} else {
		c.moved[1] += uint64(p.bursts)
		cycle = c.t.BankWrite
		b.waiting = nil
		c.pay(p, now)
	}
	if b.free > now {
		c.counts.RowHits++
	}
	c.served += p.bursts
	more := simcore.Ps(p.bursts-1) * c.t.Burst
	b.free, b.end, b.writes = begin+cycle+more, p.addr+uint64(p.bursts)*burstBytes, write
	c.free = begin + more + c.t.Burst
	c.counts.Waited += begin - p.since
	c.counts.LongestWait = max(c.counts.LongestWait, begin-p.since)
	return c.free
}

// pay charges a part to the writes' share of time. Writes keep what they did not use of their share, up to
// the time of one batch: a drain that began late because the bus was busy loses nothing.
func (c *channel) pay(p *part, now simcore.Ps) {
	if c.served >= c.batch {
		c.served = 0 // a new drain begins
	}
	c.pending -= p.bursts
	batch := simcore.Ps(c.batch) * c.t.WriteCost
	c.paid = max(c.paid, now-batch) + simcore.Ps(p.bursts)*c.t.WriteCost
}
