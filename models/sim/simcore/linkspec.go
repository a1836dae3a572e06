package simcore

import (
	"errors"
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
)

// Rate is a bandwidth as a ratio of integers: Bytes bytes in every Ps
// picoseconds. The zero value is infinitely fast.
type Rate struct {
	Bytes int64 `yaml:"bytes"`
	Ps    Ps    `yaml:"ps"`
}

// Gbps returns a rate of n gigabits per second.
func Gbps(n int64) Rate { return Rate{Bytes: n, Ps: 8 * Nanosecond} }

// DecodeWord sets the rate to one with its unit, 200Gbps or 25GB/s (specfile.WordDecoder).
func (r *Rate) DecodeWord(word string) error {
	q, err := quantity.ParseRate(word)
	if err != nil {
		return err
	}
	if q == 0 {
		return fmt.Errorf("%q: want more than 0, or no such field", word)
	}
	bits, ps := int64(q), int64(8*Second)
	common, rest := bits, ps
	for rest != 0 {
		common, rest = rest, common%rest
	}
	if bits/common > maxRateBytes || Ps(ps/common) > Second {
		return fmt.Errorf("%q: cannot be held as whole bytes in whole picoseconds, of at most %d bytes and 1 s: "+
			"want a rounder rate", word, maxRateBytes)
	}
	*r = Rate{Bytes: bits / common, Ps: Ps(ps / common)}
	return nil
}

// PerCycle returns a rate of bytes in every clock period.
func PerCycle(bytes int64, f Freq) Rate { return Rate{Bytes: bytes, Ps: f.Period()} }

// Limits that keep the computation of a serialisation time from overflowing.
const (
	maxRateBytes = 1 << 30
	maxRatePs    = Second
	maxLatency   = 1000 * Second
	maxOverhead  = 1 << 20
	maxCredits   = 1 << 16
	maxMsgBytes  = 1 << 20
)

// LinkSpec configures a Link; both directions are equal except for their credits.
type LinkSpec struct {
	// Latency is the time of flight, counted from the last byte sent.
	Latency Ps `yaml:"latency_ps"`

	// Rate is the bandwidth of each direction; zero is infinite.
	Rate Rate `yaml:"rate"`

	// Credits bounds the messages of one direction that are in flight or in
	// the far port's buffer; 0 takes the capacity of the far port.
	Credits int `yaml:"credits"`

	// ReverseCredits are the credits of the direction from the port plugged in second to the first;
	// 0 means Credits.
	ReverseCredits int `yaml:"reverse_credits"`

	// CreditLatency is the time from Retrieve at the far port until the sender can use the credit again; 0 means 1 ps.
	// An early receiver runs ahead of the engine's time: it knows in advance when it takes a message, and calls
	// Retrieve when CreditLatency has passed since then, so that the credit is usable at once.
	CreditLatency Ps `yaml:"credit_latency_ps"`

	// OverheadBytes is added to each message's TrafficBytes.
	OverheadBytes int `yaml:"overhead_bytes"`
}

// Validate returns every error of the spec.
func (s LinkSpec) Validate() error {
	var errs []error
	bad := func(path field.Path, got any, want string) {
		errs = append(errs, field.Errorf(path, "%v: want %s", got, want))
	}
	if s.Latency < 0 || s.Latency > maxLatency {
		bad("latency_ps", int64(s.Latency), "0 to 1000 s")
	}
	r := s.Rate
	if r != (Rate{}) && (r.Bytes <= 0 || r.Ps <= 0 || r.Bytes > maxRateBytes || r.Ps > maxRatePs) {
		bad("rate", fmt.Sprintf("%d bytes in %v", r.Bytes, r.Ps),
			"1 to 2^30 bytes in 1 ps to 1 s, or both 0 for infinite")
	}
	if s.Credits < 0 || s.Credits > maxCredits {
		bad("credits", s.Credits, "0 (as the far port has room) to 2^16")
	}
	if s.ReverseCredits < 0 || s.ReverseCredits > maxCredits {
		bad("reverse_credits", s.ReverseCredits, "0 (as credits) to 2^16")
	}
	if s.CreditLatency < 0 || s.CreditLatency > maxLatency {
		bad("credit_latency_ps", int64(s.CreditLatency), "0 to 1000 s")
	}
	if s.OverheadBytes < 0 || s.OverheadBytes > maxOverhead {
		bad("overhead_bytes", s.OverheadBytes, "0 to 2^20")
	}
	return errors.Join(errs...)
}

// credits returns the credits of direction i; 0 starts at the port plugged in first.
func (s *LinkSpec) credits(i int) int {
	if i == 1 && s.ReverseCredits != 0 {
		return s.ReverseCredits
	}
	return s.Credits
}
