package ring

import (
	"nictwin/scenarios/papers/study"
	"nictwin/stack/rb2"
)

// design is a ring buffer, with the way in which software handles its messages.
type design struct {
	name   string
	spec   rb2.Spec
	copies bool // messages are copied into and out of slots; else software works in the slots
	small  bool // pages of 4 KB instead of 2 MB, for cores and NIC
	far    bool // the ring's memory belongs to the other socket than the core and the NIC
}

// full returns RB² with all of its parts.
func full(s *study.Session) design {
	return design{name: "RB2", spec: rb2.Spec{
		Alpha: int(s.Input("alpha")), Beta: int(s.Input("beta")), Gamma: int(s.Input("gamma")),
		Head: rb2.HeadPush, Tail: rb2.TailWrite, Elastic: true, Aligned: true, Slots: int(s.Input("ring.slots")),
	}}
}

// unbatched returns the design with batches of a single message.
func (d design) unbatched() design {
	d.spec.Alpha, d.spec.Beta, d.spec.Elastic = 1, 1, false
	return d
}

// farm returns FaRM, as the paper changed it: it writes each message and then a word that its reader polls. Its sender
// has slots here, which FaRM's own does not have. Like all comparators (Table I of the paper) it places messages back
// to back and copies them. Its pages are huge.
func farm(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.spec.Aligned, d.spec.Tail = "FaRM", true, false, rb2.TailWord
	return d
}

// l5 returns L5, which writes each message and then the tail.
func l5(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.small, d.spec.Aligned = "L5", true, true, false
	return d
}

// socksDirect returns SocksDirect, which signals by the completion of a WRITE_WITH_IMM and has at most sd.window
// messages in flight. Messages that wait meanwhile leave by one WRITE. With a window of ten none wait, since the sender
// takes longer to write ten messages than they are in flight.
func socksDirect(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.small, d.spec.Aligned, d.spec.Tail, d.spec.Window = "SocksDirect", true, true, false,
		rb2.TailImm, int(s.Input("sd.window"))
	return d
}

// rings returns RB² and the designs that it is compared with.
func rings(s *study.Session) []design { return []design{full(s), socksDirect(s), farm(s), l5(s)} }
