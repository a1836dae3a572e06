package attribution

import (
	"encoding/binary"

	"nictwin/golden/memory"
)

// overwritten is the set of bytes of a frame that offloads overwrite: any value may have been read there.
type overwritten struct {
	s [maxOverwritten]memory.Interval
	n int
}

const maxOverwritten = 6

// Offsets of the fields that offloads write, each in its own header, and the length of an ICRC.
const (
	ipTosAt   = 1
	ipCsumAt  = 10
	udpLenAt  = 4
	udpCsumAt = 6
	bthPadAt  = 9 // offset behind the UDP header
	crcBytes  = 4
)

func (o *overwritten) add(lo, n, size int) {
	if lo >= 0 && lo+n <= size && o.n < len(o.s) {
		o.s[o.n] = memory.Interval{Lo: lo, Hi: lo + n}
		o.n++
	}
}

// unread returns the bytes of an entry's frame, as it left, that may differ from those read.
func (e *Entry) unread(frame []byte) (o overwritten) {
	p, n := &e.Plan, min(len(frame), e.Plan.Length)
	if p.ECN != 0 {
		o.add(p.L3Off+ipTosAt, 1, n)
		o.add(p.L3Off+ipCsumAt, 2, n)
	} else if p.IPCsum {
		o.add(p.L3Off+ipCsumAt, 2, n)
	}
	if p.UDPCsum || p.UDPZero {
		o.add(p.L4Off+udpCsumAt, 2, n)
	}
	if p.CRC32C {
		o.add(p.CrcOff, crcBytes, n)
	}
	if at := p.L4Off + udpLenAt; p.ICRC && at+2 <= n {
		o.add(p.L4Off+int(binary.BigEndian.Uint16(frame[at:]))-crcBytes, crcBytes, n)
	}
	return o
}

// span reports whether byte lo is in the set, and how many bytes from lo on, up to hi, are equally in or out.
func (o *overwritten) span(lo, hi int) (in bool, n int) {
	for i := range o.s[:o.n] {
		if v := o.s[i]; v.Lo <= lo && lo < v.Hi {
			return true, min(v.Hi, hi) - lo
		} else if v.Lo > lo {
			hi = min(hi, v.Lo)
		}
	}
	return false, hi - lo
}

// places lists the offsets of the bytes in the set.
func (o *overwritten) places() (at []int) {
	for _, v := range o.s[:o.n] {
		for i := v.Lo; i < v.Hi; i++ {
			at = append(at, i)
		}
	}
	return at
}

// anyValue reports whether the n bytes at offset `at` of a frame that left may have had any value when they were read.
func (e *Entry) anyValue(at, n int) bool {
	if !e.Left || !e.Plan.Send || e.Plan.ECN != 0 {
		return false
	}
	o := e.unread(e.Frame)
	in, k := o.span(at, at+n)
	return in && k == n
}
