package data

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

// cq is the end of a completion queue at one core, which fills it.
type cq struct {
	c      *core
	pipe   pipe.Sender
	from   uint64                      // Arm memory where elements are staged
	held   fifo.Queue[pipe.Completion] // completions for which the pipe had no room
	line   [pipe.LineBytes]byte
	queued bool // the queue is in core.fullCQs
	dirty  bool // the queue is in core.dirtyCQs
}

// OpenCQ makes a core fill a completion queue through a pipe whose ring is in host memory. Call it before queue pairs
// of that core use the completion queue.
func (a *Card) OpenCQ(number uint32, core int, at pipe.Place) error {
	c := a.cores[core]
	if c.cqs[number] != nil {
		return fmt.Errorf("data: completion queue %d of core %d: it is open", number, core)
	}
	s := a.spec.Completions()
	n := uint64(s.Bytes())
	low := min(at.Ring, at.Counter)
	span := max(at.Ring+n, at.Counter+counterBytes) - low
	from, err := c.pipes.Alloc(span, nicspec.LineBytes)
	if err != nil {
		return verbs.Errorf("create_cq", verbs.ENOMEM, "memory of data core %d: %v", core, err)
	}
	c.pipes.Mark(from+at.Ring-low, n, driver.UseCompletions)
	c.pipes.Mark(from+at.Counter-low, counterBytes, driver.UseDoorbells)
	p, err := pipe.NewProducer(s, at, pipe.NewStaged(c.cpu, &c.copies, from, low, span))
	if err != nil {
		return errors.Join(err, c.pipes.Free(from))
	}
	c.cqs[number] = &cq{c: c, pipe: p, from: from}
	return nil
}

// CloseCQ closes a core's pipe of a completion queue. None of the core's queue pairs may use the queue any more.
func (a *Card) CloseCQ(number uint32, core int) error {
	c := a.cores[core]
	q := c.cqs[number]
	if q == nil {
		return fmt.Errorf("data: completion queue %d of core %d: it is not open", number, core)
	}
	delete(c.cqs, number)
	return c.pipes.Free(q.from)
}

const counterBytes = 8

// push adds a completion to the pipe or, if that is full, to queue `held`.
func (q *cq) push(w *pipe.Completion) {
	q.c.stats.Completions++
	if q.held.Len() == 0 && q.try(w) {
		return
	}
	q.c.stats.HeldBack++
	q.held.Push(*w)
	if !q.queued {
		q.queued = true
		q.c.fullCQs.Push(q)
		q.c.timer.WakeAt(simcore.Ps(q.c.now()) + q.c.spec.Retry)
	}
}

// forget drops the completions of a queue pair that have not been pushed.
func (q *cq) forget(qpn uint32) {
	for range q.held.Len() {
		if w := q.held.Pop(); w.QPN != qpn {
			q.held.Push(w)
		}
	}
}

// try pushes a completion; it returns false if the pipe is full.
func (q *cq) try(w *pipe.Completion) bool {
	w.Encode(q.line[:])
	err := q.pipe.Push(q.line[:])
	if errors.Is(err, verbs.ENOMEM) {
		return false
	}
	q.c.failCQ(err)
	if !q.dirty {
		q.dirty = true
		q.c.dirtyCQs = append(q.c.dirtyCQs, q)
		q.c.work.Wake()
	}
	return true
}

// flushCQs sends the completions that were collected.
func (c *core) flushCQs() {
	for _, q := range c.dirtyCQs {
		q.dirty = false
		c.failCQ(q.pipe.Flush())
	}
	c.dirtyCQs = c.dirtyCQs[:0]
}

func (c *core) failCQ(err error) {
	if err != nil {
		c.fail(fmt.Errorf("pipe of completions: %w", err))
	}
}

// retry pushes completions that found their pipes full, as far as there is room now.
func (c *core) retry() {
	for range c.fullCQs.Len() {
		q := c.fullCQs.Pop()
		for q.held.Len() > 0 && q.try(q.held.Front()) {
			q.held.Pop()
		}
		if q.queued = q.held.Len() > 0; q.queued {
			c.fullCQs.Push(q)
		}
	}
	if c.fullCQs.Len() > 0 {
		c.timer.WakeAt(simcore.Ps(c.now()) + c.spec.Retry)
	}
}
