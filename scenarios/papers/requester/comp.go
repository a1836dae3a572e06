package requester

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/board"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Requester is a scripted NIC.
type Requester struct {
	*sim.ComponentBase

	spec   Spec
	sched  simcore.Scheduler
	port   *simcore.Port
	tlps   *msg.TLPs
	period simcore.Ps
	failed error

	out      fifo.Queue[sent]          // TLPs waiting for the port, with policy InOrder
	apart    [classes]fifo.Queue[sent] // TLPs waiting for the port, by class, with policies InTurn and Yield
	latest   int                       // class of the latest TLP sent
	reading  fifo.Queue[*Transfer]     // transfers with reads to issue
	arriving fifo.Queue[*Transfer]     // transfers whose packets arrive from the network, in this order
	tags     [256]read
	free     fifo.Queue[uint8]
	held     int // bytes of the buffer in use
	moved    uint64

	in, off pcielink.Wire // incoming and outgoing wire of the network, if there is one
	events  simcore.EventPool
	idle    []*packet
	counts  Counters
}

// Counters counts bytes between the network and the requester.
type Counters struct {
	NetIn, NetOut               uint64 // wire bytes, with headers
	NetPayloadIn, NetPayloadOut uint64
}

// sent is a TLP to be sent, with the number of bytes of its transfer that leave with it.
type sent struct {
	p     *msg.TLP
	t     *Transfer
	bytes int
}

// read is a read in flight.
type read struct {
	t    *Transfer
	at   int // offset of its first byte in the transfer
	n    int // number of bytes requested
	came int
}

// Kinds of events.
const (
	kindPacketIn  = iota // a packet of a transfer arrives from the network
	kindPacketOut        // a packet has left to the network
)

// packet is a packet on its way to the network.
type packet struct {
	t     *Transfer
	bytes int
}

// PCIe implements board.NIC.
func (r *Requester) PCIe() *simcore.Port { return r.port }

// Eth implements board.NIC. The network is inside: there is no port.
func (r *Requester) Eth(int) *simcore.Port { return nil }

// Period implements board.NIC.
func (r *Requester) Period() simcore.Ps { return r.period }

// EthBits implements board.NIC.
func (r *Requester) EthBits() int { return 0 }

// Begin implements board.NIC.
func (r *Requester) Begin(func() bool) error { return nil }

// Check implements board.NIC.
func (r *Requester) Check() error { return r.failed }

// Cycles implements board.NIC. A requester has no clock.
func (r *Requester) Cycles() int64 { return 0 }

// Close implements board.NIC.
func (r *Requester) Close() error { return nil }

// Observe implements board.NIC. A requester has no contract to check, and reports no crossings.
func (r *Requester) Observe(boundary.Observer) {}

// ObserveRest implements board.NIC. A requester reports no idle intervals.
func (r *Requester) ObserveRest(boundary.RestObserver) {}

// ObserveHeld implements board.NIC. A requester has no streams to hold back.
func (r *Requester) ObserveHeld(boundary.HeldObserver) {}

// Moved implements Port.
func (r *Requester) Moved() uint64 { return r.moved }

// Counters returns the counts of the network so far.
func (r *Requester) Counters() Counters { return r.counts }

// Err returns the first error, or nil.
func (r *Requester) Err() error { return r.failed }

// NotifyRecv implements sim.Component.
func (r *Requester) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for m := r.port.Retrieve(now); m != nil; m = r.port.Retrieve(now) {
		p, ok := m.(*msg.TLP)
		if !ok {
			r.fail(fmt.Errorf("received a %T, wants TLPs", m))
			continue
		}
		r.completion(p)
		r.tlps.Put(p)
	}
	r.pump()
}

// NotifyPortFree implements sim.Component.
func (r *Requester) NotifyPortFree(sim.VTimeInSec, sim.Port) { r.pump() }

// Handle implements sim.Handler.
func (r *Requester) Handle(e sim.Event) error {
	ev := e.(*simcore.Event)
	if ev.Kind == kindPacketIn {
		t := ev.Arg.(*Transfer)
		r.events.Put(ev)
		r.packetIn(t)
	} else {
		p := ev.Arg.(*packet)
		t, n := p.t, p.bytes
		r.idle = append(r.idle, p)
		r.events.Put(ev)
		r.pass(t, n)
	}
	r.pump()
	return r.failed
}

func (r *Requester) fail(err error) {
	if r.failed == nil {
		r.failed = fmt.Errorf("requester %s: %w", r.Name(), err)
	}
}

func (r *Requester) origin() tlp.Origin { return tlp.Origin{RequesterID: nicspec.RequesterNic} }

// pump sends queued TLPs as long as the port accepts them. With policy InOrder, it requests reads only when no TLP is
// queued; else the classes of TLPs take turns.
func (r *Requester) pump() {
	now := simcore.Now(r.sched)
	for r.failed == nil {
		q, class := r.next()
		if q == nil {
			return
		}
		s := *q.Front()
		s.p.Depart = now
		if r.port.Send(s.p) != nil {
			return
		}
		q.Pop()
		r.latest = class
		if s.t != nil {
			r.pass(s.t, s.bytes)
		}
	}
}

// Classes of TLPs, which take turns at the port.
const (
	frames = iota // writes from the network
	reads
	copies // writes of transfers from memory to memory
	classes
)

// next returns the queue to send from and its class, or nil if all are empty.
func (r *Requester) next() (*fifo.Queue[sent], int) {
	if r.spec.Copies == InOrder {
		if r.out.Len() == 0 && !r.ask(&r.out) {
			return nil, 0
		}
		return &r.out, 0
	}
	for i := range classes {
		k := (r.latest + 1 + i) % classes
		q := &r.apart[k]
		if k == copies && r.spec.Copies == Yield && r.apart[frames].Len() > 0 {
			continue
		}
		if q.Len() > 0 || k == reads && r.ask(q) {
			return q, k
		}
	}
	return nil, 0
}

// pass counts bytes of a transfer that have left for their destination, and ends the transfer with the last of them.
func (r *Requester) pass(t *Transfer, n int) {
	t.left += n
	r.moved += uint64(n)
	if !t.From.Network {
		r.held -= n
	}
	if t.left == len(t.Data) {
		t.Done(t, simcore.Now(r.sched))
	}
}

var (
	_ board.NIC     = (*Requester)(nil)
	_ sim.Component = (*Requester)(nil)
	_ Port          = (*Requester)(nil)
)
