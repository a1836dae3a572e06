package pause

import (
	"bytes"
	"fmt"
	"math"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Configure records the setting after a write of table PortCfg or of PORT_MAC. It reports whether PortCfg changed.
func (o *Out) Configure(e nicspec.PortEntryFields, mac [6]byte, cycle int64) (changed bool) {
	next := setting{e, mac}
	if changed = next.PortEntryFields != o.now.PortEntryFields; changed {
		o.unknown = o.unknown || o.paused || o.now.sends()
		o.lowSince, o.claims, o.doubt = never, o.claims[:0], doubtfulPause{}
	}
	o.retire(cycle)
	o.now = next
	return changed
}

// Sent judges a pause frame that the device sent. seq is the number of the frame that comes in next; most is the
// highest level that the buffer can have had since cycle LooksBack.
func (o *Out) Sent(frame []byte, x At, seq uint32, most int) {
	cfg, end, known := o.sentBy(frame, x)
	switch {
	case cfg == nil:
		o.unknown = true
	case !known:
	case end:
		o.sentEnd(o.marksAt(x.First), x, seq)
	default:
		o.sentPause(cfg.PauseTime, o.marksAt(x.First), x, seq, most)
	}
}

// sentBy returns a setting under which a pause frame has these bytes, and whether the frame ends the pause. It
// returns nil if no known setting fits. known is false if the bytes do not show whether the frame ends the pause.
func (o *Out) sentBy(frame []byte, x At) (cfg *setting, end, known bool) {
	for i := range keptSettings + 1 {
		if c := o.settingAt(i, x.First); c != nil {
			if end, ok := c.matches(frame); ok {
				return c, end, c.distinct()
			}
		}
	}
	if o.late(o.forgotten, x.First) {
		o.failFrame(frame, x)
	} else {
		o.log.CountLimit(verdict.LimitPauses, 1)
	}
	return nil, false, false
}

// settingAt returns the i-th latest setting, from 0; nil if it cannot have sent a pause frame in the given cycle.
func (o *Out) settingAt(i int, cycle int64) *setting {
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

// marks combines the thresholds and pause times of all settings that may have decided on a pause frame, each in the
// device's favour.
type marks struct {
	xoff, xon int    // lowest thresholds of the combined settings: above xoff a pause may begin, above xon be renewed
	end       int    // highest xon of the combined settings: at or below it, a pause may end
	time      uint16 // shortest pause time, in quanta
}

// marksAt returns the marks for a pause frame whose first beat left in the given cycle. Its bytes do not show which
// setting decided on it: several settings may give the same bytes, and a frame that waits takes its bytes from a
// setting written after the decision. Settings that are no longer kept may have allowed anything.
func (o *Out) marksAt(cycle int64) marks {
	m := marks{xoff: math.MaxInt, xon: math.MaxInt, time: math.MaxUint16}
	if !o.late(o.forgotten, cycle) {
		o.log.CountLimit(verdict.LimitPauses, 1)
		m = marks{end: math.MaxInt}
	}
	for i := range keptSettings + 1 {
		if c := o.settingAt(i, cycle); c != nil {
			m.xoff, m.xon = min(m.xoff, int(c.Xoff)), min(m.xon, int(c.Xon))
			m.end, m.time = max(m.end, int(c.Xon)), min(m.time, c.PauseTime)
		}
	}
	return m
}

// matches reports whether a frame is a pause frame as sent under this setting, and whether it ends the pause (time
// 0).
func (c *setting) matches(frame []byte) (end, ok bool) {
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
		c = o.settingAt(i, x.First)
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

// pauseField names the field of a pause frame that contains byte number at.
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

// sentPause judges a pause frame with a time: the buffer must have risen above xoff, or have stayed above xon since
// the previous pause frame.
func (o *Out) sentPause(quanta uint16, m marks, x At, seq uint32, most int) {
	limit := m.xoff
	if o.paused || o.unknown {
		limit = m.xon
	}
	// half of a pause time must have passed: of the previous frame's, or of a shorter one in a later setting
	shortest := min(o.quanta, m.time)
	if again := o.decided + core.PauseCycles(shortest, o.ethBits)/2; o.paused && !o.unknown && x.First < again {
		o.fail("F6", "pause.time", fmt.Sprintf("sent again in cycle %d or later", again),
			fmt.Sprintf("in cycle %d", x.First))
	}
	if most <= limit {
		o.doubt = doubtfulPause{open: true, cycle: x.Last, most: most, limit: limit}
	}
	o.paused, o.pausedAt, o.quanta, o.unknown, o.lowSince = true, x.First, quanta, false, never
	o.decided = o.held.Back(x.First, o.slack)
	if o.late(o.oldSince, x.First) {
		o.claim(levelClaim{from: x.Last, to: x.Last + o.renewalTime(&o.now), slack: true, before: seq,
			limit: int(o.now.Xon), missing: true, after: o.pausedAt, renewal: true})
	}
}

// sentEnd judges a pause frame with time 0: a pause must be in force, and the buffer must have fallen to xon.
func (o *Out) sentEnd(m marks, x At, seq uint32) {
	if !o.paused && !o.unknown {
		o.fail("F6", "pause.time", "none: no pause is in force", "0")
	}
	o.claim(levelClaim{from: o.LooksBack(x.First), to: x.First, before: seq, limit: m.end})
	o.paused, o.endedAt, o.unknown, o.lowSince = false, x.Last, false, never
}
