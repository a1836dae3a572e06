package rnic

import "nictwin/models/rnic/core"

// enter requests a context for a received request, or bars the request if it would overtake an
// earlier one. A queue pair's requests thus get their contexts in an order that makes them take
// effect in order. A barred request holds no context.
func (c *Comp) enter(op *rxOp) {
	q := op.q
	// Fast path: if no request waits for a context and no atomic is in flight, none is barred.
	if q.atomics == 0 && c.contexts.ready(op.context) || q.barred.Len() == 0 && !op.overtakes() {
		c.requestContext(op)
		return
	}
	q.barred.Push(op)
}

// overtakes reports whether a request would take effect before an earlier one of its queue pair:
// one that waits for a context of the other endpoint, or an atomic, which reads memory some time
// before it writes. An atomic need not wait for another one: atomicUnit carries them out one after
// the other.
func (op *rxOp) overtakes() bool {
	q := op.q
	return q.queued[1-op.context] > 0 || q.atomics > 0 && !op.atomic()
}

// atomic reports whether a request is an atomic, and not a duplicate of one.
func (op *rxOp) atomic() bool { return op.e.Reply.Kind == core.AtomicReply }

// requestContext requests a context for a received request.
func (c *Comp) requestContext(op *rxOp) {
	if op.atomic() {
		op.q.atomics++
	}
	if op.waits = !c.contexts.available(op.context); op.waits {
		op.q.queued[op.context]++
	}
	c.acquire(op.context, op)
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

// unbar lets barred requests of a queue pair request their contexts, in order, until one would
// overtake another.
func (c *Comp) unbar(q *qpair) {
	for q.barred.Len() > 0 && !q.barred.Front().overtakes() {
		c.requestContext(q.barred.Pop())
	}
}
