package simcore

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// Scheduler is the interface between a model and its engine. *Engine and Akita's engines both
// implement it.
type Scheduler interface {
	sim.EventScheduler
	sim.TimeTeller
}

// Event is a reusable event: the owner keeps it, fills it in and schedules it
// again once it has been handled. It must not change while it is pending.
type Event struct {
	At        Ps          // time of the event
	H         sim.Handler // the event's handler
	Arg       any         // for the owner, ignored here
	Kind      int         // for the owner, ignored here
	Secondary bool        // the event is handled after all primary events of its time
	Timer     bool        // acts only if something else has not happened before; counted by Engine.Armed

	pending bool
	foreign bool   // queue node for the sim.Event in Arg
	at      Ps     // At when scheduled: the queue's sort key
	key     uint64 // order within one time: secondary bit, then sequence
	next    *Event // next event in the ring of the bucket
}

// Time implements sim.Event.
func (e *Event) Time() sim.VTimeInSec { return e.At.Sec() }

// Handler implements sim.Event.
func (e *Event) Handler() sim.Handler { return e.H }

// IsSecondary implements sim.Event.
func (e *Event) IsSecondary() bool { return e.Secondary }

// Pending reports whether the event is scheduled and has not been handled yet. Only Engine
// maintains this; on another engine it is always false.
func (e *Event) Pending() bool { return e.pending }

// EventPool is a free list of events, for owners that have a varying number of
// them pending. The zero value is ready.
type EventPool struct{ free []*Event }

// Get returns an event with all its fields zero.
func (p *EventPool) Get() *Event {
	n := len(p.free)
	if n == 0 {
		return new(Event)
	}
	e := p.free[n-1]
	p.free = p.free[:n-1]
	return e
}

// Put takes back an event that has been handled. It panics if the event is
// still pending.
func (p *EventPool) Put(e *Event) {
	if e.pending {
		panic(fmt.Sprintf("simcore: %v is put back into its pool while it is pending", e))
	}
	*e = Event{}
	p.free = append(p.free, e)
}

// Describer is a handler that can describe its events.
type Describer interface {
	// Describe returns a phrase with an article, such as "the retransmission timer of queue pair
	// 3"; empty: no description.
	Describe(e *Event) string
}

// String names the event in messages.
func (e *Event) String() string {
	what := ""
	if d, ok := e.H.(Describer); ok {
		what = d.Describe(e)
	}
	if what == "" {
		what = "an event of " + handlerName(e.H)
	}
	return fmt.Sprintf("%s, at %v", what, e.At)
}

func handlerName(h sim.Handler) string {
	if n, ok := h.(sim.Named); ok {
		return n.Name()
	}
	return fmt.Sprintf("%T", h)
}

var _ sim.Event = (*Event)(nil)
