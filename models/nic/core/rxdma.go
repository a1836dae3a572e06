package core

import "nictwin/models/nic/nicspec"

// RxPlan is what delivering one frame writes [R10]: two parts of the frame,
// each absent if its length is 0, then the completion entry.
type RxPlan struct {
	HdrAddr uint64 // gets frame[:HdrLen]
	HdrLen  int
	PayAddr uint64 // gets the PayLen bytes after them; what follows is not written [R14]
	PayLen  int
	CqeAddr uint64
	Cqe     [nicspec.CqeBytes]byte
	MarkCE  bool // the frame is written with ECN 3 [E1]: see MarkCE
}

// RxSlot names a frame's place: the frame's port and ordinal there, the queue
// it goes to, the descriptor it takes and the completion entry it gets.
type RxSlot struct {
	Port  int
	Seq   uint32 // ordinal on the port [R1]
	Queue uint16
	Index uint16 // descriptor, free-running
	CQI   uint16 // completion entry, free-running
	Desc  nicspec.RxDescFields

	SlowPath   bool // of a credit account
	AccountSeq uint32
}

// PlanRx is [R8], [R10] and [R14]: it says what delivering a frame of n bytes writes.
// The queue must admit the frame.
func PlanRx(q *Queue, v *RxVerdict, n int, s *RxSlot, p *RxPlan) {
	p.HdrLen, p.PayLen = q.Split(v, n)
	p.HdrAddr, p.PayAddr = s.Desc.HdrAddr, s.Desc.PayAddr
	p.CqeAddr = q.CqeAddr(s.CQI)
	p.MarkCE = q.MarksCE(&v.Headers)
	BuildRxCqe(v, n, p.HdrLen, s, q.Phase(s.CQI), &p.Cqe)
	q.fillCRC32C(v, p.Cqe[:])
	if q.TellsPay {
		nicspec.RxCqe(p.Cqe[:]).SetPayLen(uint16(p.PayLen))
	}
}
