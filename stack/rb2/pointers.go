package rb2

import "fmt"

// SendPointers are a sender's pointers, as counts that only grow (RB² section 3-B).
type SendPointers struct {
	Tail   uint64 // messages written
	Synced uint64 // tail when an announcement was last due, written or skipped: synced_tail
	Esc    uint64 // messages that WRITEs have carried or must now carry: esc_tail
	Head   uint64 // messages read, as the receiver last reported: local_head

	published     uint64 // tail last written to the receiver
	tailsInFlight int    // number of WRITEs of tails in flight
}

// Full reports whether there is no slot for another message.
func (p *SendPointers) Full(s *Spec) bool { return p.Tail-p.Head >= uint64(s.Slots-1) }

// Wrote counts a message that was stored in the slot at the tail. The caller must then transmit all slots before Esc
// and, if publish is true, write the tail to the receiver after them (Algorithm 1, lines 5 to 15).
func (p *SendPointers) Wrote(s *Spec) (publish bool) {
	p.Tail++
	switch {
	case p.Tail-p.Synced >= uint64(s.Alpha):
		p.Esc, p.Synced = p.Tail, p.Tail
		return p.publish(s)
	case p.Tail-p.Esc >= uint64(s.Beta):
		p.Esc = p.Tail
	}
	return false
}

// Flush makes all messages in the ring due for transmission, regardless of thresholds. Its result has
// the same meaning as that of Wrote.
func (p *SendPointers) Flush(s *Spec) (publish bool) {
	if p.published == p.Tail || p.tailsInFlight > 0 && s.Elastic {
		return false
	}
	p.Esc, p.Synced = p.Tail, p.Tail
	return p.publish(s)
}

// publish reports whether to write the tail. With methods whose messages announce themselves, no tail is needed.
func (p *SendPointers) publish(s *Spec) bool {
	if s.Tail != TailWrite {
		p.published = p.Tail
		return false
	}
	if s.Elastic && p.tailsInFlight > 0 {
		return false
	}
	p.published = p.Tail
	p.tailsInFlight++
	return true
}

// TailWritten counts a completed WRITE of a tail.
func (p *SendPointers) TailWritten() { p.tailsInFlight-- }

// Starved reports whether a full ring stays full until its sender flushes. It does if reading the announced messages
// cannot move the head that the sender sees: fewer than Gamma are left or, if the sender pulls the head, none.
func (p *SendPointers) Starved(s *Spec) bool {
	least := uint64(1)
	if s.Head == HeadPush {
		least = uint64(s.Gamma)
	}
	return p.Full(s) && p.published-p.Head < least
}

// SetHead sets the head to the value that the receiver reported.
func (p *SendPointers) SetHead(head uint64) error {
	if head < p.Head || head > p.published {
		return fmt.Errorf("rb2: the receiver's head is %d: want %d to %d, from its previous value to the last "+
			"announced message", head, p.Head, p.published)
	}
	p.Head = head
	return nil
}

// RecvPointers are a receiver's pointers.
type RecvPointers struct {
	Head   uint64 // messages read
	Synced uint64 // head last reported to the sender
	Tail   uint64 // tail that the sender announced: local_tail
}

// Empty reports whether there is no message to read.
func (p *RecvPointers) Empty() bool { return p.Head == p.Tail }

// SetTail sets the tail to the value that the sender announced.
func (p *RecvPointers) SetTail(s *Spec, tail uint64) error {
	if most := p.Head + uint64(s.Slots-1); tail < p.Tail || tail > most {
		return fmt.Errorf("rb2: the sender's tail is %d: want %d to %d, from its previous value to what the ring holds",
			tail, p.Tail, most)
	}
	p.Tail = tail
	return nil
}

// Took counts a message read. push says that the head must be written to the sender now (Algorithm 1, lines 22 to 24).
func (p *RecvPointers) Took(s *Spec) (push bool) {
	p.Head++
	if p.Head-p.Synced < uint64(s.Gamma) {
		return false
	}
	p.Synced = p.Head
	return true
}
