package armcache

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Cache is a last-level cache. See the package comment.
type Cache struct {
	*sim.ComponentBase

	watches  mem.Watches
	spec     Spec
	sched    simcore.Scheduler
	memory   mem.Target
	backdoor mem.Backdoor // immediate access to memory's bytes, or nil
	lines    *core.Cache

	queue   fifo.Queue[*transfer] // accesses waiting for their turn, in order of arrival
	free    simcore.Ps            // time from which the pipeline is free for the next turn
	part    int64                 // rounding remainder of the time `free`: fraction of a picosecond, in 1/Rate.Bytes
	wake    simcore.Event
	armed   bool // the event wake is scheduled
	running bool // run is executing: do not call it again
	blocked bool // the head of the queue waits for memory to complete something
	req     core.Request

	idle           []*transfer
	events         simcore.EventPool
	fetching       []*fetch
	idleFetches    []*fetch
	outgoing       []*sent // write-backs and bypassing transfers in flight, in order of issue
	idleWriteBacks []*sent
	idlePast       []*sent

	stats Stats
	err   error
}

// Stats counts accesses and memory traffic of a cache, in bytes. Counters has the counts of lines.
type Stats struct {
	AcceptedBytes uint64 // bytes of reads and writes
	FinishedBytes uint64
	Held          uint64     // bytes of accesses that are not done
	MemoryRead    uint64     // bytes requested from memory
	MemoryWritten uint64     // bytes sent to memory
	Stalls        uint64     // times that the head of the queue had to wait for memory
	Stalled       simcore.Ps // total time that the head of the queue waited for memory
	stalledAt     simcore.Ps
}

// transfer is an access in progress.
type transfer struct {
	a       *mem.Access
	at      int        // bytes whose core.Step has been done
	bypass  int        // offset of the first byte to bypass the cache that has not been sent; -1: none
	waits   int        // memory accesses that the transfer waits for
	hadTurn bool       // the transfer has had a turn in the pipeline
	end     simcore.Ps // time when the pipeline has processed the transfer
	err     error

	// Of a run (a write of several lines, see mem.Runner):
	ended  int        // bytes of the run whose end was reported (mem.Access.Line)
	due    simcore.Ps // end of the lines that `ending` counts
	ending int        // bytes of the run's lines that end at `due`, for which no event is scheduled yet
}

// Stats returns the counters so far.
func (c *Cache) Stats() Stats { return c.stats }

// Counters returns the line counters so far.
func (c *Cache) Counters() core.Counters { return c.lines.Counters }

// CountBuffers makes the counters count lookups of I/O buffers apart, from now on: of lines for whose address isBuffer
// returns true.
func (c *Cache) CountBuffers(isBuffer func(addr uint64) bool) {
	c.lines.IsBuffer = func(line uint64) bool { return isBuffer(line * lineBytes) }
}

// Each calls f for each cached line, in no particular order: with its address, and the agent that it belongs to.
func (c *Cache) Each(f func(addr uint64, owner mem.Agent)) { c.lines.Each(f) }

// Resident returns the number of lines in the cache, and how many of them are dirty.
func (c *Cache) Resident() (lines, dirty int) { return c.lines.Resident() }

// Idle reports whether no access and no request to memory is in flight.
func (c *Cache) Idle() bool {
	return c.stats.Held == 0 && c.queue.Len() == 0 && len(c.fetching) == 0 && len(c.outgoing) == 0
}

// Err returns the error of the first write-back that memory refused, or nil.
func (c *Cache) Err() error { return c.err }

// NotifyRecv implements sim.Component. It has no ports.
func (c *Cache) NotifyRecv(sim.VTimeInSec, sim.Port) {}

// NotifyPortFree implements sim.Component.
func (c *Cache) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

// Check implements mem.Target. Every line that an access touches must lie inside memory, because
// lines are fetched whole.
func (c *Cache) Check(op mem.Op, addr uint64, n int) error {
	if err := c.memory.Check(op, addr, n); err != nil || n == 0 {
		return err
	}
	from := addr &^ (lineBytes - 1)
	if to := (addr + uint64(n) + lineBytes - 1) &^ (lineBytes - 1); from != addr || to != addr+uint64(n) {
		if c.memory.Check(op, from, int(to-from)) != nil {
			return &mem.RangeError{Op: op, Addr: addr, Len: n,
				There: fmt.Sprintf("memory ends inside its line, and %s needs whole lines", c.Name())}
		}
	}
	return nil
}

// Access implements mem.Target.
func (c *Cache) Access(a *mem.Access) {
	if err := a.Verify(c); err != nil {
		a.Finish(err)
		return
	}
	var x *transfer
	if n := len(c.idle); n > 0 {
		x, c.idle = c.idle[n-1], c.idle[:n-1]
	} else {
		x = new(transfer)
	}
	*x = transfer{a: a, bypass: -1}
	c.stats.AcceptedBytes += uint64(len(a.Data))
	c.stats.Held += uint64(len(a.Data))
	c.queue.Push(x)
	c.run()
}

// run gives accesses their turns until the pipeline is busy or the head of the queue must wait for
// memory.
func (c *Cache) run() {
	if c.running || c.armed || c.blocked {
		return
	}
	c.running = true
	now := simcore.Now(c.sched)
	for c.queue.Len() > 0 {
		if c.free > now {
			c.arm(c.free)
			break
		}
		x := *c.queue.Front()
		from := x.at
		if !c.advance(x, c.turn(x)) {
			c.schedule(x)
			c.blocked, c.stats.stalledAt = true, now
			c.stats.Stalls++
			break
		}
		if x.a.Line == nil {
			from = 0
		}
		if x.at == x.a.Len() {
			c.queue.Pop()
		}
		c.charge(x, from, now)
		if x.a.Op == mem.Write {
			c.watches.Notify(x.a.Addr+uint64(from), x.at-from)
		}
		if x.a.Line != nil {
			c.settleLine(x, x.at-from)
		} else {
			c.settle(x)
		}
	}
	c.running = false
}

func (c *Cache) arm(at simcore.Ps) {
	c.armed, c.wake.At = true, at
	c.sched.Schedule(&c.wake)
}

// retryHead lets a blocked head of the queue try again, because memory has completed something.
func (c *Cache) retryHead() {
	if !c.blocked {
		return
	}
	now := simcore.Now(c.sched)
	c.blocked = false
	c.stats.Stalled += now - c.stats.stalledAt
	c.arm(max(now, c.free))
}

// charge occupies the pipeline for the lines that an access touched in this turn: those of its bytes from offset `from`
// to x.at.
func (c *Cache) charge(x *transfer, from int, now simcore.Ps) {
	c.free = max(c.free, now)
	if r := c.spec.Rate; r.Bytes != 0 && len(x.a.Data) > 0 {
		t := int64(mem.Lines(x.a.Addr+uint64(from), x.at-from))*lineBytes*int64(r.Ps) + c.part
		c.free += simcore.Ps(t / r.Bytes)
		c.part = t % r.Bytes
	}
	x.hadTurn, x.end = true, c.free
}

// settle schedules the end of an access once it has had its turn and waits for no memory access.
func (c *Cache) settle(x *transfer) {
	if x.waits > 0 || !x.hadTurn {
		return
	}
	ev := c.events.Get()
	ev.At, ev.H, ev.Arg = max(x.end, simcore.Now(c.sched))+c.spec.HitLatency, c, x
	c.sched.Schedule(ev)
}

// Handle implements sim.Handler: an access is done, or the queue continues.
func (c *Cache) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("armcache: %s: event of type %T: want its own", c.Name(), e)
	}
	if ev == &c.wake {
		c.armed = false
		c.run()
		return c.err
	}
	x, n := ev.Arg.(*transfer), ev.Kind
	c.events.Put(ev)
	if x.a.Line != nil {
		c.endLines(x, n)
		return c.err
	}
	c.finish(x, len(x.a.Data))
	return c.err
}

// finish ends an access; n is the number of its bytes that were not counted as finished before.
func (c *Cache) finish(x *transfer, n int) {
	a, err := x.a, x.err
	*x = transfer{}
	c.idle = append(c.idle, x)
	c.count(n)
	a.Finish(err)
}

func (c *Cache) count(n int) {
	c.stats.FinishedBytes += uint64(n)
	c.stats.Held -= uint64(n)
}

var (
	_ sim.Component = (*Cache)(nil)
	_ mem.Runner    = (*Cache)(nil)
	_ mem.Backdoor  = (*Cache)(nil)
)
