package dram

import (
	"slices"

	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// part is the bytes of an access that lie together in one channel.
type part struct {
	x      *transfer
	addr   uint64 // in the channel, of its first burst
	bank   int
	bursts int
	since  simcore.Ps // when it came
}

// bank is a bank of a channel.
type bank struct {
	free    simcore.Ps // when it can open another row
	end     uint64     // where the burst before ended
	writes  bool       // the burst before was a write
	waiting *part      // the run of writes that waits for it, or nil
	looked  uint64     // the look at parts that has found its oldest
}

// channel schedules one data bus and its banks. It knows the time, and no
// engine: grant says what starts now, or when to ask again.
type channel struct {
	t      Timing
	batch  int
	slots  int    // reads among which it chooses
	stripe uint64 // consecutive bytes in one bank
	banks  []bank

	free    simcore.Ps // when the bus is free
	writing bool       // the direction of the bus
	served  int        // bursts since it turned, or since a drain of writes began
	paid    simcore.Ps // until when the writes so far use up their share of time

	window  []*part           // reads among which it chooses, the oldest first
	reads   fifo.Queue[*part] // those behind them
	waiting []*part           // runs of writes, at most one of a bank, in order of dispatch
	writes  fifo.Queue[*part] // those that are not dispatched
	pending int               // bursts of writes, in both
	looks   uint64            // calls of first
	wakeAt  simcore.Ps        // when it is asked again, plus one; 0: not
	counts  *Counters
}

func newChannel(s Spec, counts *Counters) channel {
	return channel{
		t: s.Timing(), batch: s.Batch, slots: s.Window, stripe: s.stripe(), banks: make([]bank, s.Banks),
		window: make([]*part, 0, s.Window), waiting: make([]*part, 0, s.Banks), counts: counts,
	}
}

func (c *channel) idle() bool { return len(c.window) == 0 && len(c.waiting) == 0 }

// read takes a part of a read.
func (c *channel) read(p *part) {
	if len(c.window) < c.slots {
		c.window = append(c.window, p)
		return
	}
	c.reads.Push(p)
}

// write takes a part of a write.
func (c *channel) write(p *part) {
	c.pending += p.bursts
	c.writes.Push(p)
}

// dispatch lets the oldest write wait for its bank, or join the run of lines
// that does. If it can do neither, it waits itself, and those behind it. A part
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

// joins reports whether a write goes on where a run of writes ends, in the same
// row, and the run is not yet as long as a drain.
func (c *channel) joins(run, p *part) bool {
	return run.addr+uint64(run.bursts)*burstBytes == p.addr && p.addr&(c.stripe-1) != 0 &&
		run.bursts+p.bursts <= c.batch
}

// ready is the earliest time from which a part could start, as for its bank:
// one that continues the burst before finds its row open.
func (c *channel) ready(p *part, write bool) simcore.Ps {
	if c.continues(p, write) {
		return 0
	}
	return c.banks[p.bank].free
}

// continues reports whether a part goes on in its row where the burst before
// ended.
func (c *channel) continues(p *part, write bool) bool {
	b := &c.banks[p.bank]
	return b.end == p.addr && b.writes == write && p.addr&(c.stripe-1) != 0
}

// first is the oldest part of a list that can start now, -1 if none can; next
// is when one can, as for banks. A bank takes its parts in their order.
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

// grant starts at most one part. It returns the part and when the last of its
// bytes is on the bus; without one, when to ask again.
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

// mayWrite reports whether a write that could start is to start, though a read
// might could, too.
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

// draining reports whether a drain of writes has begun and is not over.
func (c *channel) draining() bool { return c.writing && c.served < c.batch }

// patience is how long a write waits for others to be drained with it.
func (c *channel) patience() simcore.Ps { return 2 * simcore.Ps(c.batch) * c.t.WriteCost }

// start puts a part on the bus, and returns when the last of its bytes is there.
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

// pay uses up the writes' share of time. A drain that begins late, since the
// bus was busy, does not lose what it could have had.
func (c *channel) pay(p *part, now simcore.Ps) {
	if c.served >= c.batch {
		c.served = 0 // another drain
	}
	c.pending -= p.bursts
	batch := simcore.Ps(c.batch) * c.t.WriteCost
	c.paid = max(c.paid, now-batch) + simcore.Ps(p.bursts)*c.t.WriteCost
}
