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

// tlpIn is the incoming TLP stream with the queues behind it.
type tlpIn struct {
	stream.Stall
	pkt  *msg.TLP // TLP that crosses; nil if none does
	x    stream.Crossing
	cpls fifo.Queue[inTLP] // completions not processed yet
	reqs fifo.Queue[inTLP] // requests not processed yet

	taken uint64 // number of requests carried out
}

// inTLP is a TLP that was accepted and not processed yet.
type inTLP struct {
	pkt   *msg.TLP
	first int64 // cycle of the TLP's first beat
	due   int64 // cycle in which the TLP is processed
}

// receiveTLP moves TLPs over the stream into the device, one beat a cycle.
func (c *Comp) receiveTLP() {
	l := &c.in
	if l.pkt == nil {
		if c.pcie.Len() == 0 || !c.reached(l.x.Free) {
			return
		}
		l.pkt = c.pcie.Retrieve(c.sched.CurrentTime()).(*msg.TLP)
		l.x.Offer(c.now, stream.BeatsOf(len(l.pkt.Data), c.spec.TLPBits))
		l.x.Start(&l.Stall, c.now)
		l.x.Unreported = l.x.First // a stall before the first beat does not count: the packet has not begun
		c.moved = true
	}
	if !c.reached(l.x.Last) {
		return
	}
	p := l.pkt
	l.pkt, l.x.Open = nil, false
	c.moved = true
	c.observe(boundary.Crossing{Kind: boundary.TLPIn, First: l.x.First, Last: l.x.Last, TLP: &p.Packet})
	if core.IsCompletion(&p.Hdr) {
		l.cpls.Push(inTLP{p, l.x.First, c.now + int64(c.spec.Timing.CplPipe)})
	} else {
		l.reqs.Push(inTLP{p, l.x.First, c.now + int64(c.spec.Timing.RegPipe)})
	}
}

// takeCompletions passes to the reader the completions that have become due.
func (c *Comp) takeCompletions() {
	var h tlp.Header
	for c.in.cpls.Len() > 0 && c.reached(c.in.cpls.Front().due) {
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

// takeRequests carries out the register requests that are due.
func (c *Comp) takeRequests() {
	for c.in.reqs.Len() > 0 && c.reached(c.in.reqs.Front().due) {
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
