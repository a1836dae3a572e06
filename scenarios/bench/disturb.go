package bench

import (
	"syscall"
	"time"

	"nictwin/scenarios/pair"
)

// On a busy machine a figure in wall time means little: runs do not get the processors that they need, and the side
// with more threads even gains from that. The benchmarks therefore measure the missing processor time as well.

// tooBusy is the share of missing processor time above which a result counts as disturbed: it neither reaches nor
// misses its goal.
const tooBusy = 0.1

// clock is the start of a measured interval.
type clock struct {
	begin    time.Time
	delay    time.Duration // time for which this thread had waited for a processor before begin
	children time.Duration // processor time of the child processes that had ended before begin
}

func startClock() clock {
	return clock{begin: time.Now(), delay: ownDelay(), children: childTime()}
}

// wall returns the time since the start.
func (c clock) wall() time.Duration { return time.Since(c.begin) }

// delayed returns the share of the time since the start in which this thread waited for a processor.
func (c clock) delayed() float64 { return share(ownDelay()-c.delay, c.wall()) }

// starved returns the share of the time since the start in which a child process had no processor. The child must be
// the only one, have run all that time, and have ended.
func (c clock) starved() float64 { return share(c.wall()-(childTime()-c.children), c.wall()) }

// used returns the processor time of children that have ended since the start.
func (c clock) used() time.Duration { return childTime() - c.children }

func share(d, of time.Duration) float64 {
	if of <= 0 {
		return 0
	}
	return min(1, max(0, d.Seconds()/of.Seconds()))
}

// ownDelay returns how long this thread has been ready to run without a processor. The caller must be locked to
// its thread.
func ownDelay() time.Duration { return pair.ThreadDelay() }

func childTime() time.Duration { return usage(syscall.RUSAGE_CHILDREN) }

// cpuTime returns the processor time of all threads of this process.
func cpuTime() time.Duration { return usage(syscall.RUSAGE_SELF) }

func usage(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
