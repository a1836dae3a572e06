package core

import "nictwin/models/nic/nicspec"

// RxPlan is the set of writes that deliver one frame [R10]: two parts of the frame, each absent if
// its length is 0, then the completion entry.
type RxPlan struct {
	HdrAddr uint64 // of frame[:HdrLen]
	HdrLen  int
	PayAddr uint64 // of the PayLen bytes after them; later bytes are not written [R14]
	PayLen  int
	CqeAddr uint64
	Cqe     [nicspec.CqeBytes]byte
	MarkCE  bool // write the frame with ECN 3 [E1]: see MarkCE
}

// RxSlot is a frame's place: its port and ordinal there, its queue, its descriptor and its
// completion entry.
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

// PlanRx computes the writes that deliver a frame of n bytes [R8], [R10], [R14]. The queue must
// admit the frame.
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
