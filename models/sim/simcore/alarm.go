package simcore

import "github.com/sarchlab/akita/v3/sim"

// Alarm has its owner handle an event at every time that it is set to, or before: one event is enough for all that is
// due later, for the owner sets it again when it finds that it came too early.
type Alarm struct {
	sched     Scheduler
	owner     sim.Handler
	secondary bool
	events    EventPool
	next      Ps // when the earliest event is due, plus one; 0 when none is known
}

// NewAlarm makes an alarm. Secondary events come after all others of their time.
func NewAlarm(s Scheduler, owner sim.Handler, secondary bool) Alarm {
	return Alarm{sched: s, owner: owner, secondary: secondary}
}

// Set makes sure that the owner handles an event at a time, or before.
func (a *Alarm) Set(at Ps) { a.set(at, false) }

// SetTimer is Set where the owner has nothing to do by then unless something does not happen before. Its event is a
// timer.
func (a *Alarm) SetTimer(at Ps) { a.set(at, true) }

func (a *Alarm) set(at Ps, timer bool) {
	if a.next != 0 && a.next <= at+1 {
		return
	}
	ev := a.events.Get()
	ev.At, ev.H, ev.Secondary, ev.Timer = at, a.owner, a.secondary, timer
	a.next = at + 1
	a.sched.Schedule(ev)
}

// Rang takes back the event that the owner handles. It reports false if that is of another kind than the alarm's.
func (a *Alarm) Rang(e sim.Event) bool {
	ev, ok := e.(*Event)
	if !ok {
		return false
	}
	if a.next == ev.At+1 {
		a.next = 0
	}
	a.events.Put(ev)
	return true
}
