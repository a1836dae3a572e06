package driver

import (
	"errors"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Copier is a receive queue whose frames are copied out of their buffers, which are posted again at once. Doorbells
// are rung for a quarter of the ring, or for as many buffers as the device has left if these are fewer.
type Copier struct {
	*RxQueue
	on       func(c *Copier, cqe nicspec.RxCqe, hdr, pay []byte)
	hdr, pay []byte
	jobs     fifo.Queue[copyJob] // frames to be copied, in order
	reading  int                 // reads of the first that have not ended
	read     func(error)         // takes the end of one
	working  bool
	idle     func()   // is called when no frame is left to be copied
	spare    []Buffer // of frames copied when the queue took none any more
	apart    flushed
}

type copyJob struct {
	buf      Buffer
	hdr, pay int // bytes
	cqe      [nicspec.CqeBytes]byte
	apart    bool // bytes of it may be on their way when its entry is seen
}

// flushed tracks which frames of a copier are whole in memory, where a bus needs to be asked.
type flushed struct {
	bus    Flusher // nil: all are
	other  int     // endpoint without the completion ring
	came   uint64  // frames
	copied uint64
	safe   uint64 // the first so many are whole
	asked  uint64 // will be when the flush under way has ended
	under  bool   // one is
	done   func(error)
}

// OpenCopier opens a receive queue; OnFrame of its config must be nil, since on takes the frames. What on is given is
// good until it returns. Fill gives the device buffers.
func (d *Driver) OpenCopier(cfg RxConfig, on func(c *Copier, cqe nicspec.RxCqe, hdr, pay []byte)) (*Copier, error) {
	if cfg.OnFrame != nil || on == nil {
		return nil, errors.New("driver: a copier takes frames itself: want OnFrame nil, and a function that takes " +
			"the copies")
	}
	c := &Copier{on: on, hdr: make([]byte, max(cfg.HdrBytes, 0)), pay: make([]byte, max(cfg.PayBytes, 0))}
	c.read = c.copied
	cfg.OnFrame = func(_ *RxQueue, f *RxFrame) { c.frame(f) }
	var err error
	if c.RxQueue, err = d.OpenRx(cfg); err != nil {
		return nil, err
	}
	if c.apart.bus, _ = c.bus.(Flusher); cfg.DoneIn == nicspec.EndpointArm {
		c.apart.other = nicspec.EndpointHost
	}
	c.apart.done = c.flushed
	return c, nil
}

// Fill posts buffers and tells the device.
func (c *Copier) Fill(buffers ...Buffer) error {
	for _, b := range buffers {
		if err := c.Post(b); err != nil {
			return err
		}
	}
	return c.Ring()
}

// Unused are all buffers of a queue that is off. They are the caller's again.
func (c *Copier) Unused() []Buffer {
	if c.state != Off && c.state != Closed {
		return nil
	}
	return append(c.RxQueue.Unused(), c.spare...)
}

// Disable is that of RxQueue; done is called when all frames were copied.
func (c *Copier) Disable(done func()) error { return c.RxQueue.Disable(func() { c.settle(done) }) }

// Close is that of RxQueue, likewise. The buffers stay the caller's.
func (c *Copier) Close(done func()) error { return c.RxQueue.Close(func() { c.settle(done) }) }

func (c *Copier) settle(done func()) {
	switch {
	case done == nil:
	case c.jobs.Len() == 0:
		done()
	default:
		c.idle = done
	}
}

func (c *Copier) frame(f *RxFrame) {
	j := copyJob{buf: f.Buffer, hdr: f.HdrLen, pay: f.PayLen}
	copy(j.cqe[:], f.Cqe)
	if c.apart.bus != nil {
		j.apart = j.hdr > 0 && c.elsewhere(j.buf.Hdr) || j.pay > 0 && c.elsewhere(j.buf.Pay)
	}
	c.apart.came++
	c.jobs.Push(j)
	c.work()
}

// elsewhere reports whether an address is not at the endpoint of the completion ring.
func (c *Copier) elsewhere(addr uint64) bool {
	return int(addr>>nicspec.EndpointShift) == c.apart.other
}

// whole reports whether the first frame is whole in memory; if not, work goes on when it is. One flush serves all
// frames that have come.
func (c *Copier) whole() bool {
	a := &c.apart
	if !c.jobs.Front().apart || a.copied < a.safe {
		return true
	}
	if !a.under {
		a.under, a.asked = true, a.came
		a.bus.Flush(a.other, a.done)
	}
	return a.copied < a.safe
}

func (c *Copier) flushed(err error) {
	c.d.check(err)
	c.apart.under, c.apart.safe = false, c.apart.asked
	c.work()
}

// work copies frames until a read takes time.
func (c *Copier) work() {
	if c.working {
		return
	}
	c.working = true
	for c.jobs.Len() > 0 && c.reading == 0 && c.d.err == nil && c.whole() {
		j := c.jobs.Front()
		hdr, pay := c.hdr[:j.hdr], c.pay[:j.pay]
		c.reading = 3 // one for this loop
		c.fetch(j.buf.Hdr, hdr)
		c.fetch(j.buf.Pay, pay)
		if c.reading--; c.reading > 0 {
			break
		}
		c.deliver()
	}
	c.working = false
	if f := c.idle; f != nil && c.jobs.Len() == 0 {
		c.idle = nil
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
		c.work()
	}
}

// deliver hands the first frame over and posts its buffer again, if the queue still takes it.
func (c *Copier) deliver() {
	if c.d.err != nil {
		return
	}
	j := c.jobs.Front()
	c.on(c, j.cqe[:], c.hdr[:j.hdr], c.pay[:j.pay])
	b := c.jobs.Pop().buf
	c.apart.copied++
	if c.state != Running {
		c.spare = append(c.spare, b)
		return
	}
	c.d.check(c.Post(b))
	if left := int(c.rung - c.done); c.Waiting() >= max(1, min(c.Size()/4, left)) {
		c.d.check(c.Ring())
	}
}

// Enable is that of RxQueue. The ring is empty: Fill it.
func (c *Copier) Enable() error {
	err := c.RxQueue.Enable()
	if err == nil {
		c.spare = nil
	}
	return err
}
