package ref

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Kind says what the transactions of a stream consist of.
type Kind int

// Kinds of stream.
const (
	Packets Kind = iota // data, and fields beside it
	Record              // fields with a handshake
	Level               // fields without a handshake, which keep their value
)

// Field is a field of a stream's transactions.
type Field struct {
	Name string
	Bits int
}

// bytes returns how many side bytes the field takes.
func (f *Field) bytes() int { return (f.Bits + 7) / 8 }

// Stream describes a stream of a device. Its fields are the pins of a record or level, or the side-band signals of
// packets.
type Stream struct {
	Name   string
	In     bool // input of the device
	Kind   Kind
	Fields []Field
	Beat   int  // for packets: bytes of data per beat
	Unit   int  // for packets: every size in bytes is a multiple of Unit
	Empty  bool // for packets: a packet may be empty
	Most   int  // for packets: largest size in bytes; 0: no limit
}

// SideBytes returns the size of all fields together, in side bytes.
func (s *Stream) SideBytes() int {
	n := 0
	for i := range s.Fields {
		n += s.Fields[i].bytes()
	}
	return n
}

// Find returns a field and the offset of its bytes.
func (s *Stream) Find(name string) (f *Field, at int, ok bool) {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Name == name {
			return f, at, true
		}
		at += f.bytes()
	}
	return nil, 0, false
}

func (s *Stream) find(name string) (*Field, int) {
	f, at, ok := s.Find(name)
	if !ok {
		mistake("stream %s has no field %q: it has %v", s.Name, name, s.names())
	}
	return f, at
}

func (s *Stream) names() []string {
	var names []string
	for i := range s.Fields {
		names = append(names, s.Fields[i].Name)
	}
	return names
}

// Fields maps names of fields to values: a whole number of any type, a bool, or, for more than 64 bits, a []byte,
// lowest byte first. Fields that are not named are 0 in transactions given to a device, and not compared in
// expected ones.
type Fields map[string]any

// Pack encodes field values as the side bytes of a transaction.
func (s *Stream) Pack(f Fields) []byte {
	side := make([]byte, s.SideBytes())
	for name, v := range f {
		x, at := s.find(name)
		s.put(x, side[at:at+x.bytes()], v)
	}
	return side
}

// put encodes the value of a field; a value that does not fit is a mistake.
func (s *Stream) put(f *Field, into []byte, v any) {
	if b, ok := v.([]byte); ok {
		if len(b) > len(into) && slices.ContainsFunc(b[len(into):], func(x byte) bool { return x != 0 }) ||
			!fits(b, f.Bits) {
			mistake("stream %s: field %s of %d bits cannot be % x", s.Name, f.Name, f.Bits, b)
		}
		copy(into, b)
		return
	}
	u, ok := number(v)
	if !ok {
		mistake("stream %s: field %s: a value of type %T: want a whole number, a bool or []byte", s.Name, f.Name, v)
	}
	if f.Bits < 64 && u>>f.Bits != 0 {
		mistake("stream %s: field %s of %d bits cannot be %#x", s.Name, f.Name, f.Bits, u)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], u)
	copy(into, b[:])
}

// fits reports whether the value in b fits into a number of bits: whether all higher bits are 0.
func fits(b []byte, bits int) bool {
	for i, x := range b {
		if rest := bits - 8*i; rest < 8 && x>>max(rest, 0) != 0 {
			return false
		}
	}
	return true
}

// number converts an integer or a bool to a number. It fails for a negative integer and for other types.
func number(v any) (uint64, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int:
		return uint64(x), x >= 0
	case int64:
		return uint64(x), x >= 0
	case int32:
		return uint64(x), x >= 0
	case uint:
		return uint64(x), true
	case uint64:
		return x, true
	case uint32:
		return uint64(x), true
	case uint16:
		return uint64(x), true
	case uint8:
		return uint64(x), true
	}
	return 0, false
}

// text formats the value of a field.
func (f *Field) text(b []byte) string {
	if f.Bits <= 64 {
		return fmt.Sprintf("%#x", little(b))
	}
	return fmt.Sprintf("% x", b)
}

// little decodes a little-endian number of up to eight bytes.
func little(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

// Mistake is a mistake of the reference, not a fault of the device.
type Mistake struct {
	What string
	File string // position of the function to blame, if that has returned; else empty
	Line int
}

func (m *Mistake) Error() string { return m.What }

var _ error = (*Mistake)(nil)

func mistake(format string, a ...any) { panic(&Mistake{What: fmt.Sprintf(format, a...)}) }
