package etherlink

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/format/ether"
	"nictwin/models/format/msg"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Count counts frames and their bytes, without FCS, preamble and gap.
type Count struct {
	Frames uint64 `json:"frames"`
	Bytes  uint64 `json:"bytes"`
}

// Add counts a frame.
func (c *Count) Add(n int) {
	c.Frames++
	c.Bytes += uint64(n)
}

// Plus returns the sum of c and o.
func (c Count) Plus(o Count) Count { return Count{c.Frames + o.Frames, c.Bytes + o.Bytes} }

// Wire returns the bytes that the frames took on the wire.
func (c Count) Wire() uint64 { return c.Bytes + ether.WireOverhead*c.Frames }

// LinkCounters holds the counters of one direction.
type LinkCounters struct {
	In      Count `json:"in"`      // sent
	Out     Count `json:"out"`     // delivered into the receiver's port
	Lost    Count `json:"lost"`    // lost at random
	Overrun Count `json:"overrun"` // the receiver's port was full
}

// Link is an Ethernet cable. See the package comment.
type Link struct {
	sim.HookableBase

	name    string
	clock   simcore.Clock
	spec    LinkSpec
	frames  *msg.Frames
	ports   [2]*simcore.Port
	plugged int
	lanes   [2]lane // by the end where the direction starts
	failed  error
	alarm   simcore.Event // ends the run after a failure
}

// lane is one direction of the cable.
type lane struct {
	link     *Link
	src, dst *simcore.Port
	line     simcore.Serial
	backlog  simcore.Ps
	flight   fifo.Queue[*msg.Frame]
	deliver  timer
	free     timer
	waiting  bool // src was refused and has not been notified yet
	seed     uint64
	count    LinkCounters
}

// Kinds of events of a link: bit 0 is the lane's number, the other bits select what is due.
const (
	kindDeliver = iota << 1
	kindFree
	kindFailed
)

// timer schedules an event that is pending at most once.
type timer struct {
	ev    simcore.Event
	armed bool
}

func (t *timer) arm(c *simcore.Clock, at simcore.Ps) {
	if !t.armed {
		t.armed = true
		t.ev.At = at
		c.Schedule(&t.ev)
	}
}

// Connect makes a link between two ports. Lost frames return to the pool `frames`. It panics if Akita does not accept
// the name.
func Connect(name string, s simcore.Scheduler, frames *msg.Frames, spec LinkSpec, a, b *simcore.Port) (*Link, error) {
	sim.NameMustBeValid(name)
	if s == nil || frames == nil {
		return nil, fmt.Errorf("etherlink: %s: want a scheduler and a pool of frames", name)
	}
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &Link{name: name, clock: simcore.NewClock(s), spec: spec, frames: frames}
	for i, p := range [...]*simcore.Port{a, b} {
		if err := fits(p); err != nil {
			return nil, fmt.Errorf("etherlink: %s: end %d: %w", name, i, err)
		}
	}
	if a == b {
		return nil, fmt.Errorf("etherlink: %s: both ends are port %s", name, a.Name())
	}
	l.PlugIn(a, 0)
	l.PlugIn(b, 0)
	return l, nil
}

// fits checks that a port can be an end of a cable: it is free, and its component does not run
// ahead of the engine.
func fits(p *simcore.Port) error {
	type ahead interface{ LookAhead() bool }
	switch {
	case p == nil:
		return fmt.Errorf("no port")
	case p.Plugged():
		return fmt.Errorf("port %s is plugged in already", p.Name())
	}
	if c, ok := p.Component().(ahead); ok && c.LookAhead() {
		return fmt.Errorf("port %s belongs to %s, which runs ahead of the engine: it needs a simcore.Link "+
			"(LinkSpec.Plain)",
			p.Name(), p.Component().Name())
	}
	return nil
}

// PlugIn implements sim.Connection. Use Connect, which returns errors instead of panicking.
func (l *Link) PlugIn(port sim.Port, _ int) {
	p, ok := port.(*simcore.Port)
	if !ok || l.plugged == 2 {
		panic(fmt.Sprintf("etherlink: %s takes two simcore ports: not port %s", l.name, port.Name()))
	}
	if err := fits(p); err != nil {
		panic(fmt.Sprintf("etherlink: %s: %v", l.name, err))
	}
	p.SetConnection(l)
	l.ports[l.plugged] = p
	if l.plugged++; l.plugged < 2 {
		return
	}
	for i := range l.lanes {
		d := &l.lanes[i]
		*d = lane{link: l, src: l.ports[i], dst: l.ports[1-i], line: simcore.NewSerial(l.spec.Rate()),
			seed: core.SubSeed(l.spec.Seed, uint64(i))}
		d.backlog = d.line.TimeOf(l.spec.Backlog)
		d.deliver.ev = simcore.Event{H: l, Kind: kindDeliver | i, Secondary: true}
		d.free.ev = simcore.Event{H: l, Kind: kindFree | i, Secondary: true}
	}
}

// Unplug implements sim.Connection: it disconnects both ports of an idle link. It panics while
// frames are in flight.
func (l *Link) Unplug(sim.Port) {
	for i := range l.lanes {
		if d := &l.lanes[i]; d.flight.Len() > 0 || d.free.armed || d.deliver.armed {
			panic(fmt.Sprintf("etherlink: %s is unplugged while it is in use", l.name))
		}
	}
	for _, p := range l.ports[:l.plugged] {
		p.SetConnection(nil)
	}
	l.plugged, l.ports, l.lanes = 0, [2]*simcore.Port{}, [2]lane{}
}

// Name returns the link's name.
func (l *Link) Name() string { return l.name }

// Spec returns the spec that the link was made from.
func (l *Link) Spec() LinkSpec { return l.spec }

// Counters returns the counters of the direction that starts at end 0 or 1.
func (l *Link) Counters(end int) LinkCounters { return l.lanes[end].count }

// Held counts the frames in flight that an end has sent.
func (l *Link) Held(end int) (c Count) {
	d := &l.lanes[end]
	for i := range d.flight.Len() {
		c.Add((*d.flight.At(i)).Bytes())
	}
	return c
}

// Err returns the first error, or nil.
func (l *Link) Err() error { return l.failed }

// CanSend implements sim.Connection.
func (l *Link) CanSend(src sim.Port) bool {
	d := l.from(src)
	now := l.clock.Now()
	if room := d.line.Busy() - d.backlog; room > now {
		d.waiting = true
		d.free.arm(&l.clock, room)
		return false
	}
	return true
}

// Send implements sim.Connection. A frame begins to leave at its stamp (Depart) or when the frame
// before it has left, whichever is later. The stamp may lie in the past if the frame does not
// arrive before now.
func (l *Link) Send(m sim.Msg) *sim.SendError {
	src := m.Meta().Src
	f, ok := m.(*msg.Frame)
	if !ok {
		l.fail(fmt.Errorf("etherlink: %s: %s sends a %T: want a frame", l.name, src.Name(), m))
		return nil
	}
	if !l.CanSend(src) {
		return sim.NewSendError()
	}
	l.from(src).send(f)
	return nil
}

func (d *lane) send(f *msg.Frame) {
	l, now := d.link, d.link.clock.Now()
	f.TrafficBytes, f.Dst = f.Bytes(), d.dst
	f.Arrive = d.line.Transmit(f.Depart, int64(f.Bytes()+ether.WireOverhead)) + l.spec.Latency()
	f.SendTime = l.clock.Sec()
	if f.Arrive < now {
		l.fail(fmt.Errorf("etherlink: %s: %s sends at %v a frame that would have arrived at %v", l.name, d.src.Name(),
			now, f.Arrive))
	}
	if l.NumHooks() != 0 {
		l.hook(sim.HookPosConnStartSend, f)
	}
	ordinal := d.count.In.Frames
	d.count.In.Add(f.Bytes())
	if l.spec.Loss > 0 && core.Chance(d.seed, ordinal) < l.spec.Loss {
		d.count.Lost.Add(f.Bytes())
		l.frames.Put(f)
		return
	}
	d.flight.Push(f)
	d.deliver.arm(&l.clock, max((*d.flight.Front()).Arrive, now))
}

// Handle implements sim.Handler.
func (l *Link) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("etherlink: %s: event of type %T: want its own", l.name, e)
	}
	d := &l.lanes[ev.Kind&1]
	switch ev.Kind &^ 1 {
	case kindDeliver:
		d.due()
	case kindFree:
		d.free.armed = false
		if d.waiting {
			d.waiting = false
			d.src.NotifyAvailable(l.clock.Sec())
		}
	}
	return l.failed
}

// due delivers the frames that have reached the far end.
func (d *lane) due() {
	d.deliver.armed = false
	l, now := d.link, d.link.clock.Now()
	for d.flight.Len() > 0 && (*d.flight.Front()).Arrive <= now {
		f := d.flight.Pop()
		if d.dst.Len() == d.dst.Capacity() {
			d.count.Overrun.Add(f.Bytes())
			l.frames.Put(f)
			continue
		}
		d.count.Out.Add(f.Bytes())
		f.RecvTime = l.clock.Sec()
		if l.NumHooks() != 0 {
			l.hook(sim.HookPosConnDeliver, f)
		}
		d.dst.Recv(f)
	}
	if d.flight.Len() > 0 {
		d.deliver.arm(&l.clock, (*d.flight.Front()).Arrive)
	}
}

// NotifyAvailable implements sim.Connection. It does nothing: a frame that finds its receiver full
// is lost, so none waits.
func (l *Link) NotifyAvailable(sim.VTimeInSec, sim.Port) {}

// fail ends the run: the next event returns the error.
func (l *Link) fail(err error) {
	if l.failed == nil {
		l.failed = err
		l.alarm = simcore.Event{At: l.clock.Now(), H: l, Kind: kindFailed}
		l.clock.Schedule(&l.alarm)
	}
}

func (l *Link) hook(pos *sim.HookPos, m sim.Msg) {
	l.InvokeHook(sim.HookCtx{Domain: l, Pos: pos, Item: m})
}

func (l *Link) from(src sim.Port) *lane {
	if p, ok := src.(*simcore.Port); ok && l.plugged == 2 {
		if p == l.ports[0] {
			return &l.lanes[0]
		}
		if p == l.ports[1] {
			return &l.lanes[1]
		}
	}
	panic(fmt.Sprintf("etherlink: %s has %d ends plugged in, and cannot send from port %v", l.name, l.plugged, src))
}

var (
	_ sim.Connection = (*Link)(nil)
	_ sim.Handler    = (*Link)(nil)
	_ sim.Named      = (*Link)(nil)
)
