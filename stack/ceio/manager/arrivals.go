package manager

// FastArrived reports a completion of a flow's fast ring, with its account_seq. Completions of one ring are reported in
// its order.
func (m *Manager) FastArrived(now Ps, id int, seq uint32) {
	f := &m.flows[id]
	if f.shared {
		m.fail(id, ", which has no account, got packet %d in a fast ring", seq)
		return
	}
	f.drawn++
	switch {
	case f.early > 0:
		f.early--
	case m.ledger.Take(id, 1):
		f.inNIC--
	case m.lenient():
		f.excess++
		m.stats.Overshoot++
	default:
		m.fail(id, " got packet %d in its fast ring without a credit [A2]", seq)
	}
	m.stats.Fast++
	m.arrived(now, f)
	if !f.order.fast(seq) && m.spec.Controller == ControlNIC && int32(seq-f.merger.Next()) > 0 {
		m.outOfOrder(id, seq, f.order.lastFast, "fast")
	}
	f.order.lastFast = seq
	f.fast.Push(seq)
	m.merge(now, f)
}

// SlowArrived reports a completion of a flow's slow ring, with its account_seq. The packets of the shared flow have no
// numbers: they keep the order of their ring.
func (m *Manager) SlowArrived(now Ps, id int, seq uint32) {
	f := &m.flows[id]
	if f.shared {
		seq = f.merger.Next() + uint32(f.slow.Len())
	} else if !f.order.slow(seq) && m.spec.Controller == ControlNIC && int32(seq-f.merger.Next()) > 0 {
		m.outOfOrder(id, seq, f.order.lastSlow, "slow")
	}
	f.order.lastSlow = seq
	m.stats.Slow++
	f.marks.backlog++
	if !f.paused && f.slow.Len() == 0 {
		f.returned = false // the flow has run out of credits, though fast packets before this one may not have come
	}
	m.arrived(now, f)
	f.slow.Push(seq)
	m.merge(now, f)
}

func (m *Manager) outOfOrder(id int, seq, last uint32, ring string) {
	m.fail(id, ": packet %d follows packet %d in the %s ring, and the account was not resumed between [A2][A4]", seq,
		last, ring)
}

func (m *Manager) arrived(now Ps, f *flow) {
	f.arrivals++
	f.last = now
}

// merge appends packets, fast and slow ones in the order of their numbers, to the ring, as long as the next one is
// there.
func (m *Manager) merge(now Ps, f *flow) {
	next := f.merger.Next()
	for !f.ring.Full() {
		switch {
		case f.fast.Len() > 0 && f.merger.Take(true, *f.fast.Front()):
			m.fastMerged(f, f.fast.Pop())
		case f.slow.Len() > 0 && f.merger.Next() == *f.slow.Front():
			m.slowMerged(f, f.slow.Pop())
		default:
			m.checkNumbers(f)
			f.gap.update(now, f.fast.Len()+f.slow.Len() > 0, f.merger.Next() != next)
			return
		}
	}
	f.gap.update(now, false, false)
}

// lenient reports whether packets may come fast without a credit: with controller `arm`, and where the ledger loses
// credits.
func (m *Manager) lenient() bool { return m.spec.Controller == ControlArm || m.spec.AsPrinted }

// fastMerged appends a fast packet. After slow ones, it shows that a resume has taken effect.
func (m *Manager) fastMerged(f *flow, seq uint32) {
	f.ring.Append(true)
	switch {
	case f.resumed:
		f.state, f.resumed = Fast, false
	case f.paused && m.spec.Controller == ControlNIC:
		m.fail(f.id, ": packet %d came fast behind a slow one, and the account was not resumed [A2]", seq)
	}
}

// slowMerged appends a slow packet. After fast ones, it shows that the flow ran out of credits. After a resume, it was
// on its way before that took effect: the account has credits then, so that the first frame behind is fast. Only if
// credits were taken from it meanwhile may it be slow, too; the contents read from the account then decide which of
// the two it is.
func (m *Manager) slowMerged(f *flow, seq uint32) {
	again := !f.resumed || f.certain && int32(seq-f.from) >= 0
	if again && !f.shared && !f.paused && m.spec.Controller == ControlNIC {
		m.exhausted(f)
	}
	f.hits.slowSeen = true
	f.merger.Take(false, seq)
	f.ring.Append(false)
}

func (m *Manager) exhausted(f *flow) {
	f.state, f.paused, f.resumed = Slow, true, false
	f.merger.Paused()
	m.stats.Exhausted++
}

// checkNumbers fails if the packets that wait for others can never follow: a ring gave a number twice, or out of order.
func (m *Manager) checkNumbers(f *flow) {
	next := f.merger.Next()
	for _, seq := range []*uint32{front(&f.fast), front(&f.slow)} {
		if seq != nil && int32(*seq-next) < 0 {
			m.fail(f.id, ": packet %d arrived again: packet %d is next [A4]", *seq, next)
		}
	}
	if f.fast.Len() > 0 && f.slow.Len() > 0 {
		m.fail(f.id, ": packet %d is missing in both rings, which have packets %d and %d [A4]", next,
			*f.fast.Front(), *f.slow.Front())
	}
}
