package ring

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// fetchGroup is how many places one read brings at most [Q3].
const fetchGroup = 4

// Window is the part of a queue's ring that was asked for and not used yet. A place
// of the ring holds a descriptor, or a block of a work entry, which may have several.
// Indices are free-running, the place of index i stands at i mod depth.
type Window struct {
	entry int  // bytes of a place
	long  bool // entries may have several places
	Depth uint16
	data  []byte // of the places, then room for the end of an entry that wraps
	there []bool // fetched, by index mod depth

	Use  uint16 // next to be used
	Next uint16 // next to be asked for
	Gen  uint32 // counts resets: what was asked for before one does not count

	Cut bool   // places from end on are not to be used
	end uint16 // not before Use
}

// NewWindow returns a window on a ring whose places have entry bytes.
func NewWindow(entry, depth int, long bool) Window {
	room := depth
	if long {
		room += nicspec.WqeBlocksMax - 1
	}
	return Window{entry: entry, long: long, Depth: uint16(depth), data: make([]byte, entry*room),
		there: make([]bool, depth)}
}

// Reset forgets everything and starts over at index 0.
func (w *Window) Reset() {
	clear(w.there)
	w.Use, w.Next, w.Cut = 0, 0, false
	w.Gen++
}

// CutAt makes the places from index i on unusable, whether they are there or
// still to come. Only reset undoes it.
func (w *Window) CutAt(i uint16) {
	w.Cut, w.end = true, i
	for k := i; k != w.Next; k++ {
		w.there[k&(w.Depth-1)] = false
	}
}

// Wants is how many places to ask for with one read, of those posted up to
// pi; addr is where the next one stands. Groups do not straddle a read, and
// none exceeds mrrs or crosses a page. One that does not fit waits for room:
// otherwise a busy queue would read its entries one by one. It does not wait
// when less is there than an entry may have: that would never be used.
func (w *Window) Wants(pi uint16, addr uint64, mrrs int) uint16 {
	page := tlp.PageBytes - int(addr&(tlp.PageBytes-1))
	n := min(pi-w.Next, fetchGroup-w.Next%fetchGroup, uint16(min(mrrs, page)/w.entry))
	held := w.Next - w.Use
	switch room := w.Depth - held; {
	case n <= room:
		return n
	case w.long && held < nicspec.WqeBlocksMax:
		return room
	}
	return 0
}

// Slot is where n places from index i on are stored.
func (w *Window) Slot(i uint16, n uint16) []byte {
	at := int(i&(w.Depth-1)) * w.entry
	return w.data[at : at+int(n)*w.entry]
}

// Arrived notes that n places from index i on are there.
func (w *Window) Arrived(i, n uint16) {
	for ; n > 0 && !w.Beyond(i); n-- {
		w.there[i&(w.Depth-1)] = true
		i++
	}
}

// Beyond reports whether index i, not yet used, is cut off.
func (w *Window) Beyond(i uint16) bool { return w.Cut && i-w.Use >= w.end-w.Use }

// span is how many places the next entry has, whose first is there.
func (w *Window) span() uint16 {
	if !w.long {
		return 1
	}
	return uint16(core.WqeBlocks(w.Slot(w.Use, 1), nicspec.PartLong))
}

// begun reports whether the first place of the next entry to be used is there.
func (w *Window) begun() bool { return w.Use != w.Next && w.there[w.Use&(w.Depth-1)] }

// Ready reports whether the next entry to be used is there, all of it.
func (w *Window) Ready() bool {
	if !w.begun() {
		return false
	}
	for k := w.span() - 1; k > 0; k-- {
		if !w.there[(w.Use+k)&(w.Depth-1)] {
			return false
		}
	}
	return true
}

// Spent reports whether a window was cut, and no entry is left that stands wholly
// before the cut [T2]. What stands before it has all come: a read of these places
// that fails, too, names the first of them, and there is one Event.
func (w *Window) Spent() bool {
	if !w.Cut || w.Use != w.end && (!w.begun() || w.end-w.Use >= w.span()) {
		return false
	}
	for k := w.Use; k != w.end; k++ {
		if !w.there[k&(w.Depth-1)] {
			return false
		}
	}
	return true
}

// Peek returns the next entry, which is ready.
func (w *Window) Peek() []byte {
	at, n := int(w.Use&(w.Depth-1)), int(w.span())
	if wrapped := at + n - int(w.Depth); wrapped > 0 {
		copy(w.data[int(w.Depth)*w.entry:], w.data[:wrapped*w.entry])
	}
	return w.data[at*w.entry : (at+n)*w.entry]
}

// Take moves past the next entry, which is ready.
func (w *Window) Take() {
	for n := w.span(); n > 0; n-- {
		w.there[w.Use&(w.Depth-1)] = false
		w.Use++
	}
}
