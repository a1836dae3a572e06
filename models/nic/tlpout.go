package nic

import (
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/stream"
	"nictwin/models/sim/fifo"
)

// tlpOut is the outgoing TLP stream with its sources.
type tlpOut struct {
	stream.Stall
	pkt   *msg.TLP // TLP that is offered or crosses; nil if none
	x     stream.Crossing
	what  outKind
	ref   int32    // queue, tag or channel: see outKind
	event bool     // for outTxCqe: the entry is an Event
	rx    bool     // for outMsix: ref is a receive queue
	bytes int      // for outCopy: bytes of the write
	frame *rxFrame // for outRxCqe: the frame delivered
	spare *msg.TLP // empty TLP for the next source to fill, or nil
	turn  int      // source that was served last

	answers  fifo.Queue[core.Answer] // completions for register reads and refused requests
	cqes     fifo.Queue[txCqe]       // pending completion entries of transmit queues
	readTurn int                     // read client that was served last
}

// outKind says what the outgoing TLP is, and so what its acceptance means. The comments name the
// fields of tlpOut that belong to it.
type outKind uint8

const (
	outOther   outKind = iota // an answer or frame data: acceptance of the TLP has no further effect
	outRead                   // a read request; ref is its tag
	outRxCqe                  // the completion entry of a received frame; field `frame` is that frame
	outRxEvent                // the Event of a receive queue; ref is the queue
	outTxCqe                  // a completion entry of a transmit queue; ref is the queue
	outCopy                   // a write of a copy; ref is the copy's channel, bytes the length
	outMessage                // the message of a copy; ref is the copy's channel
	outMsix                   // an MSI-X message; ref is the queue, rx whether it is a receive queue
)

// The sources of TLPs, which take turns.
const (
	sourceAnswer = iota
	sourceRx
	sourceTxCqe
	sourceRead
	sourceCopy
	sourceMsix
	numSources
)

// startTLP offers the next TLP if the stream is free, and starts the offered TLP if it has a
// credit.
func (c *Comp) startTLP() {
	l := &c.out
	if l.pkt == nil && c.reached(l.x.Free) {
		c.offerTLP()
	}
	if !l.x.Waits || !c.pcie.CanSend() {
		return
	}
	l.x.Start(&l.Stall, c.now)
	c.moved = true
	c.finishTLP()
}

func (c *Comp) offerTLP() {
	l := &c.out
	left := c.sources()
	if left == 0 {
		return
	}
	if l.spare == nil {
		l.spare = c.tlps.Get()
	}
	for at := l.turn; left != 0; left &^= 1 << at {
		at = after(left, at)
		if c.feed(at, &l.spare.Packet) {
			l.turn = at
			l.pkt, l.spare = l.spare, nil
			l.x.Offer(c.now, stream.BeatsOf(len(l.pkt.Data), c.spec.TLPBits))
			c.moved = true
			return
		}
	}
}

// sources returns the set of sources that may have a TLP. While copies are in flight, sourceRead is
// in the set even if no client has a request: feedRead frees held tags, or schedules the NIC for
// the cycle in which a tag becomes free.
func (c *Comp) sources() uint {
	return bit(sourceAnswer, c.out.answers.Len() != 0) | bit(sourceRx, c.rx.cur != nil || c.rx.events.Len() != 0) |
		bit(sourceTxCqe, c.out.cqes.Len() != 0) | bit(sourceRead, c.readClients() != 0 || c.tx.copying != 0) |
		bit(sourceCopy, c.tx.copyAt.writes != 0) | bit(sourceMsix, c.msix.ready != 0)
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

// finishTLP completes the outgoing TLP if its last beat has crossed.
func (c *Comp) finishTLP() {
	l := &c.out
	if l.pkt == nil || l.x.Waits || !c.reached(l.x.Last) {
		return
	}
	p := l.pkt
	l.pkt, l.x.Open = nil, false
	c.moved = true
	c.observe(boundary.Crossing{Kind: boundary.TLPOut, First: l.x.First, Last: l.x.Last, TLP: &p.Packet})
	if c.pcie.SendAt(p, c.time()) != nil {
		panic("nic: the PCIe link refused a TLP after CanSend")
	}
	switch l.what {
	case outRead:
		// A completion is processed CplPipe cycles after it was accepted. The timeout is extended
		// by as much, because acceptance within the timeout is what counts [P6].
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
		c.advanceCopies(int(l.ref))
	}
}
