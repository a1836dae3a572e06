package golden

import (
	"fmt"

	"nictwin/golden/memory"
	"nictwin/golden/verdict"
)

// queue is a receive queue, nil beyond the build.
func (s *rxSide) queue(i uint16) *rxq {
	if int(i) >= len(s.queues) {
		return nil
	}
	return &s.queues[i]
}

func (q *rxq) domain() verdict.Domain { return verdict.Rxq(q.id) }

func (q *rxq) slot(i uint16) *rxSlot { return &q.slots[int(i)&(len(q.slots)-1)] }

func (r *Referee) domainOf(d *readReq) verdict.Domain {
	switch {
	case d.stray:
		return verdict.Device
	case d.kind == memory.RxRing:
		return verdict.Rxq(int(d.queue))
	}
	return verdict.Txq(int(d.queue))
}

// queue is a transmit queue, nil beyond the build.
func (s *txSide) queue(i uint16) *txq {
	if int(i) >= len(s.queues) {
		return nil
	}
	return &s.queues[i]
}

func (q *txq) domain() verdict.Domain { return verdict.Txq(q.id) }

// after is the index behind the entry at an index, or behind a block that is in
// none.
func (q *txq) after(i uint16) uint16 {
	if e := q.slot(i).entry; e != nil {
		return i + e.blocks
	}
	return i + 1
}

func (q *txq) slot(i uint16) *txSlot { return &q.slots[int(i)&(len(q.slots)-1)] }

var partNames = [...]string{"header", "payload"}

func slotText(queue int, index uint16, part, off int) string {
	return fmt.Sprintf("%s buffer of descriptor %d of queue %d, byte %d", partNames[part], index, queue, off)
}
