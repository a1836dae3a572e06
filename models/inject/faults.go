package inject

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Faults lets reads of a device go wrong: it sees requests pass and strikes
// the completions that come back. See Fault.
//
// A read whose tag its requester gave to another one that is still being
// answered (after a timeout, or against the rules) waits for that one's last
// completion, so that completions can be told apart.
type Faults struct {
	*inline

	// Struck, if set, is told of every read that is struck.
	Struck func(f *Fault, h *tlp.Header)

	list []*armed
	tlps *msg.TLPs

	reads  map[readID]*read // that passed and whose last completion did not come yet
	idle   []*read
	open   int // reads whose request or completions are held back, and those in reads
	events simcore.EventPool
	failed error
	hdr    tlp.Header // of the TLP at hand
}

// readID tells reads apart that are under way.
type readID struct {
	requester uint16
	tag       uint8
}

// read is a read of the device.
type read struct {
	request *msg.TLP // until it passes
	id      readID
	fault   *armed // nil: all is well
	came    int    // completions so far
	over    bool   // nothing more of the answer passes
	next    *read  // waits for this one to end

	gap  bool // completions are held back, in late
	late fifo.Queue[*msg.TLP]
	done bool // its last completion came
}

// NewFaults makes the decorator; messages that it takes out or adds go to and
// come from a pool. It panics if Akita does not accept the name.
func NewFaults(name string, s simcore.Scheduler, pool *msg.TLPs) *Faults {
	f := &Faults{tlps: pool, reads: map[readID]*read{}}
	f.inline = newInline(name, s, f.relayed)
	return f
}

// Idle reports whether no read is under way.
func (f *Faults) Idle() bool { return f.open == 0 }

func (f *Faults) relayed(d Direction, m sim.Msg) {
	if p, ok := m.(*msg.TLP); ok {
		var err error
		f.hdr, err = p.Header()
		h := &f.hdr
		switch {
		case err != nil:
		case d == FromDevice && h.Kind == tlp.MRd:
			f.request(p, h)
			return
		case d == ToDevice && (h.Kind == tlp.Cpl || h.Kind == tlp.CplD):
			f.complete(p, h)
			return
		}
	}
	f.send(d, m)
}

// request takes a read of the device. One that is not answered at all goes no
// further.
func (f *Faults) request(p *msg.TLP, h *tlp.Header) {
	fault := f.meet(h)
	if fault != nil && fault.Kind == FaultSilent && fault.Nth == 0 {
		f.tlps.Put(p)
		return
	}
	var x *read
	if n := len(f.idle); n > 0 {
		x, f.idle = f.idle[n-1], f.idle[:n-1]
	} else {
		x = new(read)
	}
	x.request, x.id, x.fault = p, readID{h.RequesterID, h.Tag}, fault
	f.open++
	if x.fault != nil && x.fault.Delay > 0 {
		f.later(x.fault.Delay, x)
		return
	}
	f.submit(x)
}

// submit lets a request pass, unless one of its tag is being answered.
func (f *Faults) submit(x *read) {
	if before := f.reads[x.id]; before != nil {
		for before.next != nil {
			before = before.next
		}
		before.next = x
		return
	}
	f.reads[x.id] = x
	p := x.request
	x.request = nil
	f.send(FromDevice, p)
}

// later has Handle called with a *read, or with a *msg.TLP to be sent.
func (f *Faults) later(wait simcore.Ps, arg any) {
	ev := f.events.Get()
	ev.At, ev.H, ev.Arg = simcore.Now(f.sched)+wait, f, arg
	f.sched.Schedule(ev)
}

// Handle implements sim.Handler: a request, completions after a gap, or a
// completion that comes twice were held back for long enough.
func (f *Faults) Handle(e sim.Event) error {
	ev := e.(*simcore.Event)
	arg := ev.Arg
	f.events.Put(ev)
	if f.failed != nil {
		return f.failed
	}
	if p, ok := arg.(*msg.TLP); ok {
		f.open--
		f.send(ToDevice, p)
		return nil
	}
	x := arg.(*read)
	if x.request != nil {
		f.submit(x)
		return nil
	}
	x.gap = false
	for x.late.Len() > 0 {
		f.send(ToDevice, x.late.Pop())
	}
	f.retire(x)
	return nil
}

// complete takes a completion for the device.
func (f *Faults) complete(p *msg.TLP, h *tlp.Header) {
	x := f.reads[readID{h.RequesterID, h.Tag}]
	if x == nil {
		f.send(ToDevice, p)
		return
	}
	last := h.Kind == tlp.Cpl || int(h.ByteCount) <= h.PayloadBytes()-int(h.LowerAddr&(tlp.DWBytes-1))
	f.strike(x, p, last)
	if last {
		next := x.next
		x.done, x.next = true, nil
		delete(f.reads, x.id)
		f.retire(x)
		if next != nil {
			f.submit(next)
		}
	}
}

// strike sends a completion of a read, or what its fault makes of it.
func (f *Faults) strike(x *read, p *msg.TLP, last bool) {
	nth, copies := x.came, 1
	x.came++
	if x.over {
		copies = 0
	} else if a := x.fault; a != nil {
		if nth > 0 && nth == a.Nth && a.Gap > 0 {
			x.gap = true
			f.later(a.Gap, x)
		}
		if nth == a.Nth || last && nth < a.Nth {
			var err error
			if copies, x.over, err = a.Kind.strike(&p.Packet); err != nil {
				f.fail(fmt.Errorf("inject: %s: fault %v: %w", f.Name(), a.Kind, err))
			}
		}
	}
	if copies == 0 {
		f.tlps.Put(p)
		return
	}
	if copies > 1 { // after what comes at this moment, too
		again := f.tlps.Get()
		again.Hdr = p.Hdr
		copy(again.Own(len(p.Data)), p.Data)
		f.open++
		f.later(0, again)
	}
	f.release(x, p)
}

// fail ends the run.
func (f *Faults) fail(err error) {
	if f.failed == nil {
		f.failed = err
		f.later(0, nil)
	}
}

// release sends a completion, after the gap if there is one.
func (f *Faults) release(x *read, p *msg.TLP) {
	if x.gap {
		x.late.Push(p)
	} else {
		f.send(ToDevice, p)
	}
}

// retire forgets a read of which nothing more comes.
func (f *Faults) retire(x *read) {
	if x.done && !x.gap {
		f.open--
		*x = read{late: x.late}
		f.idle = append(f.idle, x)
	}
}
