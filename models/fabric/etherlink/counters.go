package etherlink

import (
	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/sim/simcore"
)

// PortCounters holds the counters of one port of a Switch.
type PortCounters struct {
	In        Count                  `json:"in"`         // all frames that arrived, including pause frames
	Out       Count                  `json:"out"`        // forwarded frames
	Made      Count                  `json:"made"`       // copies of frames that arrived here and go to several ports
	PausesIn  Count                  `json:"pauses_in"`  // pause frames that were obeyed
	PausesOut Count                  `json:"pauses_out"` // the switch's own pause frames, not in Out
	Marked    uint64                 `json:"marked"`     // frames that left here with CE set by the switch
	Unaware   uint64                 `json:"unaware"`    // frames due for a mark whose transport is not ECN-capable
	Dropped   [core.NumReasons]Count `json:"dropped"`    // frames that arrived here, and copies of them, by reason
}

// Counters returns the counters of a port.
func (s *Switch) Counters(port int) PortCounters { return s.ports[port].count }

// Paused returns how long the peer of a port has paused a class up to now, in all.
func (s *Switch) Paused(port, class int) simcore.Ps {
	return s.ports[port].stops.total(class, s.clock.Now())
}

// Queued returns the bytes of a class that wait for a port, including the frame being sent.
func (s *Switch) Queued(port, class int) int { return s.pool.Queued(port, uint8(class)) }

// Dropped counts the frames that all ports dropped for a reason; core.None counts all reasons.
func (s *Switch) Dropped(why core.Reason) (sum Count) {
	for _, p := range s.ports {
		for r := range p.count.Dropped {
			if why == core.None || core.Reason(r) == why {
				sum = sum.Plus(p.count.Dropped[r])
			}
		}
	}
	return sum
}

// Held counts the frames that arrived, or were copied, and have not begun to leave. It walks the
// queues, so that it can check the counters.
func (s *Switch) Held() (sum Count) {
	for _, p := range s.ports {
		for i := range p.pipe.Len() {
			sum.Add(p.pipe.At(i).f.Bytes())
		}
		for c := range p.queues {
			for i := range p.queues[c].Len() {
				sum.Add(p.queues[c].At(i).bytes)
			}
		}
	}
	return sum
}

// Balance returns the frames received or copied, and the frames sent, dropped, consumed (pauses) or
// held. Both are equal at every instant.
func (s *Switch) Balance() (in, out Count) {
	for _, p := range s.ports {
		in = in.Plus(p.count.In).Plus(p.count.Made)
		out = out.Plus(p.count.Out).Plus(p.count.PausesIn)
	}
	return in, out.Plus(s.Dropped(core.None)).Plus(s.Held())
}

// Buffered returns the bytes in the shared buffer, including frames being sent.
func (s *Switch) Buffered() int { return s.pool.Held() }

// Addresses returns the number of entries in the address table.
func (s *Switch) Addresses() int { return s.table.Len() }

// Idle reports whether nothing waits in the switch.
func (s *Switch) Idle() bool { return s.inPipeline == 0 && s.toSend == 0 && s.sending == 0 }
