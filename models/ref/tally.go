package ref

// tally counts how the reference used a stream in a run.
type tally struct {
	told     int
	expected int
	compared int
	looked   bool // a function registered by On checks the stream; functions of method `subscribe` do not count
	nothing  bool // set by Nothing: an unexpected transaction is a fault
}

// Tally counts the transactions of a stream in a run, and how many the reference expected and compared.
type Tally struct {
	Stream   string
	In       bool
	Told     int  // transactions that crossed the pins
	Expected int  // transactions that the reference expected
	Compared int  // transactions compared: with an expectation, or by Want, ParseTLP and the like
	Covered  bool // the reference looks at the stream
	Nothing  bool // an unexpected transaction is a fault (Nothing)
}

// Tallies returns the counts of each stream so far, in the order of the manifest.
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

// Memories returns the number of comparisons of memories by Same, which belong to no stream.
func (p *Player) Memories() int { return p.same }

// Judged returns the number of output transactions that the reference looked at.
func (p *Player) Judged() int {
	n := 0
	for _, s := range p.streams {
		if !s.In && p.Listens(s.Name) {
			n += p.by[s.Name].told
		}
	}
	return n
}

// compares counts a transaction of m's stream as compared.
func (p *Player) compares(m *Msg) { p.by[m.Of.Name].compared++ }
