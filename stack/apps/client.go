package apps

import (
	"errors"
	"fmt"
	"slices"

	"nictwin/models/sim/field"
	"nictwin/stack/verbs"
)

// client is the end of a flow that issues requests.
type client struct {
	*end
	out       area // buffers of messages to send, or of the results of READs and atomics
	remote    area // the server's memory that requests address
	farKey    uint32
	remoteEnd uint64 // end of the server's memory region
	built     int    // messages whose bytes are in their slots
	answered  int    // messages whose answers arrived
	counter   counter
	served    served

	revocable []verbs.MR // with Spec.Invalidate: the server's regions, by message
}

// clientOf returns the client at an end; ok is false for servers and rings.
func clientOf(e *end) (c *client, ok bool) {
	if l, is := e.role.(*lookup); is {
		return l.client, true
	}
	c, ok = e.role.(*client)
	return c, ok
}

// opcode returns the opcode of request m.
func (s *Spec) opcode(m int) verbs.Opcode {
	switch s.Kind {
	case Write:
		return verbs.WRWrite
	case WriteImm:
		if !s.closes(m) {
			return verbs.WRWrite
		}
		return verbs.WRWriteImm
	case Read:
		return verbs.WRRead
	case Atomics:
		return s.atomic(m)
	case Nop:
		return verbs.WRNop
	}
	if s.Immediate {
		return verbs.WRSendImm
	}
	if s.Invalidate {
		return verbs.WRSendInv
	}
	return verbs.WRSend
}

// namesRemote reports whether requests name memory of the server.
func (s *Spec) namesRemote() bool { return !s.traits().Sends && !s.Served() && s.Kind != Nop }

// advance implements role.
func (c *client) advance() {
	for c.postBatch() {
	}
}

// postBatch posts the next batch, and reports whether it did: the queue has room, and the depth allows one.
func (c *client) postBatch() bool {
	if c.stopped || c.full {
		return false
	}
	s := c.spec
	n := min(s.Batch, c.total-c.posted, s.Depth-(c.posted-c.acked))
	if s.traits().Answered() {
		n = min(n, s.Depth-(c.posted-c.answered))
	}
	if n <= 0 {
		return false
	}
	for i := range n {
		if !c.build(i, c.posted+i) {
			return false
		}
	}
	return c.post(n)
}

// build builds the request of message m at index i of the batch. It may be called again for the same
// message.
func (c *client) build(i, m int) bool {
	s, w := c.spec, &c.wrs[i]
	n := c.length(m)
	*w = verbs.SendWR{ID: uint64(m), Opcode: s.opcode(m), Imm: c.imm(m), AH: c.ah, RemoteQPN: c.peerQPN,
		RemoteQKey: qkey}
	if s.signals(m) {
		w.Flags = verbs.SendSignaled
	}
	if !c.fill(i, m) {
		return false
	}
	if s.Inline {
		w.Flags, w.Inline = w.Flags|verbs.SendInline, c.inline[i][:n]
	} else {
		c.sges[i] = c.out.spans(c.sges[i][:0], m, n, c.out.chunk(n), c.side.mr.LKey)
		w.SGEs = c.sges[i]
	}
	if s.namesRemote() {
		w.RemoteAddr, w.RKey = c.remote.pieceAddr(m, 0), c.farKey
	}
	if s.Kind == Atomics {
		c.counter.fill(w, m)
	}
	c.injectFault(w, m)
	c.revoke(w, m)
	return true
}

// length returns the length of request m in bytes.
func (c *client) length(m int) int {
	n := c.spec.prefix() + c.spec.size(m)
	if c.spec.Served() {
		n, _ = c.served.engine.Lengths(c.spec.Kind, n)
	}
	return n
}

// content writes the bytes of request m.
func (c *client) content(b []byte, m int) {
	if c.spec.Served() {
		c.served.engine.Request(b, c.buildQuery(m))
		return
	}
	n := c.spec.prefix()
	if n > 0 {
		ethernet(b, c.route.Peer.MAC, c.route.MAC)
	}
	c.message(b[n:], request, m)
}

// fill puts the bytes of message m into its slot, from which its request sends them.
func (c *client) fill(i, m int) bool {
	s := c.spec
	n := c.length(m)
	if s.Inline {
		c.content(c.inline[i][:n], m)
		return true
	}
	if s.Kind == Read || s.Kind == Atomics || s.Payload == Reused || m < c.built {
		return true
	}
	c.content(c.want(n), m)
	c.built = m + 1
	return c.check("store", c.out.store(c.side.Core, m, c.out.chunk(n), c.want(n)))
}

// imm returns the immediate data of message m.
func (e *end) imm(m int) uint32 { return uint32(mix(e.spec.Seed+uint64(e.flow)<<32) + uint64(m)) }

// Misuse is a deliberate fault in one request of flow 0.
type Misuse struct {
	What    FaultKind `yaml:"what"`
	Message int       `yaml:"message"` // message whose request is faulty
}

// FaultKind is the kind of fault in a request.
type FaultKind string

// Faults of a request.
const (
	RemoteKey    FaultKind = "remote_key"    // a key that the server does not have
	RemoteBounds FaultKind = "remote_bounds" // the last byte is beyond the server's region
	LocalKey     FaultKind = "local_key"     // a key that the client does not have
	LocalBounds  FaultKind = "local_bounds"  // the last byte is beyond the client's region
	ShortReceive FaultKind = "short_receive" // the server's receive request has one byte less than the message
	BadReceive   FaultKind = "bad_receive"   // the server's receive request has a key that the server does not have
	// the server posts no receive request for this message or any later one
	NoReceive  FaultKind = "no_receive"
	Deregister FaultKind = "deregister"  // the server deregisters its memory before it answers the message
	Unaligned  FaultKind = "unaligned"   // an atomic whose address is not a multiple of eight
	RevokedKey FaultKind = "revoked_key" // a WRITE with the key that the previous message invalidated
	faultNames           = "remote_key, remote_bounds, local_key, local_bounds, short_receive, bad_receive, " +
		"no_receive, deregister, unaligned or revoked_key"
)

func (w FaultKind) remote() bool  { return w == RemoteKey || w == RemoteBounds }
func (w FaultKind) receive() bool { return w == ShortReceive || w == BadReceive || w == NoReceive }

// validateMisuse rejects faults that the workload cannot provoke.
func (s *Spec) validateMisuse() error {
	x := s.Misuse
	if x == nil {
		return nil
	}
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(slices.Contains([]FaultKind{RemoteKey, RemoteBounds, LocalKey, LocalBounds, ShortReceive, BadReceive,
		NoReceive, Deregister, Unaligned, RevokedKey}, x.What), "misuse.what", "%q: want %s", x.What, faultNames)
	bad(!x.What.remote() || !s.traits().Sends, "misuse.what", "%s: kind %s names no remote memory", x.What, s.Kind)
	bad(x.What != RemoteKey || !s.Served(), "misuse.what", "%s: kind %s names no remote key", x.What, s.Kind)
	bad(!x.What.receive() || s.traits().Sends, "misuse.what", "%s: kind %s places no data by receive requests", x.What,
		s.Kind)
	bad(x.What != LocalKey && x.What != LocalBounds || !s.Inline, "misuse.what", "%s: inline bytes have no key", x.What)
	bad(!x.What.receive() || !s.SharedReceive, "misuse.what", "%s: with %v the owner of a request is unknown", x.What,
		field.Path("shared_receive"))
	bad(x.What != Unaligned || s.Kind == Atomics, "misuse.what", "%s: kind %s has no atomics", x.What, s.Kind)
	bad(x.What != Deregister || s.Kind == PingPong && s.Inline, "misuse.what",
		"%s: the answer must need no memory, and no other message may be in flight: want kind %s with %v", x.What,
		PingPong, field.Path("inline"))
	bad(!x.What.receive() || !s.LowLatency, "misuse.what", "%s: a low-latency queue pair refuses to post it", x.What)
	bad(x.What != ShortReceive || s.Pieces == 1, "misuse.what", "%s: want %v 1", x.What, field.Path("pieces"))
	bad(x.Message >= 0 && x.Message < s.Count, "misuse.message", "%d: want 0 to %d, the last of %v", x.Message,
		s.Count-1, field.Path("count"))
	if x.Message >= 0 && len(s.Sizes) > 0 {
		bad(s.size(x.Message) > 0, "misuse.message", "%d: it has no bytes according to %v: want one with some",
			x.Message, field.Path("sizes"))
	}
	return errors.Join(errs...)
}

// injectFault makes w faulty if the spec's fault is for this request.
func (c *client) injectFault(w *verbs.SendWR, m int) {
	x := c.spec.Misuse
	if x == nil || c.flow != 0 || m != x.Message {
		return
	}
	n := uint64(c.length(m))
	switch x.What {
	case RemoteKey:
		w.RKey ^= strangeKey
	case RemoteBounds:
		if !c.spec.Served() { // requests to handlers carry the address in their bytes
			w.RemoteAddr = c.remoteEnd - n + beyond(c.spec)
		}
	case Unaligned:
		w.RemoteAddr += counterLen / 2
	case LocalKey:
		w.SGEs[0].LKey ^= strangeKey
	case LocalBounds:
		w.SGEs[0].Addr = c.side.Base + c.side.Bytes - uint64(w.SGEs[0].Length) + beyond(c.spec)
	}
}

// beyond returns how far a faulty request exceeds the end of a region; atomics stay aligned.
func beyond(s *Spec) uint64 {
	if s.Kind == Atomics {
		return counterLen
	}
	return 1
}

// sent implements role.
func (c *client) sent(first, last int) {
	switch c.spec.Kind {
	case Read:
		for m := first; m <= last && !c.stopped; m++ {
			n := c.spec.size(m)
			if c.spec.Payload == Reused {
				c.countMessage(n)
				continue
			}
			got, chunk := c.got(n), c.out.chunk(n)
			if c.check("load", c.out.load(c.side.Core, m, 0, chunk, got)) {
				c.compare(got, m, request, func(off int) uint64 { return c.out.byteAddr(m, off, chunk) })
			}
		}
	case Atomics:
		for m := first; m <= last && !c.stopped; m++ {
			c.checkAtomic(m)
		}
	case Nop:
		for range last - first + 1 {
			c.countMessage(0)
		}
	}
}

// received implements role: an answer arrived.
func (c *client) received(slot int, wc *verbs.WC) {
	if c.spec.Served() {
		c.takeAnswer(slot, wc)
		c.recvs.postSlot(slot)
		return
	}
	before := c.messages
	if m, ok := c.arrived(slot, wc, c.direction(), c.answered); ok {
		c.tookMessage(m, before)
		c.checkImm(wc, m)
		c.answered = m + 1
	}
	c.recvs.postSlot(slot)
}

// direction implements noticing.
func (c *client) direction() int {
	if c.spec.Kind == Reflector {
		return request
	}
	return answer
}

// took and recyclable implement noticing.
func (c *client) took(m, _ int)          { c.answered = m + 1 }
func (c *client) recyclable(_, slot int) { c.recvs.postSlot(slot) }

// checkImm checks a message's immediate data.
func (e *end) checkImm(wc *verbs.WC, m int) {
	has, want := wc.Flags&verbs.WCWithImm != 0, e.spec.opcode(m).HasImm()
	if has != want || want && wc.Imm != e.imm(m) {
		e.fail(Finding{What: "immediate", Message: m,
			Text: fmt.Sprintf("message %d: immediate data %#x (%v): expected "+
				"%#x (%v)", m, wc.Imm, has, e.imm(m), want)})
	}
}

// done implements role.
func (c *client) done() bool {
	if c.stopped {
		return c.acked == c.posted
	}
	return c.acked == c.total && (!c.spec.traits().Answered() || c.answered == c.total) &&
		(c.notice == nil || c.recvsDone == c.total)
}

func (c *client) areas(f func(*area, bool)) {
	f(&c.out, c.spec.Kind == Read || c.spec.Kind == Atomics)
	if c.recvs != nil && c.recvs.end != nil {
		f(&c.recvs.area, true)
	}
}

var (
	_ role     = (*client)(nil)
	_ noticing = (*client)(nil)
)
