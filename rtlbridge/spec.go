package rtlbridge

import (
	"errors"
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/protocol"
)

// Mode determines how engine and device take turns.
type Mode int

// Ways to take turns. A simulation has the same results in both, event by event and cycle by cycle.
const (
	Pipelined Mode = iota // the device runs quantum k while the engine computes the inputs of quantum k+1
	Serial                // the engine waits for a quantum's outputs before it continues
)

func (m Mode) String() string {
	if m == Serial {
		return "serial"
	}
	return "pipelined"
}

// DefaultPatience is 2.5 ms at 400 MHz, which is longer than any timeout of a NIC.
const DefaultPatience = 1_000_000

// DefaultQuantum is the number of cycles exchanged at a time, unless the links are too short for it.
const DefaultQuantum = 64

// CompSpec configures a Comp.
type CompSpec struct {
	Period  simcore.Ps // period of the device's clock; 0: that of the manifest
	Quantum uint32     // cycles per exchange; 0: DefaultQuantum, or less if the links are shorter
	Mode    Mode
	// Ahead is the number of quanta that may be in flight in the device when the engine waits for the oldest: 2
	// or more, as far as the links allow (see MaxAhead). The more, the less it matters that one quantum takes
	// either side longer than another. 0: as many as allowed. In Serial mode it is always 1.
	Ahead int
	// InLatency and OutLatency are the latencies of the links at the component's ports (the shortest, if they differ):
	// what is sent to the device at time t arrives at t+InLatency or later; what the device gives at t is needed at
	// t+OutLatency.
	InLatency, OutLatency simcore.Ps
	MaxCycles             uint64 // the run fails after this many cycles; 0: never
	Patience              uint64 // cycles for the device to become idle once Done returns true; 0: DefaultPatience
	Digest                bool   // fold every event into Comp.Digest
}

// ValidPeriod refuses a clock period that no device can have.
func ValidPeriod(p simcore.Ps) error {
	if !simcore.ValidPeriod(p) {
		return fmt.Errorf("clock period of %v: needs %s", p, simcore.WantPeriod)
	}
	return nil
}

// MaxQuantum is the largest quantum that links of these latencies allow, in cycles; 0 if there is none.
//
// The inputs of quantum k, cycles [kQ, (k+1)Q), are complete at engine time S(k) = (k+1)Q - a, where a =
// min(InLatency, Q): whatever is sent later arrives in a later quantum. The earliest output of quantum k leaves at kQ
// and is needed at kQ + OutLatency. Serial, it is known at S(k): Q <= a + OutLatency. Pipelined, it is known at
// S(k+1): 2Q <= a + OutLatency.
func MaxQuantum(period simcore.Ps, mode Mode, in, out simcore.Ps) uint32 {
	if period <= 0 || in < 0 || out < 0 {
		return 0
	}
	// A latency above MaxRunCycles has the same effect as MaxRunCycles, which bounds the quantum.
	in, out = min(in, protocol.MaxRunCycles*period), min(out, protocol.MaxRunCycles*period)
	q := in + out
	if mode == Pipelined {
		q = min(out, q/2)
	}
	return uint32(min(q/period, protocol.MaxRunCycles))
}

// ahead returns the number D of quanta of length Q that may be in flight in Pipelined mode over links of these
// latencies: the outputs of quantum k are then known at S(k+D-1), so that D*Q <= a + OutLatency (S and a as in
// MaxQuantum).
func ahead(quantum, in, out simcore.Ps) int {
	return int(min((min(in, quantum)+out)/quantum, MaxAhead))
}

// SpecError reports the faults of a CompSpec: settings that do not fit the device or its links.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }

// Unwrap returns the faults.
func (e *SpecError) Unwrap() error { return e.Err }

// resolve checks the spec and fills in defaults, the clock period among them; the error lists every fault.
func (s CompSpec) resolve(usual simcore.Ps) (CompSpec, error) {
	if s.Period == 0 {
		s.Period = usual
	}
	period := s.Period
	if err := ValidPeriod(period); err != nil {
		return s, err
	}
	var errs []error
	if s.Mode != Serial && s.Mode != Pipelined {
		errs = append(errs, fmt.Errorf("mode %d: needs Serial or Pipelined", s.Mode))
	}
	if s.InLatency < 0 || s.OutLatency < 0 {
		errs = append(errs, fmt.Errorf("latencies %v in, %v out: must not be negative", s.InLatency, s.OutLatency))
	}
	if s.Patience == 0 {
		s.Patience = DefaultPatience
	}
	limit := MaxQuantum(period, s.Mode, s.InLatency, s.OutLatency)
	if limit == 0 {
		errs = append(errs, fmt.Errorf("links of %v into and %v out of the device: want at least a cycle of its "+
			"clock, which is %v (period_ps)", s.InLatency, s.OutLatency, period))
		return s, errors.Join(errs...)
	}
	if s.Quantum == 0 {
		s.Quantum = max(1, min(DefaultQuantum, limit))
	}
	if s.Quantum > limit {
		errs = append(errs, fmt.Errorf("quantum of %d cycles: links of %v into and %v out of the device allow at "+
			"most %d in %v mode "+
			"(a cycle is %v); use a smaller quantum or longer links", s.Quantum, s.InLatency, s.OutLatency, limit,
			s.Mode, period))
		return s, errors.Join(errs...)
	}
	most := ahead(simcore.Ps(s.Quantum)*period, s.InLatency, s.OutLatency)
	switch {
	case s.Mode == Serial:
		s.Ahead = 1
	case s.Ahead == 0:
		s.Ahead = most
	case s.Ahead < 2 || s.Ahead > most:
		errs = append(errs, fmt.Errorf("%d quanta of %d cycles under way: the links allow 2 to %d in %v mode", s.Ahead,
			s.Quantum, most, s.Mode))
	}
	return s, errors.Join(errs...)
}

// Binding joins a pair of streams to a port of the component and defines how messages appear on the pins.
type Binding struct {
	Port     string // name of the port
	Capacity int    // messages the port can hold; 0: DefaultCapacity
	In, Out  string // stream names; one of them may be empty

	// Encode returns a message's side-band bytes and data; both may point into the message, which must not
	// change until it is released. Needed if In is set.
	Encode func(msg sim.Msg) (side, data []byte, err error)
	// Decode makes a message from an output; it must copy side and data. Needed if Out is set.
	Decode func(side, data []byte) (simcore.Timed, error)
	// Release returns an input after the device has accepted it and the observers have seen it; may be nil.
	Release func(msg sim.Msg)

	// Backpressure returns a link's credit when the device has accepted the message's last beat. Without it the
	// credit returns as soon as the message is sent, and the device's input queue is unbounded.
	Backpressure bool
}

// DefaultCapacity is the capacity of a port unless its binding sets one.
const DefaultCapacity = 1024

// lookup finds the binding's streams.
func (b *Binding) lookup(h *protocol.Hello) (in, out int, err error) {
	var errs []error
	find := func(name string, wantOut bool) int {
		if name == "" {
			return -1
		}
		for i, s := range h.Streams {
			if s.Name == name && s.Out == wantOut {
				return i
			}
		}
		dir := "input"
		if wantOut {
			dir = "output"
		}
		errs = append(errs, fmt.Errorf("port %s: the device has no %s stream %q", b.Port, dir, name))
		return -1
	}
	in, out = find(b.In, false), find(b.Out, true)
	if b.In == "" && b.Out == "" {
		errs = append(errs, fmt.Errorf("port %s: neither an input nor an output stream is named", b.Port))
	}
	if b.In != "" && b.Encode == nil {
		errs = append(errs, fmt.Errorf("port %s: Encode is needed for stream %s", b.Port, b.In))
	}
	if b.Out != "" && b.Decode == nil {
		errs = append(errs, fmt.Errorf("port %s: Decode is needed for stream %s", b.Port, b.Out))
	}
	if b.Capacity < 0 {
		errs = append(errs, fmt.Errorf("port %s: capacity %d: must not be negative", b.Port, b.Capacity))
	}
	return in, out, errors.Join(errs...)
}
