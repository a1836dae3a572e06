package core

import "encoding/binary"

// Values of the ECN field in the IP header (RFC 3168, section 5).
const (
	notECT  = 0
	ce      = 3
	ecnMask = 3
)

// MarkOutcome is the result of marking a frame.
type MarkOutcome uint8

// Values of MarkOutcome.
const (
	Marked  MarkOutcome = iota // the field was ECT and is CE now
	WasCE                      // the field was CE already
	Unaware                    // not ECN-capable, or not IP: left unchanged
)

// MarkCE sets a frame's ECN field to CE if its transport is ECN-capable, and updates the IPv4
// checksum incrementally (RFC 1624): a wrong checksum stays wrong.
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

// ECN configures which frames are marked, by the bytes in the queue that a frame joins.
type ECN struct {
	KminBytes int     `yaml:"kmin_bytes"` // at this queue length or above, some frames are marked
	KmaxBytes int     `yaml:"kmax_bytes"` // at this queue length or above, all frames are marked; 0: no frame ever is
	Pmax      float64 `yaml:"pmax"`       // share of frames marked just below Kmax
}

// Marks reports whether a frame is marked when it joins a queue of the given bytes. chance is a
// random number in [0, 1).
func (e *ECN) Marks(queued int, chance float64) bool {
	switch {
	case e.KmaxBytes == 0 || queued < e.KminBytes:
		return false
	case queued >= e.KmaxBytes:
		return true
	}
	return chance < e.Pmax*float64(queued-e.KminBytes)/float64(e.KmaxBytes-e.KminBytes)
}
