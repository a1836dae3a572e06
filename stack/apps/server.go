package apps

import (
	"encoding/binary"
	"fmt"

	"nictwin/models/sim/fifo"
	"nictwin/stack/verbs"
)

// server is the end of a flow that answers requests, or whose memory is written and read.
type server struct {
	*end
	exposed  area // memory that the client's requests address
	out      area // buffers of answers
	next     int  // number of the next message
	todo     fifo.Queue[reply]
	inFlight fifo.Queue[reply] // Reflector: answers posted, but not completed
	keys     []verbs.MR        // with Spec.Invalidate: the regions, by message
	count    *uint64           // expected final value of the counter in the exposed memory; nil: unknown
	answered []int             // message that each answer in flight answers, by ordinal modulo depth; nil: not observed
}

// reply is a message to be answered and the slot that holds it.
type reply struct{ message, slot int }

// advance implements role by posting answers, a batch at a time.
func (s *server) advance() {
	for s.postAnswers() {
	}
}

// postAnswers posts the next batch of answers, and reports whether it did and more may follow.
func (s *server) postAnswers() bool {
	n := min(s.todo.Len(), s.spec.Batch, s.spec.Depth-(s.posted-s.acked))
	if n <= 0 || s.stopped || s.full {
		return false
	}
	for i := range n {
		if !s.build(i, *s.todo.At(i)) {
			return false
		}
	}
	before := s.posted
	more := s.post(n)
	for range s.posted - before {
		if r := s.todo.Pop(); s.spec.Kind == Reflector {
			s.inFlight.Push(r)
		}
	}
	return more
}

// build builds the request at index i of a batch, which answers a message. Its ID is the answer's ordinal.
func (s *server) build(i int, r reply) bool {
	n, w, ordinal := s.spec.answerSize(r.message), &s.wrs[i], s.posted+i
	if s.answered != nil {
		s.answered[ordinal%len(s.answered)] = r.message
	}
	*w = verbs.SendWR{ID: uint64(ordinal), Opcode: s.spec.opcode(r.message), Imm: s.imm(r.message), AH: s.ah,
		RemoteQPN: s.peerQPN, RemoteQKey: qkey}
	if s.spec.signals(ordinal) {
		w.Flags = verbs.SendSignaled
	}
	if s.spec.Kind == Reflector {
		return s.reflect(i, r.slot, n)
	}
	if s.spec.Inline {
		b := s.inline[i][:n]
		s.message(b, answer, r.message)
		w.Flags, w.Inline = w.Flags|verbs.SendInline, b
		return true
	}
	b, chunk := s.want(n), s.out.chunk(n)
	s.message(b, answer, r.message)
	if !s.check("store", s.out.store(s.side.Core, ordinal, chunk, b)) {
		return false
	}
	s.sges[i] = s.out.spans(s.sges[i][:0], ordinal, n, chunk, s.side.mr.LKey)
	w.SGEs = s.sges[i]
	return true
}

// reflect makes the request at index i of a batch send back the n bytes of a received message, from where they are. A
// frame goes back to its sender: the server exchanges the addresses of its header.
func (s *server) reflect(i, slot, n int) bool {
	a, skip := &s.recvs.area, s.spec.header()
	if s.spec.Transport == Raw {
		var header [etherBytes]byte
		ethernet(header[:], s.route.Peer.MAC, s.route.MAC)
		if !s.check("store", a.store(s.side.Core, slot, a.piece, header[:addressBytes])) {
			return false
		}
		skip, n = 0, etherBytes+n
	}
	s.sges[i] = a.message(s.sges[i][:0], slot, skip, n, s.recvs.key)
	s.wrs[i].SGEs = s.sges[i]
	return true
}

// message returns the pieces of memory that hold a received message, without the header before it.
func (a *area) message(into []verbs.SGE, slot, skip, n int, key uint32) []verbs.SGE {
	for n > 0 {
		k, off := skip/a.piece, skip%a.piece
		c := min(n, a.piece-off)
		into = append(into, verbs.SGE{Addr: a.pieceAddr(slot, k) + uint64(off), Length: uint32(c), LKey: key})
		skip, n = skip+c, n-c
	}
	return into
}

// sent implements role: the slots of reflected messages may receive again.
func (s *server) sent(first, last int) {
	if s.spec.Kind != Reflector {
		return
	}
	for range last - first + 1 {
		// with NoticeBytes the receive request of this message may still be outstanding
		if r := s.inFlight.Pop(); s.notice == nil || r.message < s.recvsDone {
			s.recvs.postSlot(r.slot)
		}
	}
}

// direction implements noticing.
func (s *server) direction() int { return request }

// took implements noticing, and answers a message.
func (s *server) took(m, slot int) {
	s.next = m + 1
	switch x := s.spec.Misuse; {
	case x != nil && x.What == Deregister && s.flow == 0 && m == x.Message:
		s.deregister(reply{m, slot})
	case s.spec.traits().TwoWay:
		s.todo.Push(reply{m, slot})
	}
}

// recyclable implements noticing. A reflector receives into a slot again when its answer from there has ended, too.
func (s *server) recyclable(m, slot int) {
	if s.spec.Kind != Reflector || m < s.acked {
		s.recvs.postSlot(slot)
	}
}

// received implements role.
func (s *server) received(slot int, wc *verbs.WC) {
	if s.spec.Kind == WriteImm {
		s.checkWritten(wc)
		s.recvs.postSlot(slot)
		return
	}
	before := s.messages
	m, ok := s.arrived(slot, wc, request, s.next)
	if !ok {
		s.recvs.postSlot(slot)
		return
	}
	s.tookMessage(m, before)
	s.checkImm(wc, m)
	s.checkInv(wc, m)
	if s.took(m, slot); s.spec.AnyOrder {
		s.next = s.recvsDone
	}
	if s.spec.Kind != Reflector {
		s.recvs.postSlot(slot)
	}
}

// deregister deregisters the server's memory, then answers.
func (s *server) deregister(r reply) {
	s.side.deregistered = true
	s.side.Context.DeregMR(s.side.mr.LKey, func(err error) {
		s.side.run.progress++
		if s.check("dereg_mr", err) {
			s.todo.Push(r)
			s.advance()
		}
	})
}

// checkWritten checks a message whose immediate data arrived, and those before it without.
func (s *server) checkWritten(wc *verbs.WC) {
	first, m := s.next, s.next
	for !s.spec.closes(m) {
		m++
	}
	if lost := int(int32(wc.Imm - s.imm(m))); s.spec.Transport != RC && lost > 0 && m+lost < s.spec.Count {
		m += lost
		first = m
	}
	s.checkImm(wc, m)
	s.noteMessage(m)
	n := s.spec.size(m)
	if int(wc.ByteLen) != n {
		s.fail(Finding{What: "length", Message: m, Text: fmt.Sprintf("message %d ended with %d B: expected %d", m,
			wc.ByteLen, n)})
	}
	for ; first <= m; first++ {
		s.takeWritten(first)
	}
	s.next = m + 1
}

// takeWritten takes a message that was written.
func (s *server) takeWritten(m int) {
	before := s.messages
	if s.spec.Payload == Reused {
		s.countMessage(s.spec.size(m))
	} else {
		s.verify(m)
	}
	s.tookMessage(m, before)
}

// verify checks the memory that message m was written to.
func (s *server) verify(m int) {
	n := s.spec.size(m)
	got := s.got(n)
	if s.check("load", s.exposed.load(s.side.Core, m, 0, s.exposed.piece, got)) {
		s.compare(got, m, request, func(off int) uint64 { return s.exposed.byteAddr(m, off, s.exposed.piece) })
	}
}

// finish checks the memory of messages that had no completion here; requests is the number of the
// client's requests that succeeded.
func (s *server) finish(requests int) {
	if s.spec.Payload == Reused {
		s.finishReused(requests)
		return
	}
	switch s.spec.Kind {
	case Write:
		if !s.spec.ordered() {
			s.verifyBlocks()
			return
		}
		for m := range requests {
			if s.spec.Transport == RC || s.writtenAtAll(m) {
				s.verify(m)
			}
		}
	case Atomics:
		if s.count == nil {
			return
		}
		b := s.got(counterLen)
		if !s.check("load", s.exposed.load(s.side.Core, 0, 0, counterLen, b)) {
			return
		}
		if v := binary.LittleEndian.Uint64(b); v != *s.count {
			s.fail(Finding{What: "counter", Message: -1, Addr: s.exposed.pieceAddr(0, 0),
				Text: fmt.Sprintf("the counter at %#x has %#x: expected %#x", s.exposed.pieceAddr(0, 0), v, *s.count)})
		}
	}
}

// writtenAtAll reports whether any byte of a message was written. If none was, an unreliable transport has lost the
// message.
func (s *server) writtenAtAll(m int) bool {
	b := s.got(s.spec.size(m))
	if !s.check("load", s.exposed.load(s.side.Core, m, 0, s.exposed.piece, b)) {
		return false
	}
	for _, v := range b {
		if v != guardByte {
			return true
		}
	}
	return false
}

// done implements role.
func (s *server) done() bool {
	switch {
	case s.stopped:
		return s.acked == s.posted
	case s.notice != nil && s.recvsDone < s.total:
		return false
	case s.spec.traits().TwoWay:
		return s.next == s.total && s.acked == s.total
	case s.spec.traits().Receives:
		return s.next == s.total
	}
	return true
}

// areas implements role. The client fills the exposed memory, unless the kind only reads it.
func (s *server) areas(f func(*area, bool)) {
	if s.exposed.slots > 0 {
		f(&s.exposed, s.spec.Kind != Read && !s.spec.traits().Lookup)
	}
	if s.out.slots > 0 {
		f(&s.out, false)
	}
	if s.recvs != nil && s.recvs.end != nil {
		f(&s.recvs.area, true)
	}
}

var (
	_ role     = (*server)(nil)
	_ noticing = (*server)(nil)
)
