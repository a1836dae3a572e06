package data

import "nictwin/stack/verbs"

// countSharers counts the reliable queue pairs that receive, after one of them may have begun or ended.
func (c *core) countSharers() {
	c.sharers = 0
	for _, q := range c.qps {
		if q.conn == nil || q.config.Type != verbs.QPTRC {
			continue
		}
		switch q.conn.State() {
		case verbs.QPSRTR, verbs.QPSRTS, verbs.QPSSQD, verbs.QPSSQE:
			c.sharers++
		}
	}
}

// Buffers implements transport.Env: a core's receive queue is divided evenly among its reliable queue pairs. One half
// is for what their peers send, the other for acknowledgements and answers to their own requests.
func (q *qp) Buffers() (share, free int) {
	c := q.core
	usable := c.rx.Size() - 2*c.spec.Every // as many may have been used or posted without a doorbell yet
	share = max(1, usable/2/max(c.sharers, 1))
	return share, share - q.held
}
