package driver

import (
	"nictwin/models/nicspec"
)

// RxConfig is a receive queue as a driver wants it.
type RxConfig struct {
	Queue    int
	LogSize  int
	Split    nicspec.SplitMode
	SplitLen int
	HdrBytes int  // of a header buffer, in Arm memory; 0 with Split None
	PayBytes int  // of a payload buffer
	PayHost  bool // payload buffers in host memory, else in Arm memory
	HdrSkew  int  // header buffers start this many bytes after a 64 B boundary
	PaySkew  int  // likewise payload buffers
	OnFrame  func(q *RxQueue, cqe nicspec.RxCqe, hdr, pay []byte)
	OnEvent  func(q *RxQueue, cqe nicspec.RxCqe)
}

// RxQueue is a receive queue with a buffer pair for each descriptor.
type RxQueue struct {
	ring
	cfg  RxConfig
	hdr  uint64 // first header buffer
	pay  uint64
	step [2]uint64 // distance between header and payload buffers
	desc [nicspec.RxDescBytes]byte
	buf  [2][]byte
}

// NewRxQueue allocates rings and buffers, and asks for the queue to be enabled
// and filled with descriptors.
func (d *Driver) NewRxQueue(c RxConfig) (*RxQueue, error) {
	q := &RxQueue{cfg: c}
	q.see = q.entry
	if err := q.init(d, c.Queue, c.LogSize, nicspec.RxDescBytes, nicspec.RegRxDoorbell(c.Queue)); err != nil {
		return nil, err
	}
	size := uint64(1) << c.LogSize
	ep := nicspec.EndpointArm
	if c.PayHost {
		ep = nicspec.EndpointHost
	}
	q.step = [2]uint64{uint64(c.HdrBytes+c.HdrSkew+63) &^ 63, uint64(c.PayBytes+c.PaySkew+63) &^ 63}
	q.hdr = d.Alloc(nicspec.EndpointArm, size*q.step[0], 64) + uint64(c.HdrSkew)
	q.pay = d.Alloc(ep, size*q.step[1], 64) + uint64(c.PaySkew)
	q.buf = [2][]byte{make([]byte, c.HdrBytes), make([]byte, c.PayBytes)}

	entry := make([]byte, nicspec.RxqEntrySize)
	f := nicspec.RxqEntryFields{
		Enable: 1, SplitMode: c.Split, LogSize: uint8(c.LogSize), SplitLen: uint16(c.SplitLen),
		HdrBufSize: uint16(c.HdrBytes), PayBufSize: uint16(c.PayBytes), RingBase: q.base, CqBase: q.cq,
	}
	f.Encode(entry)
	d.WriteTable(nicspec.TableRxq, c.Queue, entry)
	// The device fetches the first few while a read is answered, so that the next fetch begins inside a block of four.
	first := 1 + c.Queue%3
	d.Then(func() { q.fill(first) })
	d.ReadReg(nicspec.RegId, 4, func(uint64) {})
	d.Then(func() { q.fill(int(size) - first) })
	return q, nil
}

// fill posts n descriptors and tells the device.
func (q *RxQueue) fill(n int) {
	for range n {
		q.post()
	}
	q.ring.ring()
}

// Queue is the queue's number.
func (q *RxQueue) Queue() int { return q.queue }

func (q *RxQueue) post() {
	i := uint64(q.pi & q.mask())
	v := nicspec.RxDesc(q.desc[:])
	v.SetHdrAddr(q.hdr + i*q.step[0])
	v.SetPayAddr(q.pay + i*q.step[1])
	q.put(q.desc[:])
}

// entry hands a frame over and gives its buffers back. Doorbells are rung once
// for a quarter of the ring.
func (q *RxQueue) entry(raw []byte) {
	cqe := nicspec.RxCqe(raw)
	if cqe.Type() == nicspec.CqeTypeEvent {
		if q.cfg.OnEvent == nil {
			q.d.event("Q4", "receive queue", q.queue, cqe.Status())
			return
		}
		q.cfg.OnEvent(q, cqe)
		return
	}
	if cqe.Type() != nicspec.CqeTypeRx {
		q.d.fail("R10", "receive queue %d: completion entry %v is of no known type", q.queue, cqe)
		return
	}
	h, p := int(cqe.HdrLen()), int(cqe.FrameLen())-int(cqe.HdrLen())
	if h > len(q.buf[0]) || p < 0 || p > len(q.buf[1]) {
		q.d.fail("R8", "receive queue %d: completion entry %v does not fit the queue's buffers", q.queue, cqe)
		return
	}
	i := uint64(cqe.Index() & q.mask())
	q.d.check(q.d.mem.Read(q.hdr+i*q.step[0], q.buf[0][:h]))
	q.d.check(q.d.mem.Read(q.pay+i*q.step[1], q.buf[1][:p]))
	q.cfg.OnFrame(q, cqe, q.buf[0][:h], q.buf[1][:p])
	q.post()
	if q.pi-q.rung >= max(1, uint16(1)<<q.log/4) {
		q.ring.ring()
	}
}
