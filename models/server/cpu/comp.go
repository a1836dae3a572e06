package cpu

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/memory/mem"
	"nictwin/models/sim/fifo"
	"nictwin/models/sim/simcore"
)

// Core is a processor core.
type Core struct {
	simcore.Portless

	spec    Spec
	sched   simcore.Scheduler
	memory  mem.Target
	view    mem.Backdoor
	watcher Watcher

	ownWatches mem.Watches // watches of this core's loops, notified of its own stores
	round      round
	worked     bool       // the step being replayed found work; the loop may be stopped during the replay
	stepping   *Loop      // loop whose step is being replayed; nil: no step is being replayed
	began      simcore.Ps // time at which the step, or the record outside of steps, began
	busy       bool       // the core computes until time `due`, or has a record to replay
	due        simcore.Ps // time until which the core computes

	ops     fifo.Queue[op]
	working bool // method `work` is executing and must not be called again
	lines
	reg         regRead
	regDone     func(v uint64, err error)
	granted     func()   // the lock that the core waits for is its own
	roomSources []Holder // registers that were full at least once; method `work` is registered with the OnRoom of each

	alarm     simcore.Alarm
	stats     Stats
	profile   *profile   // nil: nobody wants to know what the core does
	busyUntil simcore.Ps // end of the latest record that Stats.Busy counts; it may be later than now
	err       error
}

// Stats counts what a core did.
type Stats struct {
	Steps       uint64     // number of loop steps
	Worked      uint64     // number of loop steps that found work
	Busy        simcore.Ps // time of steps that found work, and of software outside of loops
	Waited      simcore.Ps // total time that the core waited for memory, register reads and posted register writes
	Loads       uint64     // number of lines loaded
	LoadBytes   uint64
	Stores      uint64 // number of lines stored
	StoreBytes  uint64
	StoresEnded uint64 // bytes of stores that have taken effect
	Copied      uint64 // bytes copied; they are not counted in Loads and Stores
	CopiesEnded uint64 // bytes of copies that have taken effect
	Posts       uint64 // number of register writes of up to 64 B each
	RegReads    uint64
}

// Stats returns the counters so far.
func (c *Core) Stats() Stats { return c.stats }

// BusyTime returns the time until now in which the core was busy. [Stats].Busy counts a step at its end, and whole.
func (c *Core) BusyTime() simcore.Ps {
	now, t := c.Now(), c.stats.Busy
	t -= max(0, c.busyUntil-now)
	if c.busy && (c.stepping == nil || c.worked) {
		t += max(0, now-c.began)
	}
	return t
}

// Spec returns the spec that the core was made from.
func (c *Core) Spec() Spec { return c.spec }

// Err returns the first error that no call has returned, or nil.
func (c *Core) Err() error { return c.err }

// Idle reports whether the core does nothing until a range that its loops watch is written to, and
// all its stores have taken effect.
func (c *Core) Idle() bool {
	return !c.busy && c.ops.Len() == 0 && len(c.round.awake) == 0 && c.misses == 0 && c.pending.Len() == 0
}

// Now returns the engine's time, at which the current step begins.
func (c *Core) Now() simcore.Ps { return simcore.Now(c.sched) }

// catchUp advances the polling order to now, past polls that found nothing.
func (c *Core) catchUp() {
	if !c.busy {
		c.round.skip(c.Now())
	}
}

// arm schedules Handle for the core's next work, if there is any.
func (c *Core) arm() {
	if c.busy {
		return
	}
	switch l, at := c.round.earliest(); {
	case at == never:
	case l.ready || l.wrote != never:
		c.alarm.Set(at)
	default:
		c.alarm.SetTimer(at)
	}
}

// Handle implements sim.Handler: the core continues.
func (c *Core) Handle(e sim.Event) error {
	if !c.alarm.Rang(e) {
		return fmt.Errorf("cpu: %s: event of type %T: want its own", c.Name(), e)
	}
	now := c.Now()
	if !c.busy {
		l, at := c.round.earliest()
		if at > now {
			c.arm()
			return c.err
		}
		c.begin(l, now)
	}
	c.work()
	return c.err
}

// begin runs the step of a loop whose poll has just found it awake: it has work left, or a write or timer has woken it.
func (c *Core) begin(l *Loop, now simcore.Ps) {
	c.round.begin(l)
	c.busy, c.stepping, c.began, c.due = true, l, now, now
	c.profile.begin(l.as, now)
	l.ready, l.wrote = false, never
	if l.timer <= now {
		l.timer = never
	}
	c.stats.Steps++
	c.working = true // put off the replay until the step has recorded everything
	worked := l.step(c)
	c.working = false
	if c.worked = worked && !l.stopped; c.worked {
		l.ready = true
		c.round.markAwake(l) // the step may have disarmed the loop's timer, its only reason to be awake
		c.stats.Worked++
	}
	c.round.markAsleep(l)
}

// beginRecord is called before an operation is recorded. Outside of a loop's step, the record begins
// at the core's next poll.
func (c *Core) beginRecord() {
	if c.busy {
		return
	}
	now := c.Now()
	c.round.skip(now)
	c.busy, c.began = true, c.round.at
	c.due = c.round.at
	c.profile.begin(Unnamed, c.due)
	c.alarm.Set(c.due)
}

// recordDone is called when the whole record has been replayed.
func (c *Core) recordDone() {
	end := max(c.due, c.Now())
	l := c.stepping
	if l != nil {
		end = max(end, c.began+l.poll)
	}
	if l == nil || c.worked {
		c.stats.Busy += end - c.began
		c.busyUntil = end
	}
	c.profile.end(end, l == nil || c.worked)
	c.busy, c.stepping, c.round.at = false, nil, end
	c.arm()
}

func (c *Core) fail(err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("cpu: %s: %w", c.Name(), err)
		c.alarm.Set(c.Now()) // Handle returns the error, which ends the run
	}
}

var _ sim.Component = (*Core)(nil)
