package rnic

import "nictwin/models/rnic/core"

// enter lets a request ask for its context, or bars it if it would overtake another. Contexts are
// thus given in an order in which the requests of a queue pair take effect in order; a barred
// request holds no context.
func (c *Comp) enter(op *rxOp) {
	q := op.q
	// Where nothing waits for a context and no atomic is in flight, nothing is barred either: the
	// check can be skipped.
	if q.atomics == 0 && c.contexts.ready(op.context) || q.barred.Len() == 0 && !op.overtakes() {
		c.ask(op)
		return
	}
	q.barred.Push(op)
}

// overtakes reports whether a request would take effect before an earlier one of its queue pair:
// one that waits for a context of the other endpoint, or an atomic, which has read before it
// writes. Atomics follow each other anyway.
func (op *rxOp) overtakes() bool {
	q := op.q
	return q.queued[1-op.context] > 0 || q.atomics > 0 && !op.atomic()
}

// atomic reports whether a request is an atomic to be carried out.
func (op *rxOp) atomic() bool { return op.e.Reply.Kind == core.AtomicReply }

// ask asks for a request's context.
func (c *Comp) ask(op *rxOp) {
	if op.atomic() {
		op.q.atomics++
	}
	if op.waits = !c.contexts.has(op.context); op.waits {
		op.q.queued[op.context]++
	}
	c.take(op.context, op)
}

// granted implements holder.
func (op *rxOp) granted(c *Comp) {
	c.rx.granted.Push(op)
	c.after(c.now()+c.spec.Contexts.Hold, kindHeld, nil)
	if op.waits {
		op.q.queued[op.context]--
		c.unbar(op.q)
	}
}

// unbar admits barred requests of a queue pair that no longer overtake another.
func (c *Comp) unbar(q *qpair) {
	for q.barred.Len() > 0 && !q.barred.Front().overtakes() {
		c.ask(q.barred.Pop())
	}
}
