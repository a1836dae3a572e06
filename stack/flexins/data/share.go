package data

import "nictwin/stack/verbs"

// recountSharer counts a reliable queue pair among those that share the core's receive queue, from the time at which
// it can receive until its connection fails or is reset.
func (q *qp) recountSharer() {
	if q.conn == nil || q.config.Type != verbs.QPTRC {
		return
	}
	receives := false
	switch q.conn.State() {
	case verbs.QPSRTR, verbs.QPSRTS, verbs.QPSSQD, verbs.QPSSQE:
		receives = true
	}
	if receives == q.shares {
		return
	}
	q.shares = receives
	if receives {
		q.core.sharers++
	} else {
		q.core.sharers--
	}
	q.core.share = q.core.spec.share(q.core.sharers)
}

// share returns how many packets of requests, and as many of answers, a core can hold of each of its n reliable queue
// pairs: an even share of a half of its receive queue.
func (s *Spec) share(n int) int {
	// 2*Every buffers are not shared out: some may hold packets that count against no queue pair, and some may be
	// posted without a doorbell yet
	usable := 1<<s.LogReceive - 2*s.Every
	return max(1, usable/2/max(n, 1))
}

// Buffers implements transport.Env: one half of a core's receive queue is for what the peers of its reliable queue
// pairs send, the other for acknowledgements and answers to their own requests.
func (q *qp) Buffers() (share, requests, answers int) {
	return q.core.share, q.core.share - q.heldRequests, q.core.share - q.heldAnswers
}

// hold counts the buffer of a received packet against the share of a reliable queue pair.
func (q *qp) hold(p *packet, request bool) {
	if q.config.Type != verbs.QPTRC {
		return
	}
	p.holder, p.answer = q, !request
	q.countHeld(p, 1)
}

// release counts a buffer that can receive again, and wakes its queue pair, which may now advertise a larger window to
// its peer, or have room for the answers to its next READ.
func (q *qp) release(p *packet) {
	q.countHeld(p, -1)
	q.core.wake(q)
}

func (q *qp) countHeld(p *packet, n int) {
	if p.answer {
		q.heldAnswers += n
	} else {
		q.heldRequests += n
	}
}
