package rpc

import (
	"fmt"
	"math/bits"

	"nictwin/models/sim/fifo"
	"nictwin/stack/cc"
)

// Packet is a packet that Sender.Next wants sent: its header, and its payload as a range of its message.
type Packet struct {
	Header
	Offset, Length int
}

// Sender is the sending end of a flow.
type Sender struct {
	spec  Spec
	dctcp *cc.DCTCP

	queue      fifo.Queue[message] // messages with packets that have never been sent
	nextIndex  int                 // index in the first message of the packet to send next
	unfinished int                 // messages queued or unacknowledged

	window     []sent // packets, by number modulo Window
	base, next uint32 // first unacknowledged packet; number of the next new one
	inFlight   int64  // payload bytes sent and neither acknowledged nor lost
	lost       int    // packets that wait for retransmission
	firstLost  uint32 // none of them is before it
	recovery   uint32 // packets below this number are found lost only by a timeout
	marked     uint32 // marks that acknowledgements have reported

	deadline Ps
	backoff  uint
	stats    SenderStats
}

// SenderStats counts what a sender did.
type SenderStats struct {
	Packets, Again, Timeouts uint64 // packets sent; retransmissions among them; deadlines that passed
	Messages                 uint64 // messages acknowledged, in the order in which they were queued
}

type message struct {
	id    uint32
	bytes int
}

// sent is a packet that was sent at least once.
type sent struct {
	message
	index int
	state packetState
}

type packetState uint8

const (
	acked packetState = iota
	inFlight
	lost
)

// NewSender returns the sending end of a flow.
func NewSender(s Spec) (*Sender, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("rpc: %w", err)
	}
	d, err := cc.NewDCTCP(s.DCTCP)
	if err != nil {
		return nil, err
	}
	return &Sender{spec: s, dctcp: d, window: make([]sent, Window), deadline: Never}, nil
}

// Room reports whether Queue takes another message.
func (s *Sender) Room() bool { return s.unfinished < s.spec.Messages }

// Queue adds a message.
func (s *Sender) Queue(id uint32, length int) error {
	if length < 0 || length > maxMessage || s.spec.packets(length) > 1<<16 {
		return fmt.Errorf("rpc: a message of %d bytes: want 0 to %d in at most 65536 packets", length, maxMessage)
	}
	if !s.Room() {
		return fmt.Errorf("rpc: %d messages are unacknowledged: want one of them to end first", s.unfinished)
	}
	s.queue.Push(message{id, length})
	s.unfinished++
	return nil
}

// Idle reports whether every message has been acknowledged.
func (s *Sender) Idle() bool { return s.unfinished == 0 }

// Stats returns the sender's counters.
func (s *Sender) Stats() SenderStats { return s.stats }

// Window returns the congestion window in bytes.
func (s *Sender) Window() int64 { return s.dctcp.Window() }

// Deadline returns the time at which to call Expire; Never if nothing is unacknowledged.
func (s *Sender) Deadline() Ps { return s.deadline }

// Next returns the packet to send now, a lost one before a new one. It reports false if the window is closed or every
// packet has been sent.
func (s *Sender) Next(now Ps) (p Packet, ok bool) {
	if s.lost > 0 {
		n := s.oldestLost()
		if !s.open(s.at(n)) {
			return p, false
		}
		s.lost--
		s.stats.Again++
		return s.send(now, n, true), true
	}
	if s.queue.Len() == 0 || s.next-s.base == uint32(s.spec.Outstanding) {
		return p, false
	}
	m := *s.queue.Front()
	x := sent{message: m, index: s.nextIndex}
	if !s.open(&x) {
		return p, false
	}
	*s.at(s.next) = x
	s.next++
	if s.nextIndex++; s.nextIndex == s.spec.packets(m.bytes) {
		s.queue.Pop()
		s.nextIndex = 0
	}
	return s.send(now, s.next-1, false), true
}

// oldestLost returns the number of the first packet that waits for retransmission. There must be one.
func (s *Sender) oldestLost() uint32 {
	if int32(s.firstLost-s.base) < 0 {
		s.firstLost = s.base
	}
	for s.at(s.firstLost).state != lost {
		s.firstLost++
	}
	return s.firstLost
}

func (s *Sender) at(number uint32) *sent { return &s.window[number%Window] }

// bytes returns the bytes of a packet that count in the window: its payload, and one for an empty one.
func (s *Sender) bytes(x *sent) int { return max(1, s.spec.payload(x.message.bytes, x.index)) }

// open reports whether the window admits a packet: always if nothing is in flight.
func (s *Sender) open(x *sent) bool {
	return s.inFlight == 0 || s.inFlight+int64(s.bytes(x)) <= s.dctcp.Window()
}

func (s *Sender) send(now Ps, number uint32, again bool) Packet {
	x := s.at(number)
	x.state = inFlight
	n := s.bytes(x)
	s.inFlight += int64(n)
	s.dctcp.Sent(now, n)
	s.stats.Packets++
	if s.deadline == Never {
		s.deadline = now + s.spec.Timeout<<s.backoff
	}
	return Packet{Header: Header{Kind: Data, Again: again, Last: s.isLast(x), Index: uint16(x.index), Number: number,
		Message: x.id, Bytes: uint32(x.message.bytes)}, Offset: x.index * s.spec.Segment,
		Length: s.spec.payload(x.message.bytes, x.index)}
}

// Acked handles an acknowledgement. The first packets that it acknowledges count as the marked ones, since it tells
// only how many there were. It returns an error if it covers packets that were never sent.
func (s *Sender) Acked(now Ps, h *Header) error {
	ahead, highest := int32(h.Number-s.base), h.highest()
	if ahead > int32(s.next-s.base) || int32(highest-s.next) >= 0 && h.Map != [4]uint64{} {
		return fmt.Errorf("rpc: an acknowledgement up to packet %d: want at most %d, the last one sent", highest,
			s.next-1)
	}
	if ahead < 0 {
		return nil // a later acknowledgement has overtaken this one
	}
	marks := h.Marked - s.marked
	if int32(marks) > 0 {
		s.marked = h.Marked
	} else {
		marks = 0
	}
	progress := false
	for n := s.base; int32(highest-n) >= 0; n++ {
		if x := s.at(n); x.state != acked && (int32(n-h.Number) < 0 || h.has(n)) {
			s.take(now, x, marks > 0)
			marks -= min(marks, 1)
			progress = true
		}
	}
	for s.base != s.next && s.at(s.base).state == acked {
		s.ended(s.at(s.base))
		s.base++
	}
	s.detect(now, highest)
	if progress {
		s.backoff = 0
		s.deadline = Never
		if s.base != s.next {
			s.deadline = now + s.spec.Timeout
		}
	}
	return nil
}

// take marks a packet as acknowledged.
func (s *Sender) take(now Ps, x *sent, marked bool) {
	n := s.bytes(x)
	if x.state == lost {
		s.lost--
		s.dctcp.Sent(now, n) // the packet was not lost after all
	} else {
		s.inFlight -= int64(n)
	}
	s.dctcp.Acked(now, n, marked)
	x.state = acked
}

// ended counts a message as ended if the packet that leaves the window is its last one.
func (s *Sender) ended(x *sent) {
	if s.isLast(x) {
		s.unfinished--
		s.stats.Messages++
	}
}

// isLast reports whether a packet is the last one of its message.
func (s *Sender) isLast(x *sent) bool { return x.index == s.spec.packets(x.message.bytes)-1 }

// reorder is the number of later packets that have to arrive before a missing one is lost (RFC 5681, 3.2).
const reorder = 3

// detect finds packets that are lost because others, sent after them, have arrived, the last of them with number
// highest.
func (s *Sender) detect(now Ps, highest uint32) {
	first := s.base
	if int32(s.recovery-first) > 0 { // below s.recovery, only the timeout finds losses
		first = s.recovery
	}
	for n := first; n != s.next && int32(highest-n) >= reorder; n++ {
		x := s.at(n)
		if x.state != inFlight {
			continue
		}
		s.lose(n)
		s.dctcp.Lost(now, s.bytes(x), false)
		s.recovery = n + 1
	}
}

func (s *Sender) lose(number uint32) {
	if s.lost == 0 || int32(number-s.firstLost) < 0 {
		s.firstLost = number
	}
	x := s.at(number)
	x.state = lost
	s.lost++
	s.inFlight -= int64(s.bytes(x))
}

// Expire handles a deadline that has passed: all packets that are unacknowledged are lost.
func (s *Sender) Expire(now Ps) {
	if now < s.deadline {
		return
	}
	const most = 6
	s.stats.Timeouts++
	s.backoff = min(s.backoff+1, most)
	before := s.inFlight
	for n := s.base; n != s.next; n++ {
		if x := s.at(n); x.state == inFlight {
			s.lose(n)
		}
	}
	s.dctcp.Lost(now, int(before-s.inFlight), true)
	s.recovery = s.next
	s.deadline = now + s.spec.Timeout<<s.backoff
}

// has reports whether the map of an acknowledgement has a packet.
func (h *Header) has(number uint32) bool {
	i := number - h.Number
	return i < MapBits && h.Map[i/64]>>(i%64)&1 == 1
}

// highest returns the number of the last packet that an acknowledgement has.
func (h *Header) highest() uint32 {
	for w := len(h.Map) - 1; w >= 0; w-- {
		if n := bits.Len64(h.Map[w]); n > 0 {
			return h.Number + uint32(64*w+n-1)
		}
	}
	return h.Number - 1
}
