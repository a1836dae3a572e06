// Package copyengine moves the bytes of pipes with the copy engine of the contract NIC (docs/nic.md, section 17): it is
// a pipe.Copier over its own transmit queue.
//
// When done is called for a copy, its source has been read and its writes have left. If the endpoints have separate
// roots, the writes may become visible at the other endpoint later, but never after those of a later copy of the same
// engine.
//
// It does not split copies: one longer than the NIC allows ends with an error.
//
// Invariants:
//   - Copies end in the order of the calls, each exactly once.
//   - In steady state nothing allocates.
package copyengine

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
	"nictwin/stack/pipe"
)

// Engine is a transmit queue of the NIC that only copies.
type Engine struct {
	q        *driver.TxQueue
	keys     []*driver.Key
	entry    driver.Copy
	inFlight fifo.Queue[func(error)] // copies in the ring, oldest first
	waiting  fifo.Queue[job]         // copies that wait for a place in the ring
	err      error
}

// job is a copy that waits for a place in the ring.
type job struct {
	to, from uint64
	n        int
	done     func(error)
}

// Open opens a queue for copies between memory ranges that have keys. OnEnd and OnEvent of the config are reserved for
// the engine.
func Open(d *driver.Driver, c driver.TxConfig, keys ...*driver.Key) (*Engine, error) {
	if c.OnEnd != nil || c.OnEvent != nil {
		return nil, fmt.Errorf("copyengine: transmit queue %d: want no OnEnd and no OnEvent, which are the engine's",
			c.Queue)
	}
	e := &Engine{keys: keys}
	e.entry.Complete, c.PushBlocks = true, 1
	c.OnEnd = func(_ *driver.TxQueue, end *driver.TxEnd) { e.ended(end) }
	c.OnEvent = func(_ *driver.TxQueue, ev driver.Event) {
		e.fail(fmt.Errorf("copyengine: transmit queue %d has failed: %v", c.Queue, ev.Status))
	}
	var err error
	e.q, err = d.OpenTx(c)
	return e, err
}

// Add allows copies to use another memory range. The key must exist as long as the engine.
func (e *Engine) Add(k *driver.Key) { e.keys = append(e.keys, k) }

// Copy implements pipe.Copier: both addresses are bus addresses [P1].
func (e *Engine) Copy(to, from uint64, n int, done func(error)) {
	if e.err != nil {
		done(e.err)
		return
	}
	if e.waiting.Len() > 0 || e.q.Room() == 0 {
		e.waiting.Push(job{to, from, n, done})
		return
	}
	e.post(job{to, from, n, done})
}

// post posts a copy to the NIC.
func (e *Engine) post(j job) {
	var okTo, okFrom bool
	e.entry.Dst, okTo = e.span(j.to, j.n)
	e.entry.Src, okFrom = e.span(j.from, j.n)
	if !okTo || !okFrom {
		j.done(fmt.Errorf("copyengine: %d B from %#x to %#x: want ranges that one key each covers", j.n, j.from, j.to))
		return
	}
	if err := e.q.Post(&e.entry); err != nil {
		j.done(err)
		return
	}
	e.inFlight.Push(j.done)
	if err := e.q.Ring(); err != nil {
		e.fail(err)
	}
}

func (e *Engine) span(addr uint64, n int) (driver.Span, bool) {
	for _, k := range e.keys {
		if addr >= k.Bus && uint64(n) <= k.Len && addr-k.Bus <= k.Len-uint64(n) {
			return driver.Span{Key: k, Off: addr - k.Bus, Len: uint32(n)}, true
		}
	}
	return driver.Span{}, false
}

// ended handles a completion entry; every copy requests one.
func (e *Engine) ended(end *driver.TxEnd) {
	var err error
	if s := end.Cqe.Status(); s != nicspec.StatusOk {
		err = fmt.Errorf("copyengine: a copy ended with status %v", s)
	}
	for range end.N {
		e.inFlight.Pop()(err)
	}
	for e.waiting.Len() > 0 && e.q.Room() > 0 && e.err == nil {
		e.post(e.waiting.Pop())
	}
}

// fail ends all copies with an error.
func (e *Engine) fail(err error) {
	e.err = err
	for e.inFlight.Len() > 0 {
		e.inFlight.Pop()(err)
	}
	for e.waiting.Len() > 0 {
		e.waiting.Pop().done(err)
	}
}

var _ pipe.Copier = (*Engine)(nil)
