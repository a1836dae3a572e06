package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// fetchGroup is how many places one read brings at most [Q3].
const fetchGroup = 4

// window is the part of a queue's ring that was asked for and not used yet. A place
// of the ring holds a descriptor, or a block of a work entry, which may have several.
// Indices are free-running, the place of index i stands at i mod depth.
type window struct {
	entry int  // bytes of a place
	long  bool // entries may have several places
	depth uint16
	data  []byte // of the places, then room for the end of an entry that wraps
	there []bool // fetched, by index mod depth

	use  uint16 // next to be used
	next uint16 // next to be asked for
	gen  uint32 // counts resets: what was asked for before one does not count

	cut bool   // places from end on are not to be used
	end uint16 // not before use
}

func newWindow(entry, depth int, long bool) window {
	room := depth
	if long {
		room += nicspec.WqeBlocksMax - 1
	}
	return window{entry: entry, long: long, depth: uint16(depth), data: make([]byte, entry*room), there: make([]bool, depth)}
}

// reset forgets everything and starts over at index 0.
func (w *window) reset() {
	clear(w.there)
	w.use, w.next, w.cut = 0, 0, false
	w.gen++
}

// cutAt makes the places from index i on unusable, whether they are there or
// still to come. Only reset undoes it.
func (w *window) cutAt(i uint16) {
	w.cut, w.end = true, i
	for k := i; k != w.next; k++ {
		w.there[k&(w.depth-1)] = false
	}
}

// wants is how many places to ask for with one read, of those posted up to
// pi; addr is where the next one stands. Groups do not straddle a read, and
// none exceeds mrrs or crosses a page. One that does not fit waits for room:
// otherwise a busy queue would read its entries one by one. It does not wait
// when less is there than an entry may have: that would never be used.
func (w *window) wants(pi uint16, addr uint64, mrrs int) uint16 {
	page := tlp.PageBytes - int(addr&(tlp.PageBytes-1))
	n := min(pi-w.next, fetchGroup-w.next%fetchGroup, uint16(min(mrrs, page)/w.entry))
	held := w.next - w.use
	switch room := w.depth - held; {
	case n <= room:
		return n
	case w.long && held < nicspec.WqeBlocksMax:
		return room
	}
	return 0
}

// slot is where n places from index i on are stored.
func (w *window) slot(i uint16, n uint16) []byte {
	at := int(i&(w.depth-1)) * w.entry
	return w.data[at : at+int(n)*w.entry]
}

// arrived notes that n places from index i on are there.
func (w *window) arrived(i, n uint16) {
	for ; n > 0 && !w.beyond(i); n-- {
		w.there[i&(w.depth-1)] = true
		i++
	}
}

// beyond reports whether index i, not yet used, is cut off.
func (w *window) beyond(i uint16) bool { return w.cut && i-w.use >= w.end-w.use }

// span is how many places the next entry has, whose first is there.
func (w *window) span() uint16 {
	if !w.long {
		return 1
	}
	return uint16(core.WqeBlocks(w.slot(w.use, 1), nicspec.PartLong))
}

// begun reports whether the first place of the next entry to be used is there.
func (w *window) begun() bool { return w.use != w.next && w.there[w.use&(w.depth-1)] }

// ready reports whether the next entry to be used is there, all of it.
func (w *window) ready() bool {
	if !w.begun() {
		return false
	}
	for k := w.span() - 1; k > 0; k-- {
		if !w.there[(w.use+k)&(w.depth-1)] {
			return false
		}
	}
	return true
}

// spent reports whether a window was cut, and no entry is left that stands wholly
// before the cut [T2]. What stands before it has all come: a read of these places
// that fails, too, names the first of them, and there is one Event.
func (w *window) spent() bool {
	if !w.cut || w.use != w.end && (!w.begun() || w.end-w.use >= w.span()) {
		return false
	}
	for k := w.use; k != w.end; k++ {
		if !w.there[k&(w.depth-1)] {
			return false
		}
	}
	return true
}

// peek returns the next entry, which is ready.
func (w *window) peek() []byte {
	at, n := int(w.use&(w.depth-1)), int(w.span())
	if wrapped := at + n - int(w.depth); wrapped > 0 {
		copy(w.data[int(w.depth)*w.entry:], w.data[:wrapped*w.entry])
	}
	return w.data[at*w.entry : (at+n)*w.entry]
}

// take moves past the next entry, which is ready.
func (w *window) take() {
	for n := w.span(); n > 0; n-- {
		w.there[w.use&(w.depth-1)] = false
		w.use++
	}
}

// pushed takes the block of an accepted push, if it is the next one that the
// queue wants and there is room; else it is read from the ring [W2].
func (c *Comp) pushed(e *core.Effect, block []byte) {
	if block == nil {
		return
	}
	if w := &c.tx.queues[e.Index].win; w.next == e.PI-1 && w.next-w.use < w.depth && !w.cut {
		copy(w.slot(w.next, 1), block)
		w.next++
		w.arrived(w.next-1, 1)
		c.offer(e.Index)
	}
}
