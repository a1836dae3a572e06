package ring

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// fetchGroup is the largest number of the ring's slots in one read [Q3].
const fetchGroup = 4

// Window is the part of a queue's ring that was requested and is not used yet. A slot of the ring holds a descriptor,
// or one block of a work entry, which may have several. Indices are free-running; index i is stored at i mod Depth.
type Window struct {
	entry   int  // bytes per slot of the ring
	long    bool // entries may take several slots
	Depth   uint16
	data    []byte // the slots, then room for a copy of the end of an entry that wraps around the ring's end
	arrived []bool // which slots have arrived, by index mod Depth

	Use  uint16 // next index to use
	Next uint16 // next index to request
	Gen  uint32 // number of resets; reads that began before the latest are ignored

	Cut bool   // the slots from index `end` on are unusable; see CutAt
	end uint16 // first unusable index if Cut is set; never before index Use
}

// NewWindow returns a window on a ring of `depth` slots, each `entry` bytes long.
func NewWindow(entry, depth int, long bool) Window {
	room := depth
	if long {
		room += nicspec.WqeBlocksMax - 1
	}
	return Window{entry: entry, long: long, Depth: uint16(depth), data: make([]byte, entry*room),
		arrived: make([]bool, depth)}
}

// Reset forgets everything and starts over at index 0.
func (w *Window) Reset() {
	clear(w.arrived)
	w.Use, w.Next, w.Cut = 0, 0, false
	w.Gen++
}

// CutAt makes the slots from index i on unusable, even those that arrive later, until Reset.
func (w *Window) CutAt(i uint16) {
	w.Cut, w.end = true, i
	for k := i; k != w.Next; k++ {
		w.arrived[k&(w.Depth-1)] = false
	}
}

// Wants returns how many slots to request with one read, of those posted up to pi; addr is the
// address of the first. A read stays inside a group of fetchGroup slots, a page and mrrs.
// A group that does not fit waits for room: otherwise a busy queue would read its slots one by
// one. It does not wait while the window holds less than the longest entry, since such an entry
// could then never be complete.
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

// Slot returns the storage of n slots from index i on.
func (w *Window) Slot(i uint16, n uint16) []byte {
	at := int(i&(w.Depth-1)) * w.entry
	return w.data[at : at+int(n)*w.entry]
}

// Arrived records that n slots from index i on have arrived.
func (w *Window) Arrived(i, n uint16) {
	for ; n > 0 && !w.Beyond(i); n-- {
		w.arrived[i&(w.Depth-1)] = true
		i++
	}
}

// Beyond reports whether index i, not yet used, is cut off.
func (w *Window) Beyond(i uint16) bool { return w.Cut && i-w.Use >= w.end-w.Use }

// span returns how many slots the next entry has; its first slot must have arrived.
func (w *Window) span() uint16 {
	if !w.long {
		return 1
	}
	return uint16(core.WqeBlocks(w.Slot(w.Use, 1), nicspec.PartLong))
}

// begun reports whether the first place of the next entry has arrived.
func (w *Window) begun() bool { return w.Use != w.Next && w.arrived[w.Use&(w.Depth-1)] }

// Ready reports whether the next entry has arrived completely.
func (w *Window) Ready() bool {
	if !w.begun() {
		return false
	}
	for k := w.span() - 1; k > 0; k-- {
		if !w.arrived[(w.Use+k)&(w.Depth-1)] {
			return false
		}
	}
	return true
}

// Spent reports whether the window was cut and no complete entry before the cut remains [T2]. All
// slots before the cut must have arrived: if a read of them failed too, the queue's only Event
// would have to name the first of them.
func (w *Window) Spent() bool {
	if !w.Cut || w.Use != w.end && (!w.begun() || w.end-w.Use >= w.span()) {
		return false
	}
	for k := w.Use; k != w.end; k++ {
		if !w.arrived[k&(w.Depth-1)] {
			return false
		}
	}
	return true
}

// Peek returns the next entry, which must be ready.
func (w *Window) Peek() []byte {
	at, n := int(w.Use&(w.Depth-1)), int(w.span())
	if wrapped := at + n - int(w.Depth); wrapped > 0 {
		copy(w.data[int(w.Depth)*w.entry:], w.data[:wrapped*w.entry])
	}
	return w.data[at*w.entry : (at+n)*w.entry]
}

// Take moves past the next entry, which must be ready.
func (w *Window) Take() {
	for n := w.span(); n > 0; n-- {
		w.arrived[w.Use&(w.Depth-1)] = false
		w.Use++
	}
}
