package pcielink

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/format/tlp/order"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// lane is one direction of a link.
type lane struct {
	link      *Link
	src, dst  *simcore.Port
	selective Selective // component of dst, if it is Selective; else nil
	direct    Input     // dst, if its component is Direct; else nil
	opposite  *lane     // the other direction, which carries this lane's DLLPs

	tx     order.Queue[*msg.TLP] // transmit buffer: TLPs that wait for credits
	line   Wire
	flight fifo.Queue[*msg.TLP]  // TLPs on the wire
	rx     order.Queue[*msg.TLP] // receive buffer: TLPs that dst has not taken

	buffer  [3]int     // capacity of tx, by class
	backlog simcore.Ps // bound on the wire time queued before another TLP is taken
	waiting bool       // src was refused and has not been notified yet
	retry   bool       // dst has called Retry: offer it the TLPs in rx again
	credits account
	returns fifo.Queue[grant] // credits on their way back to src

	deliver, credit, wire timer
	acks                  int // TLPs since the last Ack
	updates               [3]int
	count                 Counters
}

// timer schedules an event that is pending at most once.
type timer struct {
	ev    simcore.Event
	armed bool
	clock *simcore.Clock
}

func (t *timer) init(l *Link, kind int) {
	*t = timer{ev: simcore.Event{H: l, Kind: kind, Secondary: true}, clock: &l.clock}
}

// arm schedules the event if it is not pending.
func (t *timer) arm(at simcore.Ps) {
	if !t.armed {
		t.armed = true
		t.ev.At = at
		t.clock.Schedule(&t.ev)
	}
}

func (d *lane) init(l *Link, i int) {
	d.link, d.src, d.dst, d.opposite = l, l.ports[i], l.ports[1-i], &l.lanes[1-i]
	d.selective, _ = d.dst.Component().(Selective)
	if c, ok := d.selective.(Direct); ok {
		d.direct = c.Input(d.dst)
	}
	d.line = NewWire(l.spec.Rate())
	b := l.spec.Buffer
	d.buffer = [3]int{tlp.Posted: b.Posted, tlp.NonPosted: b.NonPosted, tlp.Completion: b.Completion}
	d.backlog = d.line.TimeOf(b.WireBytes)
	d.credits = newAccount(&l.spec.Credits[1-i])
	d.deliver.init(l, kindDeliver|i)
	d.credit.init(l, kindCredit|i)
	d.wire.init(l, kindWire|i)
}

// full reports whether the transmit buffer is full for at least one class.
func (d *lane) full() bool {
	return d.tx.Count(tlp.Posted) >= d.buffer[tlp.Posted] || d.tx.Count(tlp.NonPosted) >= d.buffer[tlp.NonPosted] ||
		d.tx.Count(tlp.Completion) >= d.buffer[tlp.Completion]
}

// backlogged reports whether the wire is too busy to take a TLP that departs at the given time. If
// so, it schedules an event for when it no longer is.
func (d *lane) backlogged(depart simcore.Ps) bool {
	over := d.line.Busy() - d.backlog
	if over <= depart {
		return false
	}
	d.wire.arm(over)
	return true
}

// refuse records that src was refused and must be notified.
func (d *lane) refuse() {
	d.waiting = true
	d.armCredit()
}

func (d *lane) notify() {
	if d.waiting {
		d.waiting = false
		d.src.NotifyAvailable(d.link.clock.Sec())
	}
}

// send takes a TLP if there is room for it, and reports whether there was.
func (d *lane) send(p *msg.TLP) bool {
	h := p.Parsed()
	class, now := h.Kind.Class(), d.link.clock.Now()
	d.absorb(now)
	depart := max(p.Depart, now)
	if d.tx.Count(class) >= d.buffer[class] || d.backlogged(depart) {
		d.refuse()
		return false
	}
	d.accept(p, h, class, depart, now)
	return true
}

// accept queues a TLP; the caller has checked for room.
func (d *lane) accept(p *msg.TLP, h *tlp.Header, class tlp.Class, depart, now simcore.Ps) {
	if err := d.link.spec.fault(h, len(p.Data), d == &d.link.lanes[1]); err != nil {
		d.link.fail(fmt.Errorf("pcielink: %s: %s sends %w", d.link.name, d.src.Name(), err))
		return
	}
	p.Dst, p.TrafficBytes = d.dst, d.link.spec.WireBytes(h, len(p.Data))
	if d.link.NumHooks() != 0 {
		d.link.hook(sim.HookPosConnStartSend, p)
	}
	d.count.In[class].Add(p.TrafficBytes, len(p.Data))
	if d.tx.Len() == 0 && d.credits.take(class, h) {
		d.launch(p, depart, now)
		return
	}
	p.Depart = depart
	d.tx.Push(order.KeyOf(h), p)
	d.pump(now)
}

// pump puts TLPs on the wire as far as credits allow.
func (d *lane) pump(now simcore.Ps) {
	for p, ok := d.tx.Next((*creditGate)(d)); ok; p, ok = d.tx.Next((*creditGate)(d)) {
		d.launch(p, max(p.Depart, now), now)
	}
	if d.tx.Len() > 0 {
		d.armCredit()
	}
}

// creditGate selects the TLPs for which there are credits, and takes the credits of each.
type creditGate lane

// Open implements order.Gate.
func (d *creditGate) Open(c tlp.Class, p *msg.TLP) bool { return d.credits.take(c, p.Parsed()) }

// launch puts a TLP on the wire.
func (d *lane) launch(p *msg.TLP, depart, now simcore.Ps) {
	bytes := p.TrafficBytes
	if n := d.line.takeDue(now); n > 0 {
		d.count.DLLPs += uint64(n)
		d.count.DLLPBytes += uint64(n * d.link.spec.DLLP.Bytes)
		bytes += n * d.link.spec.DLLP.Bytes
	}
	p.Arrive = d.line.Transmit(depart, int64(bytes)) + d.link.spec.Latency
	p.Back += d.link.spec.Latency
	p.Depart, p.SendTime = depart, d.link.clock.Sec()
	d.flight.Push(p)
	d.deliver.arm((*d.flight.Front()).Arrive)
}

// deliverDue moves the TLPs that have reached the far end, and those that wait there, into dst's
// port.
func (d *lane) deliverDue(now simcore.Ps) {
	d.deliver.armed = false
	if d.retry {
		d.retry = false
		d.rx.Rewind()
		d.offer()
	}
	for d.flight.Len() > 0 && (*d.flight.Front()).Arrive <= now {
		p := d.flight.Pop()
		if n := d.link.spec.DLLP.AckEvery; n > 0 {
			if d.acks++; d.acks == n {
				d.acks = 0
				d.opposite.line.owe(now)
			}
		}
		if d.rx.Len() == 0 && d.takes(p) {
			d.give(p)
			continue
		}
		d.rx.Push(order.KeyOf(p.Parsed()), p)
		d.offer()
	}
	if d.flight.Len() > 0 {
		d.deliver.arm((*d.flight.Front()).Arrive)
	}
}

// offer moves the TLPs that dst accepts from the receive buffer to dst.
func (d *lane) offer() {
	for p, ok := d.rx.Next((*takeGate)(d)); ok; p, ok = d.rx.Next((*takeGate)(d)) {
		d.give(p)
	}
}

// takeGate selects the TLPs that dst takes. A dst that is not Selective takes them in order of
// arrival only.
type takeGate lane

// Open implements order.Gate.
func (d *takeGate) Open(_ tlp.Class, p *msg.TLP) bool { return (*lane)(d).takes(p) }

func (d *lane) takes(p *msg.TLP) bool {
	if d.direct != nil {
		return d.dst.Len() < d.dst.Capacity() && d.direct.Takes(p)
	}
	return d.dst.Len() < d.dst.Capacity() && (d.selective == nil || d.selective.Takes(d.dst, p))
}

func (d *lane) give(p *msg.TLP) {
	p.RecvTime = d.link.clock.Sec()
	if d.link.NumHooks() != 0 {
		d.link.hook(sim.HookPosConnDeliver, p)
	}
	if d.direct != nil && d.direct.Straight(p) {
		now := d.link.clock.Now()
		d.retrieved(p, now)
		d.direct.Enter(p, now)
		return
	}
	d.dst.Recv(p)
}

// retrieved sends back the credits of a TLP that dst's component has taken.
func (d *lane) retrieved(p *msg.TLP, now simcore.Ps) {
	h := p.Parsed()
	class := h.Kind.Class()
	d.count.Out[class].Add(p.TrafficBytes, len(p.Data))
	d.reoffer(now)
	if !d.credits.finite(class) {
		return
	}
	if n := d.link.spec.DLLP.UpdateEvery; n > 0 {
		if d.updates[class]++; d.updates[class] == n {
			d.updates[class] = 0
			d.opposite.line.owe(now)
		}
	}
	d.returns.Push(grant{at: now + max(d.link.spec.Latency, 1), class: class, data: h.DataCredits()})
	if d.tx.Len() > 0 {
		d.armCredit()
	}
}

// armCredit schedules the event at which the next returned credits become usable.
func (d *lane) armCredit() {
	if d.tx.Len() > 0 && d.returns.Len() > 0 {
		d.credit.arm(d.returns.Front().at)
	}
}

// absorb adds the returned credits that can be used by now.
func (d *lane) absorb(now simcore.Ps) {
	any := false
	for d.returns.Len() > 0 && d.returns.Front().at <= now {
		d.credits.put(d.returns.Pop())
		any = true
	}
	if any && d.tx.Len() > 0 {
		d.tx.Rewind()
		d.pump(now)
	}
}

// reoffer offers the receive buffer to dst once more.
func (d *lane) reoffer(now simcore.Ps) {
	if d.rx.Len() > 0 {
		d.retry = true
		d.deliver.arm(now)
	}
}

func (d *lane) creditDue(now simcore.Ps) {
	d.credit.armed = false
	d.absorb(now)
	d.armCredit()
	d.notify()
}

func (d *lane) wireDue() {
	d.wire.armed = false
	d.notify()
}
