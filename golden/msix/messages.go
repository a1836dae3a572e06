package msix

import (
	"fmt"
	"math"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
)

// Messages tracks the messages of all queues. Make it with New.
type Messages struct {
	log    *verdict.Log
	queues []*Queue
	shared []debt
}

// debt counts messages with one address and data that must still come, although no single queue surely owes one:
// several queues owed a message, and those that came may have been of any of them.
type debt struct {
	addr uint64
	data uint32
	owed int
}

// New returns a tracker without queues.
func New(log *verdict.Log) *Messages { return &Messages{log: log} }

// Queue adds the queue of a domain.
func (m *Messages) Queue(d verdict.Domain) *Queue {
	q := &Queue{domain: d, log: m.log}
	m.queues = append(m.queues, q)
	return q
}

// Choice lists the queues that may have sent a message.
type Choice struct {
	addr  uint64
	data  uint32
	named *Queue // a queue whose messages have this address
	match bool   // one of the queues with this address also has the message's data
	best  *Queue // of the queues that may have sent the message, the one whose message fell due first
	may   int    // number of queues that may have sent the message
	must  int    // queues counted in `may` whose message is due even if they sent all earlier doubtful messages
}

// Known reports whether a queue sends its messages to this address.
func (c *Choice) Known() bool { return c.named != nil }

// Best returns the queue, of those that may have sent the message, whose message fell due first; nil if none may.
func (c *Choice) Best() *Queue { return c.best }

// Of finds the queues that may have sent a write of one word as their message.
func (m *Messages) Of(addr uint64, data uint32, now int64) Choice {
	c := Choice{addr: addr, data: data}
	first := int64(math.MaxInt64)
	for _, q := range m.queues {
		if q.vector.Addr != addr || addr == 0 {
			continue
		}
		if c.named == nil || !c.match && q.vector.Data == data {
			c.named = q
		}
		if q.vector.Data != data {
			continue
		}
		c.match = true
		if !q.MayBeDue(now) {
			continue
		}
		c.may++
		due := q.DueAt()
		if due <= now {
			c.must++
		}
		if c.best == nil || due < first {
			c.best, first = q, due
		}
	}
	return c
}

// Take records a message that some queue may have sent.
func (m *Messages) Take(c *Choice, now int64) {
	if paid := m.pay(c); c.may == 1 && !paid {
		c.best.Sent()
		return
	}
	m.share(c, now)
}

// share records a message that several queues may have sent: each may have reported all of its
// entries by it, or none.
func (m *Messages) share(c *Choice, now int64) {
	for _, q := range m.queues {
		if q.vector.Addr == c.addr && q.vector.Data == c.data && q.MayBeDue(now) {
			q.MayHaveSent()
		}
	}
	if c.must <= 1 {
		return
	}
	if s := m.debt(c); s != nil {
		s.owed = max(s.owed, c.must-1)
		return
	}
	m.shared = append(m.shared, debt{c.addr, c.data, c.must - 1})
}

// pay subtracts a message from those that several queues owe together. It reports whether any was owed.
func (m *Messages) pay(c *Choice) bool {
	s := m.debt(c)
	if s == nil || s.owed == 0 {
		return false
	}
	s.owed = max(s.owed, c.must) - 1
	return true
}

func (m *Messages) debt(c *Choice) *debt {
	for i := range m.shared {
		if s := &m.shared[i]; s.addr == c.addr && s.data == c.data {
			return s
		}
	}
	return nil
}

// Refuse reports a message that no queue can have sent; `about` describes the write.
func (m *Messages) Refuse(c *Choice, now int64, about string) {
	q := c.named
	m.log.AddCrossing(q.domain)
	if !c.match {
		m.log.Fail(q.domain, "M1", "msix_data", fmt.Sprintf("%#x", q.vector.Data), fmt.Sprintf("%#x", c.data), about)
		return
	}
	want := "none: all entries have been reported"
	if n := q.most.Unreported(); n > 0 {
		want = fmt.Sprintf("none yet: %d unreported, mod_count %d, mod_cycles %d", n, q.vector.Count, q.vector.Cycles)
		if at := q.most.DueAt(); at != core.Never {
			want += fmt.Sprintf(", due at cycle %d", at)
		}
	}
	m.log.Fail(q.domain, "M3", "message", want, fmt.Sprintf("one in cycle %d", now), about)
}

// MayBeDue returns the number of queues for which a message may be due.
func (m *Messages) MayBeDue(now int64) (n uint64) {
	for _, q := range m.queues {
		if q.MayBeDue(now) {
			n++
		}
	}
	return n
}

// Reset records that a function-level reset begins: owed messages need not come.
func (m *Messages) Reset() {
	m.shared = m.shared[:0]
	for _, q := range m.queues {
		q.MayHaveSent()
	}
}

// End checks that no owed message is missing at the end of the run [M3, M5].
func (m *Messages) End() {
	for _, q := range m.queues {
		q.end()
	}
	for _, s := range m.shared {
		if s.owed > 0 {
			m.log.Fail(verdict.Device, "M3", "message", fmt.Sprintf("%d more of %#x to %#x, which several queues share",
				s.owed, s.data, s.addr), "none")
		}
	}
}
