package transport

import (
	"bytes"

	"nictwin/stack/verbs"
)

// refusalKind is the way in which a schedule makes the peer refuse a request.
type refusalKind uint8

const (
	refuseNone refusalKind = iota
	refuseKey
	refuseRight
	refuseBounds
	refuseReadKey
	refuseAtomicRight
	refuseMisaligned
	refuseTooLong
	refuseInvKey
	refusalKinds
)

func (k refusalKind) status() verbs.Status {
	if k == refuseMisaligned || k == refuseTooLong {
		return verbs.WCRemInvReqErr
	}
	return verbs.WCRemAccessErr
}

// message is a request, with its expected result.
type message struct {
	Send
	data        []byte // data that the message carries or fetches
	length      uint32
	recvCap     uint32
	orig        uint64 // value that an atomic must return
	refused     bool
	overwritten bool // a later WRITE overwrites the bytes of this one
}

func (m *message) takesRecv() bool { return m.Op.IsSend() || m.Op.HasImm() }

// plan holds the requests that one side posts, and the memory contents that they must produce on the other side.
type plan struct {
	messages []*message
	remote   []byte // the peer's memory from remoteAt on, as it must be after all requests
	recvs    []*message
	top      uint32 // end of the used part of this side's memory
	recvTop  uint32 // end of the part of the peer's memory that its receive buffers use
	unread   bool   // a READ or atomic was posted since the last fence
	next     uint32 // next key to invalidate
}

const (
	recvAt     = 12 << 10 // offset of receive buffers in a side's memory
	cellsAt    = 0        // offset from remoteAt of the cells for atomics
	cells      = 4
	writesAt   = 64 // offset from remoteAt of the memory for WRITEs and READs
	writeBytes = 4096
)

// workload builds the requests of a side.
func (s *schedule) workload(side int) *plan {
	p := &plan{remote: make([]byte, memBytes-remoteAt), recvTop: recvAt, next: keyInv}
	for i := range p.remote {
		p.remote[i] = byte(s.hash(uint64(side), 50, uint64(i/8)) >> (i % 8 * 8))
	}
	for i := range s.ops[side] {
		h := s.hash(uint64(side), 51, uint64(i))
		m := s.message(p, h, uint64(i))
		if side == 0 && s.refuse != refuseNone && i == s.refuseAt {
			s.makeRefused(p, m)
		}
		p.messages = append(p.messages, m)
		if m.takesRecv() {
			p.recvs = append(p.recvs, m)
		}
		if m.refused {
			continue // requests behind the refused one are flushed
		}
	}
	return p
}

// message draws a request of a side and its expected result.
func (s *schedule) message(p *plan, h, id uint64) *message {
	ops := []verbs.Opcode{verbs.WRSend, verbs.WRSend, verbs.WRSendImm, verbs.WRWrite, verbs.WRWrite, verbs.WRWriteImm,
		verbs.WRRead, verbs.WRRead,
		verbs.WRFetchAdd, verbs.WRCmpSwap, verbs.WRSendInv, verbs.WRLocalInv, verbs.WRNop}
	m := &message{Send: Send{ID: id, Op: ops[h%uint64(len(ops))]}}
	mtu := uint32(s.mtu)
	lengths := []uint32{0, 1, 3, 4, mtu - 1, mtu, mtu + 1, 2 * mtu, 3*mtu - 2, 65, uint32(h>>40) % (4 * mtu)}
	m.length = lengths[h>>8%uint64(len(lengths))]
	if p.top+m.length+8 > recvAt || p.recvTop+m.length+16 > remoteAt {
		m.length = 0
	}
	if h>>12%8 != 0 {
		m.Flags |= verbs.SendSignaled
	}
	if h>>15%8 == 0 {
		m.Flags |= verbs.SendFence
	}
	if m.Flags&verbs.SendFence != 0 {
		p.unread = false
	}
	switch {
	case m.Op == verbs.WRLocalInv:
		m.length, m.Imm = 0, keyInv+1000+uint32(id)
		return m
	case m.Op == verbs.WRNop:
		m.length = 0
		return m
	case m.Op.IsAtomic():
		s.atomic(p, m, h)
	case m.Op == verbs.WRRead:
		s.read(p, m, h)
	default:
		s.carry(p, m, h)
	}
	return m
}

// carry builds a SEND or WRITE.
func (s *schedule) carry(p *plan, m *message, h uint64) {
	m.data = make([]byte, m.length)
	for i := range m.data {
		m.data[i] = byte(s.hash(h, 52, uint64(i/8)) >> (i % 8 * 8))
	}
	if m.Op.HasImm() {
		m.Imm = uint32(h >> 30)
	}
	if m.Op == verbs.WRSendInv {
		m.Imm = p.next
		p.next++
	}
	if m.length <= 64 && h>>18%2 == 0 {
		m.Flags |= verbs.SendInline
		m.Inline = m.data
	} else {
		m.Spans = s.splitSpans(p.top, m.length, h>>19)
		p.top += m.length
	}
	if m.Op.IsSend() {
		m.recvCap = m.length + uint32(h>>21%3)*8
	}
	if !m.Op.IsWrite() {
		return
	}
	off := writesAt + uint32(h>>23)%(writeBytes-m.length)
	m.RemoteAddr, m.RKey = base64k+remoteAt+uint64(off), keyRemote
	if p.unread { // the source of a READ must not be overwritten before the answer
		m.Flags |= verbs.SendFence
		p.unread = false
	}
	for _, w := range p.messages {
		if w.Op.IsWrite() && w.RemoteAddr < m.RemoteAddr+uint64(m.length) &&
			m.RemoteAddr < w.RemoteAddr+uint64(w.length) {
			w.overwritten = true
		}
	}
	copy(p.remote[off:], m.data)
	if m.length == 0 {
		m.RKey = 7 // UC and UD ignore the key
	}
}

func (s *schedule) read(p *plan, m *message, h uint64) {
	off := writesAt + uint32(h>>23)%(writeBytes-m.length)
	m.RemoteAddr, m.RKey = base64k+remoteAt+uint64(off), keyRemote
	if h>>22%2 == 0 {
		m.RKey = keyReads
	}
	m.data = bytes.Clone(p.remote[off : off+m.length])
	m.Spans = s.splitSpans(p.top, m.length, h>>19)
	p.top += m.length
	p.unread = true
}

// atomic fills in message m, an atomic: the 8 bytes that it changes, its operands, and the value that it must return.
func (s *schedule) atomic(p *plan, m *message, h uint64) {
	m.length = 8
	p.top = (p.top + 7) &^ 7
	m.Spans = []Span{{Addr: base64k + uint64(p.top), Len: 8, Key: keyLocal}}
	p.top += 8
	cell := cellsAt + 8*uint32(h>>25%cells)
	m.RemoteAddr, m.RKey = base64k+remoteAt+uint64(cell), keyRemote
	b := p.remote[cell:][:8]
	m.orig = value(b)
	m.Swap, m.CompareAdd = h*7, h>>5
	switch {
	case m.Op == verbs.WRFetchAdd:
		putValue(b, m.orig+m.CompareAdd)
	case h>>29%2 == 0:
		m.CompareAdd = m.orig
		putValue(b, m.Swap)
	}
	m.data = make([]byte, 8)
	putValue(m.data, m.orig)
}

// splitSpans divides a range into spans.
func (s *schedule) splitSpans(from, n uint32, h uint64) (spans []Span) {
	for n > 0 && len(spans) < 2 && h%3 != 0 {
		k := uint32(h>>4)%n + h32(h)%2
		k = min(k, n)
		spans = append(spans, Span{Addr: base64k + uint64(from), Len: k, Key: keyLocal})
		from, n, h = from+k, n-k, h>>3
	}
	return append(spans, Span{Addr: base64k + uint64(from), Len: n, Key: keyLocal})
}

func h32(h uint64) uint32 { return uint32(h >> 7) }

// makeRefused changes a request so that the peer refuses it, in the way that s.refuse selects.
func (s *schedule) makeRefused(p *plan, m *message) {
	addr := uint64(base64k + remoteAt + 128)
	id := m.ID
	*m = message{Send: Send{ID: id, Op: verbs.WRWrite, Flags: verbs.SendSignaled, RKey: keyRemote, RemoteAddr: addr,
		Spans: []Span{{Addr: base64k, Len: 16, Key: keyLocal}}}, length: 16, refused: true}
	if s.hash(37)%2 == 0 {
		m.Flags |= verbs.SendFence
	}
	switch s.refuse {
	case refuseKey:
		m.RKey = 999
	case refuseRight:
		m.RKey = keyReads
	case refuseBounds:
		m.RemoteAddr = base64k + memBytes - 8
	case refuseReadKey:
		m.Op, m.RKey = verbs.WRRead, 999
	case refuseAtomicRight:
		m.Op, m.RKey, m.Spans[0].Len = verbs.WRFetchAdd, keyReads, 8
	case refuseMisaligned:
		m.Op, m.RemoteAddr, m.Spans[0].Len = verbs.WRCmpSwap, addr+4, 8
	case refuseTooLong:
		m.Op, m.recvCap = verbs.WRSend, 15
	case refuseInvKey:
		m.Op, m.Imm, m.recvCap = verbs.WRSendInv, 5, 16
	}
}
