package golden

import (
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
)

// What the receive buffer holds is known within bounds only: at most the frames
// that came in and are not known to have left, and, in hindsight, at least
// those that were delivered later.

// pauseDoubt is a pause frame for which the buffer held too little, unless a
// frame was coming in then that counts.
type pauseDoubt struct {
	open        bool
	cycle       int64
	most, limit int // bytes
}

// pauseClaim says that the buffer held no more than a limit at some time from a
// cycle to another. Frames that were there all the time, and are delivered
// later, may show that it is wrong.
type pauseClaim struct {
	from, to int64
	slack    bool   // and from then on until late
	before   uint32 // frames with a lower ordinal count
	limit    int
	most     int // bytes that may have been held then
	least    int // bytes of those delivered since

	missing bool  // else it is that of a frame that ended a pause. No pause frame was sent
	after   int64 // after this cycle:
	again   bool  // the next of a pause; none if that was ended
	due     bool  // it was not sent in time
}

const (
	maxPauseClaims = 16
	pauseClaimStep = 4 << 10 // bytes between claims of one crossing
)

func (r *Referee) claimLevel(o *pauseOut, c pauseClaim) {
	if len(o.claims) == maxPauseClaims {
		r.log.Lost(verdict.LimitClaims, 1)
		o.claims = append(o.claims[:0], o.claims[1:]...)
	}
	o.claims = append(o.claims, c)
}

// idle reports whether there is nothing to follow on a port.
func (o *pauseOut) idle() bool { return !o.now.sends() && !o.olds[0].sends() }

// pauseComing is called before a frame that came in counts as held.
func (r *Referee) pauseComing(port int, room int) {
	p := &r.rx.ports[port]
	o := &p.out
	if o.idle() {
		return
	}
	if o.open.open && (r.x.First > o.open.cycle || o.open.most+room <= o.open.limit) {
		r.failTold(port)
	}
	o.open.open = false
	if o.lowSince != never && o.late(o.lowSince, r.x.First) {
		r.failNoEnd(port)
	}
	o.lowSince = never
	r.pauseDue(o)
}

// pauseCame is called after a frame that came in counts as held.
func (r *Referee) pauseCame(p *rxPort) {
	o := &p.out
	if !o.now.sends() || !o.now.tells() || !o.late(o.oldSince, r.now) || p.level <= int(o.now.Xoff) {
		return
	}
	for i := range o.claims {
		if c := &o.claims[i]; c.missing && !c.again && !c.due && p.level < c.most+pauseClaimStep {
			return // one at a time, and others as more is held: frames that leave before the time of one is over count for the next
		}
	}
	r.claimLevel(o, pauseClaim{from: r.now, to: r.now, slack: true, before: p.seq, limit: int(o.now.Xoff), most: p.level, missing: true,
		after: r.now - r.pauseAgain(&o.now)})
}

// pauseAgain is the time after which a pause is told again, unless that has to
// wait.
func (r *Referee) pauseAgain(cfg *pauseConfig) int64 {
	return core.PauseCycles(cfg.PauseTime, r.cfg.Build.EthBits) / 2
}

// over reports whether the time of a claim is over.
func (o *pauseOut) over(c *pauseClaim, now int64) bool {
	if c.slack {
		return o.late(c.to, now)
	}
	return now > c.to
}

// pauseDue settles the claims that a pause frame would have been needed, once
// it had to be there.
func (r *Referee) pauseDue(o *pauseOut) {
	kept := o.claims[:0]
	for _, c := range o.claims {
		if c.missing && !c.due && o.over(&c, r.now) {
			switch {
			case o.answers(&c):
				continue
			case !c.again && o.ended > c.from && !o.late(o.ended, r.now):
				// The end was decided before, and had to leave first.
			default:
				c.due, c.to, c.slack = true, r.now-1, false
			}
		}
		kept = append(kept, c)
	}
	o.claims = kept
}

// answers reports whether what was sent is what a claim asks for: a pause that
// was told since it began, even if it has ended (the end has a claim of its own),
// or that is still in force.
func (o *pauseOut) answers(c *pauseClaim) bool {
	switch {
	case o.unknown, c.again && !o.paused:
		return true
	case o.told <= c.after:
		return false
	}
	return o.paused || o.told > c.from
}

// pauseDelivered is called when a frame was delivered, before it is forgotten.
func (r *Referee) pauseDelivered(p *rxPort, f *rxFrame) {
	o := &p.out
	if len(o.claims) == 0 {
		return
	}
	r.pauseDue(o)
	kept := o.claims[:0]
	for _, c := range o.claims {
		if int32(p.base-c.before) >= 0 {
			continue // all that count have left
		}
		if o.over(&c, r.now) && f.last <= c.from && int32(f.seq-c.before) < 0 && (c.due || !c.missing) {
			c.least += roomOf(f.n)
		}
		if c.least > c.limit {
			r.failClaim(f.port, &c)
			continue
		}
		kept = append(kept, c)
	}
	o.claims = kept
}

// pauseLow notes that the buffer is surely at xon or below.
func (r *Referee) pauseLow(p *rxPort) {
	if o := &p.out; o.paused && !o.unknown && o.now.sends() && o.lowSince == never && p.level <= int(o.now.Xon) {
		o.lowSince = r.now
	}
}

// endPauses is [F6] when the run is over.
func (r *Referee) endPauses() {
	for port := range r.rx.ports {
		o := &r.rx.ports[port].out
		if o.open.open {
			r.failTold(port)
		}
		r.pauseLow(&r.rx.ports[port])
		if o.lowSince != never && o.late(o.lowSince, r.now) {
			r.failNoEnd(port)
		}
	}
}

func (r *Referee) failTold(port int) {
	c := &r.rx.ports[port].out.open
	r.log.Fail(verdict.Port(port), "F6", "frame", fmt.Sprintf("no pause while %d B or less are held", c.limit),
		fmt.Sprintf("one in cycle %d, when at most %d B were", c.cycle, c.most))
}

func (r *Referee) failNoEnd(port int) {
	o := &r.rx.ports[port].out
	r.log.Fail(verdict.Port(port), "F6", "frame", fmt.Sprintf("a pause frame with time 0: %d B or less are held since cycle %d",
		o.now.Xon, o.lowSince), "none")
}

func (r *Referee) failClaim(port int, c *pauseClaim) {
	d, held := verdict.Port(port), fmt.Sprintf("at least %d B were held from cycle %d to %d", c.least, c.from, c.to)
	if c.missing {
		r.log.Fail(d, "F6", "frame", fmt.Sprintf("a pause frame: more than %d B are held", c.limit), "none", held)
		return
	}
	r.log.Fail(d, "F6", "pause.time", fmt.Sprintf("not 0: more than %d B are held", c.limit), "0", held)
}

func roomOf(n int) int { return (n + bufferUnit - 1) / bufferUnit * bufferUnit }

// highestLevel is the most that the receive buffer can have held in a cycle not
// long ago.
func (p *rxPort) highestLevel(cycle int64) int {
	held := p.level
	for i := p.left.Len() - 1; i >= 0 && p.left.At(i).cycle >= cycle; i-- {
		held += p.left.At(i).size
	}
	return held
}
