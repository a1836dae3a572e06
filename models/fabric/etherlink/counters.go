package etherlink

import (
	"nictwin/models/fabric/etherlink/core"
	"nictwin/models/sim/simcore"
)

// PortCounters are those of one port of a Switch.
type PortCounters struct {
	In        Count                  `json:"in"`         // all that came in, pause frames too
	Out       Count                  `json:"out"`        // what was forwarded
	Made      Count                  `json:"made"`       // copies, of what came in here and goes to several ports
	PausesIn  Count                  `json:"pauses_in"`  // that were obeyed
	PausesOut Count                  `json:"pauses_out"` // its own, not in Out
	Marked    uint64                 `json:"marked"`     // frames that left here with CE set by the switch
	Unaware   uint64                 `json:"unaware"`    // that were to be marked and know no ECN
	Dropped   [core.NumReasons]Count `json:"dropped"`    // of what came in here and its copies, by reason
}

// Counters are those of a port.
func (s *Switch) Counters(port int) PortCounters { return s.ports[port].count }

// Paused is how long a class of a port was told to stop by its peer, up to now.
func (s *Switch) Paused(port, class int) simcore.Ps {
	return s.ports[port].stops.total(class, s.clock.Now())
}

// Queued is the bytes of a class that wait for a port, what is being sent included.
func (s *Switch) Queued(port, class int) int { return s.pool.Queued(port, uint8(class)) }

// Dropped is all that was dropped, for a reason or, with core.None, for any.
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

// Held is what came in, or was made here, and has not begun to leave. It counts what is there.
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

// Balance returns what came in and was copied, and what went out, was dropped, was taken or is held: the same at every
// instant.
func (s *Switch) Balance() (in, out Count) {
	for _, p := range s.ports {
		in = in.Plus(p.count.In).Plus(p.count.Made)
		out = out.Plus(p.count.Out).Plus(p.count.PausesIn)
	}
	return in, out.Plus(s.Dropped(core.None)).Plus(s.Held())
}

// Buffered is the bytes in the shared buffer, what is being sent included.
func (s *Switch) Buffered() int { return s.pool.Held() }

// Addresses is how many addresses the switch knows.
func (s *Switch) Addresses() int { return s.table.Len() }

// Idle reports whether nothing waits in the switch.
func (s *Switch) Idle() bool { return s.coming == 0 && s.going == 0 && s.sending == 0 }
