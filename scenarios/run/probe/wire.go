package probe

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/models/sim/simcore"
	"nictwin/stack/transport"
)

// Sender is the sending end of a flow, whose messages are followed.
type Sender struct {
	Flow   int
	Answer bool
	Count  int // number of messages
}

// Wire stamps the first packet of each message where it leaves a NIC.
type Wire struct {
	clock  simcore.Scheduler
	stamp  func(at simcore.Ps, flow int, answer bool, message int)
	queues map[Destination]follower
	frames map[EtherHeader]*numbered
	grams  map[Datagrams]*datagrams
}

// Destination identifies the queue pair to which a sender's packets go.
type Destination struct {
	MAC [6]byte // address of a port of the queue pair's server
	QPN uint32
}

// EtherHeader is the header of frames that have no other: destination, source and EtherType.
type EtherHeader [14]byte

// follower follows the packets of requests to a queue pair.
type follower interface {
	packet(w *Wire, bth wire.BTH)
}

// NewWire follows messages on cables, from now on.
func NewWire(clock simcore.Scheduler, c *Cables,
	stamp func(at simcore.Ps, flow int, answer bool, message int)) *Wire {
	w := &Wire{clock: clock, stamp: stamp, queues: map[Destination]follower{}, frames: map[EtherHeader]*numbered{},
		grams: map[Datagrams]*datagrams{}}
	for _, x := range c.ways {
		c.onEntry(x, func(b []byte) { w.frame(b, x.fromServer) })
	}
	return w
}

// first stamps a message.
func (w *Wire) first(s *Sender, message int) {
	w.stamp(simcore.Now(w.clock), s.Flow, s.Answer, message)
}

// frame looks at a frame that a NIC or a switch sends.
func (w *Wire) frame(b []byte, fromServer bool) {
	at, ok := wire.FindRoCE(b)
	if !ok {
		if !fromServer || len(b) < len(EtherHeader{}) {
			return
		}
		if n := w.frames[EtherHeader(b)]; n != nil {
			n.frame(w)
		} else if len(w.grams) > 0 {
			w.datagram(b)
		}
		return
	}
	bth := wire.BTH(b[at.BTH:])
	if !requests(bth.Opcode()) {
		return
	}
	if s := w.queues[Destination{MAC: [6]byte(b), QPN: bth.DestQP()}]; s != nil {
		s.packet(w, bth)
	}
}

// requests reports whether packets of an opcode carry requests: the PSNs of responses are those of the other direction.
func requests(o wire.Opcode) bool {
	switch o.Info().Operation {
	case wire.OpSend, wire.OpWrite, wire.OpReadRequest, wire.OpCmpSwap, wire.OpFetchAdd:
		return true
	}
	return o == transport.OpSolarWrite || o == transport.OpSolarRead
}

// position tracks the sender's first message that is still unseen. PSNs of first transmissions rise; those of
// retransmissions do not.
type position struct {
	Sender
	packets func(message int) int
	next    int    // number of that message
	psn     uint32 // PSN of its first packet
}

// PSNs are numbers modulo 2^24. Of two PSNs the second is the later one if it is less than 2^23 ahead of the first.
const (
	maxPSN  = 1<<24 - 1
	halfPSN = 1 << 23
)

// Follow follows a sender whose first packet has the given PSN to a queue pair. packets returns the PSNs that a message
// takes.
func (w *Wire) Follow(to Destination, s Sender, psn uint32, packets func(message int) int) {
	w.queues[to] = &position{Sender: s, packets: packets, psn: psn & maxPSN}
}

func (s *position) packet(w *Wire, bth wire.BTH) {
	for psn := bth.PSN(); s.next < s.Count && (psn-s.psn)&maxPSN < halfPSN; s.next++ {
		w.first(&s.Sender, s.next)
		s.psn = (s.psn + uint32(s.packets(s.next))) & maxPSN
	}
}

// numbered follows a sender whose frames have no PSNs: each frame is the next message.
type numbered struct {
	Sender
	next int
}

// FollowFrames follows a sender whose messages are frames with a header of their own, which leave its server in order
// and once.
func (w *Wire) FollowFrames(header EtherHeader, s Sender) { w.frames[header] = &numbered{Sender: s} }

func (s *numbered) frame(w *Wire) {
	if s.next < s.Count {
		w.first(&s.Sender, s.next)
		s.next++
	}
}

// Ring is a ring of slots in the receiver's memory, one message each, that WRITEs fill in order.
type Ring struct {
	Base             uint64 // address of the first slot
	Slots, SlotBytes int
}

// ringPosition follows the WRITEs to the slots of a ring.
type ringPosition struct {
	Sender
	Ring
	next int    // number of the next message
	psn  uint32 // the PSN after that of the latest packet seen
}

// FollowRing watches what sender s writes into a ring by packets to a queue pair. The first packet has the given PSN.
func (w *Wire) FollowRing(to Destination, s Sender, psn uint32, r Ring) {
	w.queues[to] = &ringPosition{Sender: s, Ring: r, psn: psn & maxPSN}
}

// packet looks at the address of a WRITE that is sent for the first time. Such a WRITE fills one or more slots from
// there on.
func (s *ringPosition) packet(w *Wire, bth wire.BTH) {
	if (bth.PSN()-s.psn)&maxPSN >= halfPSN {
		return
	}
	s.psn = (bth.PSN() + 1) & maxPSN
	i := bth.Opcode().Info()
	if i.Operation != wire.OpWrite || !i.Position.Starts() || len(bth) < wire.BTHSize+wire.RETHSize {
		return
	}
	const lengthAt = 12
	reth := bth[wire.BTHSize:]
	off, n := binary.BigEndian.Uint64(reth)-s.Base, int(binary.BigEndian.Uint32(reth[lengthAt:]))
	if off >= uint64(s.Slots*s.SlotBytes) || off%uint64(s.SlotBytes) != 0 {
		return // a pointer, or the word that ends a slot
	}
	slot := int(off) / s.SlotBytes
	from := s.next + (slot-s.next%s.Slots+s.Slots)%s.Slots
	for s.next = from; s.next < s.Count && n > 0; s.next++ {
		w.first(&s.Sender, s.next)
		n -= s.SlotBytes
	}
}
