package dram

import (
	"slices"

	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// part is the bytes of an access that are contiguous in one channel.
type part struct {
	x      *transfer
	addr   uint64 // address in the channel, of its first burst
	bank   int
	bursts int
	since  simcore.Ps // when it arrived
}

// bank is a bank of a channel.
type bank struct {
	free    simcore.Ps // when it can open another row
	end     uint64     // where the previous burst ended
	writes  bool       // the previous burst was a write
	waiting *part      // the run of writes waiting for it, or nil
	looked  uint64     // number of the scan (looks) that has found its oldest part
}

// channel schedules one data bus and its banks. It knows the time but no engine: grant says what
// starts now, or when to ask again.
type channel struct {
	t      Timing
	batch  int
	slots  int    // capacity of window
	stripe uint64 // consecutive bytes in one bank
	banks  []bank

	free    simcore.Ps // when the bus is free
	writing bool       // the direction of the bus
	served  int        // bursts since it turned, or since a drain of writes began
	paid    simcore.Ps // until when the writes so far use up their share of time

	window  []*part           // reads to choose from, the oldest first
	reads   fifo.Queue[*part] // reads behind the window
	waiting []*part           // runs of writes, at most one per bank, in order of dispatch
	writes  fifo.Queue[*part] // writes not yet dispatched
	pending int               // bursts of writes, in waiting and writes
	looks   uint64            // calls of first
	wakeAt  simcore.Ps        // time of the scheduled wake-up, plus one; 0: none
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

// dispatch makes the oldest write wait for its bank, or joins it to the run of lines that already
// waits. If neither is possible, the write stays at the head and blocks those behind it. A part
// that has joined is not needed any more.
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

// joins reports whether a write continues, in the same row, where a run of writes ends, and the run
// is still shorter than a drain.
func (c *channel) joins(run, p *part) bool {
	return run.addr+uint64(run.bursts)*burstBytes == p.addr && p.addr&(c.stripe-1) != 0 &&
		run.bursts+p.bursts <= c.batch
}

// ready returns the earliest time at which a part's bank lets it start: a part that continues the
// previous burst finds its row open.
func (c *channel) ready(p *part, write bool) simcore.Ps {
	if c.continues(p, write) {
		return 0
	}
	return c.banks[p.bank].free
}

// continues reports whether a part continues in its row where the previous burst ended.
func (c *channel) continues(p *part, write bool) bool {
	b := &c.banks[p.bank]
	return b.end == p.addr && b.writes == write && p.addr&(c.stripe-1) != 0
}

// first returns the index of the oldest part of a list that can start now, -1 if none can; next is
// when the banks let one start. A bank takes its parts in order.
func (c *channel) first(list []*part, write bool, now simcore.Ps) (i int, next simcore.Ps) {
	c.looks++
	next = simcore.MaxPs
	for i, p := range list {
		if b := &c.banks[p.bank]; b.looked == c.looks {
			continue
		} else {
			b.looked = c.looks
		}
		at := c.ready(p, write)
		if at <= now {
			return i, now
		}
		next = min(next, at)
	}
	return -1, next
}

// grant starts at most one part. It returns the part and when its last byte is on the bus; without
// a part, when to ask again.
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
	if !c.draining() { // the share of time makes writes wait, too
		nextWrite = max(nextWrite, c.paid)
	}
	return nil, false, max(min(nextRead, nextWrite), now+1)
}

// mayWrite reports whether a write that can start goes before a read that might, too.
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

// draining reports whether a drain of writes is in progress.
func (c *channel) draining() bool { return c.writing && c.served < c.batch }

// patience returns how long a write waits for others to be drained with it.
func (c *channel) patience() simcore.Ps { return 2 * simcore.Ps(c.batch) * c.t.WriteCost }

// start puts a part on the bus, and returns when its last byte is there.
func (c *channel) start(p *part, write bool, now simcore.Ps) simcore.Ps {
	begin := now
	if write != c.writing {
		begin = max(now, c.free+c.t.Turnaround)
		c.writing, c.served = write, 0
		c.counts.Turnarounds++
	}
	b, cycle := &c.banks[p.bank], c.t.BankRead
	if write {
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

// pay charges the writes' share of time. A drain that begins late because the bus was busy keeps
// the time that it could have had.
func (c *channel) pay(p *part, now simcore.Ps) {
	if c.served >= c.batch {
		c.served = 0 // a new drain
	}
	c.pending -= p.bursts
	batch := simcore.Ps(c.batch) * c.t.WriteCost
	c.paid = max(c.paid, now-batch) + simcore.Ps(p.bursts)*c.t.WriteCost
}
