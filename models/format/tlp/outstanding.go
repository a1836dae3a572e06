package tlp

// request is the monitor's record of an outstanding non-posted request.
type request struct {
	hdr       Header
	next      uint64 // address of the first byte still missing
	left      int    // bytes still missing
	cycle     uint64
	completer uint16 // ID of the completer; valid once answered
	answered  bool
	used      bool
}

// id returns the transaction ID: requester and tag.
func (r *request) id() uint32 { return transactionID(&r.hdr) }

func transactionID(h *Header) uint32 { return uint32(h.RequesterID)<<8 | uint32(h.Tag) }

// outstanding holds the outstanding requests of one direction, by transaction ID: a hash table with
// linear probing. It allocates only when it grows, which the 256 tags of one requester do not
// cause.
type outstanding struct {
	slots []request
	count int
}

const firstSlots = 1024 // a power of two

func newOutstanding() outstanding { return outstanding{slots: make([]request, firstSlots)} }

// home returns the slot where the search for id starts.
func (o *outstanding) home(id uint32) int {
	const golden = 0x9e3779b1 // a prime near 2^32 / golden ratio: spreads consecutive IDs over the table
	return int(id*golden>>7) & (len(o.slots) - 1)
}

// find returns the request with this ID, or nil. The pointer is valid until the next add or remove.
func (o *outstanding) find(id uint32) *request {
	for i := o.home(id); o.slots[i].used; i = (i + 1) & (len(o.slots) - 1) {
		if o.slots[i].id() == id {
			return &o.slots[i]
		}
	}
	return nil
}

// add enters a request whose ID is not in the table.
func (o *outstanding) add(r *request) {
	if 2*o.count >= len(o.slots) {
		o.grow()
	}
	i := o.home(r.id())
	for o.slots[i].used {
		i = (i + 1) & (len(o.slots) - 1)
	}
	o.slots[i] = *r
	o.slots[i].used = true
	o.count++
}

func (o *outstanding) grow() {
	old := o.slots
	o.slots, o.count = make([]request, 2*len(old)), 0
	for i := range old {
		if old[i].used {
			o.add(&old[i])
		}
	}
}

// remove removes the request with this ID, if there is one, and reports whether there was. It moves
// later entries of the probe sequence into the gap, so that searches still find them.
func (o *outstanding) remove(id uint32) bool {
	mask := len(o.slots) - 1
	gap := o.home(id)
	for ; o.slots[gap].used && o.slots[gap].id() != id; gap = (gap + 1) & mask {
	}
	if !o.slots[gap].used {
		return false
	}
	for i := (gap + 1) & mask; o.slots[i].used; i = (i + 1) & mask {
		home := o.home(o.slots[i].id())
		if (i-home)&mask >= (i-gap)&mask {
			o.slots[gap] = o.slots[i]
			gap = i
		}
	}
	o.slots[gap].used = false
	o.count--
	return true
}
