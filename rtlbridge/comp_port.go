package rtlbridge

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/protocol"
)

// portState is the state of one binding.
type portState struct {
	Binding
	comp  *Comp
	port  *simcore.Port
	index int
	in    int // in and out are stream indices; -1: no such stream
	out   int

	waiting queue[input]      // received from the link, not yet sent to the device
	flying  queue[sim.Msg]    // messages sent to the device, not yet accepted on its pins
	owed    queue[simcore.Ps] // times at which credits of accepted inputs are back at the inputs' sender
	returns simcore.Ps        // latency of a credit's return
	credit  simcore.Event
	armed   bool

	limited bool // outputs need credits of the link
	credits struct {
		cycle uint64 // first cycle in which the device may use the credits
		n     int    // number of credits
	}
}

type input struct {
	msg   sim.Msg
	cycle uint64 // first cycle in which msg may be offered to the device
}

// idle reports whether nothing is in transit through the port.
func (p *portState) idle() bool { return p.waiting.n == 0 && p.flying.n == 0 }

// Func implements sim.Hook: with back-pressure, a message stays in the port until its credit is returned, but is
// recorded at once.
func (p *portState) Func(ctx sim.HookCtx) {
	if ctx.Pos == sim.HookPosPortMsgRecvd {
		if m, ok := ctx.Item.(sim.Msg); ok {
			p.take(m)
		}
	}
}

// take records a message that the link has announced before its arrival.
func (p *portState) take(msg sim.Msg) {
	c := p.comp
	t, ok := msg.(simcore.Timed)
	if !ok || p.in < 0 {
		p.refuse(fmt.Errorf("%s: port %s cannot take a %T", c.Name(), p.Port, msg))
		return
	}
	cycle := c.cycleOf(t.Stamp().Arrive)
	if sent := c.next * uint64(c.spec.Quantum); cycle < sent {
		p.refuse(fmt.Errorf("%s: port %s: a message arrives at cycle %d, but cycles up to %d are under way: "+
			"the link is shorter than InLatency (%v)", c.Name(), p.Port, cycle, sent, c.spec.InLatency))
		return
	}
	p.waiting.push(input{msg, cycle})
}

func (p *portState) refuse(err error) {
	if p.comp.fault == nil {
		p.comp.fault = err
	}
}

// encode passes the messages of the cycles before end to the device.
func (p *portState) encode(end uint64) error {
	for p.waiting.n > 0 && p.waiting.head().cycle < end {
		x := p.waiting.pop()
		side, data, err := p.Encode(x.msg)
		if err == nil {
			err = p.comp.conn.Add(p.in, x.cycle, side, data)
		}
		if err != nil {
			return fmt.Errorf("%s: port %s: %w", p.comp.Name(), p.Port, err)
		}
		p.flying.push(x.msg)
	}
	return nil
}

// accepted handles an EventIn.
func (p *portState) accepted(e *Event) error {
	if p.flying.n == 0 {
		return p.comp.conn.fail("run", protocol.ProtoErr(protocol.FrameRan, protocol.FaultValue,
			"input %d of port %s accepted, which was not sent", e.Ordinal, p.Port))
	}
	e.Msg = *p.flying.head()
	p.comp.notify(e)
	if e.Flags&protocol.InEnd == 0 {
		return nil
	}
	p.flying.pop()
	if p.Backpressure {
		p.owed.push(p.comp.at(e.Last) + p.returns)
		p.armCredit()
	} else if p.Release != nil {
		p.Release(e.Msg)
	}
	return nil
}

func (p *portState) armCredit() {
	if p.armed || p.owed.n == 0 {
		return
	}
	p.armed = true
	p.credit.At = *p.owed.head()
	p.comp.sched.Schedule(&p.credit)
}

// returnCredits removes messages from the port at the time when the far end of the link learns of their
// acceptance.
func (p *portState) returnCredits() error {
	p.armed = false
	now := simcore.Now(p.comp.sched)
	for p.owed.n > 0 && *p.owed.head() <= now {
		p.owed.pop()
		if m := p.port.Retrieve(now.Sec()); m != nil && p.Release != nil {
			p.Release(m)
		}
	}
	p.armCredit()
	return nil
}

// output handles an EventOut.
func (p *portState) output(e *Event, r *protocol.Record) error {
	c := p.comp
	m, err := p.Decode(r.Side, r.Data)
	if err != nil {
		return fmt.Errorf("%s: port %s: output %d at cycle %d: %w", c.Name(), p.Port, e.Ordinal, e.Last, err)
	}
	m.Stamp().Depart = c.at(e.Last)
	e.Msg = m
	c.notify(e)
	if p.port.Send(m) == nil {
		return nil
	}
	if p.limited { // the device was given credits, and has sent more than they allow
		return c.conn.fail("run", protocol.ProtoErr(protocol.FrameRan, protocol.FaultValue,
			"output %d of port %s at cycle %d: the link has no credit for it", e.Ordinal, p.Port, e.Last))
	}
	return fmt.Errorf(
		"%s: port %s: the link has no credit for output %d at cycle %d, and stream %s cannot be held back", c.Name(),
		p.Port,
		e.Ordinal, e.Last, p.Out)
}

// begin adopts the credits of the port's link. It refuses a link whose latency, or the latency of whose credits, is
// too short for the quantum.
func (p *portState) begin(streams []protocol.StreamStart) error {
	c := p.comp
	if err := p.longEnough(); err != nil {
		return err
	}
	credits, latency, ok := p.port.Window()
	if !ok {
		return nil // a connection that is no link gives no credits
	}
	quantum := simcore.Ps(c.spec.Quantum) * c.period
	// For quantum k, credits for outputs are needed at S(k), and accepted inputs are known at S(k+Ahead-1); see
	// MaxQuantum.
	need := simcore.Ps(0)
	if p.limited = p.out >= 0 && credits > 0 && c.conn.Hello().Streams[p.out].Ready; p.limited {
		streams[p.out].Credits = credits
		need = c.lead
	}
	if p.Backpressure {
		p.returns = latency
		need = max(need, simcore.Ps(c.spec.Ahead)*quantum-c.lead)
	}
	if latency < need {
		return fmt.Errorf("port %s: its link lets credits be used %v after they are returned: quanta of %d cycles "+
			"need %v (the link's latency always does)",
			p.Port, latency, c.spec.Quantum, need)
	}
	return nil
}

// longEnough refuses a link so short that something would arrive in the past. Between two devices that run
// ahead, the link's latency must cover the delay until the sending device's outputs are known, and the lead by which
// the receiving device's inputs must be complete.
func (p *portState) longEnough() error {
	far, latency, ok := p.port.Far()
	if !ok {
		return nil
	}
	s := &p.comp.spec
	need, why := s.InLatency, "what comes in is wanted so long before"
	if p.in < 0 {
		need = 0
	}
	if p.out >= 0 && s.OutLatency >= need {
		need, why = s.OutLatency, "what goes out is known so late"
	}
	if far != nil && p.out >= 0 {
		if other, ok := far.Component().(*Comp); ok {
			need, why = s.OutLatency+other.spec.InLatency, "either end runs ahead"
		}
	}
	if latency < need {
		return fmt.Errorf("port %s: its link has a latency of %v: want %v or more, as %s", p.Port, latency, need, why)
	}
	return nil
}

// credited records a credit that the device may use from a time on.
func (p *portState) credited(usable simcore.Ps) {
	if !p.limited {
		return
	}
	cycle := p.comp.cycleOf(usable)
	if p.credits.n > 0 && cycle != p.credits.cycle {
		if err := p.flushCredits(); err != nil {
			p.refuse(err)
		}
	}
	p.credits.cycle = cycle
	p.credits.n++
}

// flushCredits passes the credits of the latest cycle to the device.
func (p *portState) flushCredits() error {
	x := p.credits
	if x.n == 0 {
		return nil
	}
	p.credits.n = 0
	return p.comp.conn.AddCredits(p.out, x.cycle, x.n)
}

// queue is a first-in first-out ring that grows.
type queue[T any] struct {
	ring  []T
	first int
	n     int
}

func (q *queue[T]) head() *T { return &q.ring[q.first] }

func (q *queue[T]) tail() *T { return &q.ring[(q.first+q.n-1)&(len(q.ring)-1)] }

func (q *queue[T]) push(v T) {
	if q.n == len(q.ring) {
		bigger := make([]T, max(16, 2*q.n))
		for i := range q.n {
			bigger[i] = q.ring[(q.first+i)%len(q.ring)]
		}
		q.ring, q.first = bigger, 0
	}
	q.ring[(q.first+q.n)&(len(q.ring)-1)] = v
	q.n++
}

func (q *queue[T]) pop() T {
	v := q.ring[q.first]
	var zero T
	q.ring[q.first] = zero
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.n--
	return v
}

// NotifyRecv implements sim.Component.
func (c *Comp) NotifyRecv(now sim.VTimeInSec, port sim.Port) {
	for _, p := range c.ports {
		if p.port == port && !p.Backpressure {
			for m := p.port.Retrieve(now); m != nil; m = p.port.Retrieve(now) {
				p.take(m)
			}
		}
	}
}

// CreditReturned implements simcore.EarlySender: the far end of a link has taken a message.
func (c *Comp) CreditReturned(port *simcore.Port, usable simcore.Ps) {
	for _, p := range c.ports {
		if p.port == port {
			p.credited(usable)
		}
	}
}

// NotifyPortFree implements sim.Component. The component does not wait for it: the device sends only what it has
// credits for.
func (c *Comp) NotifyPortFree(sim.VTimeInSec, sim.Port) {}
