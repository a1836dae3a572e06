package emulation

import (
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// headBytes is the number of bytes ahead of a beat's payload (shell_pkg).
const headBytes = 9

// piece is a group of a stream's pins: where it lies in the transactor's vector, in a message and at the device.
type piece struct {
	manifest.Field
	At     int // bit in the transactor's vector
	InByte int // first byte in the payload of a message
	Noise  int // first bit in the stream's noise, which idle pins get; -1: they are all ones
}

// pins describes a stream of the device: its transactor, and its pins besides the handshake.
type pins struct {
	*manifest.BoundStream
	Pos    int // number among the inputs, or among the outputs
	Source int // index of the transactor
	Bits   int
	Pieces []piece
	Bytes  int // length of a beat in a message
	Words  int // 64-bit words of noise
}

// newPins lays out a stream.
func newPins(s *manifest.BoundStream) pins {
	l := build.BeatLayout(s)
	p := pins{BoundStream: s, Bytes: l.Bytes, Words: max(1, (s.DataBytes+s.SideBytes+7)/8)}
	add := func(f manifest.Field, inByte, noise int) {
		p.Pieces = append(p.Pieces, piece{Field: f, At: p.Bits, InByte: inByte, Noise: noise})
		p.Bits += f.Width
	}
	if s.Packets() {
		add(s.Data, 0, 0)
		if s.Unit() != 0 {
			add(s.Keep, l.Keep, -1)
		}
		add(s.Last, l.Last, 0)
	}
	for _, f := range s.SideFields {
		add(f, l.Side+f.Offset, 8*(s.DataBytes+f.Offset))
	}
	p.Bits = max(1, p.Bits)
	return p
}

// shape is everything about a shell that its text is made of.
type shape struct {
	*manifest.Binding
	Options
	Ports       []manifest.PinPort
	Parameters  string // of the device's instance
	Inputs      []pins
	Outputs     []pins
	Hash        string
	Traced      []manifest.PinPort // held by the trace buffer
	ports       map[string]int     // by C++ member: index of the port
	observedAt  []int              // offsets in the message of observed signals
	ObservedLen int
}

func newShape(b *manifest.Binding, ports []manifest.PinPort, parameters string, o Options) *shape {
	s := &shape{Binding: b, Options: o, Ports: ports, Parameters: parameters, ports: map[string]int{}}
	for i, p := range ports {
		s.ports[p.Member] = i
	}
	for i := range b.Streams {
		p := newPins(&b.Streams[i])
		if p.Dir == manifest.DirIn {
			p.Pos, p.Source = len(s.Inputs), len(s.Inputs)
			s.Inputs = append(s.Inputs, p)
		} else {
			p.Pos = len(s.Outputs)
			s.Outputs = append(s.Outputs, p)
		}
	}
	for i := range s.Outputs {
		s.Outputs[i].Source = len(s.Inputs) + i
	}
	s.observedAt, s.ObservedLen = build.ObservedLayout(b)
	return s
}

// Sources returns the number of transactors: inputs, outputs, one for the observed signals, and perhaps a trace buffer.
func (s *shape) Sources() int { return s.observer() + 1 + bit(len(s.Traced) > 0) }

// observer returns the index of the transactor of the observed signals.
func (s *shape) observer() int { return len(s.Inputs) + len(s.Outputs) }

// Lengths of messages, in bytes, without their code.
func (s *shape) startBytes() int { return s.tieAt(len(s.Ties)) + traceStart*bit(len(s.Traced) > 0) }
func (s *shape) maskBytes() int  { return 8 * len(s.Streams) }
func (s *shape) grantBytes() int { return s.creditAt(len(s.Outputs)) }

func (s *shape) bodyBytes() int {
	n := max(s.startBytes(), s.maskBytes(), s.grantBytes())
	for _, p := range s.Inputs {
		n = max(n, headBytes+p.Bytes)
	}
	return n
}

// mostBytes returns the length of the longest payload of an event.
func (s *shape) mostBytes() int {
	n := max(s.ObservedLen, bytesOfAll(s.Traced))
	for _, p := range s.Outputs {
		n = max(n, p.Bytes)
	}
	return n
}

// traceStart is the length of the cycle in which a trace begins.
const traceStart = 6

// Offsets in the message that starts a run: flags, clocks, keys of inputs, credits of outputs, tie-offs, trace.
func (s *shape) clockAt(k int) int { return 1 + 8*k }
func (s *shape) keyAt(i int) int   { return s.clockAt(len(s.Clocks)) + 8*i }
func (s *shape) limitAt(i int) int { return s.keyAt(len(s.Inputs)) + 5*i }
func (s *shape) tieAt(i int) (n int) {
	n = s.limitAt(len(s.Outputs))
	for _, t := range s.Ties[:i] {
		if t.Width <= 64 {
			n += bytesOf(t.Width)
		}
	}
	return n
}

// Offsets in a grant: slots, flags, resets, inputs with further beats, credits.
const resetAt = 3

func (s *shape) moreAt() int        { return resetAt + bytesOf(len(s.Resets)) }
func (s *shape) creditAt(i int) int { return s.moreAt() + bytesOf(len(s.Inputs)) + 4*i }

func bytesOf(bits int) int { return (bits + 7) / 8 }
