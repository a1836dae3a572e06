package nic

import (
	"nictwin/models/format/msg"
	"nictwin/models/nic/core"
	"nictwin/models/nic/dma"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// txSlot is a work entry in flight.
type txSlot struct {
	plan   core.TxPlan
	status nicspec.Status
	ready  bool // status and frame are final
	queue  int32
	next   int32      // slot of the entry in flight that follows in the same queue, or none
	index  uint16     // index of the entry's first block
	due    int64      // cycle in which the next stage may take the slot
	lane   int        // lane of the slot; unused for copies
	frame  *msg.Frame // frame being gathered; nil if no frame will leave
	reads  [nicspec.SegMax]core.Read
	open   int // pieces whose reads have not ended
}

// mayStart reports whether the next entry of a queue may start now. A Send waits for the queue's
// earlier copies; a copy waits for its earlier Sends [D8] and for a slot of its channel. A Send
// also waits for earlier Sends in another lane: it could not leave before them, and would occupy
// room in its own lane all that time [T13].
func (c *Comp) mayStart(queue int, p *core.TxPlan) bool {
	q := &c.tx.queues[queue]
	if p.Copy {
		return q.sends == 0 && c.tx.channel(queue).free.Len() > 0
	}
	return !p.Send || q.copies == 0 && (q.sends == 0 || q.lane == p.Port)
}

// channel returns the copy channel of a transmit queue [D7].
func (t *txPath) channel(queue int) *copyChan { return &t.copies[queue%nicspec.CopyChannels] }

// copyChan is one timed channel of the copy engine [D7]: slots for its entries in flight, and the
// reads of its chunks.
type copyChan struct {
	*dma.Channel
	free  fifo.Queue[int32] // free slots for the channel's entries
	reads []core.Read       // reads of chunks, by chunk
	cur   int               // chunk that is being requested, or none
}

// copyTurns keeps the round robin of the copy channels. Field `asks` is the set of channels that may
// have a read to issue, field `writes` of those that may have a write or message to send. The other
// channels had none when last tried, and have not changed since.
type copyTurns struct {
	read, write  int // channel served last with a read, and with a write or message
	asks, writes uint
}

func (t *copyTurns) markActive(channel int) {
	t.asks |= 1 << channel
	t.writes |= 1 << channel
}

// initCopies makes the channels. The slots for their entries follow those of the lanes in t.slots.
func (t *txPath) initCopies(s *Spec) {
	if !s.Has(nicspec.PartCopy) {
		return
	}
	jobs, first := s.Timing.CopyJobs, len(t.slots)
	t.slots = append(t.slots, make([]txSlot, nicspec.CopyChannels*jobs)...)
	t.copies = make([]copyChan, nicspec.CopyChannels)
	for i := range t.copies {
		h := &t.copies[i]
		h.Channel, h.cur = dma.NewChannel(jobs, s.Timing.CopyChunks), none
		h.reads = make([]core.Read, s.Timing.CopyChunks)
		for k := range jobs {
			h.free.Push(int32(first + i*jobs + k))
		}
	}
}

// takeSlot takes a slot for the entry of a queue described by t.plan. Copies have slots of their
// own, so that they do not take those of Sends [D7].
func (t *txPath) takeSlot(queue int) int32 {
	if t.plan.Copy {
		t.queues[queue].copies++
		return t.channel(queue).free.Pop()
	}
	return t.takeLane(queue)
}

// freeSlot frees the slot of an entry that has ended.
func (c *Comp) freeSlot(q *txQueue, id int32) {
	t := &c.tx
	s := &t.slots[id]
	if !s.plan.Copy {
		c.leaveLane(q, s, id)
		return
	}
	q.copies--
	t.channel(int(s.queue)).free.Push(id)
	for k := int(s.queue) % len(t.copies); k < len(t.queues); k += len(t.copies) {
		c.markStartable(k) // queues of the channel that may have waited for a slot
	}
}
