package simcore

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// lane is one direction of a link.
type lane struct {
	link  *Link
	src   sim.Port
	dst   sim.Port
	own   *Port       // dst, if it is a *Port; else nil
	tap   *creditTap  // hook on dst, if dst is not a *Port
	early bool        // dst's component runs ahead: it gets messages at the time of sending
	ahead EarlySender // src's component, if it runs ahead and tracks its credits itself; else nil

	sent uint64 // bytes, see Link.Sent

	// The transmitter: the last message ends at busy + frac/psDen.
	busy Ps
	frac int64

	// The serialisation time of a message of lastBytes is whole + rem/psDen. Sizes repeat, so
	// caching it saves the division.
	lastBytes, rem int64
	whole          Ps

	// Messages in flight: a ring of `window` slots.
	q       []slot
	head, n int
	deliver Event
	armed   bool // event deliver is scheduled
	inside  bool // deliverDue is running
	blocked bool // dst is full; it will call NotifyAvailable

	// Credits. used counts messages in flight, unread in dst's buffer, or
	// read but with the credit still on its way back.
	window, used, unread int
	back                 []Ps // ring of the times when returned credits become usable
	backHead, backN      int
	credit               Event
	creditArmed          bool
	waiting              bool // src was refused and has not been notified yet
}

type slot struct {
	msg    sim.Msg
	arrive Ps
}

func (d *lane) init(l *Link, i int) {
	*d = lane{link: l, src: l.ports[i], dst: l.ports[1-i]}
	d.own, _ = d.dst.(*Port)
	if r, ok := d.dst.Component().(EarlyReceiver); ok && r.LookAhead() {
		if d.own == nil {
			panic(fmt.Sprintf("simcore: link %s: early receiver %s needs a *simcore.Port, not a %T",
				l.name, d.dst.Name(), d.dst))
		}
		d.early = true
	}
	if s, ok := d.src.Component().(EarlySender); ok && s.LookAhead() {
		d.ahead = s
	}
	d.window = d.credits(l.spec.credits(i), l.bufs[i])
	d.back = make([]Ps, d.window)
	if !d.early {
		d.q = make([]slot, d.window)
	}
	d.deliver = Event{H: l, Kind: i, Secondary: true}
	d.credit = Event{H: l, Kind: i | creditEvent, Secondary: true}
	if p, ok := d.src.(*Port); ok {
		p.lane = d
	}
	if d.own != nil {
		d.own.from = d
	} else {
		d.tap = &creditTap{d}
		d.dst.AcceptHook(d.tap)
	}
}

// credits returns the lane's window for a spec with these credits (0: the capacity of the far port). A
// message to an early receiver enters its buffer at once, so the window never exceeds the buffer's
// capacity.
func (d *lane) credits(spec, bufSize int) int {
	switch {
	case spec > 0 && d.early:
		return min(spec, d.own.Capacity())
	case spec > 0:
		return spec
	case d.own != nil:
		return d.own.Capacity()
	case bufSize > 0:
		return bufSize
	}
	panic(fmt.Sprintf("simcore: link %s: port %s is a %T, whose capacity is unknown: set credits",
		d.link.name, d.dst.Name(), d.dst))
}

func (d *lane) canSend() bool {
	now := d.link.clock.now()
	d.absorb(now)
	if d.used < d.window {
		return true
	}
	d.refuse()
	return false
}

// send takes a message if there is a credit for it. If `dst` gets messages at the time
// of sending (field `early`), the caller must then call handOver.
func (d *lane) send(msg sim.Msg, src sim.Port) bool {
	l := d.link
	now := l.clock.now()
	var meta *sim.MsgMeta
	depart, stamp, bytes := now, (*Msg)(nil), 0
	if t, ok := msg.(Timed); ok {
		stamp, bytes = t.Stamp(), t.Bytes()
		meta, depart = &stamp.MsgMeta, stamp.Depart
		meta.TrafficBytes = bytes // read by Akita's tracers
	} else {
		meta = msg.Meta()
		bytes = meta.TrafficBytes
	}
	if d.ahead == nil {
		d.absorb(now)
	} else {
		d.absorb(max(now, depart))
	}
	if d.used == d.window {
		d.refuse()
		return false
	}
	if depart+l.spec.Latency < now || uint(bytes) > maxMsgBytes || stamp == nil && d.early {
		d.reject(stamp, depart, bytes, now)
	}
	arrive := d.transmit(depart, int64(bytes+l.spec.OverheadBytes))
	if stamp != nil {
		stamp.Arrive = arrive
		stamp.Back += l.spec.Latency
	}
	meta.Src, meta.Dst = src, d.dst
	meta.SendTime = l.clock.nowSec()
	if depart != now {
		meta.SendTime = depart.Sec()
	}
	d.used++
	d.sent += uint64(bytes)
	if l.NumHooks() != 0 {
		l.hook(sim.HookPosConnStartSend, msg)
	}
	if d.early {
		meta.RecvTime = arrive.Sec()
	} else {
		d.enqueue(msg, arrive)
	}
	return true
}

// reject panics with a description of the sender's mistake.
func (d *lane) reject(stamp *Msg, depart Ps, bytes int, now Ps) {
	l := d.link
	switch {
	case bytes < 0 || bytes > maxMsgBytes:
		panic(fmt.Sprintf("simcore: link %s: %s sends %d bytes: want 0 to %d",
			l.name, d.src.Name(), bytes, maxMsgBytes))
	case stamp == nil && d.early:
		panic(fmt.Sprintf("simcore: link %s: %s sends an early receiver a message that is not Timed",
			l.name, d.src.Name()))
	}
	panic(fmt.Sprintf("simcore: link %s: %s sends at %v what departed at %v: "+
		"with a latency of %v it would arrive in the past",
		l.name, d.src.Name(), now, depart, l.spec.Latency))
}

// transmit occupies the transmitter and returns the time of arrival. The
// fraction of a picosecond carries over while messages are back to back, so
// that the rate is exact.
func (d *lane) transmit(depart Ps, bytes int64) Ps {
	l := d.link
	if depart > d.busy {
		d.busy, d.frac = depart, 0
	}
	if bytes != d.lastBytes {
		t := bytes * l.psNum
		d.lastBytes, d.whole, d.rem = bytes, Ps(t/l.psDen), t%l.psDen
	}
	d.busy += d.whole
	if d.frac += d.rem; d.frac >= l.psDen {
		d.frac -= l.psDen
		d.busy++
	}
	if d.frac != 0 {
		return d.busy + 1 + l.spec.Latency
	}
	return d.busy + l.spec.Latency
}

func (d *lane) enqueue(msg sim.Msg, arrive Ps) {
	i := d.head + d.n
	if i >= len(d.q) {
		i -= len(d.q)
	}
	d.q[i] = slot{msg, arrive}
	d.n++
	if !d.armed && !d.inside && !d.blocked {
		d.arm(d.q[d.head].arrive)
	}
}

func (d *lane) arm(at Ps) {
	if d.armed || d.inside {
		return
	}
	d.armed = true
	d.deliver.At = at
	d.link.clock.schedule(&d.deliver)
}

// deliverDue delivers the messages that have arrived. Receivers may send and retrieve from within
// their notification.
func (d *lane) deliverDue() {
	d.armed, d.inside = false, true
	now := d.link.clock.now()
	for d.n > 0 && !d.blocked && d.q[d.head].arrive <= now {
		d.deliverHead(now)
	}
	d.inside = false
	if d.n > 0 && !d.blocked {
		d.arm(d.q[d.head].arrive)
	}
}

func (d *lane) deliverHead(now Ps) {
	msg := d.q[d.head].msg
	sec := d.link.clock.nowSec()
	msg.Meta().RecvTime = sec
	if d.own != nil && !d.own.accept(msg) {
		d.blocked = true
		return
	}
	d.leaveFlight()
	if d.own == nil {
		// Only by Recv does a foreign port show whether it has room. If it has, Recv notifies the
		// port's component before it returns, so the message must have left the lane already.
		if d.dst.Recv(msg) != nil {
			d.returnToFlight(msg, now)
			d.blocked = true
			return
		}
	}
	if d.link.NumHooks() != 0 {
		d.link.hook(sim.HookPosConnDeliver, msg)
	}
	if d.own != nil && d.own.comp != nil {
		d.own.comp.NotifyRecv(sec, d.own)
	}
}

// leaveFlight moves the oldest message in flight to dst's buffer.
func (d *lane) leaveFlight() {
	d.q[d.head].msg = nil
	if d.head++; d.head == len(d.q) {
		d.head = 0
	}
	d.n--
	d.unread++
}

// returnToFlight undoes leaveFlight after dst has refused the message.
func (d *lane) returnToFlight(msg sim.Msg, now Ps) {
	if d.head--; d.head < 0 {
		d.head = len(d.q) - 1
	}
	d.q[d.head] = slot{msg, now}
	d.n++
	d.unread--
}

// handOver gives an early receiver its message at the time of sending.
func (d *lane) handOver(msg sim.Msg) {
	if !d.own.accept(msg) {
		panic(fmt.Sprintf("simcore: link %s: port %s holds messages that did not come over the link",
			d.link.name, d.dst.Name()))
	}
	d.unread++
	if d.link.NumHooks() != 0 {
		d.link.hook(sim.HookPosConnDeliver, msg)
	}
	if d.own.comp != nil {
		d.own.comp.NotifyRecv(d.link.clock.nowSec(), d.own)
	}
}
