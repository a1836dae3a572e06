package apps

import (
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/stack/verbs"
)

// ordered reports whether requests end in the order in which they were posted.
func (t Transport) ordered() bool { return t != Solar }

// validateSolar holds a workload of blocks to what Solar has: WRITEs and READs, each of which ends alone.
func (s *Spec) validateSolar(bad func(ok bool, path field.Path, format string, a ...any)) {
	if s.Transport != Solar {
		return
	}
	bad(s.Kind == Write || s.Kind == Read, "kind", "%s: %v %s does not have it: want %s or %s", s.Kind,
		field.Path("transport"), Solar, Write, Read)
	bad(s.SignalEvery == 1, "signal_every", "%d: requests of %s end in any order, so that only its completion tells "+
		"that one has: want 1", s.SignalEvery, Solar)
	bad(s.Misuse == nil, "misuse", ": over %s a request that is refused ends alone, and others go on: want none", Solar)
	bad(s.Receives == 0, "receives", "%d: transport %s takes no receive requests: want 0", s.Receives, Solar)
}

// endedAlone takes the end of a request whose transport has no order. Its slot is not used again until those before it
// have ended: a slot is that of a number, and as many are under way as there are slots.
func (e *end) endedAlone(wc *verbs.WC) {
	m := int(wc.ID)
	c := Completion{ID: wc.ID, Status: wc.Status, Message: m}
	if wc.Status == verbs.WCSuccess {
		c.Opcode, c.Flags = wc.Opcode, wc.Flags
	}
	e.sends = append(e.sends, c)
	if m < 0 || m >= e.posted || e.over[m] != underWay {
		e.fail(Wrong{What: "order", Message: m, Text: fmt.Sprintf("the completion of request %d (%v): expected one "+
			"of %d to %d that had none", m, wc.Status, e.acked, e.posted-1)})
		return
	}
	e.over[m] = endedBadly
	if wc.Status == verbs.WCSuccess {
		e.over[m] = endedWell
		if want := e.spec.opcode(m).Completion(); wc.Opcode != want {
			e.fail(Wrong{What: "opcode", Message: m, Text: fmt.Sprintf("request %d ended as %v: expected %v", m,
				wc.Opcode, want)})
		}
		e.role.sent(m, m)
	}
	for e.acked < e.posted && e.over[e.acked] != underWay {
		e.acked++
	}
}

// outcome is what became of a request of a transport without order.
type outcome uint8

// The outcomes.
const (
	underWay outcome = iota
	endedWell
	endedBadly
)

// verifyBlocks looks at the memory of every WRITE that ended well.
func (s *server) verifyBlocks() {
	for m, o := range s.side.peer.ends[s.index].over {
		if o == endedWell {
			s.verify(m)
		}
	}
}
