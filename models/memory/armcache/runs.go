package armcache

import (
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
)

// TakesRun implements mem.Runner. The lines of a run take their turns one after the other, as
// single accesses would; lines that end at the same time share an event.
func (c *Cache) TakesRun(uint64, int) bool { return true }

// turn returns how many bytes of an access are done after its next turn.
func (c *Cache) turn(x *transfer) int {
	n := x.a.Len()
	if x.a.Line == nil {
		return n
	}
	return x.at + mem.InLine(x.a.Addr+uint64(x.at), n-x.at)
}

// settleLine records the end of a line of a run that has had its turn. A core's write waits for
// nothing.
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

// schedule schedules the recorded ends of lines. It must come before memory is accessed, so that
// the order of events within one instant is that of single accesses.
func (c *Cache) schedule(x *transfer) {
	if x.ending == 0 {
		return
	}
	ev := c.events.Get()
	ev.At, ev.H, ev.Arg, ev.Kind = x.due, c, x, x.ending
	x.ending = 0
	c.sched.Schedule(ev)
}

// endLines ends lines of a run, n bytes in all.
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
