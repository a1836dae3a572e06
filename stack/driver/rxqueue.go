package driver

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
)

// RxConfig is the configuration of a receive queue. Only PayBytes and OnFrame are needed besides QueueConfig: the zero
// values of the other fields deliver whole frames unchanged.
type RxConfig struct {
	QueueConfig
	Split    nicspec.SplitMode
	SplitLen int // split mode Fixed: bytes for the header buffer
	HdrBytes int // length of a header buffer; unused with split mode None
	PayBytes int // length of a payload buffer
	CRC32C   nicspec.CrcMode
	MarkCE   bool // mark frames of ECN-capable transports as congestion experienced [E1]
	Trim     bool // do not write what follows the payload of a RoCE frame: padding, ICRC and Ethernet padding [R14]

	// OnFrame takes a frame and its buffer. f is valid until it returns.
	OnFrame func(q *RxQueue, f *RxFrame)

	// OnEvent is called when the queue has failed. Nil: a failure ends the driver.
	OnEvent func(q *RxQueue, e Event)
}

// Buffer is the destination of a frame: bus addresses of any alignment.
type Buffer struct {
	Hdr uint64 // header buffer; unused without a split
	Pay uint64 // payload buffer
}

// RxFrame is a received frame. Its first HdrLen bytes are at Hdr, the PayLen bytes after them at Pay; together they are
// the whole frame, unless the queue trims.
type RxFrame struct {
	Buffer         // the receiver owns the buffer from now on
	HdrLen, PayLen int
	Cqe            nicspec.RxCqe
}

// RxQueue is a receive queue: it posts buffers and passes frames to OnFrame.
type RxQueue struct {
	Queue
	cfg     RxConfig
	buffers []Buffer // posted buffers, by slot
	frame   RxFrame
}

// OpenRx allocates the rings of a receive queue and requests that it be enabled.
func (d *Driver) OpenRx(c RxConfig) (*RxQueue, error) {
	if err := c.validate(d); err != nil {
		return nil, err
	}
	f := nicspec.RxqEntryFields{
		Enable: 1, SplitMode: c.Split, LogSize: uint8(c.LogSize), SplitLen: uint16(c.SplitLen),
		HdrBufSize: uint16(c.HdrBytes),
		PayBufSize: uint16(c.PayBytes), CrcMode: c.CRC32C,
	}
	if c.MarkCE {
		f.EcnMode = 1
	}
	if c.Trim {
		f.Trim = 1
	}
	if err := c.Messages.fields(d, &f.MsixAddr, &f.MsixData, &f.ModCount, &f.ModCycles); err != nil {
		return nil, err
	}
	q := &RxQueue{cfg: c}
	q.ring, q.take = NewRawQueue(false, c.Queue, c.LogSize), q.completed
	if err := q.init(d, c.QueueConfig, d.rx); err != nil {
		return nil, err
	}
	q.buffers = make([]Buffer, q.Size())
	f.RingBase, f.CqBase = q.ring.Base, q.ring.CQ
	q.entry = make([]byte, nicspec.RxqEntrySize)
	f.Encode(q.entry)
	return q, q.enable()
}

func (c *RxConfig) validate(d *Driver) error {
	var errs []error
	bad := func(format string, a ...any) {
		errs = append(errs, fmt.Errorf("driver: receive queue %d: "+format, append([]any{c.Queue}, a...)...))
	}
	if err := checkIndex("receive queue", c.Queue, d.opts.Build.NumRxq); err != nil {
		return err
	}
	const most = 0xffff
	if c.PayBytes < 1 || c.PayBytes > most {
		bad("payload buffers of %d B: want 1 to %d [Q6]", c.PayBytes, most)
	}
	if c.Split > nicspec.SplitModeHeaders {
		bad("split mode %v: want None, Fixed or Headers [Q6]", c.Split)
	}
	if c.HdrBytes < 0 || c.HdrBytes > most || c.HdrBytes == 0 && c.Split != nicspec.SplitModeNone {
		bad("header buffers of %d B: want 1 to %d where frames are split [Q6]", c.HdrBytes, most)
	}
	if c.SplitLen < 0 || c.SplitLen > most {
		bad("%d B split off: want 0 to %d", c.SplitLen, most)
	}
	if c.CRC32C > nicspec.CrcModeCheck {
		bad("CRC-32C mode %v: want Off, Report or Check [X3]", c.CRC32C)
	}
	if c.OnFrame == nil {
		bad("no OnFrame to take what is received")
	}
	if c.CRC32C != nicspec.CrcModeOff {
		errs = append(errs, d.needPart(nicspec.PartCrc32c, "payload CRC-32C", "crc32c"))
	}
	if c.MarkCE {
		errs = append(errs, d.needPart(nicspec.PartEcn, "ECN marking", "ecn"))
	}
	if c.Trim {
		errs = append(errs, d.needPart(nicspec.PartTrim, "trimming what follows the payload", "trim"))
	}
	return errors.Join(errs...)
}

// Post adds a buffer for one frame; Ring notifies the device.
func (q *RxQueue) Post(b Buffer) error {
	slot, err := q.next()
	if err != nil {
		return err
	}
	f := nicspec.RxDescFields{HdrAddr: b.Hdr, PayAddr: b.Pay}
	f.Encode(slot)
	q.buffers[q.ring.Place(q.ring.PI)] = b
	q.ring.PI++
	return nil
}

// Enable enables a queue that was disabled, with the same rings, empty.
func (q *RxQueue) Enable() error { return q.enable() }

// Disable turns the queue off [Q5]. Frames delivered before that are passed on as usual; once done is called, Unused
// returns the remaining buffers.
func (q *RxQueue) Disable(done func()) error { return q.disable(done) }

// Close disables the queue unless it is off, and frees its rings.
func (q *RxQueue) Close(done func()) error { return q.close(q.d.rx, done) }

// Unused returns the posted buffers that received no frame, once the queue is off. They belong to the caller again.
func (q *RxQueue) Unused() []Buffer {
	if q.state != Off && q.state != Closed {
		return nil
	}
	var left []Buffer
	for i := q.endedTo; i != q.ring.PI; i++ {
		left = append(left, q.buffers[q.ring.Place(i)])
	}
	return left
}

// Prefetch begins to load the next completion entry, and the header of its frame.
func (q *RxQueue) Prefetch() {
	q.Queue.Prefetch()
	q.prefetchHeader()
}

// prefetchHeader begins to load the header buffer of the next frame, which is in memory already if frames come in
// groups.
func (q *RxQueue) prefetchHeader() {
	const most = 2 * nicspec.LineBytes // the headers of nearly all frames
	if q.ahead != nil && q.cfg.Split != nicspec.SplitModeNone && q.endedTo != q.ring.PI {
		q.ahead.Prefetch(q.buffers[q.ring.Place(q.endedTo)].Hdr, min(q.cfg.HdrBytes, most))
	}
}

// completed handles a completion entry.
func (q *RxQueue) completed(raw []byte) {
	cqe := nicspec.RxCqe(raw)
	switch {
	case int(cqe.Queue()) != q.cfg.Queue:
		q.d.breach("R10", "receive queue %d: completion entry %v is of queue %d", q.cfg.Queue, cqe, cqe.Queue())
	case cqe.Type() == nicspec.CqeTypeRx:
		q.received(cqe)
	case cqe.Type() != nicspec.CqeTypeEvent:
		q.d.breach("R10", "receive queue %d: completion entry %v has an unknown type", q.cfg.Queue, cqe)
	case !q.failed("Q4", cqe.Index(), cqe.Status()):
	case q.cfg.OnEvent == nil:
		q.unclaimed("Q4", cqe.Status())
	default:
		q.cfg.OnEvent(q, *q.event)
	}
}

// received checks a completion entry against the buffer of its frame, and passes the frame on.
func (q *RxQueue) received(cqe nicspec.RxCqe) {
	if !q.mayComplete("R10", "Q4", cqe.Index(), 1) {
		return
	}
	h, n := int(cqe.HdrLen()), int(cqe.FrameLen())
	pay := n - h
	if q.d.opts.Build.Has(nicspec.PartTrim) {
		pay = int(cqe.PayLen())
	}
	most := q.cfg.HdrBytes
	if q.cfg.Split == nicspec.SplitModeNone {
		most = 0
	}
	switch {
	case cqe.Index() != q.endedTo:
		q.d.breach("R10", "receive queue %d: descriptor %d was used, want %d", q.cfg.Queue, cqe.Index(), q.endedTo)
		return
	case cqe.Status() != nicspec.StatusOk:
		q.d.breach("R10", "receive queue %d: frame with status %v, want Ok", q.cfg.Queue, cqe.Status())
		return
	case h > most || h > n || pay > q.cfg.PayBytes:
		q.d.breach("R8", "receive queue %d: completion entry %v does not fit the queue's buffers", q.cfg.Queue, cqe)
		return
	case h+pay > n || h+pay < n && !(q.cfg.Trim && cqe.Roce()):
		q.d.breach("R14", "receive queue %d: completion entry %v: %d of %d bytes were placed", q.cfg.Queue, cqe, h+pay,
			n)
		return
	}
	q.frame = RxFrame{q.buffers[q.ring.Place(q.endedTo)], h, pay, cqe}
	q.endedTo++
	q.prefetchHeader()
	q.cfg.OnFrame(q, &q.frame)
}
