package manager

// order checks the numbers of each ring by itself. Until software resumes an account, its latch lets no fast frame
// follow a slow one. So between two resumes the numbers of either ring are consecutive.
type order struct {
	lastFast, lastSlow uint32
	fastSeen           bool // a fast packet has come since the latest resume
	jump               bool // slow numbers may leave out the fast ones since the latest resume, once
}

// begin returns the order of a flow without packets.
func begin() order { return order{lastSlow: ^uint32(0)} }

// resumed allows what follows a resume.
func (o *order) resumed() { o.fastSeen, o.jump = false, true }

// fast reports whether a number may come next in the fast ring.
func (o *order) fast(seq uint32) bool {
	ok := !o.fastSeen || seq == o.lastFast+1
	o.fastSeen = true
	return ok
}

// slow reports whether a number may come next in the slow ring.
func (o *order) slow(seq uint32) bool {
	if seq == o.lastSlow+1 {
		return true
	}
	ok := o.jump
	o.jump = false
	return ok
}

// wait is something that a flow may wait for.
type wait struct {
	on    bool
	since Ps
}

// update notes whether the wait goes on. After progress, it begins anew.
func (w *wait) update(now Ps, on, progress bool) {
	if on && (progress || !w.on) {
		w.since = now
	}
	w.on = on
}

// end returns the time at which the wait is too long.
func (w *wait) end(limit Ps) Ps {
	if !w.on {
		return Never
	}
	return w.since + limit
}

// WaitsUntil returns the time at which to call CheckWaits for a flow; Never if it waits for nothing that has a limit.
func (m *Manager) WaitsUntil(id int) Ps {
	f := &m.flows[id]
	return min(f.gap.end(m.waitLimit), f.held.end(m.waitLimit))
}

// CheckWaits fails if a flow has waited for too long: for a packet that others have overtaken, or for a landing
// buffer.
func (m *Manager) CheckWaits(now Ps, id int) {
	f := &m.flows[id]
	if now >= f.gap.end(m.waitLimit) {
		m.fail(id, ": packet %d is missing: later ones arrived %d ps ago [A4]", f.merger.Next(),
			now-f.gap.since)
	}
	if now >= f.held.end(m.waitLimit) {
		m.fail(id, ": the application has held all %d landing buffers for %d ps, and more slow packets wait: want "+
			"more of them, or packets released sooner", m.spec.Landing, now-f.held.since)
	}
}

// holdsAll reports whether the application holds all landing buffers of a flow, and slow packets wait for one.
func (m *Manager) holdsAll(f *flow) bool {
	if m.spec.Lend || f.landed < m.spec.Landing || f.runs.Len() > 0 {
		return false
	}
	_, more := f.ring.Uncopied()
	return more > 0 && f.ring.Landed() == 0
}
