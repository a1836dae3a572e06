package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/tlp"
)

// fetchGroup is how many entries one read brings at most [Q3].
const fetchGroup = 4

// window is the part of a queue's ring that was asked for and not used yet.
// Indices are free-running, the entry of index i stands at i mod depth.
type window struct {
	entry int // bytes
	depth uint16
	data  []byte
	there []bool // fetched, by index mod depth

	use  uint16 // next to be used
	next uint16 // next to be asked for
	gen  uint32 // counts resets: what was asked for before one does not count

	cut bool   // entries from end on are not to be used
	end uint16 // not before use
}

func newWindow(entry, depth int) window {
	return window{entry: entry, depth: uint16(depth), data: make([]byte, entry*depth), there: make([]bool, depth)}
}

// reset forgets everything and starts over at index 0.
func (w *window) reset() {
	clear(w.there)
	w.use, w.next, w.cut = 0, 0, false
	w.gen++
}

// cutAt makes the entries from index i on unusable, whether they are there or
// still to come. Only reset undoes it.
func (w *window) cutAt(i uint16) {
	w.cut, w.end = true, i
	for k := i; k != w.next; k++ {
		w.there[k&(w.depth-1)] = false
	}
}

// wants is how many entries to ask for with one read, of those posted up to
// pi; addr is where the next one stands. Groups do not straddle a read, and
// none exceeds mrrs or crosses a page. One that does not fit waits for room:
// otherwise a busy queue would read its entries one by one.
func (w *window) wants(pi uint16, addr uint64, mrrs int) uint16 {
	page := tlp.PageBytes - int(addr&(tlp.PageBytes-1))
	n := min(pi-w.next, fetchGroup-w.next%fetchGroup, uint16(min(mrrs, page)/w.entry))
	if n > w.depth-(w.next-w.use) {
		return 0
	}
	return n
}

// slot is where entries from index i on are stored.
func (w *window) slot(i uint16, n uint16) []byte {
	at := int(i&(w.depth-1)) * w.entry
	return w.data[at : at+int(n)*w.entry]
}

// arrived notes that n entries from index i on are there.
func (w *window) arrived(i, n uint16) {
	for ; n > 0 && !w.beyond(i); n-- {
		w.there[i&(w.depth-1)] = true
		i++
	}
}

// beyond reports whether index i, not yet used, is cut off.
func (w *window) beyond(i uint16) bool { return w.cut && i-w.use >= w.end-w.use }

// ready reports whether the next entry to be used is there.
func (w *window) ready() bool { return w.use != w.next && w.there[w.use&(w.depth-1)] }

// peek returns the next entry, which is there.
func (w *window) peek() []byte { return w.slot(w.use, 1) }

// take moves past the next entry.
func (w *window) take() {
	w.there[w.use&(w.depth-1)] = false
	w.use++
}

// pushed takes the entry of an accepted push, if it is the next one that the
// queue wants and there is room; else it is read from the ring [W2].
func (c *Comp) pushed(e *core.Effect, wqe []byte) {
	if wqe == nil {
		return
	}
	if w := &c.tx.queues[e.Index].win; w.next == e.PI-1 && w.next-w.use < w.depth && !w.cut {
		copy(w.slot(w.next, 1), wqe)
		w.next++
		w.arrived(w.next-1, 1)
		c.offer(e.Index)
	}
}
