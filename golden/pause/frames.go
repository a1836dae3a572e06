package pause

import (
	"bytes"
	"fmt"

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
		o.ends(cfg, x, seq)
	default:
		o.tells(cfg, x, seq, most)
	}
}

// sentBy finds out by which configuration a pause frame was sent, nil if by
// none that is known, and whether it ends the pause. known is false if that
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

// tells is a pause frame with a time: the buffer has to have passed xoff,
// or not to have come down to xon since the one before.
func (o *Out) tells(cfg *setting, x At, seq uint32, most int) {
	limit := int(cfg.Xoff)
	if o.paused || o.unknown {
		limit = int(cfg.Xon)
	}
	// half of which has passed, whether the time was written before that began or since
	quanta := min(o.quanta, cfg.PauseTime)
	if again := o.decided + core.PauseCycles(quanta, o.ethBits)/2; o.paused && !o.unknown && x.First < again {
		o.fail("F6", "pause.time", fmt.Sprintf("sent again in cycle %d or later", again),
			fmt.Sprintf("in cycle %d", x.First))
	}
	if most <= limit {
		o.open = doubt{open: true, cycle: x.Last, most: most, limit: limit}
	}
	o.paused, o.told, o.quanta, o.unknown, o.lowSince = true, x.First, cfg.PauseTime, false, never
	o.decided = o.held.Back(x.First, o.slack)
	if o.late(o.oldSince, x.Last) {
		o.claim(levelClaim{from: x.Last, to: x.Last + o.again(cfg), slack: true, before: seq, limit: int(cfg.Xon),
			missing: true, after: o.told, again: true})
	}
}

// ends is a pause frame with time 0.
func (o *Out) ends(cfg *setting, x At, seq uint32) {
	if !o.paused && !o.unknown {
		o.fail("F6", "pause.time", "none: no pause is to be ended", "0")
	}
	o.claim(levelClaim{from: o.LooksBack(x.First), to: x.First, before: seq, limit: int(cfg.Xon)})
	o.paused, o.ended, o.unknown, o.lowSince = false, x.Last, false, never
}
