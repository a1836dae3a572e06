package manager

import (
	"fmt"

	"nictwin/models/sim/fifo"
	"nictwin/stack/ceio/ring"
)

// Recv hands over the next n packets, in order, once all of them are in host memory: it appends them to dst and reports
// true. Until then it starts the copies of slow ones and reports false; the caller calls it again.
func (m *Manager) Recv(now Ps, id, n int, dst []ring.Packet) ([]ring.Packet, bool, error) {
	f := &m.flows[id]
	if most := m.most(); n < 1 || n > most {
		return dst, false, fmt.Errorf("ceio: receiving %d packets at once: want 1 to %d", n, most)
	}
	f.marks.compare(now, m.markEvery)
	if f.ring.Ready(n) < n {
		m.want(f, n, f.ring.Held(n))
	}
	m.drain(now, f)
	ok := f.ring.Ready(n) >= n
	if ok {
		dst = m.handOver(now, f, n, dst)
	}
	m.checkCaughtUp(f)
	return dst, ok, m.err
}

// most returns the most packets that Recv can wait for.
func (m *Manager) most() int {
	if m.spec.Lend {
		return min(m.spec.FastSlots, m.spec.SlowSlots)
	}
	return min(m.spec.FastSlots, m.spec.SlowSlots, m.spec.Landing)
}

// Pending returns the number of packets that have come and were not handed over.
func (m *Manager) Pending(id int) int { return m.flows[id].ring.Pending() }

// AsyncRecv hands over the next packets that are in host memory, n at most, and appends them to dst. If there are fewer
// than n, it starts the copies of slow ones.
func (m *Manager) AsyncRecv(now Ps, id, n int, dst []ring.Packet) ([]ring.Packet, error) {
	f := &m.flows[id]
	f.marks.compare(now, m.markEvery)
	ready, held := f.ring.Ready(n), f.ring.Held(0)
	dst = m.handOver(now, f, ready, dst)
	if ready < n {
		m.want(f, n-ready, held)
	}
	m.drain(now, f)
	m.checkCaughtUp(f)
	return dst, m.err
}

// PostRecv lends an area of n adjacent host buffers, which the next slow packets are copied to: the manager needs
// Spec.Lend. Buffers of an area are used in order, each for one packet.
func (m *Manager) PostRecv(now Ps, id, n int) error {
	f := &m.flows[id]
	if !m.spec.Lend || n < 1 {
		return fmt.Errorf("ceio: %d host buffers lent: want 1 or more, and lend: true", n)
	}
	f.lent.Push(n)
	m.drain(now, f)
	return m.err
}

func (m *Manager) handOver(now Ps, f *flow, n int, dst []ring.Packet) []ring.Packet {
	for range n {
		p, _ := f.ring.Next()
		f.ring.HandOver()
		dst = append(dst, p)
	}
	if n > 0 {
		f.wanted = 0
		if f.marks.growing {
			m.stats.Marked += uint64(n)
		}
		m.merge(now, f) // the ring may have been full
	}
	return dst
}

// want notes that the next n packets are wanted, and begins to drain the slow path if there are slow ones. `held` fast
// packets of the same message have arrived already and cannot be processed before those. If they hold all the flow's
// credits, the CPU is not involved in single packets: the flow becomes inactive (Q3).
func (m *Manager) want(f *flow, n, held int) {
	f.wanted = n
	if _, slow := f.ring.Uncopied(); slow > 0 && f.state == Slow {
		m.stats.Drains++
		f.state = Draining
	}
	if f.state == Draining && !f.returned && held > 0 && held == f.ring.Unprocessed() && !f.shared {
		m.request(f, false)
	}
}

// drain starts copies of slow packets, unless the flow waits for a receive call to ask for them: first of those that
// such a call waits for, then, with Spec.Async, of the others that ahead allows.
func (m *Manager) drain(now Ps, f *flow) {
	if f.state == Slow || m.err != nil {
		return
	}
	for f.runs.Len() < m.spec.Copies {
		first, n := f.ring.Uncopied()
		if n == 0 || m.defers(f, n) {
			break
		}
		switch lacking := f.ring.Lacking(f.wanted); {
		case lacking > 0 || !m.spec.Async:
			n = min(n, lacking)
		default:
			n = min(n, m.ahead(f))
		}
		n = min(n, m.longest(), m.spec.SlowSlots-int(first%uint64(m.spec.SlowSlots)))
		if n = m.room(f, n); n == 0 {
			break
		}
		m.start(f, first, n)
	}
	f.held.update(now, m.holdsAll(f), false)
	m.rest(f)
}

// defers reports whether the n packets that have no copy, fewer than a receive call wants, wait for the end of the copy
// under way: more come meanwhile, and one work entry copies all of them.
func (m *Manager) defers(f *flow, n int) bool {
	return m.spec.Async && f.runs.Len() > 0 && n < f.wanted
}

// ahead returns how many slow packets may be copied before a receive call asks for them: as many as the flow's share of
// the credits leaves beside its slow packets in host memory. Fast ones do not count: none come while it drains. So an
// inactive flow, whose share others have, and the shared ring are copied as applications read. Without any credits
// there are no shares.
func (m *Manager) ahead(f *flow) int {
	switch {
	case m.spec.Credits == 0:
		return m.spec.Landing
	case f.shared || !m.ledger.Active(f.id):
		return 0
	}
	return max(m.share()-f.landed, 0)
}

// room returns how many of n slow packets find adjacent free host buffers.
func (m *Manager) room(f *flow, n int) int {
	switch {
	case n == 0 || !m.spec.Lend && f.landed == m.spec.Landing:
		return 0
	case !m.spec.Lend:
		return m.nic.Room(f.id, n)
	case f.lent.Len() == 0:
		return 0
	}
	return min(n, *f.lent.Front())
}

func (m *Manager) start(f *flow, first uint64, n int) {
	if m.spec.Lend {
		if *f.lent.Front() -= n; *f.lent.Front() == 0 {
			f.lent.Pop()
		}
	}
	f.landed += n
	f.ring.StartCopies(n)
	f.runs.Push(n)
	m.stats.Copies++
	m.nic.Copy(f.id, first, n)
}

// rest ends the draining of a flow whose slow packets have all been copied.
func (m *Manager) rest(f *flow) {
	switch {
	case !f.ring.Drained() || f.slow.Len() > 0:
	case f.shared:
		f.state = Slow
	default:
		m.settle(f)
	}
}

// CopyEnded reports the end of a flow's oldest copy under way.
func (m *Manager) CopyEnded(now Ps, id int) {
	f := &m.flows[id]
	if f.runs.Len() == 0 {
		m.fail(id, ": a copy ended, and none was under way")
		return
	}
	n := f.runs.Pop()
	f.ring.Copied(n)
	m.drain(now, f)
}

// front returns the first number of a queue; nil if it is empty.
func front(q *fifo.Queue[uint32]) *uint32 {
	if q.Len() == 0 {
		return nil
	}
	return q.Front()
}
