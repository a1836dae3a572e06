package rnic

// chained is an element of a chain. It stores the link to its successor, so it can be in one chain
// at a time.
type chained[P any] interface {
	comparable
	behind() *P
}

// chain is a FIFO queue linked through its elements. A queue pair has several, which are mostly
// empty and need no memory of their own: with many queue pairs, other memory would not be in the
// simulating machine's cache.
type chain[P chained[P]] struct {
	first, last P
	n           int
}

// Len returns the number of elements.
func (x *chain[P]) Len() int { return x.n }

// Push appends v.
func (x *chain[P]) Push(v P) {
	if x.n == 0 {
		x.first = v
	} else {
		*x.last.behind() = v
	}
	x.last = v
	x.n++
}

// Front returns the first element of a chain that is not empty.
func (x *chain[P]) Front() P { return x.first }

// Pop removes and returns the first element of a chain that is not empty.
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
