package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Levels holds the lengths of the NIC's queues, over all ports and queues. Completion queues have none: nobody tells
// the NIC what software has taken.
type Levels struct {
	RxBytes     int // of the receive buffers in use [R3]
	RxFrames    int // received frames in the device
	Descriptors int // receive descriptors that were posted and not consumed
	Blocks      int // blocks of work entries that were posted and have not ended
	TxSlots     int // work entries that are being carried out
	TxFrames    int // frames that wait for their Ethernet port
}

// Levels returns the present lengths of the queues.
func (c *Comp) Levels() (l Levels) {
	for p := range c.rx.ports {
		l.RxBytes += c.rx.ports[p].held
	}
	for p := range c.tx.ports {
		l.TxFrames += c.tx.ports[p].fifo.Len()
	}
	l.RxFrames, l.TxSlots = c.rx.frames, c.tx.active
	for i := range c.rx.queues {
		l.Descriptors += outstanding(c.regs.Rxq(i))
	}
	for i := range c.tx.queues {
		l.Blocks += outstanding(c.regs.Txq(i))
	}
	return l
}

// outstanding returns how many places of an enabled queue's ring are between its consumer and its producer index.
func outstanding(q *core.Queue) int {
	if q.State != nicspec.QueueStateRun {
		return 0
	}
	return int(q.PI - q.CI)
}
