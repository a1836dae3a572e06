package golden

import (
	"fmt"

	"nictwin/golden/attribution"
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

func (r *Referee) domainOf(d *attribution.Read) verdict.Domain {
	switch {
	case d.Stray:
		return verdict.Device
	case d.Kind == memory.RxRing:
		return verdict.Rxq(int(d.Queue))
	}
	return verdict.Txq(int(d.Queue))
}

// queue is a transmit queue, nil beyond the build.
func (s *txSide) queue(i uint16) *txq {
	if int(i) >= len(s.queues) {
		return nil
	}
	return &s.queues[i]
}

var partNames = [...]string{"header", "payload"}

func slotText(queue int, index uint16, part, off int) string {
	return fmt.Sprintf("%s buffer of descriptor %d of queue %d, byte %d", partNames[part], index, queue, off)
}

// of is the queue of an entry.
func (s *txSide) of(e *attribution.Entry) *txq { return &s.queues[e.Queue.ID] }

// failEntry is a mismatch that is about a work entry, which it describes last.
func (r *Referee) failEntry(e *attribution.Entry, d verdict.Domain, rule, field, expected, got string, summary ...string) *verdict.Mismatch {
	return r.log.FailOf(e.Subject(), d, rule, field, expected, got, append(summary, e.Describe())...)
}
