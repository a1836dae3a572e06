package edges

// clocks is a set of clocks, a bit each.
type clocks uint64

// phase says how a value follows the clocks.
type phase struct {
	up        clocks // it may rise with their rising edges, and fall with their falling ones
	down      clocks // it may rise with their falling edges, and fall with their rising ones
	zero, one clocks // it is 0, or 1, while they are low
}

// anyway is the phase of a value that may change at both edges of some clocks.
func anyway(c clocks) phase { return phase{up: c, down: c} }

func (p phase) not() phase { return phase{up: p.down, down: p.up, zero: p.one, one: p.zero} }

// either is the phase of a value that is one of two.
func (p phase) either(q phase) phase {
	return phase{p.up | q.up, p.down | q.down, p.zero & q.zero, p.one & q.one}
}

// and is the phase of a conjunction: a clock that makes it 0 while low lets it rise with rising edges only.
func (p phase) and(q phase) phase {
	zero := p.zero | q.zero
	return phase{p.up | q.up, (p.down | q.down) &^ zero, zero, p.one & q.one}
}

func (p phase) or(q phase) phase { return p.not().and(q.not()).not() }

// chosen is the phase of a value that is p, or something before it, as a condition says that moves with these clocks.
func (p phase) chosen(c clocks) phase { return phase{p.up | c, p.down | c, p.zero, p.one} }

// phaseOf returns the phase of an expression. Those of constants, registers, and signals that nothing drives are zero.
func (a *analysis) phaseOf(n *node) phase {
	c := n.children
	switch kind := n.kind; {
	case kind == "varref":
		return a.signals[n.attr["name"]]
	case (kind == "not" || kind == "lognot") && len(c) == 1:
		return a.phaseOf(c[0]).not()
	case (kind == "and" || kind == "logand") && len(c) == 2:
		return a.phaseOf(c[0]).and(a.phaseOf(c[1]))
	case (kind == "or" || kind == "logor") && len(c) == 2:
		return a.phaseOf(c[0]).or(a.phaseOf(c[1]))
	case kind == "cond" && len(c) == 3:
		return a.phaseOf(c[1]).either(a.phaseOf(c[2])).chosen(a.moves(c[:1]))
	case kind == "concat" && len(c) == 2:
		return a.phaseOf(c[0]).either(a.phaseOf(c[1]))
	case (kind == "sel" || kind == "arraysel" || kind == "extend") && len(c) > 0:
		p := a.phaseOf(c[0]).chosen(a.moves(c[1:]))
		if kind == "extend" {
			p.one = 0
		}
		return p
	}
	return anyway(a.moves(c))
}

// moves returns the clocks with which any of these expressions may change.
func (a *analysis) moves(list []*node) (c clocks) {
	for _, n := range list {
		p := a.phaseOf(n)
		c |= p.up | p.down
	}
	return c
}
