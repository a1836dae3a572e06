package data

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/transport"
	"nictwin/stack/verbs"
)

// linesBytes is the size of a core's staging lines.
const linesBytes = 1 << 16

// copies is the core's transmit queue for copies and invalidations. It also manages staging lines, through which data
// other than packets gets to or from the host.
type copies struct {
	c           *core
	q           *driver.TxQueue
	inFlight    fifo.Queue[job] // jobs in the ring, oldest first
	waiting     fifo.Queue[job] // jobs that wait for the work loop, or for a place in the ring
	lines       []uint64        // free staging lines
	lineWaiters fifo.Queue[func()]

	copy    driver.Copy
	drop    driver.Invalidate
	nothing driver.Nop
}

// job is an entry of the ring, with the actions to take when it ends.
type job struct {
	dst, src   driver.Span // dst without key: an invalidation of src; both without: a NOP
	invalidate bool        // invalidate the lines of src after the copy
	fence      bool        // write only after the jobs before this one have written
	packet     int32       // handle of the packet concerned, plus 1; 0: none
	q          *qp         // queue pair that counts this job in its field `copies`; nil: none
	token      transport.Token
	staged     *staged     // packet whose payload the job fetches, or whose lines it invalidates; nil: none
	line       uint64      // address of the staging line to free; 0: no line
	then       func(error) // called when the job has ended; may be nil
}

func (c *core) openCopies(at uint64) (err error) {
	x := &c.copies
	x.c = c
	for i := uint64(0); i < linesBytes; i += nicspec.LineBytes {
		x.lines = append(x.lines, at+i)
	}
	x.q, err = c.card.drv.OpenTx(driver.TxConfig{
		QueueConfig: c.queue(c.txNumber(c.card.ports), c.spec.LogCopy),
		PushBlocks:  c.spec.PushBlocks,
		OnEnd:       func(_ *driver.TxQueue, e *driver.TxEnd) { x.ended(e) },
		OnEvent: func(_ *driver.TxQueue, e driver.Event) {
			c.fail(fmt.Errorf("queue of copies: it has failed with status %v", e.Status))
		},
	})
	return err
}

// add queues a job, which the work loop posts.
func (x *copies) add(j job) {
	if j.q != nil {
		j.q.copies++
	}
	x.waiting.Push(j)
	x.c.work.Wake()
}

// post posts a job as the work entry that it needs: NOP, invalidation or copy. `last` requests a completion entry, for
// this job and those before it.
func (x *copies) post(j job, last bool) {
	x.copy.Complete, x.drop.Complete, x.nothing.Complete = last, last, last
	var err error
	switch {
	case j.src.Key == nil:
		err = x.q.Post(&x.nothing)
	case j.dst.Key == nil:
		x.drop.Range = j.src
		err = x.q.Post(&x.drop)
	default:
		x.copy.Dst, x.copy.Src, x.copy.Invalidate, x.copy.Fence = j.dst, j.src, j.invalidate, j.fence
		x.c.stats.Copied += uint64(j.src.Len)
		err = x.q.Post(&x.copy)
	}
	if err != nil {
		x.c.fail(fmt.Errorf("queue of copies: %w", err))
		return
	}
	x.inFlight.Push(j)
}

// invalidate drops the lines of a packet's buffer from the cache.
func (x *copies) invalidate(s driver.Span, h transport.Handle) {
	x.add(job{src: s, packet: int32(h) + 1})
}

// nop calls done when all earlier jobs have ended.
func (x *copies) nop(done func()) {
	x.c.flushCQs()
	x.add(job{then: func(error) { done() }})
}

// ring posts the jobs that wait, as far as there is room, with one doorbell for all and completion entries for one of
// every Spec.Every jobs and for the last.
func (x *copies) ring() bool {
	n := min(x.waiting.Len(), x.q.Room())
	if n == 0 {
		return false
	}
	for i := 1; i <= n && x.c.err == nil; i++ {
		x.post(x.waiting.Pop(), i == n || i%x.c.spec.Every == 0)
	}
	x.c.fail(x.q.Ring())
	return true
}

func (x *copies) idle() bool { return x.inFlight.Len() == 0 && x.waiting.Len() == 0 }

// ended handles a completion entry.
func (x *copies) ended(e *driver.TxEnd) {
	var err error
	if s := e.Cqe.Status(); s != nicspec.StatusOk {
		err = fmt.Errorf("a copy ended with status %v", s)
	}
	for i := range e.N {
		x.c.cpu.ComputeAs(cpu.Touch, x.c.spec.Touch)
		if i < e.N-1 {
			x.end(x.inFlight.Pop(), nil) // a copy that fails has a completion entry of its own
		} else {
			x.end(x.inFlight.Pop(), err)
		}
	}
	if x.waiting.Len() > 0 {
		x.c.work.Wake()
	}
}

// end takes the actions due at the end of a job.
func (x *copies) end(j job, err error) {
	c := x.c
	if j.line != 0 {
		x.free(j.line)
	}
	if j.packet != 0 {
		if err != nil && j.dst.Key == nil {
			c.fail(fmt.Errorf("queue of copies: %w", err)) // an invalidation has no reason to fail
		}
		c.copied(transport.Handle(j.packet - 1))
	}
	if j.staged != nil {
		c.staging.copied(j.staged, err)
	}
	if j.then != nil {
		j.then(err)
	}
	if j.q == nil {
		return
	}
	if j.q.copies--; j.token != 0 {
		j.q.placed(j.token, err)
	}
	j.q.destroyIfIdle()
}

// withLine calls f with a staging line, at once or when one is free.
func (x *copies) withLine(f func(at uint64)) {
	if len(x.lines) == 0 {
		x.lineWaiters.Push(func() { x.withLine(f) })
		return
	}
	last := len(x.lines) - 1
	at := x.lines[last]
	x.lines = x.lines[:last]
	f(at)
}

func (x *copies) free(at uint64) {
	x.lines = append(x.lines, at)
	if x.lineWaiters.Len() > 0 {
		x.lineWaiters.Pop()()
	}
}

// placed reports the end of a copy to the connection, once all copies of its packet have ended.
func (q *qp) placed(t transport.Token, err error) {
	if n, several := q.parts[t]; several {
		n.left, n.failed = n.left-1, n.failed || err != nil
		if n.left > 0 {
			q.parts[t] = n
			return
		}
		delete(q.parts, t)
		if n.failed && err == nil {
			err = errPart
		}
	}
	status := verbs.WCSuccess
	if err != nil {
		status = verbs.WCGeneralErr
	}
	q.conn.Placed(q.core.now(), t, status)
	q.core.wake(q)
}

var errPart = errors.New("another part of the packet could not be copied")

// split tracks a packet whose parts are copied separately.
type split struct {
	left   int
	failed bool
}
