package rb2

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/stack/verbs"
)

// ErrFull reports a ring without a free slot: the receiver must read messages first.
var ErrFull = errors.New("rb2: the ring is full")

// Sender is the end of a ring that writes messages.
type Sender struct {
	c Config
	p SendPointers

	posted      uint64 // number of messages whose WRITEs were posted
	wordsPosted uint64 // with TailWord: number of the posted messages whose words were posted, too
	inWindow    uint64 // with Window: number of messages in flight
	tailDue     bool   // a WRITE of the tail must be posted
	dueTail     uint64
	signaled    int // number of signaled requests in flight

	pulling bool // a READ of the head is in flight

	stats Stats
	word  [WordBytes]byte
	tail  [WordBytes]byte // inline data of a tail
	wrs   []verbs.SendWR
	sges  []verbs.SGE // one SGE for each of wrs
}

// NewSender returns the sending end of a ring.
func NewSender(c Config) (*Sender, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := 1
	if c.Tail == TailImm && c.Window == 0 {
		n = c.Beta
	}
	return &Sender{c: c, wrs: make([]verbs.SendWR, n), sges: make([]verbs.SGE, n)}, nil
}

// Pointers returns the sender's pointers.
func (s *Sender) Pointers() SendPointers { return s.p }

// Stats returns the sender's counters.
func (s *Sender) Stats() Stats { return s.stats }

// InFlight returns the number of signaled requests that have not completed.
func (s *Sender) InFlight() int { return s.signaled }

// Published reports whether the announcement of all messages has been posted to the receiver.
func (s *Sender) Published() bool {
	return s.p.published == s.p.Tail && s.posted == s.p.Tail && !s.tailDue &&
		(s.c.Tail != TailWord || s.wordsPosted == s.posted)
}

// Slot returns the address of the slot for the next message, which may be built there. It returns ErrFull if no slot is
// known to be free; with HeadPull it then reads the receiver's head.
func (s *Sender) Slot() (addr uint64, err error) {
	if s.p.Full(&s.c.Spec) && s.c.Head == HeadPush {
		if err := s.refresh(); err != nil {
			return 0, err
		}
	}
	if s.p.Full(&s.c.Spec) {
		if s.c.Head == HeadPull {
			if err := s.pull(); err != nil {
				return 0, err
			}
		}
		return 0, ErrFull
	}
	return s.c.slot(&s.c.Own, s.p.Tail), nil
}

// refresh reads the head that the receiver wrote.
func (s *Sender) refresh() error {
	head, err := s.c.load(&s.word)
	if err != nil {
		return err
	}
	return s.p.SetHead(head)
}

// Commit sends the message in the slot that Slot returned (WRITEMSG).
func (s *Sender) Commit() error {
	if s.p.Full(&s.c.Spec) {
		return ErrFull
	}
	s.c.Core.Compute(s.c.Work)
	s.stats.Messages++
	if s.c.Tail == TailLast {
		binary.LittleEndian.PutUint64(s.tail[:], s.p.Tail+1)
		if err := s.c.Core.Store(s.c.word(&s.c.Own, s.p.Tail), s.tail[:]); err != nil {
			return err
		}
	}
	before, flying := s.p.Synced, s.p.tailsInFlight
	if publish := s.p.Wrote(&s.c.Spec); publish {
		s.tailDue, s.dueTail = true, s.p.Tail
	} else if s.p.Synced != before && flying > 0 {
		s.stats.Skipped++
	}
	return s.Push()
}

// Flush sends all messages in the ring and announces them to the receiver. While a tail is in flight it does nothing;
// call it again once that has ended. It is for senders that have nothing to write for now.
func (s *Sender) Flush() error {
	if s.tailDue {
		return s.Push()
	}
	if s.p.Flush(&s.c.Spec) {
		s.tailDue, s.dueTail = true, s.p.Tail
		s.stats.Flushed++
	}
	return s.Push()
}

// Starved reports whether the ring stays full until it is flushed.
func (s *Sender) Starved() bool { return s.p.Starved(&s.c.Spec) }

// Push posts the requests that are due. Commit and Flush call it; requests that find no room (verbs.ENOMEM, not an
// error here) are posted by the next call.
func (s *Sender) Push() error {
	for s.posted < s.p.Esc && !s.windowFull() || s.c.Tail == TailWord && s.wordsPosted < s.posted {
		if s.c.Tail == TailWord && s.wordsPosted < s.posted {
			n := s.wordsPosted
			if err := s.writeWord(idWord|n, n+1, s.c.word(&s.c.Peer, n)); err != nil {
				return s.noRoom(err)
			}
			s.wordsPosted++
			continue
		}
		n, err := s.post()
		if s.posted += n; err != nil {
			return s.noRoom(err)
		}
	}
	if !s.tailDue {
		return nil
	}
	if err := s.writeWord(idTail|s.dueTail, s.dueTail, s.c.Peer.Lines); err != nil {
		return s.noRoom(err)
	}
	s.tailDue = false
	return nil
}

// windowFull reports whether as many messages are in flight as Window allows.
func (s *Sender) windowFull() bool { return s.c.Window > 0 && s.inWindow >= uint64(s.c.Window) }

// writeWord posts a WRITE of a word to the receiver's memory.
func (s *Sender) writeWord(id, value, addr uint64) error {
	binary.LittleEndian.PutUint64(s.tail[:], value)
	s.wrs[0] = verbs.SendWR{ID: id, Opcode: verbs.WRWrite, Flags: verbs.SendSignaled | verbs.SendInline,
		Inline: s.tail[:], RemoteAddr: addr, RKey: s.c.Peer.Key}
	if _, err := s.c.QP.PostSend(s.wrs[:1]); err != nil {
		return err
	}
	s.stats.Words++
	s.signaled++
	return nil
}

// noRoom returns nil for a lack of room, else the error.
func (s *Sender) noRoom(err error) error {
	if errors.Is(err, verbs.ENOMEM) {
		s.stats.Refused++
		return nil
	}
	return fmt.Errorf("rb2: the sender's requests: %w", err)
}

// post posts the next WRITE of adjacent slots or, with TailImm, the next messages. It returns the number of messages
// posted.
func (s *Sender) post() (n uint64, err error) {
	n = min(s.p.Esc-s.posted, uint64(s.c.Slots)-s.posted%uint64(s.c.Slots))
	switch {
	case s.c.Window > 0:
		n = min(n, uint64(s.c.Window)-s.inWindow)
		w := s.write(0, s.posted, n)
		w.Opcode, w.Imm, w.Flags = verbs.WRWriteImm, uint32(s.posted+n), verbs.SendSignaled
		w.ID |= n << countBit
	case s.c.Tail == TailImm:
		return s.postEach(min(n, uint64(len(s.wrs))))
	case s.c.Tail == TailWord:
		n = 1
		s.write(0, s.posted, n)
		s.sges[0].Length -= WordBytes
	case s.c.Tail == TailLast:
		s.write(0, s.posted, n).Flags = verbs.SendSignaled
	default:
		s.write(0, s.posted, n)
	}
	if _, err := s.c.QP.PostSend(s.wrs[:1]); err != nil {
		return 0, err
	}
	if s.wrs[0].Flags&verbs.SendSignaled != 0 {
		s.signaled++
	}
	if s.c.Window > 0 {
		s.inWindow += n
	}
	s.stats.Slots++
	return n, nil
}

// write builds request i: a WRITE of n slots, starting with that of a message.
func (s *Sender) write(i int, message, n uint64) *verbs.SendWR {
	s.sges[i] = verbs.SGE{Addr: s.c.slot(&s.c.Own, message), Length: uint32(n) * uint32(s.c.SlotBytes),
		LKey: s.c.Own.Key}
	w := &s.wrs[i]
	*w = verbs.SendWR{ID: idSlots | message&(1<<countBit-1), Opcode: verbs.WRWrite, SGEs: s.sges[i : i+1],
		RemoteAddr: s.c.slot(&s.c.Peer, message), RKey: s.c.Peer.Key}
	return w
}

// postEach posts one request for each of n messages; only the last one is signaled.
func (s *Sender) postEach(n uint64) (uint64, error) {
	for i := range int(n) {
		w := s.write(i, s.posted+uint64(i), 1)
		w.Opcode, w.Imm = verbs.WRWriteImm, uint32(s.posted)+uint32(i)+1
		if i == int(n)-1 {
			w.Flags = verbs.SendSignaled
		}
	}
	k, err := s.c.QP.PostSend(s.wrs[:n])
	s.stats.Slots += uint64(k)
	if k == int(n) {
		s.signaled++
	}
	return uint64(k), err
}

// pull posts a READ of the receiver's head, unless one is in flight.
func (s *Sender) pull() error {
	if s.pulling {
		return nil
	}
	s.sges[0] = verbs.SGE{Addr: s.c.Own.Lines, Length: WordBytes, LKey: s.c.Own.Key}
	s.wrs[0] = verbs.SendWR{ID: idPull | s.p.Tail, Opcode: verbs.WRRead, Flags: verbs.SendSignaled, SGEs: s.sges[:1],
		RemoteAddr: s.c.Peer.Lines + lineBytes, RKey: s.c.Peer.Key}
	if _, err := s.c.QP.PostSend(s.wrs[:1]); err != nil {
		return s.noRoom(err)
	}
	s.pulling = true
	s.signaled++
	s.stats.Pulls++
	return nil
}

// Ended handles a successful completion of the send queue.
func (s *Sender) Ended(wc *verbs.WC) error {
	s.signaled--
	s.stats.Ended++
	switch wc.ID & idKind {
	case idTail:
		s.p.TailWritten()
	case idPull:
		s.pulling = false
		return s.refresh()
	case idWord:
	case idSlots:
		if s.c.Window > 0 {
			s.inWindow -= wc.ID >> countBit & maxWindow
			return s.Push() // write the messages that waited for room in the window
		}
	default:
		return fmt.Errorf("rb2: a completion with ID %#x: want one of the sender's", wc.ID)
	}
	return nil
}
