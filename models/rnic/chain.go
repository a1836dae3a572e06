package rnic

// chained is what can stand in a chain, in one at a time: it has room for what stands behind it.
type chained[P any] interface {
	comparable
	behind() *P
}

// chain is a first-in, first-out queue that is linked through what stands in it. A queue pair has several, mostly
// empty ones: they take no memory of their own, which with many queue pairs would be far from the processor whenever
// it is their turn.
type chain[P chained[P]] struct {
	first, last P
	n           int
}

// Len is how many stand in the chain.
func (x *chain[P]) Len() int { return x.n }

// Push puts v at the end.
func (x *chain[P]) Push(v P) {
	if x.n == 0 {
		x.first = v
	} else {
		*x.last.behind() = v
	}
	x.last = v
	x.n++
}

// Front is the first of a chain that is not empty.
func (x *chain[P]) Front() P { return x.first }

// Pop takes out the first of a chain that is not empty.
func (x *chain[P]) Pop() P {
	var none P
	v := x.first
	next := v.behind()
	x.first, *next = *next, none
	if x.n--; x.n == 0 {
		x.last = none
	}
	return v
}

func (x *txPacket) behind() **txPacket { return &x.next }
func (op *rxOp) behind() **rxOp        { return &op.next }
func (r *reply) behind() **reply       { return &r.next }
func (f *fetch) behind() **fetch       { return &f.next }
