package pipe

import (
	"encoding/binary"
	"fmt"
	"math"

	"nictwin/stack/verbs"
)

// Span is memory as the card addresses it: an Arm address of a shadow region (Shadow), which implies the NIC's memory
// key.
type Span struct {
	Addr  uint64
	Bytes uint32
}

// SendElement is a send request in an SQ pipe. Its first line:
//
//	 0      opcode (verbs.Opcode)
//	 1      flags (verbs.SendFlags)
//	 2      number of spans
//	 3      1: datagram, 0: not
//	 4..7   queue pair
//	 8..15  ID
//	16..19  immediate data, or key to be invalidated
//	20..23  remote key       datagram: Q_Key
//	24..31  remote address   datagram: queue pair (24..27), address handle (28..31)
//	32..35  bytes of the message
//	36..62  inline payload; or spans of 12 B: address, bytes. Atomics: compare or add, swap, address of the 8 B
//
// Further lines have 63 B of inline payload each, or five spans.
type SendElement struct {
	Opcode     verbs.Opcode
	Flags      verbs.SendFlags
	Datagram   bool
	QPN        uint32
	ID         uint64
	Imm        uint32 // immediate data, or key to invalidate
	RKey       uint32
	RemoteAddr uint64
	QKey       uint32
	DestQPN    uint32
	AH         uint32
	CompareAdd uint64
	Swap       uint64
	Spans      []Span // an atomic has one, of 8 B
	Inline     []byte // payload, with verbs.SendInline
}

const (
	bodyAt     = 36
	firstBody  = tagAt - bodyAt
	spanBytes  = 12
	firstSpans = firstBody / spanBytes
	lineSpans  = tagAt / spanBytes
	atomicAddr = bodyAt + 16
	atomicSize = 8
	sendFlags  = verbs.SendFence | verbs.SendSignaled | verbs.SendSolicited | verbs.SendInline

	// WrongLength stands in place of the address in the element of an atomic whose pieces of memory do not add up to 8
	// B. The card fails such a request with a length error.
	WrongLength = 1

	// MaxSpans and MaxInline are the limits of an element.
	MaxSpans  = 255
	MaxInline = firstBody + (MaxLines-1)*tagAt
)

// Lines returns the number of lines that the element needs.
func (e *SendElement) Lines() int {
	switch {
	case e.Flags&verbs.SendInline != 0:
		return 1 + max(0, len(e.Inline)-firstBody+tagAt-1)/tagAt
	case e.Opcode.IsAtomic():
		return 1
	}
	return 1 + max(0, len(e.Spans)-firstSpans+lineSpans-1)/lineSpans
}

// Encode writes the element to b, which must have room for its lines (at most MaxLines), and returns the lines.
func (e *SendElement) Encode(b []byte) ([]byte, error) {
	inline := e.Flags&verbs.SendInline != 0
	switch {
	case inline && len(e.Inline) > MaxInline, len(e.Spans) > MaxSpans:
		return nil, fmt.Errorf("pipe: an element of %d B inline or %d spans: want %d and %d at most", len(e.Inline),
			len(e.Spans), MaxInline, MaxSpans)
	case e.Opcode.IsAtomic() && (inline || len(e.Spans) != 1 || e.Spans[0].Bytes != atomicSize):
		return nil, fmt.Errorf("pipe: an atomic with %d spans: want one of %d B", len(e.Spans), atomicSize)
	case e.Bytes() > math.MaxUint32:
		return nil, fmt.Errorf("pipe: an element of %d B: want less than 2^32", e.Bytes())
	case len(b) < e.Lines()*LineBytes:
		return nil, fmt.Errorf("pipe: an element of %d lines into %d B: want room for it", e.Lines(), len(b))
	}
	b = b[:e.Lines()*LineBytes]
	clear(b)
	e.head(b)
	switch {
	case inline:
		rest := e.Inline[copy(b[bodyAt:tagAt], e.Inline):]
		for at := LineBytes; len(rest) > 0; at += LineBytes {
			rest = rest[copy(b[at:at+tagAt], rest):]
		}
	case e.Opcode.IsAtomic():
		le := binary.LittleEndian
		le.PutUint64(b[bodyAt:], e.CompareAdd)
		le.PutUint64(b[bodyAt+8:], e.Swap)
		le.PutUint64(b[atomicAddr:], e.Spans[0].Addr)
	default:
		for i, s := range e.Spans {
			at := spanAt(i)
			binary.LittleEndian.PutUint64(b[at:], s.Addr)
			binary.LittleEndian.PutUint32(b[at+8:], s.Bytes)
		}
	}
	return b, nil
}

// head encodes the fields of the first line before its inline payload or spans.
func (e *SendElement) head(b []byte) {
	le := binary.LittleEndian
	b[0], b[1], b[2] = byte(e.Opcode), byte(e.Flags), byte(len(e.Spans))
	le.PutUint32(b[4:], e.QPN)
	le.PutUint64(b[8:], e.ID)
	le.PutUint32(b[16:], e.Imm)
	if e.Datagram {
		b[3] = 1
		le.PutUint32(b[20:], e.QKey)
		le.PutUint32(b[24:], e.DestQPN)
		le.PutUint32(b[28:], e.AH)
	} else {
		le.PutUint32(b[20:], e.RKey)
		le.PutUint64(b[24:], e.RemoteAddr)
	}
	le.PutUint32(b[32:], uint32(e.Bytes()))
}

// Bytes returns the length of the message.
func (e *SendElement) Bytes() uint64 {
	if e.Flags&verbs.SendInline != 0 {
		return uint64(len(e.Inline))
	}
	n := uint64(0)
	for _, s := range e.Spans {
		n += uint64(s.Bytes)
	}
	return n
}

// spanAt returns the offset of span i.
func spanAt(i int) int {
	if i < firstSpans {
		return bodyAt + i*spanBytes
	}
	i -= firstSpans
	return (1+i/lineSpans)*LineBytes + i%lineSpans*spanBytes
}

// Decode reads an element, and reuses the memory of Spans and Inline. It accepts any whole lines, and returns an error
// for an element that Encode cannot have written.
func (e *SendElement) Decode(b []byte) error {
	if len(b) < LineBytes || len(b)%LineBytes != 0 {
		return fmt.Errorf("pipe: a send element of %d B: want whole lines of %d", len(b), LineBytes)
	}
	le := binary.LittleEndian
	spans, inline := e.Spans[:0], e.Inline[:0]
	*e = SendElement{
		Opcode: verbs.Opcode(b[0]), Flags: verbs.SendFlags(b[1]), Datagram: b[3] == 1,
		QPN: le.Uint32(b[4:]), ID: le.Uint64(b[8:]), Imm: le.Uint32(b[16:]),
	}
	if e.Datagram {
		e.QKey, e.DestQPN, e.AH = le.Uint32(b[20:]), le.Uint32(b[24:]), le.Uint32(b[28:])
	} else {
		e.RKey, e.RemoteAddr = le.Uint32(b[20:]), le.Uint64(b[24:])
	}
	n, bytes := int(b[2]), le.Uint32(b[32:])
	switch {
	case b[3] > 1:
		return fmt.Errorf("pipe: a send element of kind %d: want 0 or 1", b[3])
	case e.Flags&^sendFlags != 0:
		return fmt.Errorf("pipe: a send element with flags %#x: want %#x at most", e.Flags, sendFlags)
	case e.Flags&verbs.SendInline != 0:
		return e.decodeInline(b, n, int64(bytes), inline)
	case e.Opcode.IsAtomic():
		if n != 1 || bytes != atomicSize || len(b) != LineBytes {
			return fmt.Errorf("pipe: an atomic with %d spans, %d B, on %d B: want one of 8 B on a line", n, bytes,
				len(b))
		}
		e.CompareAdd, e.Swap = le.Uint64(b[bodyAt:]), le.Uint64(b[bodyAt+8:])
		e.Spans = append(spans, Span{le.Uint64(b[atomicAddr:]), atomicSize})
		return nil
	}
	return e.decodeSpans(b, n, bytes, spans)
}

// decodeInline reads the inline payload of an element into inline's memory, if that suffices.
func (e *SendElement) decodeInline(b []byte, n int, bytes int64, inline []byte) error {
	if n != 0 || bytes > MaxInline {
		return fmt.Errorf("pipe: an element of %d B inline and %d spans: want %d B at most, and none", bytes, n,
			MaxInline)
	}
	if e.Inline = inline; cap(inline) < int(bytes) {
		e.Inline = make([]byte, 0, bytes)
	}
	e.Inline = e.Inline[:bytes]
	if e.Lines()*LineBytes != len(b) {
		return fmt.Errorf("pipe: an element of %d B inline on %d B: want %d lines", bytes, len(b), e.Lines())
	}
	rest := e.Inline[copy(e.Inline, b[bodyAt:tagAt]):]
	for at := LineBytes; len(rest) > 0; at += LineBytes {
		rest = rest[copy(rest, b[at:at+tagAt]):]
	}
	return nil
}

// decodeSpans reads the spans of an element and checks their total length.
func (e *SendElement) decodeSpans(b []byte, n int, bytes uint32, spans []Span) error {
	le := binary.LittleEndian
	if lines := 1 + max(0, n-firstSpans+lineSpans-1)/lineSpans; lines*LineBytes != len(b) {
		return fmt.Errorf("pipe: an element of %d spans on %d B: want %d lines", n, len(b), lines)
	}
	for i := range n {
		at := spanAt(i)
		spans = append(spans, Span{le.Uint64(b[at:]), le.Uint32(b[at+8:])})
	}
	if e.Spans = spans; e.Bytes() != uint64(bytes) {
		return fmt.Errorf("pipe: an element of %d B in its spans, %d by its header: want the same", e.Bytes(), bytes)
	}
	return nil
}
