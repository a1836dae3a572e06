package manager

// marks compares production and consumption of a flow's slow path, from one receive call to another, a period or more
// apart. A packet has been consumed when the application has processed it: a copy alone would hide a slow CPU.
type marks struct {
	since    Ps
	backlog  int    // packets that came and were not processed
	before   int    // backlog at the time `since`
	left     uint64 // slow packets up to the last one that a receive call left waiting
	caughtUp bool   // since then, a receive call left none waiting
	growing  bool   // more packets came than were processed in the latest period, in which consumption never caught up
}

// compare ends a period that is over, at the begin of a receive call.
func (k *marks) compare(now, period Ps) {
	if now-k.since < period {
		return
	}
	k.growing = k.backlog > k.before && !k.caughtUp
	k.since, k.before, k.caughtUp = now, k.backlog, false
}

// checkCaughtUp notes, at the end of a receive call, whether it left slow packets waiting for the start of their copies
// or, in host memory, for the application. Consumption has caught up when no packet that was left is still there.
// Packets whose copies are under way do not count, however long copies take, nor do those that the application holds
// until the rest of their message has come, nor those whose copy waits for the one under way so that it becomes longer.
func (m *Manager) checkCaughtUp(f *flow) {
	k, landed := &f.marks, f.ring.Landed()
	first, waiting := f.ring.Uncopied()
	if waiting += f.slow.Len(); m.defers(f, waiting) {
		waiting = 0
	}
	handed := first - uint64(f.ring.Copying()+landed)
	switch {
	case waiting > 0:
		k.left = first + uint64(waiting)
	case landed > 0:
		k.left = max(k.left, handed+uint64(landed))
	case handed >= k.left:
		k.caughtUp = true
	}
}

// Marking reports whether packets handed over now must be marked as congestion experienced: in the latest period, more
// packets came in the flow's slow ring than the application processed, and each receive call left some waiting (Q2).
func (m *Manager) Marking(id int) bool { return m.flows[id].marks.growing }
