package driver

import (
	"errors"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Copier is a receive queue that copies each frame out of its buffers and then reposts these immediately. It rings the
// doorbell for every quarter of the ring, or sooner if the device has fewer buffers left.
type Copier struct {
	*RxQueue
	onCopy   func(c *Copier, cqe nicspec.RxCqe, hdr, pay []byte)
	hdr, pay []byte
	jobs     fifo.Queue[copyJob] // frames to copy, in order
	reading  int                 // unfinished reads of the first frame in jobs
	read     func(error)         // handles the end of a read
	working  bool
	whenIdle func()   // called when no frame is left to copy
	spare    []Buffer // buffers of frames copied after the queue stopped accepting buffers
	flush    flushState
}

// copyJob is a frame in its buffer, to be copied out.
type copyJob struct {
	buf        Buffer
	hdr, pay   int // lengths in bytes
	cqe        [nicspec.CqeBytes]byte
	needsFlush bool // some of the job's bytes are at the endpoint that needs a flush
}

// flushState tracks which frames of a copier have fully arrived in memory. It is needed if payload and completion
// entries are at endpoints with separate roots.
type flushState struct {
	bus        Flusher // nil: every frame has arrived with its completion entry
	other      int     // the endpoint that does not hold the completion ring
	received   uint64  // frames received
	copied     uint64
	arrived    uint64 // number of frames known to have arrived
	afterFlush uint64 // number of frames known to have arrived once the flush in flight ends
	flushing   bool   // a flush is in flight
	done       func(error)
}

// OpenCopier opens a receive queue. OnFrame of its config must be nil, because `on` takes the frames; the slices passed
// to `on` are valid until it returns. Call Fill to give the device buffers.
func (d *Driver) OpenCopier(cfg RxConfig, on func(c *Copier, cqe nicspec.RxCqe, hdr, pay []byte)) (*Copier, error) {
	if cfg.OnFrame != nil || on == nil {
		return nil, errors.New("driver: a copier takes frames itself: want OnFrame nil, and a function that takes " +
			"the copies")
	}
	c := &Copier{onCopy: on, hdr: make([]byte, max(cfg.HdrBytes, 0)), pay: make([]byte, max(cfg.PayBytes, 0))}
	c.read = c.copied
	cfg.OnFrame = func(_ *RxQueue, f *RxFrame) { c.queueFrame(f) }
	var err error
	if c.RxQueue, err = d.OpenRx(cfg); err != nil {
		return nil, err
	}
	if c.flush.bus, _ = c.bus.(Flusher); cfg.DoneIn == nicspec.EndpointArm {
		c.flush.other = nicspec.EndpointHost
	}
	c.flush.done = c.flushed
	return c, nil
}

// Fill posts buffers and rings the doorbell.
func (c *Copier) Fill(buffers ...Buffer) error {
	for _, b := range buffers {
		if err := c.Post(b); err != nil {
			return err
		}
	}
	return c.Ring()
}

// Unused returns all buffers of a queue that is off. They belong to the caller again.
func (c *Copier) Unused() []Buffer {
	if c.state != Off && c.state != Closed {
		return nil
	}
	return append(c.RxQueue.Unused(), c.spare...)
}

// Disable is RxQueue.Disable, except that done is called once all frames have been copied.
func (c *Copier) Disable(done func()) error { return c.RxQueue.Disable(func() { c.settle(done) }) }

// Close is RxQueue.Close, except that `done` is called once all frames have been copied. The buffers remain the
// caller's.
func (c *Copier) Close(done func()) error { return c.RxQueue.Close(func() { c.settle(done) }) }

func (c *Copier) settle(done func()) {
	switch {
	case done == nil:
	case c.jobs.Len() == 0:
		done()
	default:
		c.whenIdle = done
	}
}

func (c *Copier) queueFrame(f *RxFrame) {
	j := copyJob{buf: f.Buffer, hdr: f.HdrLen, pay: f.PayLen}
	copy(j.cqe[:], f.Cqe)
	if c.flush.bus != nil {
		j.needsFlush = j.hdr > 0 && c.needsFlush(j.buf.Hdr) || j.pay > 0 && c.needsFlush(j.buf.Pay)
	}
	c.flush.received++
	c.jobs.Push(j)
	c.copyFrames()
}

// needsFlush reports whether an address is at the endpoint that does not hold the completion ring.
func (c *Copier) needsFlush(addr uint64) bool {
	return int(addr>>nicspec.EndpointShift) == c.flush.other
}

// arrived reports whether the first frame has fully arrived. If not, it starts a flush for all frames received so far;
// work continues when that ends.
func (c *Copier) arrived() bool {
	a := &c.flush
	if !c.jobs.Front().needsFlush || a.copied < a.arrived {
		return true
	}
	if !a.flushing {
		a.flushing, a.afterFlush = true, a.received
		a.bus.Flush(a.other, a.done)
	}
	return a.copied < a.arrived
}

func (c *Copier) flushed(err error) {
	c.d.check(err)
	c.flush.flushing, c.flush.arrived = false, c.flush.afterFlush
	c.copyFrames()
}

// copyFrames copies frames until a read takes time.
func (c *Copier) copyFrames() {
	if c.working {
		return
	}
	c.working = true
	for c.jobs.Len() > 0 && c.reading == 0 && c.d.err == nil && c.arrived() {
		j := c.jobs.Front()
		hdr, pay := c.hdr[:j.hdr], c.pay[:j.pay]
		c.reading = 3 // two reads, and one more so that none of them ends the frame before both have begun
		c.fetch(j.buf.Hdr, hdr)
		c.fetch(j.buf.Pay, pay)
		if c.reading--; c.reading > 0 {
			break
		}
		c.deliver()
	}
	c.working = false
	if f := c.whenIdle; f != nil && c.jobs.Len() == 0 {
		c.whenIdle = nil
		f()
	}
}

func (c *Copier) fetch(addr uint64, b []byte) {
	if len(b) == 0 {
		c.reading--
		return
	}
	c.bus.Read(addr, b, c.read)
}

func (c *Copier) copied(err error) {
	c.d.check(err)
	if c.reading--; c.reading == 0 {
		c.deliver()
		c.copyFrames()
	}
}

// deliver passes the first frame on and reposts its buffer if the queue still accepts it.
func (c *Copier) deliver() {
	if c.d.err != nil {
		return
	}
	j := c.jobs.Front()
	c.onCopy(c, j.cqe[:], c.hdr[:j.hdr], c.pay[:j.pay])
	b := c.jobs.Pop().buf
	c.flush.copied++
	if c.state != Running {
		c.spare = append(c.spare, b)
		return
	}
	c.d.check(c.Post(b))
	if unused := int(c.rung - c.endedTo); c.Waiting() >= max(1, min(c.Size()/4, unused)) {
		c.d.check(c.Ring())
	}
}

// Enable is RxQueue.Enable. The ring is then empty; call Fill.
func (c *Copier) Enable() error {
	err := c.RxQueue.Enable()
	if err == nil {
		c.spare = nil
	}
	return err
}
