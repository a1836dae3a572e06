package boundary

import (
	"fmt"

	"nictwin/models/format/ether"
	"nictwin/models/format/tlp"
)

// Kind is the kind of packet that crossed, and its direction.
type Kind uint8

// The kinds of crossing; in and out are seen from the device.
const (
	FrameIn Kind = iota
	TLPIn
	FrameOut
	TLPOut
	NumKinds
)

var kindNames = [NumKinds]string{"frame in", "TLP in", "frame out", "TLP out"}

func (k Kind) String() string {
	if k < NumKinds {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// IsTLP reports whether a TLP crossed; otherwise it was a frame.
func (k Kind) IsTLP() bool { return k == TLPIn || k == TLPOut }

// Crossing is one packet that crossed the boundary. First and Last are the cycles in which its
// first and last beat were accepted.
type Crossing struct {
	Kind        Kind
	Port        int // Ethernet port, 0 for TLPs
	First, Last int64
	Frame       *ether.Frame // set for frames
	TLP         *tlp.Packet  // set for TLPs
}

// String formats the crossing on one line.
func (c Crossing) String() string {
	switch {
	case c.Kind.IsTLP() && c.TLP != nil:
		return fmt.Sprintf("cycle %d..%d: %v: %v", c.First, c.Last, c.Kind, c.TLP)
	case c.Frame != nil:
		return fmt.Sprintf("cycle %d..%d: %v, port %d, queue %d: %d B", c.First, c.Last, c.Kind, c.Port,
			c.Frame.Queue, len(c.Frame.Data))
	}
	return fmt.Sprintf("cycle %d..%d: %v, port %d", c.First, c.Last, c.Kind, c.Port)
}

// Observer is called for every crossing. It must not keep the pointers of the Crossing.
type Observer func(Crossing)

// Rest is an idle interval, First to Last: the device's busy pin was 0. Intervals cover every such
// cycle; a long one is reported in parts.
type Rest struct{ First, Last int64 }

// RestObserver is called for every Rest.
type RestObserver func(Rest)

// Held is an interval, First to Last, in which a stream was held up by the other side: out of the
// device, a beat was offered and not taken; into it, a packet had begun and its next beat was not
// offered.
type Held struct {
	Kind        Kind // kind of the crossings on this stream
	Port        int  // Ethernet port, 0 for TLPs
	First, Last int64
}

// String formats the interval on one line.
func (h Held) String() string {
	return fmt.Sprintf("cycle %d..%d: %v, port %d, held", h.First, h.Last, h.Kind, h.Port)
}

// HeldObserver is called for every Held. Each held cycle is reported once, before the first
// crossing that ends in a later one; a long interval is reported in parts.
type HeldObserver func(Held)

// Observable is a device that calls its observers in the order in which they were added.
type Observable interface {
	Observe(Observer)
	ObserveRest(RestObserver)
	ObserveHeld(HeldObserver)
}
