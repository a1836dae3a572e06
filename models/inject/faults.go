package inject

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Faults injects faults into a device's reads: it watches the requests that pass, and changes the completions that
// return. See Fault.
//
// A device may reuse the tag of a read that is still being answered (after a timeout, or against the rules). The
// second read then waits for the first one's last completion: otherwise nothing would show which read a
// completion belongs to.
type Faults struct {
	*inline

	// Struck, if set, is called for every read that is struck.
	Struck func(f *Fault, h *tlp.Header)

	list []*armed
	tlps *msg.TLPs

	reads  map[readID]*read // forwarded reads whose last completion has not come
	idle   []*read
	open   int // number of reads that are in the map `reads`, or whose request or completions are held back
	events simcore.EventPool
	failed error
	hdr    tlp.Header // header of the current TLP
}

// readID identifies a read in flight.
type readID struct {
	requester uint16
	tag       uint8
}

// read is a read of the device.
type read struct {
	request *msg.TLP // nil once forwarded
	id      readID
	fault   *armed // nil: no fault matches the read
	came    int    // number of completions so far
	over    bool   // further completions are dropped
	next    *read  // read with the same tag that waits for this one

	gap  bool // the fault's Gap goes on: completions wait in the queue `late`
	late fifo.Queue[*msg.TLP]
	done bool // the last completion of the read has come
}

// NewFaults makes the decorator; messages that it removes or adds belong to pool. It panics if
// Akita does not accept the name.
func NewFaults(name string, s simcore.Scheduler, pool *msg.TLPs) *Faults {
	f := &Faults{tlps: pool, reads: map[readID]*read{}}
	f.inline = newInline(name, s, f.relayed)
	return f
}

// Idle reports whether no read is in flight.
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

// request handles a read request of the device. If the read's fault suppresses the whole answer, it is not
// forwarded.
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

// submit forwards a request. If a read with its tag is still being answered, the request waits for that read.
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

// later schedules Handle after a time: with a *read to go on with, or a *msg.TLP to send.
func (f *Faults) later(wait simcore.Ps, arg any) {
	ev := f.events.Get()
	ev.At, ev.H, ev.Arg = simcore.Now(f.sched)+wait, f, arg
	f.sched.Schedule(ev)
}

// Handle implements sim.Handler: the delay of a request, the gap before completions, or the wait before a
// completion is sent a second time, has passed.
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

// complete handles a completion on its way to the device.
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

// strike sends a completion of a read, changed if the read's fault strikes it.
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
	if copies > 1 { // the copy follows the other messages of this instant
		again := f.tlps.Get()
		again.Hdr = p.Hdr
		copy(again.Own(len(p.Data)), p.Data)
		f.open++
		f.later(0, again)
	}
	f.release(x, p)
}

// fail makes the next event end the run with an error.
func (f *Faults) fail(err error) {
	if f.failed == nil {
		f.failed = err
		f.later(0, nil)
	}
}

// release sends a completion of a read, or queues it until the read's gap has passed.
func (f *Faults) release(x *read, p *msg.TLP) {
	if x.gap {
		x.late.Push(p)
	} else {
		f.send(ToDevice, p)
	}
}

// retire returns a read to the pool once it is fully answered.
func (f *Faults) retire(x *read) {
	if x.done && !x.gap {
		f.open--
		*x = read{late: x.late}
		f.idle = append(f.idle, x)
	}
}
