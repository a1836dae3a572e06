package nic

import (
	"nictwin/models/boundary"
	"nictwin/models/fifo"
	"nictwin/models/msg"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// tlpIn is the TLP stream into the device and what follows it.
type tlpIn struct {
	stall
	pkt  *msg.TLP // crossing now
	x    crossing
	cpls fifo.Queue[inTLP]
	reqs fifo.Queue[inTLP]

	taken uint64 // requests that took effect
}

// inTLP is a TLP accepted and not processed yet.
type inTLP struct {
	pkt   *msg.TLP
	first int64 // cycle of its first beat
	due   int64
}

func (l *tlpIn) busy() bool { return l.pkt != nil || l.cpls.Len() != 0 || l.reqs.Len() != 0 }

// crossing is the time of the packet that crosses a stream now, and the first
// cycle for the next one.
type crossing struct {
	first, last, free int64

	open   bool  // a packet is offered, or crosses
	waits  bool  // it is offered, and there is no credit for it
	beats  int   // of it
	untold int64 // first cycle of it of which is not told yet whether it was held
}

// offer begins with a packet of so many beats that may have to wait for a
// credit: what is offered stays.
func (x *crossing) offer(now int64, beats int) {
	x.open, x.waits, x.beats, x.untold = true, true, beats, now
}

// start sets the times of the packet that is offered.
func (x *crossing) start(s *stall, now int64) {
	x.waits = false
	x.first = s.from(now)
	x.last = s.beats(x.first, x.beats)
	x.free = x.last + 1
}

// beatsOf is the beats of n bytes on a stream of so many bits; a packet
// without bytes takes one.
func beatsOf(n, bits int) int { return max((n*8+bits-1)/bits, 1) }

// receiveTLP moves the TLP stream into the device.
func (c *Comp) receiveTLP() {
	l := &c.in
	if l.pkt == nil {
		if c.pcie.Len() == 0 || !c.until(l.x.free) {
			return
		}
		l.pkt = c.pcie.Retrieve(c.sched.CurrentTime()).(*msg.TLP)
		l.x.offer(c.now, beatsOf(len(l.pkt.Data), c.spec.TLPBits))
		l.x.start(&l.stall, c.now)
		l.x.untold = l.x.first // before it, it only comes later
		c.moved = true
	}
	if !c.until(l.x.last) {
		return
	}
	p := l.pkt
	l.pkt, l.x.open = nil, false
	c.moved = true
	c.observe(boundary.Crossing{Kind: boundary.TLPIn, First: l.x.first, Last: l.x.last, TLP: &p.Packet})
	if core.IsCompletion(&p.Hdr) {
		l.cpls.Push(inTLP{p, l.x.first, c.now + int64(c.spec.Timing.CplPipe)})
	} else {
		l.reqs.Push(inTLP{p, l.x.first, c.now + int64(c.spec.Timing.RegPipe)})
	}
}

// takeCompletions uses what reads brought.
func (c *Comp) takeCompletions() {
	var h tlp.Header
	for c.in.cpls.Len() > 0 && c.until(c.in.cpls.Front().due) {
		x := c.in.cpls.Pop()
		p := x.pkt
		c.moved = true
		if core.DecodeInbound(&p.Hdr, &h) != core.InCompletion {
			c.regs.Step(nicspec.CntTlpUnsupported)
			c.tlps.Put(p)
			continue
		}
		rd, result := c.reader.Complete(&h, p.Data, x.first, c.now, c.timeout)
		c.tlps.Put(p)
		switch result {
		case core.CplUnexpected:
			c.regs.Step(nicspec.CntCplUnexpected)
		case core.CplFailed:
			c.regs.Step(nicspec.CntCplErr)
		}
		if rd != nil {
			c.readEnded(rd)
		}
	}
}

// takeRequests lets requests of the other side take effect.
func (c *Comp) takeRequests() {
	for c.in.reqs.Len() > 0 && c.until(c.in.reqs.Front().due) {
		p := c.in.reqs.Pop().pkt
		c.moved = true
		c.regs.Status.SetRxBusy(c.rx.busy())
		c.regs.Status.SetTxBusy(c.txBusy())
		c.regs.Status.SetReadsOutstanding(c.reader.Outstanding() != 0)
		c.regs.Take(&p.Hdr, p.Data, &c.outcome)
		c.in.taken++
		for i := range c.outcome.NumEffects {
			c.apply(&c.outcome.Effects[i])
		}
		c.tlps.Put(p)
		if c.outcome.Answered {
			c.out.answers.Push(c.outcome.Answer)
		}
	}
}

// apply does what a register write means for the timed part.
func (c *Comp) apply(e *core.Effect) {
	switch e.Kind {
	case core.EffectConfig:
		c.configured()
		if e.Reg == nicspec.RegCtrl && c.regs.TxEnable() {
			for q := range c.tx.queues {
				c.tx.want.set(q)
			}
		}
	case core.EffectReset:
		c.startReset()
	case core.EffectDoorbell:
		if e.Rx {
			c.rx.want.set(e.Index)
		} else {
			c.pushed(e, c.outcome.Pushed)
			c.tx.want.set(e.Index)
		}
	case core.EffectQueueEnabled:
		c.messagesOn(e.Rx, e.Index)
		if e.Rx {
			c.rx.queues[e.Index].win.reset()
		} else {
			c.tx.queues[e.Index].win.reset()
			c.offer(e.Index)
		}
	case core.EffectQueueDraining:
		c.drainRx, c.drainQ = e.Rx, e.Index
		c.messagesOff(e.Rx, e.Index)
		if e.Rx {
			c.rx.queues[e.Index].win.reset()
		} else {
			c.drainTx(e.Index)
		}
	}
}

// configured takes over what registers say.
func (c *Comp) configured() {
	c.limits, c.attr, c.timeout = c.regs.Limits(), c.regs.DataAttr(), c.regs.CplTimeout()
}

// tlpOut is the TLP stream out of the device and who feeds it.
type tlpOut struct {
	stall
	pkt   *msg.TLP // crossing now
	x     crossing
	what  outKind
	ref   int32    // queue, tag or channel, as what says
	event bool     // of outTxCqe
	rx    bool     // ref is a receive queue, of outMsix
	bytes int      // of outCopy
	frame *rxFrame // of outRxCqe
	spare *msg.TLP
	turn  int // source served last

	answers fifo.Queue[core.Answer]
	cqes    fifo.Queue[txCqe]
	reads   int // kind of read served last
}

func (l *tlpOut) busy() bool { return l.pkt != nil || l.answers.Len() != 0 || l.cqes.Len() != 0 }

// outKind says what follows when a TLP was accepted.
type outKind uint8

const (
	outOther   outKind = iota
	outRead            // ref: tag
	outRxCqe           // frame
	outRxEvent         // ref: queue
	outTxCqe           // ref: queue
	outCopy            // ref: channel, bytes
	outMessage         // ref: channel
	outMsix            // ref: queue, rx
)

// The sources of TLPs take turns.
const (
	sourceAnswer = iota
	sourceRx
	sourceTxCqe
	sourceRead
	sourceCopy
	sourceMsix
	numSources
)

// startTLP offers the next TLP if the stream is free, and lets the one that is
// offered start if there is a credit for it.
func (c *Comp) startTLP() {
	l := &c.out
	if l.pkt == nil && c.until(l.x.free) {
		c.offerTLP()
	}
	if !l.x.waits || !c.pcie.CanSend() {
		return
	}
	l.x.start(&l.stall, c.now)
	c.moved = true
	c.finishTLP()
}

func (c *Comp) offerTLP() {
	l := &c.out
	if l.spare == nil {
		l.spare = c.tlps.Get()
	}
	for range numSources {
		if l.turn++; l.turn == numSources {
			l.turn = 0
		}
		if c.feed(l.turn, &l.spare.Packet) {
			l.pkt, l.spare = l.spare, nil
			l.x.offer(c.now, beatsOf(len(l.pkt.Data), c.spec.TLPBits))
			c.moved = true
			return
		}
	}
}

// feed makes p the next TLP of a source and reports whether there was one.
func (c *Comp) feed(source int, p *tlp.Packet) bool {
	switch source {
	case sourceAnswer:
		return c.feedAnswer(p)
	case sourceRx:
		return c.feedRx(p)
	case sourceTxCqe:
		return c.feedTxCqe(p)
	case sourceCopy:
		return c.feedCopy(p)
	case sourceMsix:
		return c.feedMessage(p)
	}
	return c.feedRead(p)
}

func (c *Comp) feedAnswer(p *tlp.Packet) bool {
	if c.out.answers.Len() == 0 {
		return false
	}
	a := c.out.answers.Pop()
	p.Data = nil
	if a.Header.Kind == tlp.CplD {
		copy(p.Own(a.Header.PayloadBytes()), a.Data[:])
	}
	c.setHeader(p, &a.Header)
	c.out.what = outOther
	return true
}

func (c *Comp) feedTxCqe(p *tlp.Packet) bool {
	if c.out.cqes.Len() == 0 {
		return false
	}
	e := c.out.cqes.Front()
	c.setWrite(p, e.addr, e.cqe[:], 0)
	c.out.what, c.out.ref, c.out.event = outTxCqe, e.queue, nicspec.TxCqe(e.cqe[:]).Type() == nicspec.CqeTypeEvent
	c.out.cqes.Pop()
	return true
}

// setWrite makes p a write of b, which is copied, with attributes [P11].
func (c *Comp) setWrite(p *tlp.Packet, addr uint64, b []byte, attr tlp.Attr) {
	if addr&(tlp.DWBytes-1) == 0 && len(b)%tlp.DWBytes == 0 {
		copy(p.Own(len(b)), b)
		b = p.Data
	}
	if err := p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterNic, Attr: attr}, addr, b); err != nil {
		panic("nic: a write that was split does not fit: " + err.Error())
	}
}

func (c *Comp) setHeader(p *tlp.Packet, h *tlp.Header) {
	if err := p.SetHeader(h); err != nil {
		panic("nic: a header of ours cannot be encoded: " + err.Error())
	}
}

// finishTLP ends the TLP that crosses out of the device, if it is time.
func (c *Comp) finishTLP() {
	l := &c.out
	if l.pkt == nil || l.x.waits || !c.until(l.x.last) {
		return
	}
	p := l.pkt
	l.pkt, l.x.open = nil, false
	c.moved = true
	c.observe(boundary.Crossing{Kind: boundary.TLPOut, First: l.x.first, Last: l.x.last, TLP: &p.Packet})
	if c.pcie.SendAt(p, c.time()) != nil {
		panic("nic: the PCIe link refused a TLP after CanSend")
	}
	switch l.what {
	case outRead:
		// What was accepted in time is in time, though it is looked at later [P6].
		c.reader.Accepted(uint8(l.ref), c.now, c.timeout+int64(c.spec.Timing.CplPipe))
	case outRxCqe:
		c.delivered(l.frame)
	case outRxEvent:
		c.regs.Step(nicspec.CntRxCqe)
		c.rx.queues[l.ref].refs--
		c.entryLeft(true, int(l.ref), true)
	case outTxCqe:
		c.regs.Step(nicspec.CntTxCqe)
		c.tx.queues[l.ref].refs--
		c.entryLeft(false, int(l.ref), l.event)
	case outMsix:
		c.messageLeft(l.rx, int(l.ref))
	case outCopy:
		c.copyLeft(int(l.ref), l.bytes)
	case outMessage:
		c.tx.copies[l.ref].MessageLeft()
		c.copyMoved(int(l.ref))
	}
}
