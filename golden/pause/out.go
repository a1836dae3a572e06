package pause

import (
	"math"

	"nictwin/golden/cycles"
	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
)

// doubtfulPause is a pause frame that was sent although the buffer held too little. The frame that is coming in at
// that time may justify it.
type doubtfulPause struct {
	open        bool
	cycle       int64
	most, limit int // highest possible level, and the threshold, in bytes
}

// levelClaim states that the buffer's level was at most `limit` bytes at some time between two cycles. The device's
// behaviour implies it; frames that were in the buffer all that time, and are delivered later, may refute the claim.
type levelClaim struct {
	from, to int64
	slack    bool   // the period extends beyond cycle `to`, until a pause frame that fell due in that cycle is late
	before   uint32 // only frames with a lower number can refute the claim
	limit    int
	most     int // highest level, in bytes, that the buffer may have had when the referee made the claim
	least    int // lower bound of the level: bytes of the frames, delivered later, that were held from `from` to `to`

	// missing is set if the claim follows from a pause frame that was not sent. Otherwise it follows from a pause
	// frame that ended a pause.
	missing bool
	after   int64 // a pause frame sent after this cycle fulfils the claim
	renewal bool  // the pause frame that was not sent would renew a pause; none is due once the pause has ended
	overdue bool  // the claim's period has passed, and the pause frame was not sent
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
	slack   int64       // cycles that a pause frame may wait before it leaves; see SlackOf

	first, last int64 // first and last cycle of the latest frame of any kind that left

	state
}

// state is the part of an Out that a function-level reset clears.
type state struct {
	now      setting
	olds     [keptSettings]oldSetting // previous settings, the latest first
	oldSince int64                    // cycle of the latest change; `olds` may apply until late(oldSince, now)
	// forgotten is the latest cycle in which a setting that `olds` no longer contains was replaced. That setting may
	// decide on pause frames until late(forgotten, now).
	forgotten int64

	paused   bool   // a pause is in force: the latest pause frame has a time other than 0
	pausedAt int64  // cycle of the first beat of the latest pause frame with a time
	decided  int64  // earliest cycle in which the device can have decided to send the frame of cycle `pausedAt`
	endedAt  int64  // cycle of the last beat of the latest pause frame with time 0
	quanta   uint16 // pause time of the latest pause frame with a time
	unknown  bool   // paused is not known, as after a change of the configuration
	lowSince int64  // cycle since which the level certainly asks for the end of the pause; or never

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

// Reset returns to the state after reset, in which the registers have their reset values.
func (o *Out) Reset() { o.state = afterReset() }

// ResetBegins records the beginning of a function-level reset: until its end, pause frames may leave, but none
// must.
func (o *Out) ResetBegins() {
	o.retire(forever)
	o.state = state{olds: o.olds, oldSince: forever, forgotten: o.forgotten, paused: o.paused, pausedAt: o.pausedAt,
		decided: o.decided, endedAt: never, unknown: true, lowSince: never}
}

// Left records a frame of any kind that left. It is called after the frame was judged.
func (o *Out) Left(x At) { o.first, o.last = x.First, x.Last }

// late reports whether a pause frame that fell due in cycle `since` had to leave before cycle `now`. Cycles of
// back-pressure do not count.
func (o *Out) late(since, now int64) bool {
	return since == never || now > since && o.held.Free(since, now-1) >= o.slack
}

// oldSetting is a setting that was replaced.
type oldSetting struct {
	setting
	since int64 // cycle in which the setting was replaced; it may decide on pause frames until late(since, now)
}

// retire moves the current setting to the front of `olds`, and records that it was replaced in cycle `since`.
func (o *Out) retire(since int64) {
	if last := &o.olds[keptSettings-1]; last.sends() {
		o.forgotten = max(o.forgotten, last.since)
	}
	copy(o.olds[1:], o.olds[:])
	o.olds[0] = oldSetting{o.now, since}
	o.oldSince = since
}

func (c *setting) sends() bool { return c.TxMode != nicspec.PauseModeNone }

// distinct reports whether the bytes of a pause frame show if its time is 0. Those of a priority pause without
// classes do not.
func (c *setting) distinct() bool { return c.TxMode == nicspec.PauseModePause || c.TxClasses != 0 }

// SlackOf returns the number of cycles that a pause frame may take to leave after the level asks for it: for the
// count of bytes, for the decision, and for the longest frame before it. Cycles of back-pressure come on top.
func SlackOf(ethBits int) int64 {
	return 2*nicspec.VisibleCycles + int64(nicspec.FrameMax*8/ethBits) + 1
}

// LooksBack returns the earliest cycle whose level can have decided on a pause frame with its first beat in cycle
// first.
func (o *Out) LooksBack(first int64) int64 {
	const wait = 2 * nicspec.VisibleCycles
	from := o.held.Back(first, wait)
	if o.last >= from { // the frame may have waited behind the previous one
		from = min(from, o.held.Back(o.first, wait))
	}
	return from
}

func (o *Out) fail(rule, field, want, got string, summary ...string) {
	o.log.Fail(verdict.Port(o.port), rule, field, want, got, summary...)
}
