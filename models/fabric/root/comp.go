package root

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Root answers the NIC, and speaks to it for software.
type Root struct {
	*sim.ComponentBase

	// OnCompletion is told of completions for requester IDs that have no MMIO. Data is good until it returns. Nil:
	// they are an error.
	OnCompletion func(h *tlp.Header, data []byte)

	// OnMessage is told of the messages that the NIC sends. Data is good until it returns. Nil: nobody is. What they
	// do to the cache of the root's memory is Builder.Invalidates.
	OnMessage func(h *tlp.Header, data []byte)

	spec       Spec
	sched      simcore.Scheduler
	port       *simcore.Port
	tlps       *msg.TLPs
	memory     mem.Target
	holder     mem.Holder // memory, if it can be full
	receiving  bool
	completers [2]*tlp.Completer
	mmio       []*MMIO
	requesters []uint16 // of the register accesses; nil: any
	outbounds  []*Outbound

	invalidates bool
	drops       dropPool

	out    fifo.Queue[*msg.TLP] // register requests and raw TLPs to send
	reads  readQueue
	writes writePool
	behind behindQueue
	alarm  simcore.Alarm
	failed error
	hdr    tlp.Header // of the TLP at hand
}

var _ sim.Component = (*Root)(nil)

// PCIe is the port; its messages are msg.TLP.
func (r *Root) PCIe() *simcore.Port { return r.port }

// Err is the first thing that the root could not make sense of, or nil.
func (r *Root) Err() error { return r.failed }

// Idle reports whether nothing is to be sent, and no register read and no access to memory is in flight.
func (r *Root) Idle() bool {
	for _, m := range r.mmio {
		if m.pending > 0 {
			return false
		}
	}
	for _, o := range r.outbounds {
		if !o.Idle() {
			return false
		}
	}
	return r.port.Len() == 0 && r.out.Len() == 0 && r.reads.open == 0 && r.writes.open == 0 && r.drops.open == 0 &&
		r.behind.waiting.Len() == 0
}

// Send sends any TLP to the NIC, after the register accesses asked for before. The root owns p from then on. Requests
// that want an answer need a requester ID without MMIO; see OnCompletion.
func (r *Root) Send(p *msg.TLP) {
	r.out.Push(p)
	r.arm(simcore.Now(r.sched))
}

// NotifyRecv implements sim.Component.
func (r *Root) NotifyRecv(sim.VTimeInSec, sim.Port) { r.receive() }

// receive takes what came, unless memory is full: then it stays in the port, and
// the link's credits with it.
func (r *Root) receive() {
	if r.receiving {
		return
	}
	r.receiving = true
	now := r.sched.CurrentTime()
	for r.port.Len() > 0 && (r.holder == nil || !r.holder.Full()) {
		m := r.port.Retrieve(now)
		p, ok := m.(*msg.TLP)
		if !ok {
			r.fail(fmt.Errorf("root: %s received a %T, wants TLPs", r.Name(), m))
			continue
		}
		r.take(p)
	}
	r.receiving = false
}

// NotifyPortFree implements sim.Component.
func (r *Root) NotifyPortFree(sim.VTimeInSec, sim.Port) { r.arm(simcore.Now(r.sched)) }

func (r *Root) take(p *msg.TLP) {
	var err error
	if r.hdr, err = p.Header(); err != nil {
		r.fail(boundary.Breach("P2", "%s received a TLP it cannot read: %v", r.Name(), err))
		return
	}
	h := &r.hdr
	switch h.Kind {
	case tlp.MWr:
		r.store(h, p) // keeps p until the bytes are written
		return
	case tlp.MRd:
		r.answer(h)
		r.tlps.Put(p)
	default:
		r.tellBehind(p)
	}
}

func (r *Root) fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}

// arm makes sure that Handle is called at a time, or before.
func (r *Root) arm(at simcore.Ps) { r.alarm.Set(at) }

// Handle implements sim.Handler: something is due.
func (r *Root) Handle(e sim.Event) error {
	now := simcore.Now(r.sched)
	if !r.alarm.Rang(e) {
		return fmt.Errorf("root: %s: event of type %T: want its own", r.Name(), e)
	}
	if r.failed != nil {
		return r.failed
	}
	for r.out.Len() > 0 {
		if !r.emit(*r.out.Front(), now) {
			return nil // NotifyPortFree goes on
		}
		r.out.Pop()
	}
	if err := r.sendReplies(now); err != nil {
		return fmt.Errorf("root: %s: %w", r.Name(), err)
	}
	return nil
}

func (r *Root) emit(p *msg.TLP, now simcore.Ps) bool {
	p.Depart = now
	return r.port.Send(p) == nil
}
