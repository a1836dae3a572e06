package ring

import (
	"fmt"

	"nictwin/models/sim/fifo"
)

// Ring is a shared receive ring. Buffers and places are numbered from 0 on.
type Ring struct {
	buffers []buffer        // state by buffer
	queued  fifo.Queue[int] // buffers posted and not filled, in the order of their descriptors
	free    fifo.Queue[int] // buffers that wait to be posted again
	posted  uint64          // descriptors posted since the beginning
	taken   uint64          // descriptors known to be filled
	cursors []uint64        // descriptors that each core has passed
}

// buffer is the state of a buffer.
type buffer uint8

const (
	free buffer = iota
	posted
	held // its packet has not been processed
)

// New returns a ring of so many places and as many buffers, all free, for cores that Join.
func New(size int) *Ring {
	r := &Ring{buffers: make([]buffer, size)}
	for i := range size {
		r.free.Push(i)
	}
	return r
}

// Size returns the number of places.
func (r *Ring) Size() int { return len(r.buffers) }

// Join adds a core, which passes all descriptors that are filled from now on, and returns its number.
func (r *Ring) Join() (core int) {
	r.cursors = append(r.cursors, r.taken)
	return len(r.cursors) - 1
}

// Free returns the number of buffers that wait to be posted.
func (r *Ring) Free() int { return r.free.Len() }

// Room returns the number of buffers that can be posted now: free ones, into places that all cores have passed.
func (r *Ring) Room() int { return min(r.free.Len(), r.Size()-int(r.posted-r.slowest())) }

// slowest returns the cursor of the core that is furthest behind.
func (r *Ring) slowest() uint64 {
	at := r.taken
	for _, c := range r.cursors {
		at = min(at, c)
	}
	return at
}

// Post takes a free buffer for the next descriptor. There must be Room.
func (r *Ring) Post() (buffer int) {
	buffer = r.free.Pop()
	r.buffers[buffer] = posted
	r.queued.Push(buffer)
	r.posted++
	return buffer
}

// Arrived records that the NIC has filled the next descriptor, whose buffer the caller names, and returns the place of
// the descriptor. It returns an error if that has another buffer.
func (r *Ring) Arrived(buffer int) (place int, err error) {
	if r.queued.Len() == 0 || *r.queued.Front() != buffer {
		return 0, fmt.Errorf("a packet in buffer %d: want the buffer of descriptor %d", buffer, r.taken)
	}
	r.buffers[r.queued.Pop()] = held
	place = int(r.taken % uint64(r.Size()))
	r.taken++
	return place, nil
}

// Behind reports whether a core has not passed all filled descriptors.
func (r *Ring) Behind(core int) bool { return r.cursors[core] < r.taken }

// At returns the number of descriptors that a core has passed, which is the index of its next one.
func (r *Ring) At(core int) uint64 { return r.cursors[core] }

// Pass moves a core past its next descriptor, and returns the place of that. Callers keep packets by place, not by
// buffer: a faster core may have freed the buffer, which then has another packet. The core must be Behind.
func (r *Ring) Pass(core int) (place int) {
	place = int(r.cursors[core] % uint64(r.Size()))
	r.cursors[core]++
	return place
}

// Done records that the packet in a buffer was processed.
func (r *Ring) Done(buffer int) error {
	if buffer < 0 || buffer >= r.Size() || r.buffers[buffer] != held {
		return fmt.Errorf("buffer %d was freed: want one with a packet that was not processed", buffer)
	}
	r.buffers[buffer] = free
	r.free.Push(buffer)
	return nil
}

// Held returns the number of buffers whose packets have not been processed.
func (r *Ring) Held() int { return r.Size() - r.free.Len() - r.queued.Len() }
