package core

import (
	"encoding/binary"
	"hash/crc32"

	"nictwin/models/nic/nicspec"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc32cMin is the shortest range that is checked: one byte and the digest [X4].
const crc32cMin = 5

// CRC32CRange returns the bytes of a frame that a receive queue's CRC-32C covers; from >= to means
// none [X3].
func (h *Headers) CRC32CRange() (from, to int) {
	if h.Frag || h.Cut {
		return 0, 0
	}
	to = h.Len
	switch {
	case h.L4Type == nicspec.L4TypeUdp:
		end := int(h.L4Off) + int(h.UDPLen)
		if h.Roce {
			end -= icrcBytes
		}
		if h.UDPLen >= udpBytes && end <= h.Len {
			to = end
		}
	case h.L3Type != nicspec.L3TypeNone && !h.IPLenBad:
		to = h.IPEnd
	}
	return int(h.PayloadOff), to
}

// CheckCRC32C checks the payload CRC-32C of a frame as a queue in mode Check does, and returns its
// value [X3, X4].
func CheckCRC32C(frame []byte, h *Headers) (value uint32, v nicspec.Verdict) {
	from, to := h.CRC32CRange()
	if from >= to {
		return 0, nicspec.VerdictNotChecked
	}
	value = crc32.Checksum(frame[from:to], castagnoli)
	if to-from < crc32cMin {
		return value, nicspec.VerdictNotChecked
	}
	return value, verdict(value == nicspec.Crc32cResidue)
}

// fillCRC32C writes the CRC-32C fields of a completion entry that the queue's mode enables.
func (q *Queue) fillCRC32C(v *RxVerdict, e nicspec.RxCqe) {
	if q.CrcMode == nicspec.CrcModeOff {
		return
	}
	e.SetCrc32cValue(v.Crc)
	if q.CrcMode == nicspec.CrcModeCheck {
		e.SetCrc32c(v.CrcVerdict)
	}
}

// setCRC32C inserts the CRC-32C into a frame that passed crc32cFits [X1].
func setCRC32C(p *TxPlan, f []byte) {
	to := p.CrcOff
	if to < p.CrcStart {
		to = p.crc32cEnd(f)
	}
	binary.LittleEndian.PutUint32(f[p.CrcOff:], crc32.Checksum(f[p.CrcStart:to], castagnoli))
}

// crc32cEnd returns the end of the bytes that a transmit CRC-32C may cover: the end of the frame, or
// the start of the ICRC.
func (p *TxPlan) crc32cEnd(f []byte) int {
	if p.ICRC {
		return p.L4Off + udpLen(f, p.L4Off) - icrcBytes
	}
	return len(f)
}

// crc32cFits checks the conditions of [X1], after those of [T7].
func crc32cFits(p *TxPlan, f []byte) bool {
	const digest = 4
	at, start, end := p.CrcOff, p.CrcStart, p.crc32cEnd(f)
	least := 0 // the CRC-32C must not overwrite headers that other offloads use
	if p.IPCsum {
		least = p.L3Off + ihl(f, p.L3Off)
	}
	if p.UDPCsum || p.UDPZero {
		least = max(least, p.L4Off+udpBytes)
	}
	if p.ICRC {
		least = max(least, p.L4Off+bthEndInUDP)
	}
	if at < least || at == start {
		return false
	}
	if at > start {
		return at+digest <= end
	}
	return at+digest <= start && start < end
}
