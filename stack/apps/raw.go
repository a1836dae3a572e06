package apps

import (
	"bytes"
	"fmt"

	"nictwin/models/sim/field"
)

// Raw frames have an Ethernet header before the message, with an EtherType for experiments (IEEE 802,
// 9.2.3).
const (
	etherBytes   = 14
	addressBytes = 12 // destination and source
	etherType    = 0x88b5
	MinFrame     = 60 // length of the shortest frame without FCS; NICs pad shorter ones
)

// prefix returns the length of the header that a request has before its message.
func (s *Spec) prefix() int {
	if s.Transport == Raw {
		return etherBytes
	}
	return 0
}

// RequestBytes returns the length of the request that carries message i, for kinds whose requests go to an application,
// not to a handler (Served).
func (s *Spec) RequestBytes(i int) int { return s.prefix() + s.size(i) }

// RawHeader returns the Ethernet header of the frames from one port to another.
func RawHeader(to, from [6]byte) (h [14]byte) {
	ethernet(h[:], to, from)
	return h
}

// ethernet writes the Ethernet header of a frame.
func ethernet(b []byte, to, from [6]byte) {
	copy(b, to[:])
	copy(b[len(to):], from[:])
	b[etherBytes-2], b[etherBytes-1] = etherType>>8, etherType&0xff
}

// checkHeader checks the header of a frame received into a slot, and reports whether it could be read.
func (e *end) checkHeader(a *area, slot, next int) bool {
	var got, want [etherBytes]byte
	if !e.check("load", a.load(e.side.Core, slot, 0, a.piece, got[:])) {
		return false
	}
	ethernet(want[:], e.route.MAC, e.route.Peer.MAC)
	if !bytes.Equal(got[:], want[:]) {
		e.fail(Finding{What: "header", Message: next, Addr: a.pieceAddr(slot, 0),
			Text: fmt.Sprintf("a frame with header %x at %#x: expected %x", got, a.pieceAddr(slot, 0), want)})
	}
	return true
}

// validateRaw rejects options that raw packets do not support.
func (s *Spec) validateRaw(bad func(ok bool, path field.Path, format string, a ...any)) {
	if s.Transport != Raw {
		return
	}
	bad(!s.Immediate, "immediate", ": transport %s has no immediate data: want false", Raw)
	bad(!s.SharedReceive, "shared_receive", ": transport %s does not support it: want false", Raw)
	bad(s.Processes == 1, "processes", "%d: the frames of a port go to one process with %s: want 1", s.Processes, Raw)
	bad(s.flows() <= s.Ports, "ports", "%d: each port has one flow of %s, and there are %d: want %d or more", s.Ports,
		Raw, s.flows(), s.flows())
}
