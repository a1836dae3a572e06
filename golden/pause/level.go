package pause

import (
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
)

const (
	maxClaims = 16
	claimStep = 4 << 10 // bytes by which the level must rise since a claim until the next claim is added
)

// claim adds a claim about the buffer's level. If there are maxClaims, it forgets the oldest, and counts that as an
// exceeded limit (LimitClaims).
func (o *Out) claim(c levelClaim) {
	if len(o.claims) == maxClaims {
		o.log.CountLimit(verdict.LimitClaims, 1)
		o.claims = append(o.claims[:0], o.claims[1:]...)
	}
	o.claims = append(o.claims, c)
}

// idle reports whether the port sends no pause frames under the current setting and the one before.
func (o *Out) idle() bool { return !o.now.sends() && !o.olds[0].sends() }

// Coming must be called before the bytes of a frame that came in are added to the level; room is their number.
func (o *Out) Coming(x At, room int) {
	if o.idle() {
		return
	}
	if o.doubt.open && (x.First > o.doubt.cycle || o.doubt.most+room <= o.doubt.limit) {
		o.failUnfounded()
	}
	o.doubt.open = false
	if o.lowSince != never && o.late(o.lowSince, x.First) {
		o.failNoEnd()
	}
	o.lowSince = never
	o.settle(x.Last)
}

// Came must be called after the bytes of a frame that came in were added: level is the upper bound of the buffer's
// level, seq the number of the next frame.
func (o *Out) Came(now int64, level int, seq uint32) {
	if !o.now.sends() || !o.now.distinct() || !o.late(o.oldSince, now) || level <= int(o.now.Xoff) {
		return
	}
	for i := range o.claims {
		if c := &o.claims[i]; c.missing && !c.renewal && !c.overdue && level < c.most+claimStep {
			// The port already owes a pause frame for this level. Make another claim only once the level has risen by
			// claimStep: only frames that came in before a claim, and leave after its period, can refute it, so frames
			// that come in from now on can only refute another claim.
			return
		}
	}
	o.claim(levelClaim{from: now, to: now, slack: true, before: seq, limit: int(o.now.Xoff), most: level, missing: true,
		after: now - o.renewalTime(&o.now)})
}

// renewalTime returns the number of cycles after which a pause must be sent again: half of its time.
func (o *Out) renewalTime(cfg *setting) int64 {
	return core.PauseCycles(cfg.PauseTime, o.ethBits) / 2
}

// over reports whether the period that a claim covers has passed.
func (o *Out) over(c *levelClaim, now int64) bool {
	if c.slack {
		return o.late(c.to, now)
	}
	return now > c.to
}

// settle decides the claims that follow from missing pause frames, once the period of the claim has passed. It drops a
// claim if the pause frame was sent; otherwise the claim becomes overdue, and frames delivered later may refute it.
func (o *Out) settle(now int64) {
	kept := o.claims[:0]
	for _, c := range o.claims {
		if c.missing && !c.overdue && o.over(&c, now) {
			switch {
			case o.met(&c):
				continue
			case !c.renewal && o.endedAt > c.from && !o.late(o.endedAt, now):
				// Keep the claim: the frame that ended the previous pause was decided before the missing one, and had
				// to leave first.
			default:
				c.overdue, c.to, c.slack = true, now-1, false
			}
		}
		kept = append(kept, c)
	}
	o.claims = kept
}

// met reports whether the pause frame whose absence a claim states has been sent after all, or is no longer due. A
// pause that began after the claim counts as sent even if it has ended since: its end has a claim of its own.
func (o *Out) met(c *levelClaim) bool {
	switch {
	case o.unknown, c.renewal && !o.paused:
		return true
	case o.pausedAt <= c.after:
		return false
	}
	return o.paused || o.pausedAt > c.from
}

// Delivered must be called when a frame was delivered: with its number, the cycle of its last beat, and its bytes
// in the buffer. The fate of every frame before number base is known.
func (o *Out) Delivered(now int64, seq uint32, last int64, room int, base uint32) {
	if len(o.claims) == 0 {
		return
	}
	o.settle(now)
	kept := o.claims[:0]
	for _, c := range o.claims {
		if int32(base-c.before) >= 0 {
			continue // every frame that could refute the claim has left
		}
		if o.over(&c, now) && last <= c.from && int32(seq-c.before) < 0 && (c.overdue || !c.missing) {
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

// Low records since when, during a pause, the buffer has certainly been at xon or below; level is the upper bound
// of its level.
func (o *Out) Low(now int64, level int) {
	if o.paused && !o.unknown && o.now.sends() && o.lowSince == never && level <= int(o.now.Xon) {
		o.lowSince = now
	}
}

// End checks [F6] at the end of a run: a pause frame that is still in doubt, and one with time 0 that was not sent
// in time.
func (o *Out) End(now int64, level int) {
	if o.doubt.open {
		o.failUnfounded()
	}
	o.Low(now, level)
	if o.lowSince != never && o.late(o.lowSince, now) {
		o.failNoEnd()
	}
}

func (o *Out) failUnfounded() {
	c := &o.doubt
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
