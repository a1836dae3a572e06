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

	own      mem.Watches // what loops of this core watch
	round    round
	stepping *Loop      // whose step is being replayed
	began    simcore.Ps // when
	busy     bool       // a record is being replayed, or will be from due on
	due      simcore.Ps // until when the core computes

	ops     fifo.Queue[op]
	working bool // the record is being worked on
	lines
	reg     regRead
	regDone func(v uint64, err error)
	known   []Holder // registers that were full once, and tell of room

	alarm simcore.Alarm
	stats Stats
	err   error
}

// Stats is what a core did.
type Stats struct {
	Steps       uint64     // of loops
	Worked      uint64     // of them, those that found something
	Busy        simcore.Ps // steps that found something, and software outside of loops
	Waited      simcore.Ps // for memory, register reads and posted register writes, in all
	Loads       uint64     // lines
	LoadBytes   uint64
	Stores      uint64 // lines
	StoreBytes  uint64
	StoresEnded uint64 // bytes of stores that took effect
	Copied      uint64 // bytes, which are not in Loads and Stores
	CopiesEnded uint64 // bytes of copies that took effect
	Posts       uint64 // register writes, of up to 64 B each
	RegReads    uint64
}

// Stats returns what was done so far.
func (c *Core) Stats() Stats { return c.stats }

// Spec is what the core was made from.
func (c *Core) Spec() Spec { return c.spec }

// Err is the first thing that went wrong and was not returned to a caller, or nil.
func (c *Core) Err() error { return c.err }

// Idle reports whether the core has nothing to do until somebody writes to what
// its loops watch, and whether its stores took effect.
func (c *Core) Idle() bool {
	return !c.busy && c.ops.Len() == 0 && len(c.round.awake) == 0 && c.misses == 0 && c.held.Len() == 0
}

// Now is the time of the engine. A step begins at it.
func (c *Core) Now() simcore.Ps { return simcore.Now(c.sched) }

// catchUp moves the round on to now, past polls that found nothing.
func (c *Core) catchUp() {
	if !c.busy {
		c.round.skip(c.Now())
	}
}

// arm makes sure that Handle is called when there is something to do.
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

// Handle implements sim.Handler: the core goes on.
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

// begin steps a loop.
func (c *Core) begin(l *Loop, now simcore.Ps) {
	c.round.begin(l)
	c.busy, c.stepping, c.began, c.due = true, l, now, now
	l.ready, l.wrote = false, never
	if l.timer <= now {
		l.timer = never
	}
	c.stats.Steps++
	c.working = true // what the step records is replayed after it
	worked := l.step(c)
	c.working = false
	if worked && !l.stopped {
		l.ready = true
		c.stats.Worked++
	}
	c.round.lull(l)
}

// software is called before something is recorded: outside of steps the core
// begins at its next poll.
func (c *Core) software() {
	if c.busy {
		return
	}
	now := c.Now()
	c.round.skip(now)
	c.busy, c.began = true, c.round.at
	c.due = c.round.at
	c.alarm.Set(c.due)
}

// rest is called when everything recorded has been replayed.
func (c *Core) rest() {
	end := max(c.due, c.Now())
	l := c.stepping
	if l != nil {
		end = max(end, c.began+l.poll)
	}
	if l == nil || l.ready {
		c.stats.Busy += end - c.began
	}
	c.busy, c.stepping, c.round.at = false, nil, end
	c.arm()
}

func (c *Core) fail(err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("cpu: %s: %w", c.Name(), err)
		c.alarm.Set(c.Now()) // to end the run
	}
}

var _ sim.Component = (*Core)(nil)
