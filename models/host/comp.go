package host

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/msg"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/models/tlp"
)

// Root answers the NIC and speaks to it for a driver.
type Root struct {
	*sim.ComponentBase
	Space
	Faults Faults // what goes wrong with the NIC's reads

	// OnCompletion is told of the completions of requests that Send sent with a requester ID of their own. Data is good
	// until it returns. Nil: they are an error.
	OnCompletion func(h *tlp.Header, data []byte)

	// OnMessage is told of the messages that the NIC sends. Data is good until it returns. Nil: they have no effect.
	OnMessage func(h *tlp.Header, data []byte)

	spec       Spec
	sched      simcore.Scheduler
	port       *simcore.Port
	tlps       *msg.TLPs
	completers [2]*tlp.Completer
	rng        rand.PCG

	queue   replyHeap  // answers by due time
	seq     uint64     // order of those due at once
	out     []*msg.TLP // register requests to send, from head
	head    int
	regs    []regRead // by tag
	pending int       // register reads in flight
	events  simcore.EventPool
	wakeAt  simcore.Ps // when the earliest event is due, plus one; 0 when none is known
	failed  error
	hdr     tlp.Header // of the TLP at hand
	held    bool       // see Hold
}

type regRead struct {
	busy bool
	off  uint32
	n    int
	due  simcore.Ps
	done func(value uint64, err error)
}

var (
	_ sim.Component = (*Root)(nil)
	_ error         = (*RegError)(nil)
)

// RegError tells of a register access that went wrong. When that is the NIC's doing, it wraps a *ContractError.
type RegError struct {
	Off uint32
	Err error
}

func (e *RegError) Error() string { return fmt.Sprintf("NIC register %#x: %v", e.Off, e.Err) }

// Unwrap returns the cause.
func (e *RegError) Unwrap() error { return e.Err }

// ErrNoTag says that as many register reads as the root has tags are in flight.
var ErrNoTag = errors.New("all tags for register reads are in use")

// PCIe is the port; its messages are msg.TLP.
func (r *Root) PCIe() *simcore.Port { return r.port }

// Err is the first thing that the root could not make sense of, or nil.
func (r *Root) Err() error { return r.failed }

// Idle reports whether nothing is to be sent and no register read is in flight.
func (r *Root) Idle() bool { return len(r.queue) == 0 && r.head == len(r.out) && r.pending == 0 }

// WriteReg32 writes a register. It is posted: a later read of any register
// sees it.
func (r *Root) WriteReg32(off uint32, v uint32) error {
	return r.WriteReg(off, []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
}

// WriteReg sends one write of b to the register space at off.
func (r *Root) WriteReg(off uint32, b []byte) error {
	p := r.tlps.Get()
	own := p.Own(len(b))
	copy(own, b)
	if err := p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterArm}, nicspec.BarBase+uint64(off), own); err != nil {
		return &RegError{off, err}
	}
	r.send(p)
	return nil
}

// ReadReg reads n bytes, 4 or 8, of the register space and calls done with
// the value. It fails with ErrNoTag when too many reads are in flight.
func (r *Root) ReadReg(off uint32, n int, done func(value uint64, err error)) error {
	tag := -1
	for i := range r.regs {
		if !r.regs[i].busy {
			tag = i
			break
		}
	}
	if tag < 0 {
		return &RegError{off, ErrNoTag}
	}
	p := r.tlps.Get()
	if err := p.SetMemRead(tlp.Origin{RequesterID: nicspec.RequesterArm}, uint8(tag), nicspec.BarBase+uint64(off), n); err != nil {
		return &RegError{off, err}
	}
	r.regs[tag] = regRead{true, off, n, simcore.Now(r.sched) + r.spec.Timeout, done}
	r.pending++
	r.send(p)
	return nil
}

// Send sends any TLP to the NIC, after the register accesses asked for before. The root owns p from then on. Requests
// that want an answer need a requester ID other than the Arm root's; see OnCompletion.
func (r *Root) Send(p *msg.TLP) { r.send(p) }

func (r *Root) send(p *msg.TLP) {
	r.out = append(r.out, p)
	r.arm(simcore.Now(r.sched))
}

// Hold makes the root take nothing that the NIC sends, until it is called with false. Answers that were begun go on.
func (r *Root) Hold(on bool) {
	if r.held = on; !on {
		r.NotifyRecv(r.sched.CurrentTime(), r.port)
	}
}

// NotifyRecv implements sim.Component.
func (r *Root) NotifyRecv(now sim.VTimeInSec, _ sim.Port) {
	for !r.held {
		m := r.port.Retrieve(now)
		if m == nil {
			return
		}
		p, ok := m.(*msg.TLP)
		if !ok {
			r.fail(fmt.Errorf("host: %s received a %T, wants TLPs", r.Name(), m))
			continue
		}
		r.take(p)
	}
}

// NotifyPortFree implements sim.Component.
func (r *Root) NotifyPortFree(sim.VTimeInSec, sim.Port) { r.arm(simcore.Now(r.sched)) }

func (r *Root) take(p *msg.TLP) {
	var err error
	if r.hdr, err = p.Header(); err != nil {
		r.fail(Breach("P2", "%s received a TLP it cannot read: %v", r.Name(), err))
		return
	}
	h := &r.hdr
	switch h.Kind {
	case tlp.MWr:
		r.store(h, p.Data)
	case tlp.MRd:
		r.answer(h)
	case tlp.Cpl, tlp.CplD:
		r.complete(h, p.Data)
	case tlp.Msg, tlp.MsgD:
		if r.OnMessage != nil {
			r.OnMessage(h, p.Data)
		}
	}
	r.tlps.Put(p)
}

func (r *Root) answer(h *tlp.Header) {
	ep, _ := Split(h.Address)
	if ep >= len(r.completers) {
		ep = 0 // the Arm root refuses what belongs to nobody
	}
	reply, err := r.completers[ep].Begin(h)
	if err != nil {
		r.fail(err)
		return
	}
	due := simcore.Now(r.sched) + r.spec.Latency
	if r.spec.Jitter > 0 {
		due += simcore.Ps(r.rng.Uint64() % uint64(r.spec.Jitter+1))
	}
	fault := r.Faults.meet(h)
	if fault != nil {
		due += fault.Delay
	}
	r.seq++
	r.queue.push(pendingReply{due: due, seq: r.seq, reply: reply, fault: fault})
	r.arm(due)
}

func (r *Root) complete(h *tlp.Header, data []byte) {
	if r.OnCompletion != nil && h.RequesterID != nicspec.RequesterArm {
		r.OnCompletion(h, data)
		return
	}
	if int(h.Tag) >= len(r.regs) || !r.regs[h.Tag].busy || h.RequesterID != nicspec.RequesterArm {
		r.fail(Breach("G2", "%s received a completion nobody waits for: %v", r.Name(), h))
		return
	}
	reg := r.regs[h.Tag]
	r.regs[h.Tag] = regRead{}
	r.pending--
	switch {
	case h.Kind == tlp.Cpl || h.Status != tlp.StatusSC:
		reg.done(0, &RegError{reg.off, Breach("G2", "completed with status %v", h.Status)})
	case len(data) != reg.n:
		reg.done(0, &RegError{reg.off, Breach("G2", "completed with %d bytes, want %d", len(data), reg.n)})
	default:
		var v uint64
		for i := len(data) - 1; i >= 0; i-- {
			v = v<<8 | uint64(data[i])
		}
		reg.done(v, nil)
	}
}

func (r *Root) fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}

// arm makes sure that Handle is called at a time, or before.
func (r *Root) arm(at simcore.Ps) {
	if r.wakeAt != 0 && r.wakeAt <= at+1 {
		return
	}
	ev := r.events.Get()
	ev.At, ev.H = at, r
	r.wakeAt = at + 1
	r.sched.Schedule(ev)
}

// Handle implements sim.Handler: something is due.
func (r *Root) Handle(e sim.Event) error {
	now := simcore.Now(r.sched)
	r.events.Put(e.(*simcore.Event))
	if r.wakeAt == now+1 {
		r.wakeAt = 0
	}
	if r.failed != nil {
		return r.failed
	}
	if err := r.sendDue(now); err != nil {
		return err
	}
	if r.head == len(r.out) {
		r.out, r.head = r.out[:0], 0
	}
	return nil
}

func (r *Root) sendDue(now simcore.Ps) error {
	for r.head < len(r.out) {
		if !r.emit(r.out[r.head], now) {
			return nil // NotifyPortFree goes on
		}
		r.out[r.head] = nil
		r.head++
	}
	for len(r.queue) > 0 {
		if due := r.queue[0].due; due > now {
			r.arm(due)
			return nil
		}
		if !r.port.CanSend() {
			return nil
		}
		if err := r.sendReply(now); err != nil {
			return fmt.Errorf("host: %s: %w", r.Name(), err)
		}
	}
	return nil
}

// sendReply sends the next completion of the first reply.
func (r *Root) sendReply(now simcore.Ps) error {
	first := &r.queue[0]
	p := r.tlps.Get()
	if err := first.reply.Fill(&p.Packet, r.Read); err != nil {
		return err
	}
	copies, last := 1, false
	if f := first.fault; f != nil && (first.sent == f.Nth || !first.reply.More() && first.sent < f.Nth) {
		var err error
		if copies, last, err = f.Kind.strike(&p.Packet); err != nil {
			return fmt.Errorf("fault %v: %w", f.Kind, err)
		}
	}
	first.sent++
	for ; copies > 1; copies-- {
		again := r.tlps.Get()
		again.Hdr = p.Hdr
		copy(again.Own(len(p.Data)), p.Data)
		r.out = append(r.out, again) // next to be sent
		r.arm(now)
	}
	if copies == 0 {
		r.tlps.Put(p)
	} else if !r.emit(p, now) {
		return errors.New("port refused a TLP it had room for")
	}
	if last {
		r.queue.pop()
	} else {
		r.advance(now)
	}
	return nil
}

// advance moves on after a completion of the first reply: it is over, or with
// jitter or a gap it gives way to others for a while.
func (r *Root) advance(now simcore.Ps) {
	first := &r.queue[0]
	if !first.reply.More() {
		r.queue.pop()
		return
	}
	wait := simcore.Ps(0)
	if r.spec.Jitter > 0 {
		wait = simcore.Ps(r.rng.Uint64() % uint64(r.spec.Jitter+1))
	}
	if f := first.fault; f != nil && first.sent == f.Nth {
		wait += f.Gap
	}
	if wait > 0 {
		first.due = now + wait
		r.queue.sink(0)
	}
}

func (r *Root) emit(p *msg.TLP, now simcore.Ps) bool {
	p.Depart = now
	return r.port.Send(p) == nil
}

// Overdue returns an error when a register read has waited longer than the
// spec allows.
func (r *Root) Overdue() error {
	now := simcore.Now(r.sched)
	for i := range r.regs {
		if reg := &r.regs[i]; reg.busy && now > reg.due {
			return &RegError{reg.off, Breach("C3", "no completion within %v", r.spec.Timeout)}
		}
	}
	return nil
}
