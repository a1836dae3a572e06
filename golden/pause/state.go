package pause

import (
	"math"

	"nictwin/golden/cycles"
	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
)

// doubt is a pause frame for which the buffer held too little, unless a
// frame was coming in then that counts.
type doubt struct {
	open        bool
	cycle       int64
	most, limit int // bytes
}

// levelClaim says that the buffer held no more than a limit at some time from a
// cycle to another. Frames that were there all the time, and are delivered
// later, may show that it is wrong.
type levelClaim struct {
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
	never   = math.MinInt64
	forever = math.MaxInt64
)

const keptSettings = 4

// Out is what is known of the pause frames that a port sends. Make it with NewOut.
type Out struct {
	log     *verdict.Log
	port    int
	ethBits int
	held    *cycles.Set // when the port was held back
	slack   int64       // how long a pause frame may wait; see SlackOf

	first, last int64 // of the frame that left last, of any kind

	state
}

// state is what a function-level reset forgets.
type state struct {
	now      setting
	olds     [keptSettings]oldSetting // those before it, the latest first
	oldSince int64                    // cycle of the latest change: until late, one of them may be in force
	loose    int64                    // likewise of others

	paused   bool   // the other side was told to pause,
	told     int64  // in this cycle, decided in
	decided  int64  // this one at the earliest; the latest end was sent
	ended    int64  // in this one
	quanta   uint16 // for which it was told
	unknown  bool   // the configuration changed since
	lowSince int64  // the buffer is surely at xon or below since, and nobody was told; never if it is not

	open   doubt
	claims []levelClaim
}

// setting is what the pause frames of a port depend on.
type setting struct {
	nicspec.PortEntryFields
	mac [6]byte
}

// At is when a crossing was: the cycles of its first and its last beat.
type At struct{ First, Last int64 }

// NewOut is that of a port of a device that was just reset. held is when the port was held back.
func NewOut(port, ethBits int, held *cycles.Set, log *verdict.Log) Out {
	return Out{log: log, port: port, ethBits: ethBits, held: held, slack: SlackOf(ethBits), first: never, last: never,
		state: afterReset()}
}

func afterReset() state {
	return state{oldSince: never, loose: never, told: never, decided: never, ended: never, lowSince: never}
}

// Reset says that the registers are as after reset again.
func (o *Out) Reset() { o.state = afterReset() }

// Resets is the beginning of a function-level reset: pause frames need not be sent any more, though they may.
func (o *Out) Resets() {
	o.retire(forever)
	o.state = state{olds: o.olds, oldSince: forever, loose: o.loose, paused: o.paused, told: o.told, decided: o.decided,
		ended: never, unknown: true, lowSince: never}
}

// Left notes a frame of any kind that left, once it was judged.
func (o *Out) Left(x At) { o.first, o.last = x.First, x.Last }

// late reports whether a pause frame that a cycle asked for would have left
// before another one, but for cycles in which the port was held back.
func (o *Out) late(since, now int64) bool {
	return since == never || now > since && o.held.Free(since, now-1) >= o.slack
}

// oldSetting is a configuration that was followed by another.
type oldSetting struct {
	setting
	since int64 // cycle of the change: until late, it may be in force
}

// retire makes the configuration one of the former, since a cycle.
func (o *Out) retire(since int64) {
	if last := &o.olds[keptSettings-1]; last.sends() {
		o.loose = max(o.loose, last.since)
	}
	copy(o.olds[1:], o.olds[:])
	o.olds[0] = oldSetting{o.now, since}
	o.oldSince = since
}

func (c *setting) sends() bool { return c.TxMode != nicspec.PauseModeNone }

// tells reports whether a pause frame with a time differs from one without: a priority pause of no class does not.
func (c *setting) tells() bool { return c.TxMode == nicspec.PauseModePause || c.TxClasses != 0 }

// SlackOf is how long a pause frame may wait: for its decision, for the count
// that is looked at, and behind the longest frame. Cycles in which the port is
// held back do not count.
func SlackOf(ethBits int) int64 {
	return 2*nicspec.VisibleCycles + int64(nicspec.FrameMax*8/ethBits) + 1
}

// LooksBack is the earliest cycle that a pause frame may speak of which begins
// to leave in a cycle.
func (o *Out) LooksBack(first int64) int64 {
	const wait = 2 * nicspec.VisibleCycles
	from := o.held.Back(first, wait)
	if o.last >= from { // it may have waited behind that frame
		from = min(from, o.held.Back(o.first, wait))
	}
	return from
}

func (o *Out) fail(rule, field, want, got string, summary ...string) {
	o.log.Fail(verdict.Port(o.port), rule, field, want, got, summary...)
}
