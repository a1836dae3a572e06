package rb2

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/stack/verbs"
)

// Receiver is the end of a ring that reads messages.
type Receiver struct {
	c Config
	p RecvPointers

	headDue  bool // the head must be reported, but the queue had no room
	signaled int
	recvsDue int // number of receive requests to post

	stats Stats
	word  [WordBytes]byte
	head  [WordBytes]byte // bytes of the head pointer that is reported to the sender
	wr    [1]verbs.SendWR
	recv  [1]verbs.RecvWR
}

// NewReceiver returns the receiving end of a ring.
func NewReceiver(c Config) (*Receiver, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Receiver{c: c, recvsDue: c.Receives()}, nil
}

// Pointers returns the receiver's pointers.
func (r *Receiver) Pointers() RecvPointers { return r.p }

// Stats returns the receiver's counters.
func (r *Receiver) Stats() Stats { return r.stats }

// InFlight returns the number of send requests that have not completed.
func (r *Receiver) InFlight() int { return r.signaled }

// Reported reports whether every head that is due and all receive requests have been posted.
func (r *Receiver) Reported() bool { return !r.headDue && r.recvsDue == 0 }

// Next returns the slot of the next message, and whether there is one (READMSG). The message may be read in place,
// without a copy, until Release.
func (r *Receiver) Next() (addr uint64, ok bool, err error) {
	switch {
	case !r.p.Empty():
	case r.c.Tail == TailWrite:
		var tail uint64
		if tail, err = r.c.load(&r.word); err == nil {
			err = r.p.SetTail(&r.c.Spec, tail)
		}
	case r.c.Tail.inSlots():
		err = r.checkWord()
	}
	if err != nil {
		return 0, false, err
	}
	return r.c.slot(&r.c.Own, r.p.Head), !r.p.Empty(), nil
}

// checkWord checks whether the word of the next slot announces a message.
func (r *Receiver) checkWord() error {
	if err := r.c.Core.Load(r.c.word(&r.c.Own, r.p.Head), r.word[:]); err != nil {
		return err
	}
	switch n := binary.LittleEndian.Uint64(r.word[:]); n {
	case 0:
		return nil
	case r.p.Head + 1:
		return r.p.SetTail(&r.c.Spec, n)
	default:
		return fmt.Errorf("rb2: the word of message %d is %d: want 0 or %d", r.p.Head, n, r.p.Head+1)
	}
}

// Watches returns the memory in which the sender announces messages; with TailImm, completions announce them.
func (r *Receiver) Watches() (addr uint64, n int) {
	if r.c.Tail.inSlots() {
		return r.c.Own.Slots, r.c.Slots * r.c.SlotBytes
	}
	return r.c.Own.Lines, WordBytes
}

// Release frees the slot of the message that Next returned.
func (r *Receiver) Release() error {
	if r.p.Empty() {
		return errors.New("rb2: Release without a message that was read")
	}
	r.c.Core.Compute(r.c.Work)
	r.stats.Messages++
	if r.c.Tail.inSlots() {
		clear(r.word[:])
		if err := r.c.Core.Store(r.c.word(&r.c.Own, r.p.Head), r.word[:]); err != nil {
			return err
		}
	}
	push := r.p.Took(&r.c.Spec)
	r.headDue = r.headDue || push || r.c.Head == HeadPull
	return r.Push()
}

// Push posts a head that found no room, and receive requests. A head is reported only once there are receive requests
// for the messages that it makes room for.
func (r *Receiver) Push() error {
	for r.recvsDue > 0 {
		r.recv[0] = verbs.RecvWR{ID: idRecv | r.stats.Receives}
		if _, err := r.c.QP.PostRecv(r.recv[:]); err != nil {
			return r.noRoom(err)
		}
		r.recvsDue--
	}
	if !r.headDue {
		return nil
	}
	if r.c.Head == HeadPull {
		r.headDue = false
		binary.LittleEndian.PutUint64(r.head[:], r.p.Head)
		return r.c.Core.Store(r.c.Own.Lines+lineBytes, r.head[:])
	}
	binary.LittleEndian.PutUint64(r.head[:], r.p.Synced)
	r.wr[0] = verbs.SendWR{
		ID: idHead | r.p.Synced, Opcode: verbs.WRWrite, Flags: verbs.SendSignaled | verbs.SendInline, Inline: r.head[:],
		RemoteAddr: r.c.Peer.Lines, RKey: r.c.Peer.Key,
	}
	if _, err := r.c.QP.PostSend(r.wr[:]); err != nil {
		return r.noRoom(err)
	}
	r.stats.Words++
	r.signaled++
	r.headDue = false
	return nil
}

func (r *Receiver) noRoom(err error) error {
	if errors.Is(err, verbs.ENOMEM) {
		r.stats.Refused++
		return nil
	}
	return fmt.Errorf("rb2: the receiver's requests: %w", err)
}

// Ended handles a successful completion: of a head that was written or, with TailImm, of a message that arrived.
func (r *Receiver) Ended(wc *verbs.WC) error {
	if wc.Flags&verbs.WCWithImm == 0 {
		r.signaled--
		r.stats.Ended++
		if wc.ID&idKind != idHead {
			return fmt.Errorf("rb2: a completion with ID %#x: want one of the receiver's", wc.ID)
		}
		return nil
	}
	r.stats.Receives++
	r.recvsDue++
	if err := r.p.SetTail(&r.c.Spec, r.p.Tail+uint64(wc.Imm-uint32(r.p.Tail))); err != nil {
		return err
	}
	return r.Push()
}
