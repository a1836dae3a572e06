package ref

// The methods in this file are called by whoever drives a run; a reference needs none of them.

// Deliver passes a transaction that has crossed the pins to the reference.
func (p *Player) Deliver(m *Msg) {
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

// Resets reports whether the reference has a function for resets. A reference that only expects outputs needs
// none.
func (p *Player) Resets() bool { return len(p.resets) > 0 }

// Reset forgets all expectations, and tells the reference that the device was reset in a cycle.
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

// Listens reports whether the reference looks at the transactions of a stream.
func (p *Player) Listens(stream string) bool {
	s := p.by[stream]
	return s.due != nil || len(s.on) > 0
}

// Failed returns the first fault of the device, or nil.
func (p *Player) Failed() *Failure { return p.failed }

// Over reports whether the device owes nothing any more.
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

// Longest returns the number of beats of the longest burst that was drawn; 0: none was drawn.
func (p *Player) Longest() int { return p.longest }

// Missing returns the number of expected transactions that have not come so far.
func (p *Player) Missing() int {
	n := 0
	for _, s := range p.streams {
		if p.by[s.Name].due != nil {
			n += p.Dropped(s.Name)
		}
	}
	return n
}

// Stuck reports the first transaction that is still due as missing, when nothing happens any more. silence
// describes what the device does instead.
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

// Finish calls the functions registered by End.
func (p *Player) Finish(cycle uint64) {
	p.cycle = cycle
	for _, f := range p.end {
		p.enter("End", "", f)
		f()
	}
}

// Draws reports whether the reference draws the transactions of an input.
func (p *Player) Draws(stream string) bool { return p.use(stream).draw != nil }

// HasDone reports whether the reference has called Done: the run then continues until its functions return true.
func (p *Player) HasDone() bool { return len(p.done) > 0 }
