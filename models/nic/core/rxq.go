package core

import "nictwin/models/nic/nicspec"

// Queue is the context of one receive or transmit queue: its table entry and its free-running
// indices. The split fields are for receive queues only.
type Queue struct {
	State    nicspec.QueueState
	Err      nicspec.Status // cause of state Error
	Enable   uint8          // Enable field as written
	LogSize  uint8
	RingBase uint64
	CqBase   uint64

	PI  uint16 // producer index, set by doorbells
	CI  uint16 // descriptors consumed, or blocks of work entries that ended
	CQI uint16 // completion entries written

	SplitMode  nicspec.SplitMode
	SplitLen   uint16
	HdrBufSize uint16
	PayBufSize uint16
	CrcMode    nicspec.CrcMode
	EcnMode    uint8
	PfcClass   uint8 // priority class of a transmit queue's frames
	Trim       uint8 // 1: pad and ICRC of RoCE frames are not written to buffers [R14]
	HasPayLen  bool  // the build has part trim: completion entries have pay_len

	Vector // messages [M1]

	// Epoch counts how often the queue was enabled, to recognise work that began before the queue was last enabled.
	Epoch uint32
}

// Size returns the number of entries of the ring and of its completion ring.
func (q *Queue) Size() uint16 { return 1 << (q.LogSize & 15) }

// DescAddr returns the bus address of receive descriptor i [Q1].
func (q *Queue) DescAddr(i uint16) uint64 {
	return q.RingBase + nicspec.RxDescBytes*uint64(i&(q.Size()-1))
}

// WqeAddr returns the bus address of block i of work entries [T1].
func (q *Queue) WqeAddr(i uint16) uint64 {
	return q.RingBase + nicspec.WqeBytes*uint64(i&(q.Size()-1))
}

// CqeAddr returns the bus address of completion entry cqi [R10].
func (q *Queue) CqeAddr(cqi uint16) uint64 {
	return q.CqBase + nicspec.CqeBytes*uint64(cqi&(q.Size()-1))
}

// Phase returns the phase bit of completion entry cqi [Q8].
func (q *Queue) Phase(cqi uint16) bool { return cqi>>(q.LogSize&15)&1 == 0 }

// Posted returns the number of descriptors or blocks between the consumer and the producer index.
func (q *Queue) Posted() uint16 { return q.PI - q.CI }

// Ring applies a doorbell and reports whether it was accepted [Q2].
func (q *Queue) Ring(pi uint16) bool {
	if q.State != nicspec.QueueStateRun || pi-q.CI > q.Size() || pi-q.PI > q.Size() {
		return false
	}
	q.PI = pi
	return true
}

// start enables the queue [Q5, T11].
func (q *Queue) start() {
	q.State, q.Err = nicspec.QueueStateRun, nicspec.StatusOk
	q.PI, q.CI, q.CQI = 0, 0, 0
	q.Epoch++
}

// Fail puts a running queue into state Error [Q4, T2]. The caller counts QUEUE_ERR and writes the
// Event.
func (q *Queue) Fail(s nicspec.Status) {
	if q.State == nicspec.QueueStateRun {
		q.State, q.Err = nicspec.QueueStateError, s
	}
}

// Placed returns how many bytes of a frame of n bytes are written to buffers [R14].
func (q *Queue) Placed(v *RxVerdict, n int) int {
	if end, ok := v.Headers.trimmed(); q.Trim == 1 && ok {
		return end
	}
	return n
}

// trimmed returns the end of a RoCE frame's payload, before pad and ICRC [R14].
func (h *Headers) trimmed() (end int, ok bool) {
	if !h.Roce || h.Frag || h.L4LenBad || h.UDPLen < icrcMinUDP {
		return 0, false
	}
	end = int(h.L4Off) + int(h.UDPLen) - icrcBytes - padBytes(h.BTHFlags)
	return end, end >= int(h.PayloadOff)
}

// Split returns how many of the bytes placed of a frame of n bytes go to the header buffer, and how
// many to the payload buffer [R8].
func (q *Queue) Split(v *RxVerdict, n int) (hdr, pay int) {
	m := q.Placed(v, n)
	switch q.SplitMode {
	case nicspec.SplitModeFixed:
		hdr = min(int(q.SplitLen), m, int(q.HdrBufSize))
	case nicspec.SplitModeHeaders:
		hdr = min(int(v.PayloadOff), m, int(q.HdrBufSize))
	}
	return hdr, m - hdr
}

// Admit returns the drop counter of a frame of n bytes that the queue does not take, or NoDrop
// [R7], [X5], [R8]. q is nil if the build has no such queue.
func (q *Queue) Admit(v *RxVerdict, n int) nicspec.PortCounter {
	if q == nil || q.State == nicspec.QueueStateOff {
		return nicspec.CntRxDropQueueOff
	}
	if q.State == nicspec.QueueStateError {
		return nicspec.CntRxDropQueueErr
	}
	if v.DropCrc && q.CrcMode == nicspec.CrcModeCheck {
		return nicspec.CntRxDropCrc32c
	}
	if _, pay := q.Split(v, n); pay > int(q.PayBufSize) {
		return nicspec.CntRxDropTooLong
	}
	return NoDrop
}
