package protocol

import (
	"strings"
	"unicode"
)

// Decoding of the frames that a device sends. Decoders check every length against the frame, and the frame
// against its limit, before use.

// cursor reads fields from a frame; a read past its end yields zero and sets bad.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if n > len(c.b) {
		c.bad = true
		c.b = nil
		return zeroField[:n:n]
	}
	p := c.b[:n:n]
	c.b = c.b[n:]
	return p
}

// zeroField provides the bytes that the method take returns past the end of a frame. No field that take reads is
// longer.
var zeroField [64]byte

func (c *cursor) u8() uint8   { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return Le.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return Le.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return Le.Uint64(c.take(8)) }

// name reads n bytes of text and their padding.
func (c *cursor) name(n int) string {
	if n == 0 || n > 64 || pad8(n) > len(c.b) {
		c.bad = true
		return ""
	}
	s := string(c.b[:n])
	c.b = c.b[pad8(n):]
	return s
}

func DecodeError(b []byte) (*DeviceError, error) {
	c := &cursor{b: b}
	e := &DeviceError{Code: ErrorCode(c.u32())}
	n := int(c.u32())
	e.Cycle = c.u64()
	switch {
	case c.bad:
		return nil, ProtoErr(FrameError, FaultTruncated, "%d bytes", len(b))
	case n > maxErrorText:
		return nil, ProtoErr(FrameError, FaultLimit, "text of %d bytes", n)
	case pad8(n) > len(c.b):
		return nil, ProtoErr(FrameError, FaultTruncated, "text of %d bytes", n)
	case pad8(n) < len(c.b):
		return nil, ProtoErr(FrameError, FaultTrailing, "%d bytes", len(c.b)-pad8(n))
	case e.Code < CodeProtocol || e.Code > CodeLink:
		return nil, ProtoErr(FrameError, FaultValue, "code %d", e.Code)
	}
	e.Text = Printable(c.b[:n])
	return e, nil
}

// Printable returns a device's text with invalid UTF-8, and everything that could control a terminal, replaced.
func Printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(string(b), "?"))
}
