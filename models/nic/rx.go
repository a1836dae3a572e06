package nic

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/bitset"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/ring"
	"nictwin/models/nic/stream"
	"nictwin/models/sim/fifo"
)

// rxPath is the receive side.
type rxPath struct {
	ports   []rxPort
	queues  []rxQueue
	want    bitset.Set          // queues that may have descriptors to fetch
	events  fifo.Queue[rxEvent] // Events to be written
	pool    []*rxFrame          // unused frames
	frames  int                 // number of frames in the device
	quiet   bool                // no frame crosses or waits in front of a stream
	crossed int                 // number of frames in ports[].verdict
	steered int                 // number of frames in ports[].ready
	turn    int                 // port that was served last
	cur     *rxFrame            // frame being written; nil if none is
	hdr     tlp.Split           // remaining header writes of cur
	pay     tlp.Split           // remaining payload writes of cur
	off     int                 // offset in cur of the next byte to write
}

type rxPort struct {
	stream.Stall
	wait    fifo.Queue[*msg.Frame] // frames that have arrived and wait to cross the stream
	x       stream.Crossing
	cur     *rxFrame             // frame that crosses; nil if none does
	verdict fifo.Queue[*rxFrame] // frames that have crossed and wait for their verdict
	ready   fifo.Queue[*rxFrame] // frames steered to a queue that wait to be written
	seq     uint32
	held    int // bytes of the receive buffer in use [R3]
}

type rxQueue struct {
	win  ring.Window
	refs int // reads of descriptors, frames and Events in flight
}

// rxFrame is a received frame inside the device.
type rxFrame struct {
	f        *msg.Frame
	due      int64 // cycle in which the next stage may take the frame
	port     int
	held     int   // bytes of the receive buffer that the frame occupies
	overflow bool  // the receive buffer had no room for the frame
	flushed  bool  // a function-level reset began while the frame crossed [L2]
	last     int64 // cycle of the frame's last beat
	v        core.RxVerdict
	slot     core.RxSlot
	plan     core.RxPlan
}

// rxEvent is an Event to be written [Q4].
type rxEvent struct {
	addr  uint64
	queue int32
	cqe   [nicspec.CqeBytes]byte
}

// receiveFrames moves frames over the Ethernet streams into the device, which never holds them back
// [B4]. Frames that arrive faster than a stream moves them wait in front of it.
func (c *Comp) receiveFrames() {
	if c.rx.quiet {
		return
	}
	c.rx.quiet = true
	for i := range c.rx.ports {
		p := &c.rx.ports[i]
		for c.eth[i].Len() > 0 {
			p.wait.Push(c.eth[i].Retrieve(c.sched.CurrentTime()).(*msg.Frame))
		}
		if p.cur == nil && p.wait.Len() > 0 && c.reached(p.x.Free) && c.reached(p.From(c.now)) {
			c.firstBeat(i, p)
		}
		if p.cur != nil && c.reached(p.x.Last) {
			c.lastBeat(i, p)
		}
		c.rx.quiet = c.rx.quiet && p.cur == nil && p.wait.Len() == 0
	}
}

func (c *Comp) firstBeat(port int, p *rxPort) {
	f := c.getFrame()
	f.f, f.port = p.wait.Pop(), port
	n := len(f.f.Data)
	p.x.Offer(c.now, stream.BeatsOf(n, c.spec.EthBits))
	p.x.Start(&p.Stall, c.now)
	f.slot = core.RxSlot{Port: port, Seq: p.seq}
	p.seq++
	if n >= nicspec.FrameMin && n <= nicspec.FrameMax {
		const unit = 64
		need := (n + unit - 1) / unit * unit
		if f.overflow = p.held+need > nicspec.RxBufBytes; !f.overflow {
			f.held = need
			p.held += need
		}
	}
	p.cur = f
	c.rx.frames++
	c.moved = true
}

func (c *Comp) lastBeat(port int, p *rxPort) {
	f := p.cur
	p.cur, p.x.Open = nil, false
	c.moved = true
	c.observe(boundary.Crossing{Kind: boundary.FrameIn, Port: port, First: p.x.First, Last: p.x.Last,
		Frame: &f.f.Frame})
	c.regs.StepPort(nicspec.CntRxFrames, port, 1)
	c.regs.StepPort(nicspec.CntRxBytes, port, uint64(len(f.f.Data)))
	f.last, f.due = c.now, c.now+int64(c.spec.Timing.RxPipe)
	p.verdict.Push(f)
	c.rx.crossed++
}

// classifyFrames decides on the frames that have crossed: each is steered to a queue or dropped.
func (c *Comp) classifyFrames() {
	if c.rx.crossed == 0 {
		return
	}
	for i := range c.rx.ports {
		p := &c.rx.ports[i]
		for p.verdict.Len() > 0 && c.reached((*p.verdict.Front()).due) {
			f := p.verdict.Pop()
			c.rx.crossed--
			c.moved = true
			if f.flushed {
				c.drop(f, nicspec.CntRxDropDisabled)
				continue
			}
			if f.overflow && c.regs.Receive().Front(i, f.f.Data) == core.NoDrop {
				f.v.Drop = nicspec.CntRxDropOverflow
			} else {
				c.regs.Receive().Classify(i, f.f.Data, &f.v)
				if r, ok := f.v.Hit(); ok {
					c.regs.Hit(r)
				}
			}
			if f.v.Drop == nicspec.CntRxPause {
				c.applyPause(f)
			}
			if f.v.Drop != core.NoDrop {
				c.drop(f, f.v.Drop)
				continue
			}
			f.due = c.now + int64(c.spec.Timing.RxPlan)
			p.ready.Push(f)
			c.rx.steered++
		}
	}
}

// planFrame chooses the next frame to write. Ports take turns, and a port whose frame is dropped
// has had its turn [R13]. A frame that waits for its descriptor holds back the later frames of its
// port [R11].
func (c *Comp) planFrame() {
	if c.rx.steered == 0 || c.rx.cur != nil || c.rx.events.Len() > 0 {
		return
	}
	for passed := 0; passed < len(c.rx.ports); passed++ {
		if c.rx.turn++; c.rx.turn >= len(c.rx.ports) {
			c.rx.turn = 0
		}
		p := &c.rx.ports[c.rx.turn]
		if p.ready.Len() == 0 || !c.reached((*p.ready.Front()).due) {
			continue
		}
		f := *p.ready.Front()
		drop, wait := c.place(f)
		if wait {
			continue
		}
		p.ready.Pop()
		c.rx.steered--
		c.moved = true
		if drop == core.NoDrop {
			return
		}
		c.drop(f, drop)
		passed = -1
	}
}

// place applies [R7] to [R10] to the oldest frame of a port. It returns the frame's drop counter, or sets `wait` if the
// frame must wait for its descriptor; otherwise the frame is now being written.
func (c *Comp) place(f *rxFrame) (drop nicspec.PortCounter, wait bool) {
	if c.flr.on { // [L2]
		return nicspec.CntRxDropDisabled, false
	}
	var account *core.Account
	s, n := &f.slot, len(f.f.Data)
	s.Queue, s.SlowPath, s.AccountSeq = f.v.Queue, false, 0
	if f.v.Account.On {
		account = c.regs.Account(int(f.v.Account.ID))
		if s.SlowPath = !account.Fast(); s.SlowPath {
			s.Queue = f.v.Account.Queue
		}
	}
	q := c.regs.Rxq(int(s.Queue))
	if drop = q.Admit(&f.v, n); drop == core.NoDrop && q.Posted() == 0 {
		drop = nicspec.CntRxDropNoDesc
	}
	if drop == core.NoDrop && !c.rx.queues[s.Queue].win.Ready() {
		return core.NoDrop, true
	}
	if account != nil {
		if fast := account.Look(); drop == core.NoDrop {
			s.AccountSeq = account.Draw(fast)
		}
	}
	if drop == core.NoDrop {
		c.beginDelivery(f, q)
	}
	return drop, false
}

// beginDelivery gives a frame its descriptor and makes it the frame being written.
func (c *Comp) beginDelivery(f *rxFrame, q *core.Queue) {
	s, n := &f.slot, len(f.f.Data)
	rq := &c.rx.queues[s.Queue]
	s.Index, s.CQI = rq.win.Use, q.CQI
	s.Desc = nicspec.DecodeRxDesc(rq.win.Peek())
	rq.win.Take()
	q.CI++
	q.CQI++
	c.rx.want.Set(int(s.Queue))
	rq.refs++
	core.PlanRx(q, &f.v, n, s, &f.plan)
	if f.plan.MarkCE {
		core.MarkCE(f.f.Data, &f.v.Headers)
	}
	c.rx.cur, c.rx.off = f, 0
	c.rx.hdr, c.rx.pay = tlp.Split{}, tlp.Split{}
	if f.plan.HdrLen > 0 {
		c.rx.hdr = tlp.SplitWrite(f.plan.HdrAddr, f.plan.HdrLen, c.limits.MPS, tlp.Unaligned)
	}
	if f.plan.PayLen > 0 {
		c.rx.pay = tlp.SplitWrite(f.plan.PayAddr, f.plan.PayLen, c.limits.MPS, tlp.Unaligned)
	}
}

// feedRx makes p the next write of the receive side and reports whether there was one. Events are
// written between frames; of a frame first the data, then the completion entry [P9].
func (c *Comp) feedRx(p *tlp.Packet) bool {
	r := &c.rx
	f := r.cur
	if f == nil {
		if r.events.Len() == 0 {
			return false
		}
		e := r.events.Pop()
		c.setWrite(p, e.addr, e.cqe[:], 0)
		c.out.what, c.out.ref = outRxEvent, e.queue
		return true
	}
	piece, ok := r.hdr.Next()
	if !ok {
		piece, ok = r.pay.Next()
	}
	if ok {
		c.setWrite(p, piece.Addr, f.f.Data[r.off:r.off+piece.Len], c.attr)
		r.off += piece.Len
		c.out.what = outOther
		return true
	}
	c.setWrite(p, f.plan.CqeAddr, f.plan.Cqe[:], 0)
	c.out.what, c.out.frame = outRxCqe, f
	r.cur = nil
	return true
}

// delivered counts and releases a received frame once the link has accepted its completion entry.
func (c *Comp) delivered(f *rxFrame) {
	c.regs.StepPort(nicspec.CntRxDelivered, f.port, 1)
	c.regs.Step(nicspec.CntRxCqe)
	c.rx.queues[f.slot.Queue].refs--
	c.entryLeft(true, int(f.slot.Queue), false)
	c.release(f)
}

func (c *Comp) drop(f *rxFrame, why nicspec.PortCounter) {
	c.regs.StepPort(why, f.port, 1)
	c.release(f)
}

func (c *Comp) release(f *rxFrame) {
	c.rx.ports[f.port].held -= f.held
	c.rx.frames--
	c.frames.Put(f.f)
	f.f, f.held, f.overflow, f.flushed = nil, 0, false, false
	c.rx.pool = append(c.rx.pool, f)
}

func (c *Comp) getFrame() *rxFrame {
	if n := len(c.rx.pool); n > 0 {
		f := c.rx.pool[n-1]
		c.rx.pool = c.rx.pool[:n-1]
		return f
	}
	return new(rxFrame)
}

// descsArrived takes the descriptors that a read brought. If the read failed, it puts the queue
// into state Error [Q4].
func (c *Comp) descsArrived(rd *core.Read) {
	i := int(rd.Owner)
	q, rq := c.regs.Rxq(i), &c.rx.queues[i]
	rq.refs--
	if rd.Gen != rq.win.Gen {
		return
	}
	if rd.Status == nicspec.StatusOk {
		rq.win.Arrived(rd.First, uint16(len(rd.Dst)/nicspec.RxDescBytes))
		return
	}
	q.Fail(rd.Status)
	c.regs.Step(nicspec.CntQueueErr)
	e := rxEvent{addr: q.CqeAddr(q.CQI), queue: rd.Owner}
	core.BuildEvent(uint16(i), rd.First, rd.Status, q.Phase(q.CQI), &e.cqe)
	q.CQI++
	rq.win.Reset()
	rq.refs++
	c.rx.events.Push(e)
}
