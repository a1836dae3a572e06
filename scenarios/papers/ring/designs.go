package ring

import (
	"nictwin/scenarios/papers/study"
	"nictwin/stack/rb2"
)

// design is a ring buffer, and the way its software handles messages.
type design struct {
	name   string
	spec   rb2.Spec
	copies bool // messages are copied into and out of slots; else software works in the slots
	small  bool // pages of 4 KB, for cores and NIC, instead of 2 MB
	far    bool // the ring is in the memory of the socket that core and NIC are not on
}

// full returns RB² with all of its parts.
func full(s *study.Session) design {
	return design{name: "RB2", spec: rb2.Spec{
		Alpha: int(s.Input("alpha")), Beta: int(s.Input("beta")), Gamma: int(s.Input("gamma")),
		Head: rb2.HeadPush, Tail: rb2.TailWrite, Elastic: true, Aligned: true, Slots: int(s.Input("ring.slots")),
	}}
}

// unbatched returns the design with each message sent by itself.
func (d design) unbatched() design {
	d.spec.Alpha, d.spec.Beta, d.spec.Elastic = 1, 1, false
	return d
}

// The comparators (Table I of the paper) all place messages back to back and copy them. SocksDirect signals by
// the completion of a WRITE_WITH_IMM, and has at most sd.window messages in flight: messages that wait meanwhile
// leave by one WRITE, but its sender takes longer over ten messages than they are in flight, so that none wait.
// FaRM, as the paper changed it, writes each message and then a word that its reader polls; its sender has slots
// here, too, where FaRM's own has none. L5 writes each message and then the tail. FaRM has huge pages.
func farm(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.spec.Aligned, d.spec.Tail = "FaRM", true, false, rb2.TailWord
	return d
}

func l5(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.small, d.spec.Aligned = "L5", true, true, false
	return d
}

func socksDirect(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.small, d.spec.Aligned, d.spec.Tail, d.spec.Window = "SocksDirect", true, true, false,
		rb2.TailImm, int(s.Input("sd.window"))
	return d
}

// rings returns RB² and the comparators.
func rings(s *study.Session) []design { return []design{full(s), socksDirect(s), farm(s), l5(s)} }
