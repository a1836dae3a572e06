package pause

import (
	"bytes"
	"fmt"
	"math"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Configure follows a write of table PortCfg or of PORT_MAC. It reports whether what PortCfg says is another now.
func (o *Out) Configure(e nicspec.PortEntryFields, mac [6]byte, cycle int64) (changed bool) {
	next := setting{e, mac}
	if changed = next.PortEntryFields != o.now.PortEntryFields; changed {
		o.unknown = o.unknown || o.paused || o.now.sends()
		o.lowSince, o.claims, o.open = never, o.claims[:0], doubt{}
	}
	o.retire(cycle)
	o.now = next
	return changed
}

// Sent judges a pause frame of the device's own. seq is the ordinal of the frame that comes in next, and most is the
// most bytes that the buffer can have held since LooksBack.
func (o *Out) Sent(frame []byte, x At, seq uint32, most int) {
	cfg, end, known := o.sentBy(frame, x)
	switch {
	case cfg == nil:
		o.unknown = true
	case !known:
	case end:
		o.ends(o.marksAt(x.First), x, seq)
	default:
		o.tells(cfg.PauseTime, o.marksAt(x.First), x, seq, most)
	}
}

// sentBy finds a configuration that has the bytes of a pause frame, nil if none
// that is known does, and whether the frame ends the pause. known is false if that
// cannot be told.
func (o *Out) sentBy(frame []byte, x At) (cfg *setting, end, known bool) {
	for i := range keptSettings + 1 {
		if c := o.at(i, x.First); c != nil {
			if end, ok := c.sent(frame); ok {
				return c, end, c.tells()
			}
		}
	}
	if o.late(o.loose, x.First) {
		o.failFrame(frame, x)
	} else {
		o.log.Lost(verdict.LimitPauses, 1)
	}
	return nil, false, false
}

// at is the i-th latest configuration, nil if no pause frame can be sent by
// it in a cycle.
func (o *Out) at(i int, cycle int64) *setting {
	c := &o.now
	if i > 0 {
		if c = &o.olds[i-1].setting; o.late(o.olds[i-1].since, cycle) {
			return nil
		}
	}
	if !c.sends() {
		return nil
	}
	return c
}

// marks bounds what decided on a pause frame, by the settings that can have been in force then.
type marks struct {
	xoff, xon int    // the lowest of each: above xoff a pause may begin, above xon it may be renewed
	end       int    // the highest xon: at or below it the pause may end
	time      uint16 // the shortest pause time
}

// marksAt returns the marks for a pause frame that begins to leave in a cycle. Its bytes do not say which
// setting decided on it: several may have the same, and one that is written while the frame waits
// gives its bytes to what an earlier one decided. Settings that are forgotten may allow anything.
func (o *Out) marksAt(cycle int64) marks {
	m := marks{xoff: math.MaxInt, xon: math.MaxInt, time: math.MaxUint16}
	if !o.late(o.loose, cycle) {
		o.log.Lost(verdict.LimitPauses, 1)
		m = marks{end: math.MaxInt}
	}
	for i := range keptSettings + 1 {
		if c := o.at(i, cycle); c != nil {
			m.xoff, m.xon = min(m.xoff, int(c.Xoff)), min(m.xon, int(c.Xon))
			m.end, m.time = max(m.end, int(c.Xon)), min(m.time, c.PauseTime)
		}
	}
	return m
}

// sent reports whether a pause frame is one of this configuration, and whether
// it is one with time 0.
func (c *setting) sent(frame []byte) (end, ok bool) {
	var want [nicspec.FrameMin]byte
	for _, quanta := range [...]uint16{0, c.PauseTime} {
		core.BuildPause(&c.PortEntryFields, c.mac, quanta, &want)
		if bytes.Equal(want[:], frame) {
			return quanta == 0, true
		}
	}
	return false, false
}

func (o *Out) failFrame(got []byte, x At) {
	var c *setting
	for i := 0; c == nil; i++ {
		if i > keptSettings {
			o.fail("F7", "frame", "no pause frame: tx_mode is 0", fmt.Sprintf("one of %d B", len(got)))
			return
		}
		c = o.at(i, x.First)
	}
	var want [nicspec.FrameMin]byte
	core.BuildPause(&c.PortEntryFields, c.mac, c.PauseTime, &want)
	if len(want) != len(got) {
		o.fail("F6", "frame length", fmt.Sprint(len(want)), fmt.Sprint(len(got)))
		return
	}
	i := verdict.FirstDifference(want[:], got)
	o.fail("F6", pauseField(i), verdict.ByteOf(want[i], i), verdict.ByteOf(got[i], i),
		fmt.Sprintf("a pause frame: %x", got))
}

// pauseField names a byte of a pause frame.
func pauseField(at int) string {
	for _, f := range [...]struct {
		name string
		end  int
	}{{"eth.dst", 6}, {"eth.src", 12}, {"eth.type", 14}, {"pause.opcode", 16}, {"pause.time", 18},
		{"pause.class_times", 34}} {
		if at < f.end {
			return f.name
		}
	}
	return "padding"
}

// tells is a pause frame with a time in quanta: the buffer has to have passed xoff,
// or not to have come down to xon since the one before.
func (o *Out) tells(quanta uint16, m marks, x At, seq uint32, most int) {
	limit := m.xoff
	if o.paused || o.unknown {
		limit = m.xon
	}
	shortest := min(o.quanta, m.time) // half of it has passed, whether it was written before that began or since
	if again := o.decided + core.PauseCycles(shortest, o.ethBits)/2; o.paused && !o.unknown && x.First < again {
		o.fail("F6", "pause.time", fmt.Sprintf("sent again in cycle %d or later", again),
			fmt.Sprintf("in cycle %d", x.First))
	}
	if most <= limit {
		o.open = doubt{open: true, cycle: x.Last, most: most, limit: limit}
	}
	o.paused, o.told, o.quanta, o.unknown, o.lowSince = true, x.First, quanta, false, never
	o.decided = o.held.Back(x.First, o.slack)
	if o.late(o.oldSince, x.First) {
		o.claim(levelClaim{from: x.Last, to: x.Last + o.again(&o.now), slack: true, before: seq, limit: int(o.now.Xon),
			missing: true, after: o.told, again: true})
	}
}

// ends is a pause frame with time 0.
func (o *Out) ends(m marks, x At, seq uint32) {
	if !o.paused && !o.unknown {
		o.fail("F6", "pause.time", "none: no pause is to be ended", "0")
	}
	o.claim(levelClaim{from: o.LooksBack(x.First), to: x.First, before: seq, limit: m.end})
	o.paused, o.ended, o.unknown, o.lowSince = false, x.Last, false, never
}
