package pause

import (
	"math"

	"nictwin/golden/cycles"
	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
)

// doubtfulPause is a pause frame for which the buffer held too little, unless the frame that was coming in at that time
// counts.
type doubtfulPause struct {
	open        bool
	cycle       int64
	most, limit int // bytes
}

// levelClaim says that the buffer held no more than limit bytes at some time between two cycles. Frames that were there
// all the time and are delivered later may refute it.
type levelClaim struct {
	from, to int64
	slack    bool   // the time goes on after to, until a pause frame due in cycle to is late
	before   uint32 // only frames with a lower ordinal count
	limit    int
	most     int // bytes that may have been held when the claim was made
	least    int // bytes of the frames delivered since that were held all the time

	// missing: no pause frame is sent, so the buffer must have been at limit or below. Otherwise the claim is that of
	// a frame that ended a pause.
	missing bool
	after   int64 // a missing frame meets the claim if it is sent after this cycle
	renewal bool  // the missing frame renews a pause; none is due once that has ended
	overdue bool  // the missing frame was not sent in time
}

const (
	never   = math.MinInt64
	forever = math.MaxInt64
)

const keptSettings = 4

// Out judges the pause frames that a port sends. Make it with NewOut.
type Out struct {
	log     *verdict.Log
	port    int
	ethBits int
	held    *cycles.Set // cycles of back-pressure on the port
	slack   int64       // cycles that a pause frame may wait; see SlackOf

	first, last int64 // cycles of the latest frame that left, of any kind

	state
}

// state is the part of an Out that a function-level reset clears.
type state struct {
	now      setting
	olds     [keptSettings]oldSetting // former settings, the latest first
	oldSince int64                    // cycle of the latest change: until late, one of olds may be in force
	// forgotten is the latest cycle in which a setting was replaced that olds no longer holds: until late, such a
	// setting may be in force.
	forgotten int64

	paused   bool   // a pause is in force: the latest pause frame has a time
	pausedAt int64  // first beat of the latest pause frame with a time
	decided  int64  // earliest cycle in which that frame can have been decided
	endedAt  int64  // last beat of the latest pause frame with time 0
	quanta   uint16 // time of the latest pause frame with a time
	unknown  bool   // it is unknown whether a pause is in force, as after a change of the configuration
	lowSince int64  // cycle since which the buffer is surely at xon or below and no end was sent; or never

	doubt  doubtfulPause
	claims []levelClaim
}

// setting is the configuration of a port's pause frames.
type setting struct {
	nicspec.PortEntryFields
	mac [6]byte
}

// At holds the cycles of a crossing's first and last beat.
type At struct{ First, Last int64 }

// NewOut returns the Out of a port of a device that was just reset. held contains the cycles of back-pressure on the
// port.
func NewOut(port, ethBits int, held *cycles.Set, log *verdict.Log) Out {
	return Out{log: log, port: port, ethBits: ethBits, held: held, slack: SlackOf(ethBits), first: never, last: never,
		state: afterReset()}
}

func afterReset() state {
	return state{oldSince: never, forgotten: never, pausedAt: never, decided: never, endedAt: never, lowSince: never}
}

// Reset returns to the state after reset: the registers have their reset values again.
func (o *Out) Reset() { o.state = afterReset() }

// Resets notes the beginning of a function-level reset: from now on pause frames may leave, but none must.
func (o *Out) Resets() {
	o.retire(forever)
	o.state = state{olds: o.olds, oldSince: forever, forgotten: o.forgotten, paused: o.paused, pausedAt: o.pausedAt,
		decided: o.decided, endedAt: never, unknown: true, lowSince: never}
}

// Left records a frame of any kind that left. It is called after the frame was judged.
func (o *Out) Left(x At) { o.first, o.last = x.First, x.Last }

// late reports whether a pause frame that became due in cycle since had to leave before cycle now. Cycles of
// back-pressure do not count.
func (o *Out) late(since, now int64) bool {
	return since == never || now > since && o.held.Free(since, now-1) >= o.slack
}

// oldSetting is a former setting.
type oldSetting struct {
	setting
	since int64 // cycle in which it was replaced: until late, it may be in force
}

// retire makes the current setting the latest former one, replaced in cycle since.
func (o *Out) retire(since int64) {
	if last := &o.olds[keptSettings-1]; last.sends() {
		o.forgotten = max(o.forgotten, last.since)
	}
	copy(o.olds[1:], o.olds[:])
	o.olds[0] = oldSetting{o.now, since}
	o.oldSince = since
}

func (c *setting) sends() bool { return c.TxMode != nicspec.PauseModeNone }

// distinct reports whether a pause frame with a time differs from one with time 0: that of a priority pause without
// classes does not.
func (c *setting) distinct() bool { return c.TxMode == nicspec.PauseModePause || c.TxClasses != 0 }

// SlackOf returns the number of cycles that a pause frame may wait: for its decision, for the count of bytes that it
// looks at, and behind the longest frame. Cycles of back-pressure do not count.
func SlackOf(ethBits int) int64 {
	return 2*nicspec.VisibleCycles + int64(nicspec.FrameMax*8/ethBits) + 1
}

// LooksBack returns the earliest cycle whose level can have decided on a pause frame with its first beat in cycle
// first.
func (o *Out) LooksBack(first int64) int64 {
	const wait = 2 * nicspec.VisibleCycles
	from := o.held.Back(first, wait)
	if o.last >= from { // the pause frame may have waited behind that frame
		from = min(from, o.held.Back(o.first, wait))
	}
	return from
}

func (o *Out) fail(rule, field, want, got string, summary ...string) {
	o.log.Fail(verdict.Port(o.port), rule, field, want, got, summary...)
}
