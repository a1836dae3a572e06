package attribution

import (
	"bytes"

	"nictwin/golden/memory"
)

// places calls f for each place at an address, until f returns true: in entries at work, in retired ones, and in
// entries whose frames have left.
func (es *Entries) places(addr uint64, f func(Place) bool) bool {
	for node := es.Readable.First(addr); node != nil; node = es.Readable.Next(node) {
		if node.Owner.Kind == memory.Piece && addr >= node.Lo && addr < node.Hi &&
			f(Place{node.Owner.Entry, int(node.Owner.Part), int(addr - node.Lo)}) {
			return true
		}
	}
	return false
}

// mayHold reports whether a read, or its part with these bytes, can belong to a place: it was issued while the
// device had the entry, and changes no byte that has left the device or that the search has obtained.
func (es *Entries) mayHold(c *content, data []byte, to Place) bool {
	e := to.entry
	if !e.had(c) {
		return false
	}
	if e == es.goal.entry && c.kind != isGot {
		return false
	}
	p := &e.Pieces[to.piece]
	if !e.settledAt(to.piece, to.at, c.n) && !es.goal.reached(to, c.n) {
		return true
	}
	return c.kind == isGot && p.Got.Has(to.at, to.at+c.n) &&
		(e.Buf.Differs(p.off+to.at, data) == c.n || e.anyValue(p.off+to.at, c.n))
}

// vacate frees n bytes, filled alike, from a place on: it moves their read to another place, whose read may
// have to move in turn: an augmenting path in the matching of reads and places. It reports whether it could; if
// not, nothing has changed.
func (es *Entries) vacate(h Place, n int) bool {
	c := es.content(h, n)
	if c.kind == isFree {
		return true
	}
	if !es.movable(h, &c) {
		return false
	}
	es.path = append(es.path, h)
	depth := len(es.bytes)
	es.bytes = es.bytesOf(h, &c, es.bytes)
	end := len(es.bytes)
	moved := es.places(h.addr(), func(to Place) bool {
		if es.onPath(to) || !es.mayHold(&c, es.bytes[depth:end], to) || !es.vacate(to, n) {
			return false
		}
		es.take(h, &c)
		es.give(to, &c)
		return true
	})
	es.bytes = es.bytes[:depth]
	return moved
}

// onPath reports whether the current path contains a place, or the same byte in another reading (Entry.Alt) of
// its entry.
func (es *Entries) onPath(h Place) bool {
	for _, o := range es.path {
		if o.entry.sameAs(h.entry) && (o.entry != h.entry || o.piece == h.piece) {
			return true
		}
	}
	return false
}

// force reassigns the read that fills n bytes at place `from` to place `to`; the read that fills `to` so far must move
// to a third place. It reports whether it could; if not, nothing has changed.
func (es *Entries) force(to, from Place, n int) bool {
	c, o := es.content(from, n), es.content(to, n)
	if !es.movable(from, &c) || !to.entry.had(&c) || o.kind != isFree && !es.movable(to, &o) {
		return false
	}
	before := es.moves.mark()
	es.take(from, &c)
	if es.leave(to, n) {
		es.give(to, &c)
		return true
	}
	es.undo(before)
	return false
}

// leave starts a new augmenting path and calls `vacate` to free n bytes from a place on.
func (es *Entries) leave(h Place, n int) bool {
	es.path = es.path[:0]
	return es.vacate(h, n)
}

// forceNeeded does what `force` does, where the entry of place `from` cannot do without the bytes: another read with
// the same bytes must then fill `from`.
func (es *Entries) forceNeeded(to, from Place, n int) bool {
	c, o := es.content(from, n), es.content(to, n)
	if es.visited(from) || !es.movable(from, &c) || !to.entry.had(&c) || o.kind != isFree && !es.movable(to, &o) {
		return false
	}
	es.passed = append(es.passed, from)
	before := es.moves.mark()
	want := es.bytesOf(from, &c, nil)
	es.take(from, &c)
	if es.leave(to, n) {
		es.give(to, &c)
		if from.contains(want) || es.obtainRun(from, n, want) == n {
			return true
		}
	}
	es.undo(before)
	es.take(from, &c)
	if es.obtainRun(from, n, want) == n && es.leave(to, n) {
		es.give(to, &c)
		return true
	}
	es.undo(before)
	return false
}

// visited reports whether the current search has already tried to obtain bytes for a place.
func (es *Entries) visited(h Place) bool {
	for _, o := range es.passed {
		if o == h {
			return true
		}
	}
	return false
}

// beginSearch clears the visited places and the undo log.
func (es *Entries) beginSearch() {
	es.passed, es.moves = es.passed[:0], moves{es.moves.s[:0], es.moves.data[:0]}
}

// obtain moves reads until bytes lo to hi of an entry's piece i have come: with the values in want, or with any if
// want is nil. It reports whether it could.
func (es *Entries) obtain(e *Entry, i, lo, hi int, want []byte) bool {
	p := &e.Pieces[i]
	for at := lo; at < hi; {
		h := Place{e, i, at}
		n := 0
		if _, to := p.Got.Within(at, hi); p.Got.Has(at, at+1) {
			if n = to - at; want != nil {
				n = e.Buf.Differs(p.off+at, want[at-lo:to-lo])
			}
		}
		if n == 0 {
			left := []byte(nil)
			if want != nil {
				left = want[at-lo:]
			}
			es.beginSearch()
			if n = es.obtainRun(h, es.uniform(h.addr(), hi-at), left); n == 0 {
				return false
			}
		}
		at += n
	}
	return true
}

// obtainRun is obtain for at least the first of n uniform bytes, and for as many of the others as the same read
// brought. It returns how many, 0 if none.
func (es *Entries) obtainRun(h Place, n int, want []byte) (k int) {
	if o := es.content(h, n); o.kind != isFree && !es.movable(h, &o) {
		return 0
	}
	es.passed = append(es.passed, h)
	for _, needed := range [...]bool{false, true} {
		if es.places(h.addr(), func(from Place) bool {
			k = 0
			if from.entry.sameAs(h.entry) && (from.entry != h.entry || from.piece == h.piece || want == nil) {
				return false
			}
			c := es.content(from, n)
			if c.kind != isGot || c.n < n || needed != (from.entry.settledAt(from.piece, from.at, n) ||
				es.goal.reached(from, n)) {
				return false
			}
			k = n
			if want != nil {
				k = from.entry.Buf.Differs(from.entry.Pieces[from.piece].off+from.at, want[:n])
			}
			for ; k > 0; k = min(k-1, 1) {
				if !needed && es.force(h, from, k) || needed && es.forceNeeded(h, from, k) {
					return true
				}
			}
			return false
		}) {
			return k
		}
	}
	return 0
}

// Spread attributes a read that fits no piece as a whole, run by run: to places that are free, else to places that
// can be vacated. It reports whether every byte found one.
func (es *Entries) Spread(d *Read) bool {
	if es.places(d.Addr,
		func(h Place) bool { return h.entry.reads(h.piece) && h.at+d.N <= h.entry.Pieces[h.piece].len }) {
		return es.spreadOver(d)
	}
	return false
}

func (es *Entries) spreadOver(d *Read) bool {
	d.Kind = memory.Piece
	for at := 0; at < d.N; {
		es.beginSearch()
		addr := d.Addr + uint64(at)
		c := content{kind: isOpen, n: es.uniform(addr, d.N-at), issued: es.Now, tag: d.Tag}
		room := func(make bool) bool {
			return es.places(addr, func(h Place) bool {
				if !h.entry.reads(h.piece) || !make && es.content(h, 1).kind != isFree ||
					make && (h.entry.settledAt(h.piece, h.at, c.n) || !es.leave(h, c.n)) {
					return false
				}
				es.give(h, &c)
				return true
			})
		}
		if !room(false) && !room(true) {
			d.forget(es)
			return false
		}
		at += c.n
	}
	q := d.dest[0].Entry.Queue
	d.Stray, d.Queue, d.Epoch = false, uint16(q.ID), q.Epoch
	return true
}

// match exchanges reads between entry e and others until e has the bytes of a frame that left. It reports whether
// it could, so that e can have sent the frame.
func (es *Entries) match(e *Entry, data []byte) bool {
	free := e.unread(data)
	es.goal = goal{entry: e, data: data, wild: free}
	defer func() { es.goal.entry, es.goal.data = nil, nil }()
	for i := range e.Count {
		p := &e.Pieces[i]
		for at := 0; at < p.len; {
			wild, n := free.span(p.off+at, p.off+p.len)
			want := data[p.off+at : p.off+at+n]
			if wild {
				want = nil
			}
			if !es.obtain(e, i, at, at+n, want) {
				return false
			}
			at += n
		}
	}
	return e.Equals(data) || es.choose(e, free.places(), func() bool { return e.Equals(data) })
}

// choose tries all values that reads have brought for the bytes at the given offsets, which offloads overwrite, until
// done returns true.
func (es *Entries) choose(e *Entry, at []int, done func() bool) bool {
	if len(at) == 0 {
		return false
	}
	i := e.pieceOf(at[0])
	if i < 0 {
		return es.choose(e, at[1:], done)
	}
	p := &e.Pieces[i]
	off := at[0] - p.off
	var values [4]byte
	n := 0
	es.places(p.bus+uint64(off), func(h Place) bool {
		if c := es.content(h, 1); c.kind == isGot {
			if v := h.entry.Buf.Part(h.entry.Pieces[h.piece].off+h.at, 1)[0]; bytes.IndexByte(values[:n], v) < 0 {
				values[n] = v
				n++
			}
		}
		return n == len(values)
	})
	g := &es.goal
	k := len(g.chosen)
	for _, v := range values[:n] {
		g.chosen = append(g.chosen[:k], chosen{at[0], v})
		if es.obtain(e, i, off, off+1, []byte{v}) && (done() || es.choose(e, at[1:], done)) {
			return true
		}
	}
	g.chosen = g.chosen[:k]
	return false
}

// reached reports whether a place already has the bytes that the search needs there: those of the frame, or the
// value being tried. The search does not take them away again.
func (g *goal) reached(h Place, n int) bool {
	p := &h.entry.Pieces[h.piece]
	off := p.off + h.at
	if h.entry != g.entry || !p.Got.Has(h.at, h.at+n) {
		return false
	}
	for _, c := range g.chosen {
		if c.at == off && n == 1 {
			return h.entry.Buf.Part(off, 1)[0] == c.value
		}
	}
	if g.data == nil {
		return false
	}
	wild, k := g.wild.span(off, off+n)
	return !wild && k == n && h.entry.Buf.Differs(off, g.data[off:off+n]) == n
}

// goal is the entry that a search completes. If data is set, it is a frame that has left, whose bytes the entry must
// get.
type goal struct {
	entry  *Entry
	data   []byte
	wild   overwritten
	chosen []chosen
}

// chosen is a value being tried for the byte at an offset of the frame.
type chosen struct {
	at    int
	value byte
}
