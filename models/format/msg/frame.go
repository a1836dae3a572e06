package msg

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"nictwin/models/format/ether"
	"nictwin/models/sim/simcore"
)

// Frame is a frame that crosses an Ethernet link.
type Frame struct {
	simcore.Msg
	ether.Frame
	Seq uint64 // ordinal of the frame among those of its sender

	pooled bool
}

// Bytes implements simcore.Timed: it returns the length without FCS; the link adds ether.WireOverhead. For a
// packet with another framing on the wire, such as InfiniBand's, it subtracts ether.Frame.Trim.
func (f *Frame) Bytes() int { return len(f.Data) - f.Trim }

// Frames is a pool of frames with their buffers. The zero value is ready for
// use.
type Frames struct {
	free [frameSizes][]*Frame // unused frames, by the length of their buffers in units of frameStep
}

// The length of a buffer is a multiple of frameStep, so that a frame uses little more memory than it has bytes. Frames
// longer than a NIC accepts share the last list of Frames.free.
const (
	frameStep  = 512
	frameSizes = ether.MaxLen/frameStep + 2
)

func frameSize(n int) int { return min((n+frameStep-1)/frameStep, frameSizes-1) }

// Get returns a frame with n bytes of data, whose contents are arbitrary. Queue is -1, all else
// zero.
func (l *Frames) Get(n int) *Frame {
	var f *Frame
	size := frameSize(n)
	if last := len(l.free[size]) - 1; last >= 0 {
		f = l.free[size][last]
		l.free[size] = l.free[size][:last]
	} else {
		f = new(Frame)
	}
	buf := f.Data
	if cap(buf) < n {
		buf = make([]byte, n, max(n, size*frameStep))
	}
	*f = Frame{Frame: ether.Frame{Queue: -1, Data: buf[:n]}}
	return f
}

// Copy returns a frame with a copy of data.
func (l *Frames) Copy(data []byte) *Frame {
	f := l.Get(len(data))
	copy(f.Data, data)
	return f
}

// Put returns a frame to the pool; nothing may refer to it any more. It panics if the frame is in
// the pool already.
func (l *Frames) Put(f *Frame) {
	if f.pooled {
		panic(fmt.Sprintf("msg: frame %d of port %d is put back twice", f.Seq, f.Port))
	}
	f.pooled = true
	size := frameSize(cap(f.Data))
	l.free[size] = append(l.free[size], f)
}

var (
	_ sim.Msg       = (*Frame)(nil)
	_ simcore.Timed = (*Frame)(nil)
)
