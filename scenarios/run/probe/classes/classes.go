package classes

import "fmt"

// Class is a class of bytes on a link.
type Class uint8

// Classes. On PCIe, TLPHeaders is all of a TLP but the bytes that it moves: header, framing, unused bytes of double
// words, and read requests whole. On Ethernet, everything of a RoCE packet beside its payload is Headers, or Acks.
const (
	Payload     Class = iota
	Again             // payload of packets that were sent before
	Headers           // of packets, with pad bytes and ICRC
	Acks              // acknowledgements without payload, and CNPs
	Descriptors       // work entries, receive descriptors, elements of pipes that carry requests
	Completions       // completion entries, of the NIC and of pipes
	Doorbells         // register accesses, counters of pipes, doorbell records
	Messages          // MSI-X
	Contexts          // contexts that an rnic keeps in memory
	TLPHeaders
	DLLPs
	OtherFrames // on Ethernet: frames that are no RoCE packets, such as raw frames and pauses
	Other       // on PCIe: memory of unknown use, such as mailboxes, and answers to reads sent before counting began
	numClasses
)

var names = [numClasses]string{"payload", "payload again", "headers", "ACK and CNP", "descriptors", "CQEs", "doorbells",
	"MSI-X", "contexts", "TLP headers", "DLLPs", "other frames", "other"}

func (c Class) String() string { return names[c] }

// All lists the classes.
func All() (list []Class) {
	for c := range numClasses {
		list = append(list, c)
	}
	return list
}

// Link holds the bytes of one direction of a link, by class.
type Link struct {
	Where, What string        // as a probe.Counter has them
	Own         bool          // the link of a device
	total       func() uint64 // the link's own counter
	dllps       func() uint64 // bytes of DLLPs, which `total` includes; nil: none
	from        uint64        // total when the count began
	fromDLLPs   uint64
	bytes       [numClasses]uint64
}

// Begin begins the count.
func (l *Link) Begin() {
	l.bytes = [numClasses]uint64{}
	l.from = l.total()
	if l.dllps != nil {
		l.fromDLLPs = l.dllps()
	}
}

// Count adds bytes to a class.
func (l *Link) Count(c Class, bytes int) { l.bytes[c] += uint64(bytes) }

// Bytes returns the bytes of a class since the count began.
func (l *Link) Bytes(c Class) uint64 {
	if c == DLLPs && l.dllps != nil {
		return l.dllps() - l.fromDLLPs
	}
	return l.bytes[c]
}

// Total returns the bytes since the count began by the link's own counter.
func (l *Link) Total() uint64 { return l.total() - l.from }

// Check returns an error if the classes do not add up to the link's own counter.
func (l *Link) Check() error {
	sum := uint64(0)
	for c := range numClasses {
		n := l.Bytes(c)
		if int64(n) < 0 { // more bytes were taken out of the class than were in it
			return fmt.Errorf("%s, %s: class %s has %d B: want 0 or more", l.Where, l.What, c, int64(n))
		}
		sum += n
	}
	if want := l.Total(); sum != want {
		return fmt.Errorf("%s, %s: the classes add up to %d B: want %d, the link's counter", l.Where, l.What, sum, want)
	}
	return nil
}
