package rnic

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Comp is the timed NIC. It is event-driven: while it has nothing to do, no event is scheduled.
type Comp struct {
	*sim.ComponentBase

	id     uint16 // requester and completer ID
	bar    uint64 // bus address of the registers
	spec   Spec
	sched  simcore.Scheduler
	period simcore.Ps
	pcie   *simcore.Port
	ports  []ethPort
	frames *msg.Frames
	tlps   *msg.TLPs

	dev         *core.Device
	completer   *tlp.Completer
	readReg     tlp.ReadFunc
	qps         []*qpair
	cqs         map[uint32]*cq
	srqs        map[uint32]*sharedQueue
	handles     map[uint32]*core.Address
	command     [rnicspec.CmdBytes]byte
	result      rnicspec.Result
	context     struct{ addr, bytes uint64 } // range of context memory, which software provides
	counters    [rnicspec.NumCounters]uint64
	traffic     Traffic
	congestion  Congestion
	marking     uint32 // RegMark
	accounts    [rnicspec.MaxAccounts]*account
	slowWaiting int // slow packets of all accounts
	noting      int // events of kind kindNote

	dma       dma
	contexts  contexts
	qpCache   cache
	pageCache cache
	table     table
	tx        transmitter
	rx        receiver
	atomics   atomicUnit
	pools     pools
	e         core.Effects // effects of anything except a received packet, which has its own in rxOp

	obs         []boundary.Observer
	payloadRead func(tag uint8, first bool, frame []byte) // see ObservePayload; nil: nobody observes
	rests       []boundary.RestObserver
	idleFrom    int64 // first cycle of the current idle interval; -1 while busy

	events    simcore.EventPool
	armed     bool       // an event that calls pump is pending
	wakeAt    simcore.Ps // time of the event that calls pump, if armed
	handling  bool       // an event is being handled
	pumpAgain bool       // call pump before the event ends
	failed    error
	last      simcore.Ps // time of the last event
}

// ethPort is an Ethernet port and its transmit queue.
type ethPort struct {
	port    *simcore.Port
	queue   fifo.Queue[*txPacket]
	busy    simcore.Ps // time until which the wire is occupied
	waking  bool
	rawQP   *qpair // receives frames that are not RoCE packets for this NIC; nil: they are dropped
	address core.Address
}

// Kinds of events. The NIC's behaviour does not depend on the order of events of the same time.
const (
	kindPump     = iota
	kindArrived  // Arg: *qpair; the latency of one of the pair's requests has passed
	kindAnswered // Arg: *qpair; the latency of one of the pair's responses has passed
	kindHeld     // the oldest request in receiver.granted has held its context for the time Contexts.Hold
	kindAccepted // Arg: *rxOp; the NIC knows that all TLPs of the operation were accepted
	kindSent     // Arg: *txPacket; the packet has held its context for the time Contexts.Hold
	kindRipe     // Arg: *txPacket; the packet's latency has passed
	kindTimer    // Arg: *qpair; the pair's acknowledgement timer has expired
	kindRNR      // Arg: *qpair; the wait after an RNR NAK is over
	kindPaced    // Arg: *qpair; the pair's rate permits its next packet
	kindNote     // Arg: *qpair; the interval between the pair's CNPs is over
	kindWire     // the wire of port Kind-kindWire is free
)

// Spec returns the spec that the component was built from.
func (c *Comp) Spec() Spec { return c.spec }

// Device returns the transport function, for inspecting queue pairs.
func (c *Comp) Device() *core.Device { return c.dev }

// PCIe returns the PCIe port; its messages are msg.TLP.
func (c *Comp) PCIe() *simcore.Port { return c.pcie }

// Eth returns Ethernet port p; its messages are msg.Frame.
func (c *Comp) Eth(p int) *simcore.Port { return c.ports[p].port }

// Err returns the first error, or nil: an input or failure that the NIC could not handle.
func (c *Comp) Err() error { return c.failed }

// ObservePayload sets an observer of the reads of payload: f is called before a read request leaves, with its tag and
// the frame for which it reads, whose headers are complete; first marks the first request for the frame.
func (c *Comp) ObservePayload(f func(tag uint8, first bool, frame []byte)) { c.payloadRead = f }

// Cycle returns the cycle of the last event.
func (c *Comp) Cycle() int64 { return int64(c.last / c.period) }

// Counter returns the value of a counter.
func (c *Comp) Counter(k rnicspec.Counter) uint64 {
	switch k {
	case rnicspec.CntRetries:
		return c.dev.Retries
	case rnicspec.CntRNR:
		return c.dev.RNRs
	case rnicspec.CntDuplicates:
		return c.dev.Duplicates
	}
	if k < rnicspec.NumCounters {
		return c.counters[k]
	}
	return 0
}

// Observe implements boundary.Observable. The model has no beats: First and Last of a crossing are
// the cycle of its event. Crossings of one cycle are reported in the order in which they happen.
func (c *Comp) Observe(o boundary.Observer) { c.obs = append(c.obs, o) }

// ObserveRest implements boundary.Observable.
func (c *Comp) ObserveRest(o boundary.RestObserver) { c.rests = append(c.rests, o) }

// ObserveHeld implements boundary.Observable. The model has no beats that could be held back, so it
// reports nothing.
func (c *Comp) ObserveHeld(boundary.HeldObserver) {}

func (c *Comp) now() simcore.Ps { return simcore.Now(c.sched) }

func (c *Comp) fail(err error) {
	if c.failed == nil {
		c.failed = fmt.Errorf("%s: %w", c.Name(), err)
	}
}

// arm schedules a call of pump for a time.
func (c *Comp) arm(at simcore.Ps) {
	if c.handling && at <= c.last {
		c.pumpAgain = true
		return
	}
	if c.armed && c.wakeAt <= at {
		return
	}
	c.armed, c.wakeAt = true, at
	c.after(at, kindPump, nil)
}

// after schedules an event.
func (c *Comp) after(at simcore.Ps, kind int, arg any) {
	ev := c.events.Get()
	ev.At, ev.H, ev.Kind, ev.Arg = at, c, kind, arg
	ev.Timer = kind == kindTimer || kind == kindRNR || kind == kindNote
	c.sched.Schedule(ev)
}

// Describe implements simcore.Describer.
func (c *Comp) Describe(e *simcore.Event) string {
	switch q, _ := e.Arg.(*qpair); e.Kind {
	case kindTimer:
		return fmt.Sprintf("the retransmission timer of queue pair %d of %s", q.Num, c.Name())
	case kindRNR:
		return fmt.Sprintf("the time for which the receiver of queue pair %d of %s was not ready", q.Num, c.Name())
	case kindNote:
		return fmt.Sprintf("the interval between CNPs of queue pair %d of %s", q.Num, c.Name())
	}
	return ""
}

// Timer names an armed retransmission timer: that of a queue pair with unacknowledged packets.
// Empty: no timer is armed.
func (c *Comp) Timer() string {
	if q := c.dev.Oldest(); q != nil {
		return fmt.Sprintf("the retransmission timer of queue pair %d", q.Num)
	}
	return ""
}

// Progress returns a number that changes whenever a queue pair makes progress. Repeated packets are
// no progress.
func (c *Comp) Progress() uint64 { return c.dev.Progress() }

// NotifyRecv implements sim.Component.
func (c *Comp) NotifyRecv(now sim.VTimeInSec, port sim.Port) {
	t := c.now()
	c.endIdle(t)
	if port == sim.Port(c.pcie) {
		for m := c.pcie.Retrieve(now); m != nil; m = c.pcie.Retrieve(now) {
			p, ok := m.(*msg.TLP)
			if !ok {
				c.fail(fmt.Errorf("received a %T: want a TLP", m))
				continue
			}
			c.takeTLP(t, p)
		}
	} else {
		c.rx.more = true
	}
	c.arm(t)
}

// NotifyPortFree implements sim.Component.
func (c *Comp) NotifyPortFree(sim.VTimeInSec, sim.Port) { c.arm(c.now()) }

// Handle implements sim.Handler.
func (c *Comp) Handle(e sim.Event) error {
	ev := e.(*simcore.Event)
	kind, arg, at := ev.Kind, ev.Arg, ev.At
	c.events.Put(ev)
	c.endIdle(at)
	c.handling = true
	switch kind {
	case kindPump:
		if c.wakeAt == at {
			c.armed = false
		}
		c.pumpAgain = true
	case kindArrived:
		c.arrived(arg.(*qpair), request)
	case kindAnswered:
		c.arrived(arg.(*qpair), response)
	case kindAccepted:
		arg.(*rxOp).finish()
	case kindHeld:
		c.carryOut()
	case kindSent:
		c.contextSent(arg.(*txPacket))
	case kindRipe:
		c.ripe(arg.(*txPacket))
	case kindTimer:
		c.timer(arg.(*qpair))
	case kindRNR:
		q := arg.(*qpair)
		q.QP.Resume()
		c.activate(q)
	case kindPaced:
		c.paced(arg.(*qpair), at)
	case kindNote:
		c.intervalOver(arg.(*qpair), at)
	default:
		p := &c.ports[kind-kindWire]
		p.waking = false
		c.sendFrames(kind-kindWire, at)
	}
	for c.pumpAgain {
		c.pumpAgain = false
		c.pump(at)
	}
	c.handling = false
	c.beginIdle(at)
	return c.failed
}

// pump advances everything that can advance at this time.
func (c *Comp) pump(now simcore.Ps) {
	c.finishWrites()
	c.takeFrames(now)
	c.plan(now)
	for {
		c.fillJobs()
		c.request()
		if c.dma.out.Len() == 0 || !c.pcie.CanSend() {
			break
		}
		c.sendTLPs(now)
	}
	for p := range c.ports {
		c.sendFrames(p, now)
	}
	c.takeLoopback(now)
}

// Busy reports whether anything is in flight.
func (c *Comp) Busy() bool {
	return c.dma.out.Len() > 0 || c.dma.reads > 0 || c.rx.ops > 0 || c.tx.packets > 0 || c.tx.turn.Len() > 0 ||
		c.table.open > 0 || c.rx.unplaced > 0 || c.slowWaiting > 0
}

// Idle reports whether nothing is in flight and no timer can start anything.
func (c *Comp) Idle() bool { return !c.Busy() && c.noting == 0 && c.dev.Idle() }

// endIdle ends an idle interval.
func (c *Comp) endIdle(now simcore.Ps) {
	cycle := int64(now / c.period)
	c.last = now
	if len(c.rests) == 0 || c.idleFrom < 0 {
		return
	}
	if cycle > c.idleFrom {
		for _, o := range c.rests {
			o(boundary.Rest{First: c.idleFrom, Last: cycle - 1})
		}
	}
	c.idleFrom = -1
}

// beginIdle begins an idle interval if nothing is in flight.
func (c *Comp) beginIdle(now simcore.Ps) {
	if len(c.rests) > 0 && c.idleFrom < 0 && !c.Busy() {
		c.idleFrom = int64(now/c.period) + 1
	}
}

func (c *Comp) crossTLP(now simcore.Ps, p *msg.TLP, in bool) {
	c.traffic.addTLP(p, in)
	if len(c.obs) == 0 {
		return
	}
	x := boundary.Crossing{Kind: boundary.TLPOut, TLP: &p.Packet}
	if in {
		x.Kind = boundary.TLPIn
	}
	c.cross(now, x)
}

func (c *Comp) crossFrame(now simcore.Ps, p int, f *msg.Frame, in bool) {
	if len(c.obs) == 0 {
		return
	}
	x := boundary.Crossing{Kind: boundary.FrameOut, Port: p, Frame: &f.Frame}
	if in {
		x.Kind = boundary.FrameIn
	}
	c.cross(now, x)
}

func (c *Comp) cross(now simcore.Ps, x boundary.Crossing) {
	x.First = int64(now / c.period)
	x.Last = x.First
	for _, o := range c.obs {
		o(x)
	}
}

var (
	_ sim.Component       = (*Comp)(nil)
	_ sim.Handler         = (*Comp)(nil)
	_ boundary.Observable = (*Comp)(nil)
)
