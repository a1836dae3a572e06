package player

import (
	"encoding/binary"

	"nictwin/models/nic/boundary"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// arrival describes an incoming frame.
type arrival struct {
	sum     uint16       // value of its UDP checksum field
	udp     bool         // the UDP checksum is present and correct
	invalid *invalidRule // invalidated rule that the frame matches, or nil

	last int64 // cycle of its last beat
}

// invalidRule is a rule that was invalidated.
type invalidRule struct {
	index int
	rule  nicspec.RuleEntryFields
	since int64 // cycle from which on the rule is certainly invalid [R6]
}

func (o *invalidRule) matches(key *[nicspec.SteerKeySize]byte) bool {
	for i, b := range key {
		if (b^o.rule.Value[i])&o.rule.Mask[i] != 0 {
			return false
		}
	}
	return true
}

// ruled tracks invalidated rules: a table write with valid 0 adds the rule, any other write to the rule's index removes
// it.
func (w *watcher) ruled(index int, f *nicspec.RuleEntryFields) {
	for i := range w.invalidated {
		if w.invalidated[i].index == index {
			w.invalidated = append(w.invalidated[:i:i], w.invalidated[i+1:]...)
			break
		}
	}
	if f.Valid == 0 {
		w.invalidated = append(w.invalidated, invalidRule{index, *f, w.now})
	}
}

// frames examines frames that arrived or left.
func (w *watcher) frames(c *boundary.Crossing) {
	if w.cov == nil {
		return
	}
	var h core.Headers
	var a arrival
	b := c.Frame.Data
	if len(b) >= nicspec.FrameMin {
		core.Parse(b, nicspec.ResetRocePort, &h)
		if a.udp = h.L4Type == nicspec.L4TypeUdp && !h.L4LenBad && !h.Frag; a.udp {
			a.sum = binary.BigEndian.Uint16(b[h.L4Off+6:])
		}
	}
	switch {
	case c.Kind == boundary.FrameIn:
		a.last = c.Last
		w.received[c.Port] = append(w.received[c.Port], w.matchInvalid(c, &h, a))
	case a.udp && a.sum == 0xffff && core.CheckL4Csum(b, &h) == nicspec.VerdictOk:
		w.cov.Hit("UDP sums of zero", "sent", sumKind(h.Roce))
	}
}

func sumKind(roce bool) string {
	if roce {
		return "RoCE"
	}
	return "UDP"
}

// matchInvalid sets the first invalidated rule that a frame matches.
func (w *watcher) matchInvalid(c *boundary.Crossing, h *core.Headers, a arrival) arrival {
	var key [nicspec.SteerKeySize]byte
	if len(w.invalidated) > 0 && len(c.Frame.Data) >= nicspec.FrameMin {
		h.SteerKey(int(c.Port), &key)
		for i := range w.invalidated {
			if o := w.invalidated[i]; c.First > o.since && o.matches(&key) {
				a.invalid = &o
				break
			}
		}
	}
	return a
}

// arrived counts a delivered frame by its checksum and rule.
func (w *watcher) arrived(r *rxRing, c nicspec.RxCqe) {
	came := w.received[c.Port()]
	if int(c.PortSeq()) >= len(came) {
		return
	}
	a := &came[c.PortSeq()]
	w.waited(r, a)
	if a.udp && a.sum == 0xffff {
		w.cov.Hit("UDP sums of zero", "received", c.L4Csum().String())
	}
	if a.invalid == nil {
		return
	}
	switch by := int(c.Rule()); {
	case by == nicspec.RuleNone:
		w.cov.Hit("rules made invalid", a.invalid.rule.Action.String(), "no rule instead")
	case by != a.invalid.index:
		w.cov.Hit("rules made invalid", a.invalid.rule.Action.String(), "another instead")
	}
}
