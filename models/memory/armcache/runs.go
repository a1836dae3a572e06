package armcache

import (
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// TakesRun implements mem.Runner. The lines of a run take their turns one after the other, as
// single accesses would; lines that end at the same time share an event.
func (c *Cache) TakesRun(uint64, int) bool { return true }

// turn returns how many bytes of an access will be done after its next turn: all, or one line more
// of a run.
func (c *Cache) turn(x *transfer) int {
	n := x.a.Len()
	if x.a.Line == nil {
		return n
	}
	return x.at + mem.InLine(x.a.Addr+uint64(x.at), n-x.at)
}

// settleLine records the end of the write to one line of a run, after the line's turn in the cache.
// Like any write of a core, it ends without waiting for a memory access.
func (c *Cache) settleLine(x *transfer, n int) {
	if x.ending > 0 && x.due != c.free+c.spec.HitLatency {
		c.schedule(x)
	}
	x.due = c.free + c.spec.HitLatency
	x.ending += n
	if x.at == len(x.a.Data) || c.free > simcore.Now(c.sched) {
		c.schedule(x)
	}
}

// schedule schedules the recorded line ends. Call it before accessing memory, so that events of one
// instant are ordered as they are for single accesses.
func (c *Cache) schedule(x *transfer) {
	if x.ending == 0 {
		return
	}
	ev := c.events.Get()
	ev.At, ev.H, ev.Arg, ev.Kind = x.due, c, x, x.ending
	x.ending = 0
	c.sched.Schedule(ev)
}

// endLines reports the end of a run's next n bytes, line by line.
func (c *Cache) endLines(x *transfer, n int) {
	for n > 0 {
		a := x.a
		k := mem.InLine(a.Addr+uint64(x.ended), n)
		n -= k
		if x.ended += k; x.ended == len(a.Data) {
			c.finish(x, k)
			return
		}
		c.count(k)
		a.Line(a, k, n > 0)
	}
}
