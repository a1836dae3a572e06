package manager

// hits tracks the hits of a flow's rule for controller `arm`, a core of the card. They tell the number of packets that
// the flow's software has not seen, and the number that comes from one poll to the next.
type hits struct {
	latest   uint64 // hits at the latest poll
	before   uint64 // hits at the poll before that
	lost     uint64 // hits of packets that software will not see, since the NIC dropped them
	most     int    // most hits from one poll to the next, as many as the ring has descriptors at first; old ones decay
	slowSeen bool   // a slow packet has been appended since the rule was directed to the slow ring
}

// poll takes the hits of a rule, and the number of packets that software has seen.
func (h *hits) poll(rule, seen uint64) {
	const decay = 64
	if rule < h.lost+seen { // more packets came than AllSeen knew of
		h.lost = rule - min(rule, seen)
	}
	h.most = max(int(rule-h.latest), h.most-(h.most+decay-1)/decay)
	h.before, h.latest = h.latest, rule
}

// unseen returns the number of packets that had come at the latest poll and that software has not seen.
func (h *hits) unseen(seen uint64) int { return max(int(h.latest-h.lost-seen), 0) }

// AllSeen reports that a flow's software has found both rings empty: hits without a packet are those of dropped frames,
// if the frames came before the latest poll but one. Later ones may be on their way to host memory.
func (m *Manager) AllSeen(id int) {
	f := &m.flows[id]
	if h := &f.hits; h.before > h.lost+f.arrivals {
		h.lost = h.before - f.arrivals
	}
}

// Polled takes the hits of a flow's rule as read by a core of the card. When the flow's credits are used up, its rule
// is directed to the slow ring. Until then more packets may come fast than there are credits: reading the counter and
// rewriting the rule take time, and so does waiting for the next poll.
func (m *Manager) Polled(id int, rule uint64) {
	f := &m.flows[id]
	f.hits.poll(rule, f.arrivals)
	if m.spec.Controller != ControlArm || f.paused || m.err != nil || m.inUse(f) < m.limit(id) {
		return
	}
	f.hits.slowSeen = false
	m.exhausted(f)
	f.returned = false
	m.nic.Steer(id, false)
}

// inUse returns the fast packets of a flow that hold a buffer, as far as controller `arm` knows.
func (m *Manager) inUse(f *flow) int { return m.InHost(f.id) + f.hits.unseen(f.arrivals) }

// armNeeds returns how many descriptors of a flow's fast ring must be announced with controller `arm`, as its software
// counts them: one for each credit that is not in use, as far as the flow's software knows. If the credits might end
// before the rule names the slow ring, those packets need descriptors, too, that may come from one poll to the next.
func (m *Manager) armNeeds(f *flow) int {
	limit, margin := m.limit(f.id), f.hits.most
	n := max(limit-m.InHost(f.id), 0)
	if m.inUse(f)+margin > limit {
		n += margin
	}
	return min(n, m.spec.FastSlots)
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
	case f.hits.latest > 0 && !f.hits.slowSeen:
		return m.inUse(f) < m.limit(f.id)
	}
	return m.ledger.Balance(f.id) > 0
}
