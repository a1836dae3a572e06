package manager

// hits estimates the fast packets of a flow in host memory. Controller `arm`, a core of the card, derives the number
// from the hits of the flow's rule and from the packets processed.
type hits struct {
	fresh    bool   // no poll has seen the rule since it was directed to the fast ring
	base     uint64 // hits at the first poll after the rule was directed to the fast ring
	latest   uint64 // hits at the latest poll
	inHost   int    // fast packets in host memory at the first poll
	back     uint64 // credits released before the first poll
	released uint64 // credits released so far
	slowSeen bool   // a slow packet has been appended since the rule was directed to the slow ring
}

// begin starts an estimate when the rule is directed to the fast ring.
func (h *hits) begin() { h.fresh = true }

// inUse returns the estimated number of fast packets that hold a buffer.
func (h *hits) inUse() int { return h.inHost + int(h.latest-h.base) - int(h.released-h.back) }

// Polled takes the hits of a flow's rule as read by a core of the card. When the flow's credits are used up, its rule
// is directed to the slow ring. Until then more packets may come fast than there are credits: reading the counter and
// rewriting the rule take time, and so does waiting for the next poll.
func (m *Manager) Polled(id int, rule uint64) {
	f := &m.flows[id]
	if m.spec.Controller != ControlArm || f.paused || m.err != nil {
		return
	}
	h := &f.hits
	h.latest = rule
	if h.fresh {
		h.fresh, h.base, h.inHost, h.back = false, rule, m.InHost(id), h.released
	}
	if h.inUse() < m.limit(id) {
		return
	}
	h.slowSeen = false
	m.exhausted(f)
	m.nic.Steer(id, false)
}

// limit returns the credits of a flow, whether in use or not, at most as many as its fast ring has descriptors.
func (m *Manager) limit(id int) int {
	return min(m.ledger.Balance(id)+m.ledger.InUse(id), m.spec.FastSlots)
}

// hasCredit reports whether a flow can be resumed, with n credits added to its account. With controller `arm`, fast
// packets may still be on their way until the slow one behind them has been appended: until then, the estimate of the
// credits in use decides.
func (m *Manager) hasCredit(f *flow, n int) bool {
	switch {
	case m.spec.Controller == ControlNIC:
		return f.inNIC+n > 0
	case f.hits.started() && !f.hits.slowSeen:
		return f.hits.inUse() < m.limit(f.id)
	}
	return m.ledger.Balance(f.id) > 0
}

// started reports whether a poll has seen the rule since it was directed to the fast ring.
func (h *hits) started() bool { return h.base != 0 || h.latest != 0 }
