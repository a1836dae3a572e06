package ether

import (
	"fmt"

	"nictwin/models/simcore"
)

// Frame lengths without FCS, in bytes, that a device must take (contract,
// Ethernet ports).
const (
	MinLen = 60
	MaxLen = 9216
)

// WireOverhead is what a frame occupies on the wire beyond its data, in bytes:
// preamble and start of frame 8, FCS 4, shortest gap 12 (IEEE 802.3, clause 4).
const WireOverhead = 24

// Frame is one Ethernet frame on its way between two components.
type Frame struct {
	simcore.Msg
	Port  int    // Ethernet port, from 0
	Queue int    // transmit queue; -1 on receive
	Data  []byte // from the destination address on, no FCS
	Seq   uint64 // the sender's ordinal

	pooled bool
}

// Pool is a free list of frames with their buffers. The zero value is ready.
// It serves one simulation and is not safe for concurrent use.
type Pool struct {
	free []*Frame
}

// Get returns a frame with n bytes of data, whose contents are arbitrary, and
// TrafficBytes set to n; all else is zero, Queue is -1.
func (p *Pool) Get(n int) *Frame {
	var f *Frame
	if last := len(p.free) - 1; last >= 0 {
		f = p.free[last]
		p.free = p.free[:last]
	} else {
		f = new(Frame)
	}
	buf := f.Data
	if cap(buf) < n {
		buf = make([]byte, n, max(n, MaxLen))
	}
	*f = Frame{Queue: -1, Data: buf[:n]}
	f.TrafficBytes = n
	return f
}

// Copy returns a frame with a copy of data.
func (p *Pool) Copy(data []byte) *Frame {
	f := p.Get(len(data))
	copy(f.Data, data)
	return f
}

// Put takes back a frame that nothing refers to any more. It panics if the
// frame is in the pool already.
func (p *Pool) Put(f *Frame) {
	if f.pooled {
		panic(fmt.Sprintf("ether: frame %d of port %d is put back twice", f.Seq, f.Port))
	}
	f.pooled = true
	p.free = append(p.free, f)
}

var _ simcore.Timed = (*Frame)(nil)
