package core

import "nictwin/models/nic/nicspec"

// RxPlan is the set of writes that deliver one frame [R10]: two parts of the frame, each absent if
// its length is 0, then the completion entry.
type RxPlan struct {
	HdrAddr uint64 // bus address for frame[:HdrLen]
	HdrLen  int
	PayAddr uint64 // bus address for frame[HdrLen:HdrLen+PayLen]; the bytes after those are not written [R14]
	PayLen  int
	CqeAddr uint64
	Cqe     [nicspec.CqeBytes]byte
	MarkCE  bool // mark the frame with MarkCE before it is written [E1]
}

// RxSlot identifies a frame by its port and ordinal, and where it is delivered: queue, descriptor
// and completion entry.
type RxSlot struct {
	Port  int
	Seq   uint32 // ordinal on the port [R1]
	Queue uint16
	Index uint16 // descriptor, free-running
	CQI   uint16 // completion entry, free-running
	Desc  nicspec.RxDescFields

	SlowPath   bool // delivered to the slow queue of its credit account
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
	if q.HasPayLen {
		nicspec.RxCqe(p.Cqe[:]).SetPayLen(uint16(p.PayLen))
	}
}
