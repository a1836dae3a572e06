package nicswitch

import (
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/msg"
	"nictwin/models/format/tlp"
)

// Dropped counts the TLPs that arrived at a port and were not forwarded, by reason, and the TLPs
// that the switch made in response.
type Dropped struct {
	Refused    pcielink.Count `json:"refused"`    // requests that no port claims
	Unexpected pcielink.Count `json:"unexpected"` // completions that no port claims
	Consumed   pcielink.Count `json:"consumed"`   // messages that end here, including those dropped silently
	Made       pcielink.Count `json:"made"`       // UR answers to this port, and copies of its broadcasts
}

// In returns the TLPs that arrived at a port, by class.
func (s *Switch) In(port string) [3]pcielink.Count { return s.named(port).in }

// Out counts the TLPs that arrived at port from and left at port to, by class; with from = "",
// completions made by the switch.
func (s *Switch) Out(from, to string) [3]pcielink.Count {
	i := len(s.ports)
	if from != "" {
		i = s.named(from).index
	}
	return s.named(to).out[i]
}

// Dropped returns the counters of the TLPs that arrived at a port and were dropped.
func (s *Switch) Dropped(port string) Dropped { return s.named(port).Dropped }

// Queued returns the number of TLPs that wait to leave at a port.
func (s *Switch) Queued(port string) int { return s.named(port).queued }

// Held counts the TLPs that arrived, or were made by the switch, and have not left yet.
func (s *Switch) Held() (sum pcielink.Count) {
	for _, p := range s.ports {
		for i := range p.pairs {
			p.pairs[i].Each(func(t *msg.TLP) { sum.Add(s.spec.WireBytes(t.Parsed(), len(t.Data)), len(t.Data)) })
		}
	}
	return sum
}

// Balance returns the TLPs received or made by the switch, and the TLPs sent, dropped or held. Both
// are equal at every instant.
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
