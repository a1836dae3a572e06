package root

import (
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/boundary"
	"nictwin/models/sim/field"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// OutboundSpec configures an Outbound.
type OutboundSpec struct {
	Tags int `yaml:"tags"` // read requests in flight; further accesses wait
}

// DefaultOutboundSpec returns 32 tags, as many as a function has without extended tags (PCIe
// 2.2.6.2).
func DefaultOutboundSpec() OutboundSpec { return OutboundSpec{Tags: 32} }

// Validate returns every error of the spec.
func (s OutboundSpec) Validate() error {
	if s.Tags < 1 || s.Tags > 256 {
		return field.Errorf("tags", "%d: want 1 to 256", s.Tags)
	}
	return nil
}

// Outbound gives the processor of this root access to memory behind a switch: a mem.Target whose
// reads and writes become memory requests of the root, under a requester ID of its own. It stores
// no bytes.
//
// Writes are posted. As package mem demands, an access is Done only when memory at the far end has
// taken it: the root learns that when the receiver returns the TLP to its Sender, which costs no
// traffic. Caches at this end do not hold lines of the far memory, so Clean and Invalidate only
// wait for the writes before them.
type Outbound struct {
	r       *Root
	id      uint16
	limits  tlp.Limits
	memory  mem.Target
	reads   []outRead // by tag
	free    []uint8
	waiting fifo.Queue[*outAccess] // reads that have requests to send
	posted  fifo.Queue[*outAccess] // all accesses except reads, in order
	landed  int                    // TLPs of accesses in `posted` taken by the far end, not processed by Handle yet
	armed   bool
	idle    fifo.Free[outAccess]
	events  simcore.EventPool
	stats   OutboundStats
}

// OutboundStats counts what an Outbound has carried.
type OutboundStats struct {
	AcceptedBytes uint64 // bytes of reads and writes
	FinishedBytes uint64
	Held          uint64
	ReadTLPs      uint64
	WriteTLPs     uint64
}

// outAccess is an access in progress.
type outAccess struct {
	a         *mem.Access
	requested int // bytes of a read that were requested so far
	open      int // requests in flight
	err       error
}

// outRead is a read request in flight.
type outRead struct {
	x    *outAccess
	off  int // offset of the next byte in the access
	left int
	addr uint64 // address of the next byte
	due  simcore.Ps
}

// NewOutbound returns access to memory behind other roots. It calls only Check of memory, to find
// out which addresses exist. limits must suit all links and roots on the route. The ID must be
// routed to this root and have no MMIO.
func (r *Root) NewOutbound(id uint16, s OutboundSpec, limits tlp.Limits, memory mem.Target) (*Outbound, error) {
	if memory == nil {
		return nil, fmt.Errorf("root: %s: outbound has no memory to reach", r.Name())
	}
	if err := errors.Join(s.Validate(), field.Under("limits", limits.Validate())); err != nil {
		return nil, fmt.Errorf("root: %s: outbound: %w", r.Name(), err)
	}
	if r.mmioOf(id) != nil || r.outboundOf(id) != nil {
		return nil, fmt.Errorf("root: %s: outbound: requester %#x is in use: want another", r.Name(), id)
	}
	o := &Outbound{r: r, id: id, limits: limits, memory: memory, reads: make([]outRead, s.Tags)}
	for tag := s.Tags - 1; tag >= 0; tag-- {
		o.free = append(o.free, uint8(tag))
	}
	r.outbounds = append(r.outbounds, o)
	return o, nil
}

func (r *Root) outboundOf(id uint16) *Outbound {
	for _, o := range r.outbounds {
		if o.id == id {
			return o
		}
	}
	return nil
}

// Stats returns the counters so far.
func (o *Outbound) Stats() OutboundStats { return o.stats }

// Idle reports whether no access is in flight.
func (o *Outbound) Idle() bool { return o.stats.Held == 0 && o.posted.Len() == 0 }

// Name returns the name used in the engine's errors.
func (o *Outbound) Name() string { return o.r.Name() + ".Outbound" }

// Check implements mem.Target.
func (o *Outbound) Check(op mem.Op, addr uint64, n int) error { return o.memory.Check(op, addr, n) }

// Access implements mem.Target.
func (o *Outbound) Access(a *mem.Access) {
	if err := o.Check(a.Op, a.Addr, a.Len()); err != nil || a.Op == mem.Read && len(a.Data) == 0 {
		a.Finish(err)
		return
	}
	x, _ := o.idle.Get()
	*x = outAccess{a: a}
	o.stats.AcceptedBytes += uint64(len(a.Data))
	o.stats.Held += uint64(len(a.Data))
	if a.Op == mem.Read {
		o.waiting.Push(x)
		o.sendReads()
		return
	}
	o.posted.Push(x)
	if a.Op == mem.Write && len(a.Data) > 0 {
		o.write(x)
	} else {
		o.arm()
	}
}

// write sends the requests of a write access.
func (o *Outbound) write(x *outAccess) {
	a := x.a
	split := tlp.SplitWrite(a.Addr, len(a.Data), o.limits.MPS, tlp.Unaligned)
	for piece, ok := split.Next(); ok; piece, ok = split.Next() {
		p := o.r.tlps.Get()
		own := p.Own(piece.Len)
		copy(own, a.Data[piece.Addr-a.Addr:])
		if err := p.SetMemWrite(tlp.Origin{RequesterID: o.id}, piece.Addr, own); err != nil {
			o.refuse(err)
			return
		}
		p.Sender = o
		x.open++
		o.stats.WriteTLPs++
		o.r.Send(p)
	}
}

// sendReads sends read requests as long as there are free tags.
func (o *Outbound) sendReads() {
	for o.waiting.Len() > 0 && len(o.free) > 0 {
		x := *o.waiting.Front()
		addr := x.a.Addr + uint64(x.requested)
		split := tlp.SplitRead(addr, len(x.a.Data)-x.requested, o.limits.MRRS, tlp.Unaligned)
		piece, _ := split.Next()
		tag := o.free[len(o.free)-1]
		p := o.r.tlps.Get()
		if err := p.SetMemRead(tlp.Origin{RequesterID: o.id}, tag, addr, piece.Len); err != nil {
			o.refuse(err)
			return
		}
		o.free = o.free[:len(o.free)-1]
		o.reads[tag] = outRead{x, x.requested, piece.Len, addr, simcore.Now(o.r.sched) + o.r.spec.Timeout}
		x.open++
		if x.requested += piece.Len; x.requested == len(x.a.Data) {
			o.waiting.Pop()
		}
		o.stats.ReadTLPs++
		o.r.Send(p)
	}
}

// refuse ends the run, because a request cannot be encoded.
func (o *Outbound) refuse(err error) {
	o.r.fail(fmt.Errorf("root: %s: %w", o.Name(), err))
	o.r.arm(simcore.Now(o.r.sched))
}

// complete handles a completion of a read request.
func (o *Outbound) complete(h *tlp.Header, data []byte) {
	if int(h.Tag) >= len(o.reads) || o.reads[h.Tag].x == nil {
		o.r.fail(boundary.Breach("G2", "%s received an unexpected completion: %v", o.Name(), h))
		return
	}
	t := &o.reads[h.Tag]
	x := t.x
	lead := int(t.addr & (tlp.DWBytes - 1))
	switch {
	case h.Kind == tlp.Cpl || h.Status != tlp.StatusSC:
		x.err = failure(h, t)
	case int(h.ByteCount) != t.left || len(data) <= lead:
		o.r.fail(boundary.Breach("G2", "%s received %d B of a read with byte count %d: want byte count %d: %v",
			o.Name(), len(data), h.ByteCount, t.left, h))
		return
	default:
		n := min(len(data)-lead, t.left)
		copy(x.a.Data[t.off:t.off+n], data[lead:])
		t.off, t.left, t.addr = t.off+n, t.left-n, t.addr+uint64(n)
		if h.EP {
			x.err = mem.ErrPoisoned
		}
		if t.left > 0 {
			return
		}
	}
	*t = outRead{}
	o.free = append(o.free, h.Tag)
	x.open--
	if x.open == 0 && x.requested == len(x.a.Data) {
		o.finish(x)
	}
	o.sendReads()
}

// failure returns the error of a read that was completed without data.
func failure(h *tlp.Header, t *outRead) error {
	why := mem.ErrAborted
	if h.Status == tlp.StatusUR {
		why = mem.ErrNoMemory
	}
	return fmt.Errorf("root: read of %d B at %#x was completed with status %v: %w", t.left, t.addr, h.Status, why)
}

// Consumed implements msg.Consumer: memory at the far end has taken a TLP of a write.
func (o *Outbound) Consumed(simcore.Ps) {
	o.landed++
	o.arm()
}

// arm schedules Handle for this instant.
func (o *Outbound) arm() {
	if o.armed {
		return
	}
	o.armed = true
	ev := o.events.Get()
	ev.At, ev.H = simcore.Now(o.r.sched), o
	o.r.sched.Schedule(ev)
}

// Handle implements sim.Handler: TLPs of writes have been taken. The far memory takes them in
// order, so each one taken belongs to the oldest unfinished access.
func (o *Outbound) Handle(e sim.Event) error {
	ev, ok := e.(*simcore.Event)
	if !ok {
		return fmt.Errorf("root: %s: event of type %T: want its own", o.Name(), e)
	}
	o.events.Put(ev)
	o.armed = false
	for o.posted.Len() > 0 {
		x := *o.posted.Front()
		n := min(x.open, o.landed)
		x.open, o.landed = x.open-n, o.landed-n
		if x.open > 0 {
			break
		}
		o.posted.Pop()
		o.finish(x)
	}
	return nil
}

func (o *Outbound) finish(x *outAccess) {
	a, err := x.a, x.err
	*x = outAccess{}
	o.idle.Put(x)
	o.stats.FinishedBytes += uint64(len(a.Data))
	o.stats.Held -= uint64(len(a.Data))
	a.Finish(err)
}

// overdue returns an error when a read request has waited too long.
func (o *Outbound) overdue(now simcore.Ps) error {
	for tag := range o.reads {
		if t := &o.reads[tag]; t.x != nil && now > t.due {
			return fmt.Errorf("root: %s: read of %d B at %#x: no completion within %v (reg_timeout_ps)", o.Name(),
				t.left, t.addr, o.r.spec.Timeout)
		}
	}
	return nil
}

var (
	_ mem.Target  = (*Outbound)(nil)
	_ sim.Handler = (*Outbound)(nil)
)
