package rnic

import (
	"fmt"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// Congestion is the congestion control of the RC queue pairs that connect from then on; it has no register, as in NICs
// whose firmware is configured apart from verbs. Their packets are ECN-capable.
type Congestion struct {
	// New returns the controller of a queue pair at the rate of the port in bit/s, and what decides when CNPs leave;
	// nil: none do.
	New func(line int64, pmtu int) (Controller, Notifier, error)

	// Windowed limits unacknowledged SENDs and WRITEs. Every packet then requests an acknowledgement, which has BECN
	// set if the packet was marked, and counts as PMTU bytes in Sent (the first time) and Acked. Otherwise packets
	// are paced, those with data of READs, too, and Sent counts the bytes of frames.
	Windowed bool
}

// Controller is an algorithm of congestion control (stack/cc has several). Times are in picoseconds, rates in bit/s.
type Controller interface {
	Rate() int64
	Window() int64
	Sent(now int64, bytes int)
	Acked(now int64, bytes int, marked bool)
	Notified(now int64)
	Lost(now int64, bytes int, timeout bool)
	Next() int64 // time of a change of the rate without a call
	Tick(now int64)
}

// Notifier is the notification point of a queue pair: the receiver.
type Notifier interface {
	Arrived(now int64, marked bool) (cnp bool)
	Next() int64 // time at which Tick must be called
	Tick(now int64) (cnp bool)
}

// pace is the congestion control of a queue pair.
type pace struct {
	Controller
	notifier Notifier
	windowed bool

	unacked int64      // bytes of packets that were sent and not acknowledged, if windowed
	last    simcore.Ps // time at which the latest packet was sent
	bytes   int        // length of that packet

	waking  bool // an event that sends the next packet is pending
	wakeAt  simcore.Ps
	replies bool // the next packet is one of a reply, if there is one: the latest was a request
	noting  bool // the event that ends the notifier's interval is pending
}

const never = simcore.Ps(1<<63 - 1)

// SetCongestion sets the congestion control of queue pairs that connect from now on.
func (c *Comp) SetCongestion(x Congestion) { c.congestion = x }

// BitRate returns the rate of the Ethernet ports in bit/s; 1 Tbit/s if the spec has none.
func (s *Spec) BitRate() int64 {
	const unlimited = 1e12
	if s.Line.Bytes == 0 {
		return unlimited
	}
	return s.Line.Bytes * 8 * int64(simcore.Second) / int64(s.Line.Ps)
}

// control begins the congestion control of a queue pair that is being connected.
func (c *Comp) control(q *qpair, a *core.Attributes) {
	const ecn, ect0 = 3, 2 // RFC 3168, section 5
	q.pace = nil
	if c.congestion.New == nil || q.Type != rnicspec.RC {
		return
	}
	of, notifier, err := c.congestion.New(c.spec.BitRate(), a.PMTU)
	if err != nil {
		c.fail(fmt.Errorf("congestion control of queue pair %d: %w", q.Num, err))
		return
	}
	q.pace = &pace{Controller: of, notifier: notifier, windowed: c.congestion.Windowed, last: -1}
	a.AckEach, a.EchoMarks = q.pace.windowed, q.pace.windowed
	if a.Address.TOS&ecn == 0 {
		a.Address.TOS |= ect0
	}
}

// ready returns the time at which the next packet may leave.
func (p *pace) ready() simcore.Ps {
	const bits, fastest = 8, 1e13
	rate := p.Rate()
	if p.last < 0 || rate >= fastest {
		return 0
	}
	return p.last + (simcore.Ps(p.bytes*bits)*simcore.Second+simcore.Ps(rate)-1)/simcore.Ps(rate)
}

// mayPlan reports whether congestion control lets a queue pair send its next request now. If not, an acknowledgement
// or an event will let it.
func (c *Comp) mayPlan(q *qpair, now simcore.Ps) bool {
	p := q.pace
	switch {
	case p == nil:
		return true
	case p.windowed && q.Fresh() && p.unacked > 0 && p.unacked+int64(q.PMTU) > p.Window():
		return false
	}
	return c.due(q, now)
}

// due reports whether the rate of a queue pair permits a packet now; if not, an event will try again.
func (c *Comp) due(q *qpair, now simcore.Ps) bool {
	p := q.pace
	p.Tick(int64(now))
	at := p.ready()
	if at > now {
		c.wake(q, min(at, simcore.Ps(p.Next())))
	}
	return at <= now
}

// wake schedules the event that sends the next packet of a queue pair.
func (c *Comp) wake(q *qpair, at simcore.Ps) {
	if p := q.pace; !p.waking || at < p.wakeAt {
		p.waking, p.wakeAt = true, at
		c.after(at, kindPaced, q)
	}
}

// paced sends the next packet of a queue pair: of a reply and of a request in turn, if there are both.
func (c *Comp) paced(q *qpair, now simcore.Ps) {
	p := q.pace
	if p == nil || !p.waking || p.wakeAt != now {
		return // an earlier event has taken its place
	}
	p.waking = false
	if !c.due(q, now) {
		return // the rate has changed
	}
	if p.replies || !q.CanSend() {
		c.release(q)
	} else if q.replies.Len() > 0 {
		p.replies = true // if the request does not leave now
		c.wake(q, now+1)
	}
	c.activate(q)
}

// sent records that a packet of n bytes was sent, for the first time if fresh.
func (p *pace) sent(now simcore.Ps, n, pmtu int, fresh bool) {
	p.last, p.bytes = now, n
	switch {
	case !p.windowed:
		p.Sent(int64(now), n)
	case fresh:
		p.Sent(int64(now), pmtu)
		p.unacked += int64(pmtu)
	}
}

// signals reports to the controller what a response has shown.
func (c *Comp) signals(q *qpair, e *core.Effects, echo bool) {
	p := q.pace
	if p == nil {
		return
	}
	now := int64(c.now())
	if n := e.Acked * q.PMTU; n > 0 {
		p.unacked -= int64(n)
		p.Acked(now, n, echo)
		c.activate(q)
	}
	if e.Lost {
		p.Lost(now, 0, false)
	}
}

// checkMark handles the ECN field of a packet that arrives for an RC queue pair. RegMark has its effect here, so that
// packets which arrived before a write of it stay as they are.
func (c *Comp) checkMark(op *rxOp, now simcore.Ps) {
	if c.marking != 0 && op.p.Mark() {
		c.counters[rnicspec.CntSelfMarked]++
	}
	if op.p.Marked() {
		c.marked(op.q, now)
	}
}

// marked handles a received packet that has experienced congestion.
func (c *Comp) marked(q *qpair, now simcore.Ps) {
	c.counters[rnicspec.CntMarked]++
	if p := q.pace; p != nil && p.notifier != nil {
		if p.notifier.Arrived(int64(now), true) {
			c.sendCNP(q, now)
		}
		c.note(q)
	}
}

// note schedules the end of the notifier's interval.
func (c *Comp) note(q *qpair) {
	if at := simcore.Ps(q.pace.notifier.Next()); !q.pace.noting && at < never {
		q.pace.noting = true
		c.noting++
		c.after(at, kindNote, q)
	}
}

// intervalOver handles the end of a notifier's interval.
func (c *Comp) intervalOver(q *qpair, now simcore.Ps) {
	q.pace.noting = false
	c.noting--
	if c.qps[q.Num] != q {
		return // it was destroyed
	}
	if q.pace.notifier.Tick(int64(now)) {
		c.sendCNP(q, now)
	}
	c.note(q)
}

// sendCNP sends a congestion notification packet (A17). It waits for no other packet of the queue pair.
func (c *Comp) sendCNP(q *qpair, now simcore.Ps) {
	if q.State == rnicspec.Failed {
		return
	}
	c.counters[rnicspec.CntCNPsSent]++
	x := c.newPacket(q, now)
	x.addr, x.answer = &q.Address, true
	c.frame(x, &core.Packet{BTHFields: wire.NewCNP(q.DestQP, 0)}, 0)
	c.leave(x)
}

// notified handles a CNP. It takes effect as soon as it was received, and needs no place in the receive buffer.
func (c *Comp) notified(op *rxOp, now simcore.Ps) {
	c.counters[rnicspec.CntCNPsReceived]++
	if p := op.q.pace; p != nil {
		p.Notified(int64(now))
	}
	c.recycle(op)
}
