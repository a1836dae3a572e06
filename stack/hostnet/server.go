package hostnet

import (
	"errors"
	"fmt"

	"nictwin/stack/rpc"
)

// Server is an application that answers requests.
type Server interface {
	// Open is called once, when the flow is opened, before any packet: the application may allocate memory.
	Open(f *Flow) error

	// Take handles a packet of a request; it gets each packet once, in the order of arrival. The packet's buffer
	// belongs to the application until it calls Release or AnswerFrom for it. `a` is valid until Take returns.
	Take(f *Flow, a *Arrival)

	// Work continues work that takes longer than one packet's handling, and reports whether it did any. It is called at
	// every step, and again while it answers.
	Work(f *Flow) bool

	// Idle reports whether Work has nothing left to do.
	Idle() bool
}

// Reader is a Server that does not always want packets, as software that receives one message at a time. Packets that
// it does not want stay in the receive ring, or where the flow's Path has them.
type Reader interface {
	Server

	// Wants reports whether the application takes further packets now.
	Wants() bool
}

// Arrival is a packet of a request.
type Arrival struct {
	Packet  *Packet // copy it to keep it
	Message uint32  // the request
	Bytes   int     // length of the request
	Offset  int     // of the packet's payload in the request
	Payload uint64  // address of the payload
	Length  int     // of the payload
}

// server is the receiving end of a flow of requests.
type server struct {
	f       *Flow
	app     Server
	recv    rpc.Receiver
	arrival Arrival
	owed    bool // packets arrived that no acknowledgement covers
	stats   ServerStats
}

// ServerStats counts what a server took and sent.
type ServerStats struct {
	rpc.ReceiverStats
	Bytes   uint64 // of payload in new packets
	Answers uint64
	Acks    uint64 // acknowledgements without an answer
}

func (s *server) headerBytes() int { return rpc.DataBytes }

func (s *server) take(p *Packet, d datagram) {
	f := s.f
	h, err := rpc.Decode(f.head[d.payload : d.payload+min(rpc.DataBytes, d.bytes)])
	offset := int(h.Index) * f.cfg.RPC.Segment
	length := min(f.cfg.RPC.Segment, int(h.Bytes)-offset)
	if err != nil || h.Kind != rpc.Data || length < 0 || d.bytes != rpc.DataBytes+length ||
		h.Last != (offset+length == int(h.Bytes)) {
		f.drop(p)
		return
	}
	p.Last = h.Last
	s.owed = true
	fresh, err := s.recv.Take(&h, p.CE || d.ecn == ecnMarked)
	if err != nil && !(fresh && f.node.cfg.Reordered && errors.As(err, new(*rpc.OrderError))) {
		f.Fail(err)
	}
	if !fresh {
		f.path.Done(p)
		return
	}
	s.stats.Bytes += uint64(length)
	at := d.payload + rpc.DataBytes
	s.arrival = Arrival{Packet: p, Message: h.Message, Bytes: int(h.Bytes), Offset: offset, Length: length,
		Payload: p.Pay + uint64(at-p.HdrLen)}
	if at < p.HdrLen {
		s.arrival.Payload = p.Hdr + uint64(at)
		if at+length > p.HdrLen {
			f.Fail(fmt.Errorf("payload at byte %d of a frame that is split at byte %d: want a split at the payload, "+
				"or none", at, p.HdrLen))
			return
		}
	}
	s.app.Take(f, &s.arrival)
}

// Release ends the use of a packet of a request.
func (f *Flow) Release(p *Packet) { f.path.Done(p) }

// Answer sends an answer of at most FlowConfig.AnswerBytes, which may be reused at once.
func (f *Flow) Answer(message uint32, b []byte) {
	if len(b) > f.cfg.AnswerBytes {
		f.Fail(fmt.Errorf("an answer of %d bytes: want at most %d, its AnswerBytes", len(b), f.cfg.AnswerBytes))
		return
	}
	at := f.acknowledge(message, len(b))
	copy(f.frame[at:], b)
	f.core.tx.send(f, f.frame[:at+len(b)], 0, 0, nil)
}

// AnswerFrom sends n bytes from a packet's buffer as the answer, without a copy; the use of the packet ends when the
// frame has left.
func (f *Flow) AnswerFrom(message uint32, addr uint64, n int, p *Packet) {
	at := f.acknowledge(message, n)
	f.core.tx.send(f, f.frame[:at], addr, n, p)
}

// acknowledge writes the headers of an acknowledgement with an answer of n bytes, and returns the offset of their end.
func (f *Flow) acknowledge(message uint32, n int) (at int) {
	s := f.role.(*server)
	if longest := len(f.frame) - f.ends.HeaderBytes() - rpc.AckBytes; n < 1 || n > longest {
		f.Fail(fmt.Errorf("an answer of %d bytes: want 1 to %d", n, longest))
		n = 1
	}
	s.stats.Answers++
	return s.header(message, n)
}

func (s *server) header(message uint32, n int) (at int) {
	f := s.f
	f.core.cpu.Compute(f.node.cfg.Spec.TransmitCycles)
	h := s.recv.Ack()
	h.Message, h.Bytes = message, uint32(n)
	headers := f.ends.HeaderBytes()
	setLengths(f.frame[:headers], rpc.AckBytes+n)
	s.owed = false
	return headers + h.Encode(f.frame[headers:])
}

// step lets the application work, again as long as it answers, so that a burst of answers has one doorbell, and
// acknowledges what no answer has covered.
func (s *server) step(Ps) bool {
	worked := false
	for range s.f.node.cfg.Spec.Burst {
		answers := s.stats.Answers
		if !s.f.core.hasRoom(2) || !s.app.Work(s.f) {
			break
		}
		worked = true
		if s.stats.Answers == answers {
			break
		}
	}
	if s.owed && s.f.core.hasRoom(1) {
		s.stats.Acks++
		s.f.core.tx.send(s.f, s.f.frame[:s.header(0, 0)], 0, 0, nil)
	}
	return worked
}

func (s *server) deadline() Ps              { return Never }
func (s *server) idle() bool                { return !s.owed && s.app.Idle() }
func (s *server) timer() string             { return "" }
func (s *server) progress() uint64          { return s.recv.Stats().Packets + s.stats.Answers }
func (s *server) slotBytes(headers int) int { return headers + rpc.AckBytes + s.f.cfg.AnswerBytes }
