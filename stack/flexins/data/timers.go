package data

import (
	"container/heap"

	"nictwin/models/server/cpu"
	"nictwin/models/sim/simcore"
	"nictwin/stack/transport"
)

// timers is a heap of connection deadlines, earliest first. An entry may be earlier than its connection's deadline;
// when it runs out it is put back with the true one.
type timers []timer

// timer is an entry of the heap: a queue pair and a time not after its deadline.
type timer struct {
	at transport.Ps
	q  *qp
}

// Len implements heap.Interface.
func (t timers) Len() int { return len(t) }

// Less implements heap.Interface: queue pairs with equal deadlines are ordered by number.
func (t timers) Less(i, k int) bool {
	return t[i].at < t[k].at || t[i].at == t[k].at && t[i].q.config.QPN < t[k].q.config.QPN
}

// Swap implements heap.Interface.
func (t timers) Swap(i, k int) {
	t[i], t[k] = t[k], t[i]
	t[i].q.timerIndex, t[k].q.timerIndex = i, k
}

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	e := *x.(*timer)
	e.q.timerIndex = len(*t)
	*t = append(*t, e)
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := len(*t) - 1
	q := (*t)[last].q
	q.timerIndex = -1
	*t = (*t)[:last]
	return q
}

// rearm updates the heap after the deadline of a connection may have changed.
func (c *core) rearm(q *qp) {
	if q.conn == nil {
		return
	}
	at := q.conn.Deadline()
	switch {
	case at == transport.Never:
		c.disarm(q)
		return
	case q.timerIndex < 0:
		c.entry = timer{at, q}
		heap.Push(&c.timers, &c.entry)
	case at < c.timers[q.timerIndex].at:
		c.timers[q.timerIndex].at = at
		heap.Fix(&c.timers, q.timerIndex)
	default:
		return
	}
	if c.timers[0].q == q {
		c.timer.WakeAt(simcore.Ps(at))
	}
}

// disarm removes a queue pair that has no deadline. After the last one the timer loop sleeps.
func (c *core) disarm(q *qp) {
	if q.timerIndex < 0 {
		return
	}
	heap.Remove(&c.timers, q.timerIndex)
	if len(c.timers) == 0 && c.fullCQs.Len() == 0 {
		c.timer.Disarm()
	}
}

// expire handles the deadlines that have passed; it is the step of the timer loop.
func (c *core) expire() bool {
	found := false
	now := c.now()
	for len(c.timers) > 0 && c.timers[0].at <= now && c.err == nil {
		q := heap.Pop(&c.timers).(*qp)
		if at := q.conn.Deadline(); at <= now {
			found = true
			c.cpu.ComputeAs(cpu.Touch, c.spec.Touch)
			q.conn.Expire(now)
			c.wake(q) // the work loop arms the timer again after asking the queue pair for packets
		} else {
			c.rearm(q)
		}
	}
	c.retry()
	if len(c.timers) > 0 {
		c.timer.WakeAt(simcore.Ps(c.timers[0].at))
	}
	return found
}
