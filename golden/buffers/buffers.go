package buffers

import (
	"nictwin/golden/attribution"
	"nictwin/golden/memory"
)

// Buffers holds the buffers of all receive queues. Make it with New.
type Buffers struct {
	queues   []*Queue
	writable *memory.Map[attribution.Entry]
	parts    memory.Pool[Part]
	shared   []*sharedWrite // writes to overlapping buffers with bytes that no frame has claimed yet
	writes   memory.Pool[sharedWrite]
	Last     *Slot // descriptor whose buffer was written to most recently
}

// New returns an empty set of buffers for these queues. Enter adds the buffers of descriptors to writable.
func New(queues []*Queue, writable *memory.Map[attribution.Entry]) *Buffers {
	return &Buffers{queues: queues, writable: writable}
}
