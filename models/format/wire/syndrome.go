package wire

import "fmt"

// Syndrome is the first byte of an AETH (IBTA 9.7.5.2).
type Syndrome uint8

// SyndromeKind is the type in bits 6..5 of a syndrome; bit 7 is reserved.
type SyndromeKind uint8

// The kinds of syndrome.
const (
	SyndromeACK SyndromeKind = iota
	SyndromeRNR
	SyndromeReserved
	SyndromeNAK
)

// The syndromes with a fixed code.
const (
	// ACKNoCredits acknowledges without stating a credit count.
	ACKNoCredits         Syndrome = 0x1f
	NAKSequence          Syndrome = 0x60 // PSN sequence error
	NAKInvalidRequest    Syndrome = 0x61
	NAKRemoteAccess      Syndrome = 0x62
	NAKRemoteOperational Syndrome = 0x63
	NAKInvalidRDRequest  Syndrome = 0x64 // for RD only
)

const (
	syndromeValueMask = 0x1f
	syndromeKindPos   = 5
	syndromeReserved  = 0x80
)

// RNRSyndrome returns the RNR NAK with a timer code; bits above the low five are ignored.
func RNRSyndrome(code uint8) Syndrome {
	return Syndrome(SyndromeRNR)<<syndromeKindPos | Syndrome(code&syndromeValueMask)
}

// Kind returns the type of the syndrome; a set bit 7 makes it reserved.
func (s Syndrome) Kind() SyndromeKind {
	if s&syndromeReserved != 0 {
		return SyndromeReserved
	}
	return SyndromeKind(s >> syndromeKindPos)
}

// Value returns the low five bits: encoded credit count, timer code or NAK code.
func (s Syndrome) Value() uint8 { return uint8(s & syndromeValueMask) }

// rnrMicroseconds is the wait in microseconds that each timer code requests (IBTA 9.7.5.2).
var rnrMicroseconds = [32]int64{
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920,
	122880, 163840, 245760, 327680, 491520,
}

// RNRDelayPs returns the wait in picoseconds that an RNR NAK requests; it is 0 for other syndromes.
// Timer code 0 is the longest wait.
func (s Syndrome) RNRDelayPs() int64 {
	const psPerMicrosecond = 1_000_000
	if s.Kind() != SyndromeRNR {
		return 0
	}
	return rnrMicroseconds[s.Value()] * psPerMicrosecond
}

func (s Syndrome) String() string {
	switch s.Kind() {
	case SyndromeACK:
		if s == ACKNoCredits {
			return "ACK"
		}
		return fmt.Sprintf("ACK credits %d", s.Value())
	case SyndromeRNR:
		return fmt.Sprintf("RNR NAK timer %d", s.Value())
	case SyndromeNAK:
		names := [...]string{"PSN sequence error", "invalid request", "remote access error",
			"remote operational error", "invalid RD request"}
		if int(s.Value()) < len(names) {
			return "NAK " + names[s.Value()]
		}
	}
	return fmt.Sprintf("reserved syndrome %#02x", uint8(s))
}
