package judge

import (
	"nictwin/golden"
	"nictwin/golden/trace"
	"nictwin/golden/verdict"
	"nictwin/models/sim/simcore"
)

// frameLog writes the compared frames of one NIC into the log's pcapng file, with their mismatches. A frame is
// written when it has been compared; later findings about it are added when the log is closed.
type frameLog struct {
	name   string
	out    *trace.Pcapng
	first  int // index of the first of the NIC's two interfaces
	period simcore.Ps
	text   func(*verdict.Mismatch) string

	frame trace.Frame                 // reused for every frame
	told  map[*verdict.Mismatch]bool  // mismatches that a frame's comment already mentions
	late  map[trace.PacketID][]string // comments to add when the log is closed
}

// Bytes of frames.pcapng reserved for comments that are added when the log is closed: commentRoom in a file with a
// limit, but no more than one part in commentShare of it; commentRoomFree in a file without one.
const (
	commentRoom     = 64 << 10
	commentShare    = 16 // reserve at most the limit divided by this
	commentRoomFree = 16 << 20
)

func newFrameLog(name string, out *trace.Pcapng, first int) *frameLog {
	return &frameLog{name: name, out: out, first: first, told: map[*verdict.Mismatch]bool{},
		late: map[trace.PacketID][]string{}}
}

// packetID returns the pcapng packet ID of a frame at the NIC's boundary.
func (l *frameLog) packetID(f verdict.FrameID) trace.PacketID {
	id := trace.PacketID(f.N) | trace.PacketID(f.Port)<<32 | trace.PacketID(l.first)<<48
	if f.Sent {
		id |= 1 << 40
	}
	return id
}

// compared writes a compared frame: the expected bytes, and those that crossed.
func (l *frameLog) compared(e *golden.FrameEvent) {
	f := &l.frame
	*f = trace.Frame{Ns: e.Cycle * int64(l.period) / 1000, Dir: trace.Outbound, ID: trace.NoID,
		Comments: f.Comments[:0]}
	if e.Rx {
		f.Dir = trace.Inbound
	}
	if e.Known {
		f.ID = l.packetID(e.ID)
	}
	if e.Mismatch != nil {
		f.Comments = append(f.Comments, l.text(e.Mismatch))
		l.told[e.Mismatch] = true
	}
	if e.Expected != nil {
		l.out.Packet(l.first+trace.Golden, f, e.Expected)
	}
	if e.Got != nil {
		l.out.Packet(l.first+trace.DUT, f, e.Got)
	}
}

// found receives all mismatches, and queues a comment for each that no comment mentions yet.
func (l *frameLog) found(list []*verdict.Mismatch) {
	for _, m := range list {
		if m.Frame != nil && !l.told[m] {
			id := l.packetID(*m.Frame)
			l.late[id] = append(l.late[id], l.text(m))
		}
	}
}
