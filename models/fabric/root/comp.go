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

// Root is a root complex. See the package comment.
type Root struct {
	*sim.ComponentBase

	// OnCompletion is called for completions whose requester ID belongs to no MMIO and no Outbound.
	// Data is valid until it returns. Nil: such completions are an error.
	OnCompletion func(h *tlp.Header, data []byte)

	// OnMessage is called for each message that the NIC sends. Data is valid until it returns. Nil:
	// messages reach no software. Their effect on caches (Builder.Invalidates) does not depend on
	// it.
	OnMessage func(h *tlp.Header, data []byte)

	spec       Spec
	sched      simcore.Scheduler
	port       *simcore.Port
	tlps       *msg.TLPs
	memory     mem.Target
	holder     mem.Holder // memory as a mem.Holder; nil: memory is not one, and is never full
	receiving  bool
	completers [2]*tlp.Completer
	mmio       []*MMIO
	requesters []uint16 // IDs allowed to access registers; nil: any ID is
	outbounds  []*Outbound

	invalidates bool
	drops       dropPool

	out     fifo.Queue[*msg.TLP] // TLPs to send: register requests, requests of Outbounds, and those given to Send
	reads   readQueue
	writes  writePool
	notices noticeQueue
	alarm   simcore.Alarm
	failed  error
	hdr     tlp.Header // decoded header of the TLP being handled
}

var _ sim.Component = (*Root)(nil)

// PCIe returns the port; its messages are msg.TLP.
func (r *Root) PCIe() *simcore.Port { return r.port }

// Err returns the first error, or nil.
func (r *Root) Err() error { return r.failed }

// Idle reports whether nothing waits to be sent, and no register read and no memory access is in
// flight.
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
		r.notices.waiting.Len() == 0
}

// Send sends any TLP to the NIC, behind the register accesses requested before. The root owns p
// from then on. A request that is answered needs a requester ID that no MMIO uses; see OnCompletion.
func (r *Root) Send(p *msg.TLP) {
	r.out.Push(p)
	r.arm(simcore.Now(r.sched))
}

// NotifyRecv implements sim.Component.
func (r *Root) NotifyRecv(sim.VTimeInSec, sim.Port) { r.receive() }

// receive takes the TLPs that have arrived. While memory is full, they stay in the port, so that
// the link returns no credits.
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
			r.fail(fmt.Errorf("root: %s received a %T: want a TLP", r.Name(), m))
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
		r.store(h, p) // p returns to the pool once memory has written the bytes of p
		return
	case tlp.MRd:
		r.answer(h)
		r.tlps.Put(p)
	default:
		r.notifyInOrder(p)
	}
}

func (r *Root) fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}

// arm schedules Handle for the given time, unless it is due earlier.
func (r *Root) arm(at simcore.Ps) { r.alarm.Set(at) }

// Handle implements sim.Handler: it sends what is due.
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
			return nil // NotifyPortFree calls again
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
