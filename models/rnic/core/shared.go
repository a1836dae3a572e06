package core

import (
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
)

// SRQ is a shared receive queue (IBTA 10.2.9). A message that needs a receive entry takes the oldest one, whichever of
// the queue pairs it arrives on. An entry in use when its queue pair fails is flushed; the others stay in the queue.
type SRQ struct {
	Num uint32
	Bad bool // an entry could not be read: requests that need one fail their queue pair

	dev   *Device
	recv  fifo.Queue[rnicspec.RecvWQE]
	users int // queue pairs that take entries from the queue
}

// AddSRQ makes a shared receive queue in the caller's memory. It reports false if the number is in use.
func (d *Device) AddSRQ(s *SRQ, num uint32) bool {
	if d.srqs[num] != nil {
		return false
	}
	*s = SRQ{Num: num, dev: d}
	d.srqs[num] = s
	return true
}

// RemoveSRQ removes a shared receive queue with its entries. It reports false if a queue pair uses the queue.
func (d *Device) RemoveSRQ(s *SRQ) bool {
	if s.users > 0 {
		return false
	}
	delete(d.srqs, s.Num)
	return true
}

// Post adds a receive entry.
func (s *SRQ) Post(w rnicspec.RecvWQE) { s.recv.Push(w) }

// Len returns the number of waiting receive entries.
func (s *SRQ) Len() int { return s.recv.Len() }

// Share makes a queue pair, which must be new, take its receive entries from a shared queue.
func (q *QP) Share(s *SRQ) {
	q.srq = s
	s.users++
}

// receives returns the queue from which the queue pair takes its receive entries.
func (q *QP) receives() *fifo.Queue[rnicspec.RecvWQE] {
	if q.srq != nil {
		return &q.srq.recv
	}
	return &q.recv
}
