package hostnet

import (
	"errors"

	"nictwin/stack/driver"
)

// Marked is the path of a flow with two receive queues: a plain one, and one that marks packets as congestion
// experienced [E1]. The NIC fills one at a time. A queue's ECN mode cannot change while the queue is enabled, so the
// flow's rule is rewritten: it draws on an account without credits, and the rule's slow queue is one or the other [A2].
// The account numbers the frames [A3], so packets keep their order over both queues.
//
// It takes a rule, two queues with buffers each and an account, of a NIC with parts accounts and ecn.
type Marked struct {
	queues  [2]*direct // plain, marking
	c       PathConfig
	rule    int
	account int
	next    uint32 // account_seq of the next packet
	ready   [2]bool
	heads   [2]Packet // by queue: the packet taken from it, if ready
}

var _ Path = (*Marked)(nil)

// OpenMarked opens a path with two queues. The NIC fills the plain one.
func OpenMarked(c PathConfig) (*Marked, error) {
	m := &Marked{c: c}
	var err1, err2 error
	m.rule, err1 = c.TakeRule()
	m.account, err2 = c.TakeAccount()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	for i := range m.queues {
		m.queues[i] = &direct{c: c, mark: i == 1}
		if err := m.queues[i].open(); err != nil {
			return nil, err
		}
	}
	return m, errors.Join(c.Driver.SetAccount(m.account, 0, false), c.Driver.SetRule(m.Rule(false)))
}

// Rule returns the flow's rule that leads frames to one of the queues, and its index.
func (m *Marked) Rule(marking bool) (index int, r driver.Rule) {
	r = m.c.Match
	r.To = driver.ToQueue(m.queues[0].queue.Number())
	r.To.Account = &driver.Account{Number: m.account, SlowQueue: m.queues[0].queue.Number()}
	if marking {
		r.To.Account.SlowQueue = m.queues[1].queue.Number()
	}
	return m.rule, r
}

// Next implements Path: it returns the packet whose number is next, from either queue. Completion entries of two queues
// come in any order [A4], so it may have to wait although one of them has a packet.
func (m *Marked) Next(p *Packet) bool {
	for i, q := range m.queues {
		m.ready[i] = m.ready[i] || q.Next(&m.heads[i])
		if m.ready[i] && m.heads[i].AccountSeq == m.next {
			*p = m.heads[i]
			m.ready[i] = false
			m.next++
			return true
		}
	}
	return false
}

// Marks reports whether the NIC had a packet marked.
func (m *Marked) Marks(p *Packet) bool { return m.queues[1].owns(p) }

// owns reports whether the buffer of a packet belongs to the queue.
func (d *direct) owns(p *Packet) bool {
	from := d.buffers[0].Pay
	return p.Pay >= from && p.Pay-from < uint64(len(d.buffers)*d.c.Buffers.Bytes)
}

// Done implements Path.
func (m *Marked) Done(p *Packet) {
	i := 0
	if m.Marks(p) {
		i = 1
	}
	m.queues[i].Done(p)
}

// Idle implements Path.
func (m *Marked) Idle() bool {
	return !m.ready[0] && !m.ready[1] && m.queues[0].Idle() && m.queues[1].Idle()
}

// Err implements Path.
func (m *Marked) Err() error { return errors.Join(m.queues[0].Err(), m.queues[1].Err()) }

// Close implements Path.
func (m *Marked) Close() {}
