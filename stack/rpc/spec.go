package rpc

import (
	"errors"

	"nictwin/models/sim/field"
	"nictwin/stack/cc"
)

// Ps is a time in picoseconds.
type Ps = cc.Ps

// Never is the time of a timer that does not run.
const Never = cc.Never

// Spec holds the parameters of a flow, which both ends share.
type Spec struct {
	Segment     int          `yaml:"segment" unit:"bytes"` // most payload bytes of a packet
	Outstanding int          `yaml:"outstanding"`          // maximum number of unacknowledged packets; at most Window
	Messages    int          `yaml:"messages"`             // maximum number of unacknowledged messages
	Timeout     Ps           `yaml:"timeout_ps"`           // without an acknowledgement; doubles up to 64-fold
	DCTCP       cc.DCTCPSpec `yaml:"dctcp"`
}

// DefaultSpec returns the parameters for segments of the given length. The timeout of 200 us is an assumption: some
// twenty round trips of a rack.
func DefaultSpec(segment int) Spec {
	return Spec{Segment: segment, Outstanding: Window, Messages: 64, Timeout: 200 * cc.Microsecond,
		DCTCP: cc.DefaultDCTCP(int64(segment))}
}

// maxMessage is the most bytes of a message. Its packets are limited, too, so that their index fits in 16 bits.
const maxMessage = 1 << 24

// Validate returns every error of the spec.
func (s *Spec) Validate() error {
	var errs []error
	within := func(path field.Path, v, from, to int64) {
		errs = append(errs, field.Within(path, v, from, to))
	}
	within("segment", int64(s.Segment), 1, 9000)
	within("outstanding", int64(s.Outstanding), 1, Window)
	within("messages", int64(s.Messages), 1, 1<<16)
	within("timeout_ps", s.Timeout, int64(cc.Microsecond), 1000*1e12)
	return errors.Join(append(errs, field.Under("dctcp", s.DCTCP.Validate()))...)
}

// packets returns the number of packets of a message.
func (s *Spec) packets(bytes int) int { return max(1, (bytes+s.Segment-1)/s.Segment) }

// payload returns the payload bytes of a message's packet.
func (s *Spec) payload(bytes, index int) int { return min(s.Segment, bytes-index*s.Segment) }
