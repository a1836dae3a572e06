package buffers

import (
	"nictwin/golden/attribution"
	"nictwin/golden/memory"
)

// Buffers is the buffers of all receive queues. Make it with New.
type Buffers struct {
	queues   []*Queue
	writable *memory.Map[attribution.Entry]
	parts    memory.Pool[Part]
	shared   []*sharedWrite // to buffers that overlap, not taken by any frame yet
	writes   memory.Pool[sharedWrite]
	Last     *Slot // descriptor written to last
}

// New is none; the buffers of descriptors are entered into what the device
// may write.
func New(queues []*Queue, writable *memory.Map[attribution.Entry]) *Buffers {
	return &Buffers{queues: queues, writable: writable}
}
