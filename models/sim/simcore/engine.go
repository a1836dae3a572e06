package simcore

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sarchlab/akita/v3/sim"
)

const (
	secondaryBit = 1 << 63

	// Number of events at one time after which Run gives up, since simulated time does not advance.
	maxEventsPerInstant = 1 << 24

	// Wall time after which Pause gives up.
	pauseLimit = 10 * time.Second
)

// Engine is a serial, deterministic sim.Engine in integer picoseconds.
type Engine struct {
	sim.HookableBase

	now        Ps
	secOf      Ps // time that sec was converted from
	sec        sim.VTimeInSec
	seq        uint64
	armed      int // pending timers
	instant    int // events handled at the current time
	maxInstant int // events at one time after which Run gives up
	q          queue
	wraps      EventPool // nodes for events that are not *Event

	stop  bool
	ended []sim.SimulationEndHandler

	pauseWanted atomic.Bool
	mu          sync.Mutex // guards the fields below
	changed     *sync.Cond
	running     bool
	parked      bool
}

// NewEngine returns an engine at time 0.
func NewEngine() *Engine {
	e := &Engine{maxInstant: maxEventsPerInstant}
	e.q.init()
	e.changed = sync.NewCond(&e.mu)
	return e
}

// Now returns the time of the current event.
func (e *Engine) Now() Ps { return e.now }

// CurrentTime implements sim.TimeTeller.
func (e *Engine) CurrentTime() sim.VTimeInSec {
	if e.secOf != e.now {
		e.secOf, e.sec = e.now, e.now.Sec()
	}
	return e.sec
}

// Pending returns the number of scheduled events.
func (e *Engine) Pending() int { return e.q.len() }

// Armed returns the number of scheduled events that are timers. If all pending events are timers,
// nothing happens except reactions to the absence of something else.
func (e *Engine) Armed() int { return e.armed }

// Next returns the event that will be handled next, or nil. The caller must not change it.
func (e *Engine) Next() *Event { return e.q.head }

// Schedule implements sim.EventScheduler. An *Event is queued as it is; any
// other event is queued at the picosecond nearest to its time. It panics if
// the event lies in the past, or is an *Event that is pending already.
func (e *Engine) Schedule(evt sim.Event) {
	if ev, ok := evt.(*Event); ok {
		e.schedule(ev)
		return
	}
	ev := e.wraps.Get()
	ev.At, ev.H, ev.Secondary = FromSec(evt.Time()), evt.Handler(), evt.IsSecondary()
	ev.Arg, ev.foreign = evt, true
	e.schedule(ev)
}

func (e *Engine) schedule(ev *Event) {
	if ev.pending || ev.At < e.now {
		e.refuse(ev)
	}
	ev.pending = true
	ev.at = ev.At
	e.seq++
	ev.key = e.seq
	if ev.Secondary {
		ev.key |= secondaryBit
	}
	if ev.Timer {
		e.armed++
	}
	e.q.push(ev, e.now)
}

func (e *Engine) refuse(ev *Event) {
	if ev.pending {
		panic(fmt.Sprintf("simcore: %v is scheduled again while it is pending at %v", ev, ev.at))
	}
	panic(fmt.Sprintf("simcore: %v is scheduled in the past, now is %v", ev, e.now))
}

// Run handles events until none is left, a handler fails or Stop is called. A handler's error ends
// the run and is returned wrapped; pending events stay pending.
func (e *Engine) Run() error { return e.run(MaxPs) }

// RunUntil handles the events up to and including those at t, and leaves the
// engine at t.
func (e *Engine) RunUntil(t Ps) error {
	if err := e.run(t); err != nil {
		return err
	}
	if !e.stop && t > e.now {
		e.now, e.instant = t, 0
	}
	return nil
}

// Stop makes Run or RunUntil return after the current event.
func (e *Engine) Stop() { e.stop = true }

func (e *Engine) run(limit Ps) error {
	e.begin()
	defer e.end()
	for !e.stop {
		if e.pauseWanted.Load() {
			e.park()
		}
		ev := e.q.pop(limit)
		if ev == nil {
			return nil
		}
		ev.pending = false
		if ev.Timer {
			e.armed--
		}
		if ev.at != e.now {
			e.now, e.instant = ev.at, 0
		}
		e.instant++
		if ev.foreign || ev.At != ev.at || e.instant > e.maxInstant || e.NumHooks() != 0 {
			if err := e.handleSlowly(ev); err != nil {
				return err
			}
			continue
		}
		if err := ev.H.Handle(ev); err != nil {
			return e.failed(ev.H, err)
		}
	}
	return nil
}

// handleSlowly handles an event in the cases that are not frequent: events of Akita's own kind
// (foreign), hooks, and wrong use of the engine.
func (e *Engine) handleSlowly(ev *Event) error {
	if ev.At != ev.at {
		panic(fmt.Sprintf("simcore: %v was changed while it was pending at %v", ev, ev.at))
	}
	if e.instant > e.maxInstant {
		return fmt.Errorf("simcore: time stands still: %d events at %v, the next is %v",
			e.maxInstant, e.now, ev)
	}
	h, evt := ev.H, sim.Event(ev)
	if ev.foreign {
		evt = ev.Arg.(sim.Event)
		e.wraps.Put(ev)
	}
	hooked := e.NumHooks() != 0
	ctx := sim.HookCtx{Domain: e, Pos: sim.HookPosBeforeEvent, Item: evt}
	if hooked {
		e.InvokeHook(ctx)
	}
	if err := h.Handle(evt); err != nil {
		return e.failed(h, err)
	}
	if hooked {
		ctx.Pos = sim.HookPosAfterEvent
		e.InvokeHook(ctx)
	}
	return nil
}

func (e *Engine) failed(h sim.Handler, err error) error {
	return fmt.Errorf("simcore: at %v: %s: %w", e.now, handlerName(h), err)
}

func (e *Engine) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		panic("simcore: Run is called while the engine is running")
	}
	e.running = true
	e.stop = false
}

func (e *Engine) end() {
	e.mu.Lock()
	e.running = false
	e.changed.Broadcast()
	e.mu.Unlock()
}

func (e *Engine) park() {
	e.mu.Lock()
	e.parked = true
	e.changed.Broadcast()
	for e.pauseWanted.Load() {
		e.changed.Wait()
	}
	e.parked = false
	e.mu.Unlock()
}

// Pause implements sim.Engine: it holds the run before the next event and
// returns when no event is being handled. It is for other goroutines than the
// one that runs; a handler that wants to end the run calls Stop. It panics if
// the current event takes longer than 10 s, as it does for a handler's Pause.
func (e *Engine) Pause() { e.pause(pauseLimit) }

func (e *Engine) pause(limit time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	late := false
	defer time.AfterFunc(limit, func() {
		e.mu.Lock()
		late = true
		e.changed.Broadcast()
		e.mu.Unlock()
	}).Stop()
	e.pauseWanted.Store(true)
	for e.running && !e.parked && e.pauseWanted.Load() {
		if late {
			e.pauseWanted.Store(false)
			panic(fmt.Sprintf("simcore: Pause waited %v for an event to end: "+
				"is it called by the handler of that event?", limit))
		}
		e.changed.Wait()
	}
}

// Continue implements sim.Engine: it ends a pause.
func (e *Engine) Continue() {
	e.mu.Lock()
	e.pauseWanted.Store(false)
	e.changed.Broadcast()
	e.mu.Unlock()
}

// RegisterSimulationEndHandler implements sim.Engine.
func (e *Engine) RegisterSimulationEndHandler(h sim.SimulationEndHandler) {
	e.ended = append(e.ended, h)
}

// Finished implements sim.Engine: it calls the registered end handlers in the
// order of their registration.
func (e *Engine) Finished() {
	for _, h := range e.ended {
		h.Handle(e.CurrentTime())
	}
}

var (
	_ sim.Engine = (*Engine)(nil)
	_ Scheduler  = (*Engine)(nil)
)
