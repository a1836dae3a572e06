package ref

// tally counts what a reference did about a stream in a run.
type tally struct {
	told     int
	expected int
	compared int
	looked   bool // the reference registered a function with On; memories that answer a manager do not count
	nothing  bool // Nothing was called for it
}

// Tally counts the transactions of a stream in a run, and those that the reference expected and compared.
type Tally struct {
	Stream   string
	In       bool
	Told     int  // transactions that crossed the pins
	Expected int  // transactions that were expected of an output
	Compared int  // transactions compared with an expectation, or by Want, ParseTLP and the like
	Covered  bool // the reference looks at the stream
	Nothing  bool // it said that whatever it does not expect is a fault (Nothing)
}

// Tallies returns what the reference did about each stream so far, in the order of the manifest.
func (p *Player) Tallies() []Tally {
	var list []Tally
	for _, s := range p.streams {
		x := p.by[s.Name]
		list = append(list, Tally{
			Stream: s.Name, In: s.In, Told: x.told, Expected: x.expected, Compared: x.compared,
			Covered: x.looked || x.due != nil, Nothing: x.nothing,
		})
	}
	return list
}

// Memories counts the comparisons of memories (Same), which belong to no stream.
func (p *Player) Memories() int { return p.same }

// Judged counts the transactions of outputs that the reference looked at.
func (p *Player) Judged() int {
	n := 0
	for _, s := range p.streams {
		if !s.In && p.Listens(s.Name) {
			n += p.by[s.Name].told
		}
	}
	return n
}

// compares counts a transaction that is compared.
func (p *Player) compares(m *Msg) { p.by[m.Of.Name].compared++ }
