package manager

// Deadline returns the time at which to call Tick; Never if no timer runs.
func (m *Manager) Deadline() Ps {
	if !m.spec.Reallocate {
		return Never
	}
	return m.tick
}

// Tick makes flows inactive that have received no packets for too long. Once in a period it makes the next inactive
// flow active again that has received packets since it became inactive (Q3).
func (m *Manager) Tick(now Ps) {
	if !m.spec.Reallocate || now < m.tick || m.err != nil {
		return
	}
	if now >= m.rotation {
		m.rotation += (1 + (now-m.rotation)/m.reactivateEvery) * m.reactivateEvery
		m.reactivate(now)
	}
	m.tick = m.rotation
	for i := range m.spec.Flows {
		f := &m.flows[i]
		if !f.open || !m.ledger.Active(i) {
			continue
		}
		silent := f.last + m.inactive
		if now >= silent {
			m.request(f, false)
			silent = now + m.inactive // if it is the last active flow
		}
		m.tick = min(m.tick, silent)
	}
}

// watch starts to watch a flow for silence.
func (m *Manager) watch(now Ps, f *flow) {
	f.last = now
	m.tick = min(m.tick, now+m.inactive)
}

// reactivate makes the next inactive flow active that got packets since it became inactive.
func (m *Manager) reactivate(now Ps) {
	for k := range m.spec.Flows {
		f := &m.flows[(m.turn+k)%m.spec.Flows]
		if f.open && !m.ledger.Active(f.id) && f.arrivals != f.quietAt {
			m.turn = (f.id + 1) % m.spec.Flows
			m.watch(now, f)
			m.request(f, true)
			return
		}
	}
}
