package ref

// Methods for the player; a reference does not need them.

// Tell passes a transaction to the reference.
func (p *Player) Tell(m *Msg) {
	s := p.by[m.Of.Name]
	p.cycle, p.first = m.Last, m.First
	s.told++
	for _, f := range s.on {
		p.enter("On", m.Of.Name, f)
		f(m)
	}
	if s.due != nil && !m.Of.In {
		s.compared++
		s.due.take(p, m)
	}
}

// Resets reports whether the reference handles resets: one that only expects needs no handler.
func (p *Player) Resets() bool { return len(p.resets) > 0 }

// Reset notifies the reference that the device was reset in a cycle.
func (p *Player) Reset(cycle uint64) {
	p.cycle = cycle
	for _, s := range p.streams {
		if d := p.by[s.Name].due; d != nil {
			d.groups, d.by, d.states, d.came = nil, map[string]int{}, [][]int{{}}, 0
		}
	}
	for _, f := range p.resets {
		p.enter("OnReset", "", f)
		f()
	}
}

// Listens reports whether the reference looks at a stream.
func (p *Player) Listens(stream string) bool {
	s := p.by[stream]
	return s.due != nil || len(s.on) > 0
}

// Failed returns the first fault of the device, or nil.
func (p *Player) Failed() *Failure { return p.failed }

// Over reports whether nothing is due any more.
func (p *Player) Over() bool {
	if !p.allDone() {
		return false
	}
	for _, s := range p.streams {
		if d := p.by[s.Name].due; d != nil && !d.over() {
			return false
		}
	}
	return true
}

// Longest returns the number of beats of the longest burst drawn; 0: none was drawn.
func (p *Player) Longest() int { return p.longest }

// Missing returns how many of the expected transactions did not come so far.
func (p *Player) Missing() int {
	n := 0
	for _, s := range p.streams {
		if p.by[s.Name].due != nil {
			n += p.Dropped(s.Name)
		}
	}
	return n
}

// Stuck reports a fault for what is still due when nothing happens any more. The player itself
// reports what it waits for.
func (p *Player) Stuck(cycle uint64, silence string) {
	for _, s := range p.streams {
		if d := p.by[s.Name].due; d != nil && !d.over() {
			d.missing(p, cycle, silence)
			return
		}
	}
	if !p.allDone() {
		p.Fail(Failure{Cycle: cycle, Field: "the run", Expected: "to come to its end (Done)", Got: silence})
	}
}

// allDone reports whether every function of Done returns true.
func (p *Player) allDone() bool {
	for _, f := range p.done {
		p.enter("Done", "", f)
		if !f() {
			return false
		}
	}
	return true
}

// Ends calls the functions of End.
func (p *Player) Ends(cycle uint64) {
	p.cycle = cycle
	for _, f := range p.end {
		p.enter("End", "", f)
		f()
	}
}

// Draws reports whether the reference draws the transactions of an input.
func (p *Player) Draws(stream string) bool { return p.seat(stream).draw != nil }

// Asks reports whether the run continues until functions of the reference report that it is done.
func (p *Player) Asks() bool { return len(p.done) > 0 }
