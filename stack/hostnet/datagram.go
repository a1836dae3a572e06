package hostnet

import (
	"fmt"

	"nictwin/models/nic/nicspec"
)

// Source is an application that sends datagrams without rpc: nothing acknowledges or repairs them.
type Source interface {
	// Next writes the payload of the next datagram to b and returns its length. It returns false if the application has
	// to wait or has ended.
	Next(now Ps, b []byte) (n int, ok bool)

	// Longest returns the length of the longest payload.
	Longest() int

	// Wake returns the time at which Next may have a datagram; Never: no more.
	Wake() Ps

	// Idle reports whether Next will have no further datagram.
	Idle() bool
}

// Sink is an application that takes datagrams without rpc.
type Sink interface {
	// Open is called once, when the flow is opened.
	Open(f *Flow) error

	// HeaderBytes returns how many bytes of each payload Take needs, at most 64.
	HeaderBytes() int

	// Take handles a datagram with n bytes of payload, whose first bytes are in head. Its buffer is free afterwards.
	Take(f *Flow, head []byte, n int) error
}

// source is the sending end of a flow of datagrams.
type source struct {
	f    *Flow
	app  Source
	sent uint64
}

func (s *source) headerBytes() int           { return 0 }
func (s *source) take(p *Packet, _ datagram) { s.f.drop(p) }
func (s *source) idle() bool                 { return s.app.Idle() || !s.f.node.started }
func (s *source) timer() string              { return "" }
func (s *source) progress() uint64           { return s.sent }
func (s *source) slotBytes(headers int) int  { return headers + s.app.Longest() }

func (s *source) deadline() Ps {
	if !s.f.node.started {
		return Never
	}
	return s.app.Wake()
}

func (s *source) step(now Ps) bool {
	f := s.f
	if !f.node.started {
		return false
	}
	headers, burst := f.ends.HeaderBytes(), f.node.cfg.Spec.Burst
	sent := 0
	for ; sent < burst && f.core.hasRoom(1); sent++ {
		n, ok := s.app.Next(now, f.frame[headers:])
		if !ok {
			break
		}
		if longest := min(s.app.Longest(), nicspec.FrameMax-headers); n < 0 || n > longest {
			f.Fail(fmt.Errorf("a datagram of %d bytes: want 0 to %d", n, longest))
			return false
		}
		f.core.cpu.Compute(f.node.cfg.Spec.TransmitCycles)
		setLengths(f.frame[:headers], n)
		f.core.tx.send(f, f.frame[:headers+n], 0, 0, nil)
		s.sent++
	}
	return sent > 0
}

// sink is the receiving end of a flow of datagrams.
type sink struct {
	f    *Flow
	app  Sink
	took uint64
}

func (s *sink) headerBytes() int          { return s.app.HeaderBytes() }
func (s *sink) step(Ps) bool              { return false }
func (s *sink) deadline() Ps              { return Never }
func (s *sink) idle() bool                { return true }
func (s *sink) timer() string             { return "" }
func (s *sink) progress() uint64          { return s.took }
func (s *sink) slotBytes(headers int) int { return headers }

func (s *sink) take(p *Packet, d datagram) {
	end := d.payload + min(d.bytes, s.app.HeaderBytes())
	if err := s.app.Take(s.f, s.f.head[d.payload:end], d.bytes); err != nil {
		s.f.Fail(err)
	}
	s.took++
	s.f.path.Done(p)
}
