package simcore

import "github.com/sarchlab/akita/v3/sim"

// Alarm ensures that its owner handles an event at or before every time that the alarm is set to.
// While an event is pending, later times cost no event of their own: the owner sets the alarm again
// if an event came too early.
type Alarm struct {
	sched     Scheduler
	owner     sim.Handler
	secondary bool
	events    EventPool
	next      Ps // time of the earliest pending event, plus one; 0: unknown
}

// NewAlarm makes an alarm. Secondary events come after all others of their time.
func NewAlarm(s Scheduler, owner sim.Handler, secondary bool) Alarm {
	return Alarm{sched: s, owner: owner, secondary: secondary}
}

// Set ensures that the owner handles an event at the given time, or before.
func (a *Alarm) Set(at Ps) { a.set(at, false) }

// SetTimer is Set for an owner that acts at that time only if something else has not happened
// before. Its event is a timer.
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

// Rang must be called with the event that the owner handles. It returns false if the event is not
// the alarm's.
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
