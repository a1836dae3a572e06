package nicswitch

import (
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
)

// Dropped is what came in at a port and did not go out as it was, and what was made in its stead.
type Dropped struct {
	Refused    pcielink.Count `json:"refused"`    // requests that nobody claims
	Unexpected pcielink.Count `json:"unexpected"` // completions that nobody claims
	Consumed   pcielink.Count `json:"consumed"`   // messages that end here, and those dropped silently
	Made       pcielink.Count `json:"made"`       // UR answers to, and copies of broadcasts from, this port
}

// In is what came in at a port, by class.
func (s *Switch) In(port string) [3]pcielink.Count { return s.named(port).in }

// Out is what went out at a port by class, of what came in at another; of the switch's own answers if from is "".
func (s *Switch) Out(from, to string) [3]pcielink.Count {
	i := len(s.ports)
	if from != "" {
		i = s.named(from).index
	}
	return s.named(to).out[i]
}

// Dropped is what was dropped of what came in at a port.
func (s *Switch) Dropped(port string) Dropped { return s.named(port).Dropped }

// Held is what came in, or was made here, and did not go out yet.
func (s *Switch) Held() (sum pcielink.Count) {
	for _, p := range s.ports {
		for i := range p.pairs {
			p.pairs[i].Each(func(t *msg.TLP) { sum.Add(s.spec.WireBytes(t.Parsed(), len(t.Data)), len(t.Data)) })
		}
	}
	return sum
}

// Balance returns what came in and was made here, and what went out, was dropped or is held: the same at every instant.
func (s *Switch) Balance() (in, out pcielink.Count) {
	for _, p := range s.ports {
		for c := range tlp.Completion + 1 {
			in = in.Plus(p.in[c])
			for i := range p.out {
				out = out.Plus(p.out[i][c])
			}
		}
		in = in.Plus(p.Made)
		out = out.Plus(p.Refused).Plus(p.Unexpected).Plus(p.Consumed)
	}
	return in, out.Plus(s.Held())
}

// Idle reports whether nothing waits in the switch.
func (s *Switch) Idle() bool {
	for _, p := range s.ports {
		if p.queued > 0 || p.port.Len() > 0 {
			return false
		}
	}
	return true
}
