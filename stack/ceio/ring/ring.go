package ring

import "fmt"

// Ring is the software ring of a flow. Its methods allocate nothing, and panic if a caller breaks their conditions.
type Ring struct {
	slow       []uint64 // a bit for each slot: the packet is slow
	slots      uint64   // power of two
	head, tail uint64   // packets handed over, packets appended

	fast, slowPath path
	started        uint64 // slow packets whose DMA has been started
}

// path counts the packets of one of the NIC's rings.
type path struct {
	appended, handed, done uint64 // done: processed (fast), or copied to the host (slow)
}

// Packet is a packet of one of the rings: the Index-th since the beginning, counted from 0.
type Packet struct {
	Fast  bool
	Index uint64
}

// New returns a ring for at least the given number of packets that have not been handed over. It panics if that number
// is below 1.
func New(packets int) *Ring {
	if packets < 1 {
		panic(fmt.Sprintf("ring: %d packets: want 1 or more", packets))
	}
	slots := uint64(64)
	for slots < uint64(packets) {
		slots *= 2
	}
	return &Ring{slow: make([]uint64, slots/64), slots: slots}
}

// Full reports whether Append has no room.
func (r *Ring) Full() bool { return r.tail-r.head == r.slots }

// Pending returns the number of packets that have not been handed over.
func (r *Ring) Pending() int { return int(r.tail - r.head) }

// Append appends the next packet of the fast or the slow ring. The ring must not be full.
func (r *Ring) Append(fast bool) {
	if r.Full() {
		panic("ring: full")
	}
	word, bit := r.place(r.tail)
	r.tail++
	if fast {
		r.slow[word] &^= bit
		r.fast.appended++
		return
	}
	r.slow[word] |= bit
	r.slowPath.appended++
}

// place returns the word and the bit of a packet's flag.
func (r *Ring) place(packet uint64) (word int, bit uint64) {
	slot := packet % r.slots
	return int(slot / 64), 1 << (slot % 64)
}

// Next returns the packet that is handed over next, and whether that is possible: a slow packet waits for its DMA. It
// reports false if there is no packet.
func (r *Ring) Next() (p Packet, ready bool) {
	if r.head == r.tail {
		return Packet{}, false
	}
	if word, bit := r.place(r.head); r.slow[word]&bit == 0 {
		return Packet{true, r.fast.handed}, true
	}
	return Packet{false, r.slowPath.handed}, r.slowPath.handed < r.slowPath.done
}

// Ready returns how many of the next n packets can be handed over, up to the first one whose DMA has not ended.
func (r *Ring) Ready(n int) int {
	done := r.slowPath.done - r.slowPath.handed
	n = min(n, r.Pending())
	for k := range n {
		word, bit := r.place(r.head + uint64(k))
		if r.slow[word]&bit == 0 {
			continue
		}
		if done == 0 {
			return k
		}
		done--
	}
	return n
}

// Lacking returns how many of the next n packets are slow and wait for their DMA to be started.
func (r *Ring) Lacking(n int) int {
	slow := min(n, r.Pending()) - r.fastAmong(n)
	return max(slow-int(r.started-r.slowPath.handed), 0)
}

// Held returns the sum of two counts: fast packets that have been handed over and not processed yet, and fast packets
// among the n packets that are handed over next.
func (r *Ring) Held(n int) int { return int(r.fast.handed-r.fast.done) + r.fastAmong(n) }

// fastAmong returns how many of the next n packets are fast.
func (r *Ring) fastAmong(n int) (fast int) {
	for k := range min(n, r.Pending()) {
		if word, bit := r.place(r.head + uint64(k)); r.slow[word]&bit == 0 {
			fast++
		}
	}
	return fast
}

// HandOver hands the next packet over. Next must have reported it as ready.
func (r *Ring) HandOver() {
	p, ready := r.Next()
	if !ready {
		panic("ring: the next packet is not in host memory")
	}
	r.head++
	if p.Fast {
		r.fast.handed++
	} else {
		r.slowPath.handed++
	}
}

// Processed moves the fast head by n packets that have been handed over: their buffers are free, their credits return.
func (r *Ring) Processed(n int) {
	if n < 0 || uint64(n) > r.fast.handed-r.fast.done {
		panic(fmt.Sprintf("ring: %d fast packets processed: want at most %d", n, r.fast.handed-r.fast.done))
	}
	r.fast.done += uint64(n)
}

// Unprocessed returns the number of fast packets, appended or handed over, that hold credits.
func (r *Ring) Unprocessed() int { return int(r.fast.appended - r.fast.done) }

// Uncopied returns the first slow packet whose DMA has not been started, and the number of such packets.
func (r *Ring) Uncopied() (first uint64, n int) {
	return r.started, int(r.slowPath.appended - r.started)
}

// StartCopies records that the DMA of the next n slow packets has been started.
func (r *Ring) StartCopies(n int) {
	if n < 0 || uint64(n) > r.slowPath.appended-r.started {
		panic(fmt.Sprintf("ring: %d copies started: want at most %d", n, r.slowPath.appended-r.started))
	}
	r.started += uint64(n)
}

// Copied moves the slow head by n packets, whose DMA has ended. Copies end in the order in which they were started.
func (r *Ring) Copied(n int) {
	if n < 0 || uint64(n) > r.started-r.slowPath.done {
		panic(fmt.Sprintf("ring: %d copies ended: want at most %d", n, r.started-r.slowPath.done))
	}
	r.slowPath.done += uint64(n)
}

// Copying returns the number of slow packets whose DMA has been started and has not ended.
func (r *Ring) Copying() int { return int(r.started - r.slowPath.done) }

// Landed returns the number of slow packets that have been copied and not handed over.
func (r *Ring) Landed() int { return int(r.slowPath.done - r.slowPath.handed) }

// Drained reports whether all slow packets have been copied.
func (r *Ring) Drained() bool { return r.slowPath.done == r.slowPath.appended }
