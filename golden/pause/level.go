package pause

import (
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
)

const (
	maxClaims = 16
	claimStep = 4 << 10 // bytes between claims of one crossing
)

// claim follows a claim.
func (o *Out) claim(c levelClaim) {
	if len(o.claims) == maxClaims {
		o.log.Lost(verdict.LimitClaims, 1)
		o.claims = append(o.claims[:0], o.claims[1:]...)
	}
	o.claims = append(o.claims, c)
}

// idle reports whether there is nothing to follow on a port.
func (o *Out) idle() bool { return !o.now.sends() && !o.olds[0].sends() }

// Coming is called before a frame that came in counts as held, with so many bytes.
func (o *Out) Coming(x At, room int) {
	if o.idle() {
		return
	}
	if o.open.open && (x.First > o.open.cycle || o.open.most+room <= o.open.limit) {
		o.failTold()
	}
	o.open.open = false
	if o.lowSince != never && o.late(o.lowSince, x.First) {
		o.failNoEnd()
	}
	o.lowSince = never
	o.settle(x.Last)
}

// Came is called after a frame that came in counts as held: level is the most bytes that are, seq the ordinal of the
// next.
func (o *Out) Came(now int64, level int, seq uint32) {
	if !o.now.sends() || !o.now.tells() || !o.late(o.oldSince, now) || level <= int(o.now.Xoff) {
		return
	}
	for i := range o.claims {
		if c := &o.claims[i]; c.missing && !c.again && !c.due && level < c.most+claimStep {
			// one at a time, and others as more is held: frames that leave before the time of one is over count for
			// the next
			return
		}
	}
	o.claim(levelClaim{from: now, to: now, slack: true, before: seq, limit: int(o.now.Xoff), most: level, missing: true,
		after: now - o.again(&o.now)})
}

// again is the time after which a pause is told again, unless that has to
// wait.
func (o *Out) again(cfg *setting) int64 {
	return core.PauseCycles(cfg.PauseTime, o.ethBits) / 2
}

// over reports whether the time of a claim is over.
func (o *Out) over(c *levelClaim, now int64) bool {
	if c.slack {
		return o.late(c.to, now)
	}
	return now > c.to
}

// settle settles the claims that a pause frame would have been needed, once
// it had to be there.
func (o *Out) settle(now int64) {
	kept := o.claims[:0]
	for _, c := range o.claims {
		if c.missing && !c.due && o.over(&c, now) {
			switch {
			case o.answers(&c):
				continue
			case !c.again && o.ended > c.from && !o.late(o.ended, now):
				// The end was decided before, and had to leave first.
			default:
				c.due, c.to, c.slack = true, now-1, false
			}
		}
		kept = append(kept, c)
	}
	o.claims = kept
}

// answers reports whether what was sent is what a claim asks for: a pause that
// was told since it began, even if it has ended (the end has a claim of its own),
// or that is still in force.
func (o *Out) answers(c *levelClaim) bool {
	switch {
	case o.unknown, c.again && !o.paused:
		return true
	case o.told <= c.after:
		return false
	}
	return o.paused || o.told > c.from
}

// Delivered is called when a frame was delivered, before it is forgotten: its ordinal, the cycle of its last beat, and
// its bytes in the buffer. Frames before base are decided.
func (o *Out) Delivered(now int64, seq uint32, last int64, room int, base uint32) {
	if len(o.claims) == 0 {
		return
	}
	o.settle(now)
	kept := o.claims[:0]
	for _, c := range o.claims {
		if int32(base-c.before) >= 0 {
			continue // all that count have left
		}
		if o.over(&c, now) && last <= c.from && int32(seq-c.before) < 0 && (c.due || !c.missing) {
			c.least += room
		}
		if c.least > c.limit {
			o.failClaim(&c)
			continue
		}
		kept = append(kept, c)
	}
	o.claims = kept
}

// Low notes that the buffer is surely at xon or below, if it is: level is the most bytes that are held.
func (o *Out) Low(now int64, level int) {
	if o.paused && !o.unknown && o.now.sends() && o.lowSince == never && level <= int(o.now.Xon) {
		o.lowSince = now
	}
}

// End is [F6] when the run is over.
func (o *Out) End(now int64, level int) {
	if o.open.open {
		o.failTold()
	}
	o.Low(now, level)
	if o.lowSince != never && o.late(o.lowSince, now) {
		o.failNoEnd()
	}
}

func (o *Out) failTold() {
	c := &o.open
	o.fail("F6", "frame", fmt.Sprintf("no pause while %d B or less are held", c.limit),
		fmt.Sprintf("one in cycle %d, when at most %d B were", c.cycle, c.most))
}

func (o *Out) failNoEnd() {
	o.fail("F6", "frame", fmt.Sprintf("a pause frame with time 0: %d B or less are held since cycle %d",
		o.now.Xon, o.lowSince), "none")
}

func (o *Out) failClaim(c *levelClaim) {
	held := fmt.Sprintf("at least %d B were held from cycle %d to %d", c.least, c.from, c.to)
	if c.missing {
		o.fail("F6", "frame", fmt.Sprintf("a pause frame: more than %d B are held", c.limit), "none", held)
		return
	}
	o.fail("F6", "pause.time", fmt.Sprintf("not 0: more than %d B are held", c.limit), "0", held)
}
