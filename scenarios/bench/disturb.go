package bench

import (
	"syscall"
	"time"

	"nictwin/scenarios/pair"
)

// A figure by wall time means little on a busy machine: what is compared does not get the processors it needs, and the
// side with more threads even gains. So it is measured how much was missing.

// tooBusy is the share of missing processor time beyond which a goal is neither reached nor missed.
const tooBusy = 0.1

// clock measures a stretch of work.
type clock struct {
	begin    time.Time
	delay    time.Duration // that this thread has waited for a processor
	children time.Duration // processor time of children that have ended
}

func startClock() clock {
	return clock{begin: time.Now(), delay: ownDelay(), children: childTime()}
}

// wall is the time since the start.
func (c clock) wall() time.Duration { return time.Since(c.begin) }

// delayed is the share of the time that this thread waited for a processor.
func (c clock) delayed() float64 { return share(ownDelay()-c.delay, c.wall()) }

// starved is the share of the time that a child, which ran alone, did not have a processor. It must have ended.
func (c clock) starved() float64 { return share(c.wall()-(childTime()-c.children), c.wall()) }

// used is the processor time of children that have ended since the start.
func (c clock) used() time.Duration { return childTime() - c.children }

func share(d, of time.Duration) float64 {
	if of <= 0 {
		return 0
	}
	return min(1, max(0, d.Seconds()/of.Seconds()))
}

// ownDelay is how long this thread has been ready to run without a processor. The caller must be locked to its thread.
func ownDelay() time.Duration { return pair.ThreadDelay() }

func childTime() time.Duration { return usage(syscall.RUSAGE_CHILDREN) }

// cpuTime is the processor time of this process, all its threads.
func cpuTime() time.Duration { return usage(syscall.RUSAGE_SELF) }

func usage(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
