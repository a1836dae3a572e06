package apps

import (
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/stack/verbs"
)

// ordered reports whether requests complete in the order in which they were posted.
func (s *Spec) ordered() bool { return s.Transport != Solar }

// validateSolar rejects workloads that Solar does not support: it has WRITEs and READs only, which
// complete independently.
func (s *Spec) validateSolar(bad func(ok bool, path field.Path, format string, a ...any)) {
	if s.Transport != Solar {
		return
	}
	bad(s.SignalEvery == 1, "signal_every", "%d: requests of %s end in any order, so each needs its own "+
		"completion: want 1", s.SignalEvery, Solar)
	bad(s.Misuse == nil, "misuse", ": over %s a refused request fails alone and others continue: want none", Solar)
	bad(s.Receives == 0, "receives", "%d: transport %s takes no receive requests: want 0", s.Receives, Solar)
}

// endedAlone handles the completion of a request whose transport has no order. Its slot is not reused
// until all earlier requests have completed: slots follow from request numbers, and there are as many
// slots as requests in flight.
func (e *end) endedAlone(wc *verbs.WC) {
	m := int(wc.ID)
	c := Completion{ID: wc.ID, Status: wc.Status, Message: m}
	if wc.Status == verbs.WCSuccess {
		c.Opcode, c.Flags = wc.Opcode, wc.Flags
	}
	e.sendDone = append(e.sendDone, c)
	if m < 0 || m >= e.posted || e.outcomes[m] != underWay {
		e.fail(Finding{What: "order", Message: m, Text: fmt.Sprintf("the completion of request %d (%v): expected one "+
			"of %d to %d without a completion", m, wc.Status, e.acked, e.posted-1)})
		return
	}
	e.outcomes[m] = endedBadly
	if wc.Status == verbs.WCSuccess {
		e.outcomes[m] = endedWell
		if want := e.spec.opcode(m).Completion(); wc.Opcode != want {
			e.fail(Finding{What: "opcode", Message: m, Text: fmt.Sprintf("request %d ended as %v: expected %v", m,
				wc.Opcode, want)})
		}
		e.observed(Observer.Completed, m)
		e.role.sent(m, m)
	}
	for e.acked < e.posted && e.outcomes[e.acked] != underWay {
		e.acked++
	}
}

// outcome is the state or result of a request of an unordered transport.
type outcome uint8

// States of a request.
const (
	underWay outcome = iota
	endedWell
	endedBadly
)

// verifyBlocks checks the memory of every WRITE that succeeded.
func (s *server) verifyBlocks() {
	for m, o := range s.side.peer.ends[s.index].outcomes {
		if o == endedWell {
			s.verify(m)
		}
	}
}
