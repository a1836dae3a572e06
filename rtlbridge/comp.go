package rtlbridge

import (
	"errors"
	"fmt"
	"time"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/protocol"
)

// Event is one crossing of the device's boundary, or a broken stream rule.
type Event struct {
	Kind        protocol.EventKind
	Flags       uint8         // for EventIn: InBegin, InEnd or both
	Rule        protocol.Rule // for EventViolation: the rule that was broken
	Port        int           // index of the binding, -1 if the stream is bound to no port
	Stream      int           // index into Hello.Streams
	Ordinal     uint64
	First, Last uint64 // cycles of the first and the last beat so far; of a violation: its cycle and argument
	// Msg is the message that crossed, nil for a violation. An input may be recycled once its InEnd has been observed.
	Msg sim.Msg
}

// Wall breaks down the wall time of a run.
type Wall struct {
	Exchanges uint64
	Cycles    uint64
	Skipped   uint64        // cycles of quanta that needed no exchange because the device was idle
	RTL       time.Duration // time that the device's process spent simulating
	Encode    time.Duration // building and sending RUN frames
	Wait      time.Duration // waiting for RAN frames; overlaps with RTL
	Deliver   time.Duration // decoding RAN frames, calling observers and delivering to links
}

// Comp is an Akita component around a device: its ports carry what the device's streams carry. It advances the device
// by one quantum per engine event until Stop is called, or until Done returns true and the device is quiet. A device
// that does not become quiet within Patience ends the run with a RestlessError.
type Comp struct {
	*sim.ComponentBase
	sched  simcore.Scheduler
	conn   *Conn
	spec   CompSpec
	period simcore.Ps
	lead   simcore.Ps // time from when a quantum's inputs are complete to its end; `a` in the comment on MaxQuantum

	// Done reports that no more inputs will come; the run then ends as soon as the device is quiet. Must be
	// set before Begin; nil: never.
	Done func() bool

	ports    []*portState
	byStream []*portState // by stream index; nil if unbound
	observe  []func(Event)
	rests    []func(first, last uint64)
	held     []func(stream int, first, last uint64)
	ahead    heldAhead
	restFrom uint64 // first cycle whose busy signal has not been reported to idle observers
	digest   protocol.Digest
	wall     Wall
	epoch    time.Time

	origin   simcore.Ps // engine time of cycle 0
	next     uint64     // quantum to send
	cycle    uint64     // end of the latest quantum that needed no exchange
	idle     idleQuanta
	step     simcore.Event
	quiet    bool
	busy     bool
	done     bool   // Done returned true
	since    uint64 // number of the quantum from which on Done has returned true
	stopping bool
	ended    bool
	fault    error // error found outside Handle, returned by the next Handle
	rec      protocol.Record
}

var (
	_ sim.Component         = (*Comp)(nil)
	_ simcore.EarlyReceiver = (*Comp)(nil)
	_ simcore.EarlySender   = (*Comp)(nil)
)

// NewComp returns the component with its ports. The connection must be open; the caller remains responsible for
// closing it. The error lists every fault of spec and bindings.
func NewComp(name string, s simcore.Scheduler, c *Conn, spec CompSpec, bindings []Binding) (*Comp, error) {
	h := c.Hello()
	spec, err := spec.resolve(simcore.Ps(h.PeriodPs))
	var errs []error
	if err != nil {
		errs = append(errs, &SpecError{err})
	}
	k := &Comp{
		ComponentBase: sim.NewComponentBase(name), sched: s, conn: c, spec: spec, period: spec.Period,
		byStream: make([]*portState, len(h.Streams)), digest: protocol.NewDigest(), epoch: time.Now(),
	}
	k.lead = min(spec.InLatency, simcore.Ps(spec.Quantum)*k.period)
	k.step = simcore.Event{H: k, Kind: kindStep, Secondary: true}
	for i := range bindings {
		errs = append(errs, k.addPort(bindings[i]))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("device component %s: %w", name, err)
	}
	return k, nil
}

func (c *Comp) addPort(b Binding) error {
	in, out, err := b.lookup(c.conn.Hello())
	if err != nil {
		return err
	}
	if b.Capacity == 0 {
		b.Capacity = DefaultCapacity
	}
	p := &portState{Binding: b, comp: c, index: len(c.ports), in: in, out: out}
	p.port = simcore.NewPort(c, b.Capacity, c.Name()+"."+b.Port)
	p.credit = simcore.Event{H: c, Kind: kindCredit, Arg: p, Secondary: true}
	if b.Backpressure {
		p.port.AcceptHook(p)
	}
	for _, i := range []int{in, out} {
		if i < 0 {
			continue
		}
		if c.byStream[i] != nil {
			return fmt.Errorf("stream %s is bound to port %s and to port %s", c.conn.Hello().Streams[i].Name,
				c.byStream[i].Port, b.Port)
		}
		c.byStream[i] = p
	}
	c.AddPort(b.Port, p.port)
	c.ports = append(c.ports, p)
	return nil
}

// LookAhead implements simcore.EarlyReceiver and EarlySender: the component needs messages when they are sent,
// not when they arrive, and credits when they are returned.
func (c *Comp) LookAhead() bool { return true }

// Port returns the port of binding i.
func (c *Comp) Port(i int) *simcore.Port { return c.ports[i].port }

// Spec returns the specification with its defaults filled in.
func (c *Comp) Spec() CompSpec { return c.spec }

// Observe registers a function that sees every event, in the order of device cycles; within a cycle inputs come first.
func (c *Comp) Observe(f func(Event)) { c.observe = append(c.observe, f) }

// ObserveRest registers a function that is called with all cycles in which the busy signal was 0: with each idle
// interval after the events up to its last cycle, and in parts if quanta end within it.
func (c *Comp) ObserveRest(f func(first, last uint64)) { c.rests = append(c.rests, f) }

// Digest returns the digest of all events so far, if the spec requested it.
func (c *Comp) Digest() uint64 { return c.digest.Sum() }

// Wall returns the wall time spent so far.
func (c *Comp) Wall() Wall {
	w := c.wall
	w.Wait = c.conn.Waited()
	return w
}

// Cycle returns the number of device cycles whose events have been delivered.
func (c *Comp) Cycle() uint64 { return max(c.cycle, c.conn.Cycle()) }

// Stop ends the run: no further quantum is sent.
func (c *Comp) Stop() { c.stopping = true }

// Ended reports whether the run has ended and every event has been delivered.
func (c *Comp) Ended() bool { return c.ended }

// Begin starts the device with the given parameters and schedules its first quantum; cycle 0 is the engine's present
// time. The component's clock period, and the credits of its links, override those in start.
func (c *Comp) Begin(start protocol.Start) error {
	if len(start.Streams) != len(c.byStream) {
		return fmt.Errorf("%s: start: %d streams, the device has %d", c.Name(), len(start.Streams), len(c.byStream))
	}
	var errs []error
	for _, p := range c.ports {
		errs = append(errs, p.begin(start.Streams))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("device component %s: %w", c.Name(), err)
	}
	start.PeriodPs = int64(c.period)
	if err := c.conn.Start(start); err != nil {
		return err
	}
	c.cycle = 0
	c.idle = idleQuanta{enabled: c.conn.Hello().SkipIdle && start.Idle == protocol.IdleSkip}
	c.origin = simcore.Now(c.sched)
	c.schedule()
	return nil
}

// at returns the engine time of a cycle.
func (c *Comp) at(cycle uint64) simcore.Ps { return c.origin + simcore.Ps(cycle)*c.period }

// cycleOf returns the first cycle at or after an engine time.
func (c *Comp) cycleOf(t simcore.Ps) uint64 {
	if t <= c.origin {
		return 0
	}
	return uint64((t - c.origin + c.period - 1) / c.period)
}

// schedule arms the event for the time at which the inputs of quantum next are complete.
func (c *Comp) schedule() {
	c.step.At = c.at((c.next+1)*uint64(c.spec.Quantum)) - c.lead
	c.sched.Schedule(&c.step)
}

// Event kinds of the component's own events.
const (
	kindStep = iota
	kindCredit
)

// Handle implements sim.Handler. Errors: *InfraError from the device, and messages that arrive too early for the
// quantum.
func (c *Comp) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("%s: event of type %T: want its own", c.Name(), e)
	}
	if ev.Kind == kindCredit {
		return ev.Arg.(*portState).returnCredits()
	}
	if c.fault != nil {
		return c.fault
	}
	if c.stopping {
		return c.finish()
	}
	if err := c.sendQuantum(); err != nil {
		return err
	}
	if c.idle.under >= c.spec.Ahead {
		if err := c.collect(); err != nil {
			return err
		}
	}
	if c.stopping || c.finished() {
		return c.finish()
	}
	if c.outOfPatience() {
		return errors.Join(c.finish(), &RestlessError{c.Name(), c.Cycle(), c.spec.Patience, c.open()})
	}
	if c.spec.MaxCycles != 0 && c.next*uint64(c.spec.Quantum) >= c.spec.MaxCycles {
		return errors.Join(c.finish(), fmt.Errorf("%s: the run did not end within %d cycles", c.Name(),
			c.spec.MaxCycles))
	}
	c.schedule()
	return nil
}

// finish collects all outstanding quanta.
func (c *Comp) finish() error {
	for c.idle.under > 0 {
		if err := c.collect(); err != nil {
			return err
		}
	}
	if err := c.catchUp(); err != nil {
		return err
	}
	c.ended = true
	c.ahead.report(c.Cycle(), c.held)
	return c.fault
}

// sendQuantum hands over the inputs of the next quantum and makes the device run it.
func (c *Comp) sendQuantum() error {
	begin := time.Since(c.epoch)
	end := (c.next + 1) * uint64(c.spec.Quantum)
	for _, p := range c.ports {
		if err := errors.Join(p.flushCredits(), p.encode(end)); err != nil {
			return err
		}
	}
	c.next++
	if err := c.sendOrSkip(); err != nil {
		return err
	}
	c.wall.Encode += time.Since(c.epoch) - begin
	return nil
}

// collect waits for the oldest quantum in flight and delivers its events.
func (c *Comp) collect() error {
	if !c.idle.collect() {
		c.skipped()
		return nil
	}
	return c.receive()
}

// receive takes the answer to the oldest RUN in flight.
func (c *Comp) receive() error {
	for {
		r, err := c.conn.Recv()
		if err != nil {
			return err
		}
		begin := time.Since(c.epoch)
		if err := c.deliver(r); err != nil {
			return err
		}
		c.wall.Deliver += time.Since(c.epoch) - begin
		if r.Flags&protocol.RanMore != 0 {
			continue
		}
		c.wall.Exchanges++
		c.wall.Cycles += uint64(r.Cycles)
		c.idle.answered(r)
		c.wall.RTL += time.Duration(r.RTLNs)
		c.quiet = r.Flags&protocol.RanQuiet != 0
		if b := c.conn.Hello().Busy; b >= 0 {
			c.sampleBusy(r, &r.Observed[b])
		}
		if r.Flags&protocol.RanPartial != 0 {
			return c.conn.WaitStop()
		}
		return nil
	}
}

func (c *Comp) deliver(r *protocol.Ran) error {
	if c.held != nil {
		c.ahead.scan(r)
	}
	for {
		ok, err := c.conn.Next(r, &c.rec)
		if err != nil || !ok {
			return err
		}
		if c.spec.Digest {
			c.digest.Add(&c.rec)
		}
		if err := c.dispatch(&c.rec); err != nil {
			return err
		}
	}
}

func (c *Comp) dispatch(r *protocol.Record) error {
	switch r.Kind {
	case protocol.EventRest:
		c.reportIdle(r.First, r.Last)
		return nil
	case protocol.EventHeld:
		return nil // the fault was found when the frame was received
	}
	e := Event{
		Kind: r.Kind, Flags: r.Flags, Rule: r.Rule, Port: -1, Stream: int(r.Stream), Ordinal: r.Ordinal,
		First: r.First, Last: r.Last,
	}
	p := c.byStream[r.Stream]
	if p != nil {
		e.Port = p.index
		switch r.Kind {
		case protocol.EventIn:
			return p.accepted(&e)
		case protocol.EventOut:
			return p.output(&e, r)
		}
	}
	c.notify(&e)
	return nil
}

func (c *Comp) notify(e *Event) {
	if c.held != nil && e.Kind != protocol.EventViolation {
		c.ahead.report(e.Last, c.held)
	}
	for _, f := range c.observe {
		f(*e)
	}
}
