package core

import "encoding/binary"

// The ECN field (RFC 3168, section 5).
const (
	notECT  = 0
	ce      = 3
	ecnMask = 3
)

// MarkOutcome is what became of a frame that was to be marked.
type MarkOutcome uint8

// The outcomes.
const (
	Marked  MarkOutcome = iota // CE now
	WasCE                      // CE before
	Unaware                    // not of an ECN-capable transport, or not IP: left as it is
)

// MarkCE sets a frame's ECN field to CE, if it is of an ECN-capable transport, and corrects the IPv4 checksum by the
// difference (RFC 1624): one that was wrong stays wrong.
func MarkCE(frame []byte) MarkOutcome {
	p, version := ip(frame)
	var field *byte
	shift := 0
	switch version {
	case 4:
		field = &p[ipv4TOSOff]
	case 6:
		field, shift = &p[1], 4
	default:
		return Unaware
	}
	switch *field >> shift & ecnMask {
	case notECT:
		return Unaware
	case ce:
		return WasCE
	}
	before := binary.BigEndian.Uint16(p)
	*field |= ce << shift
	if version == 4 {
		sum := uint32(^binary.BigEndian.Uint16(p[ipv4SumOff:])) + uint32(^before) + uint32(binary.BigEndian.Uint16(p))
		sum = sum&0xffff + sum>>16
		sum = sum&0xffff + sum>>16
		binary.BigEndian.PutUint16(p[ipv4SumOff:], ^uint16(sum))
	}
	return Marked
}

// ECN says when frames are marked, by the bytes that are in a queue when a frame joins it.
type ECN struct {
	KminBytes int     `yaml:"kmin_bytes"` // from here on some are
	KmaxBytes int     `yaml:"kmax_bytes"` // from here on all are; 0: none ever
	Pmax      float64 `yaml:"pmax"`       // the share of them just below Kmax
}

// Marks reports whether a frame is marked that joins a queue of so many bytes; chance is from 0 to less than 1.
func (e *ECN) Marks(queued int, chance float64) bool {
	switch {
	case e.KmaxBytes == 0 || queued < e.KminBytes:
		return false
	case queued >= e.KmaxBytes:
		return true
	}
	return chance < e.Pmax*float64(queued-e.KminBytes)/float64(e.KmaxBytes-e.KminBytes)
}
