package kit

import (
	"fmt"

	"nictwin/models/nic/nicspec"
)

// Layout names the bytes of a packet.
type Layout struct {
	nicspec.StructInfo
	Tail string  // name of the bytes that follow the structure, of any number; empty if none may follow
	Each *Layout // layout of each structure in the tail; nil if the tail is plain bytes
}

// Part is a range of bytes of a layout.
type Part struct {
	Bytes  int
	Fields []nicspec.FieldInfo
}

// NewLayout concatenates parts.
func NewLayout(parts ...Part) *Layout {
	l := &Layout{}
	for _, p := range parts {
		for _, f := range p.Fields {
			f.Bit += 8 * l.Bytes
			l.Fields = append(l.Fields, f)
		}
		l.Bytes += p.Bytes
	}
	return l
}

// WithTail returns the layout with any number of bytes behind it.
func (l *Layout) WithTail(name string) *Layout {
	l.Tail = name
	return l
}

// WithList returns the layout with any number of structures behind it.
func (l *Layout) WithList(name string, each *Layout) *Layout {
	l.Tail, l.Each = name, each
	return l
}

// Num returns a part that is a little-endian number.
func Num(name string, bytes int) Part {
	return Part{bytes, []nicspec.FieldInfo{{Name: name, Width: 8 * bytes}}}
}

// Code returns a part that is a one-byte number whose values have names.
func Code(name string, text func(uint64) string) Part {
	return Part{1, []nicspec.FieldInfo{{Name: name, Width: 8, Enum: text}}}
}

// Raw returns a part of bytes in order.
func Raw(name string, bytes int) Part {
	return Part{bytes, []nicspec.FieldInfo{{Name: name, Width: 8 * bytes, Bytes: true}}}
}

// Gap returns a part of bytes that are zero.
func Gap(bytes int) Part { return Part{Bytes: bytes} }

// Entry returns a part that is a structure of the contract.
func Entry(s *nicspec.StructInfo) Part { return Part{s.Bytes, s.Fields} }

func StatusName(v uint64) string      { return nicspec.Status(v).String() }
func tableStatusName(v uint64) string { return nicspec.TableStatus(v).String() }
func ActionName(v uint64) string      { return nicspec.Action(v).String() }
func VerdictName(v uint64) string     { return nicspec.Verdict(v).String() }

// DiffPacket names the first field that differs. If whole is set, the block sends whole beats, so that zeros may follow
// the expected bytes.
func (l *Layout) DiffPacket(want, got []byte, whole bool) (field, e, g string, same bool) {
	if whole && len(got) > len(want) {
		want = append(append([]byte(nil), want...), make([]byte, len(got)-len(want))...)
	}
	n := min(l.Bytes, len(want), len(got))
	if n == l.Bytes {
		if field, e, g, same = l.Diff(want[:n], got[:n]); !same {
			return field, e, g, false
		}
	}
	if l.Each != nil {
		for i, size := 0, l.Each.Bytes; l.Bytes+(i+1)*size <= min(len(want), len(got)); i++ {
			at := l.Bytes + i*size
			if field, e, g, same = l.Each.Diff(want[at:][:size], got[at:][:size]); !same {
				return fmt.Sprintf("%s %d %s", l.Tail, i, field), e, g, false
			}
		}
	}
	if len(want) != len(got) {
		return "length", fmt.Sprintf("%d bytes", len(want)), fmt.Sprintf("%d bytes", len(got)), false
	}
	for i := n; i < len(got); i++ {
		if want[i] != got[i] {
			name := l.Tail
			if name == "" {
				name = "padding"
			}
			return fmt.Sprintf("%s byte %d", name, i-n), fmt.Sprintf("0x%02x", want[i]), fmt.Sprintf("0x%02x", got[i]),
				false
		}
	}
	return "", "", "", true
}

// Text formats a packet's fields, except those that are zero.
func (l *Layout) Text(b []byte) string {
	if len(b) < l.Bytes {
		return fmt.Sprintf("%d bytes: %x", len(b), b)
	}
	s := l.Format(b[:l.Bytes])
	if l.Tail != "" {
		s += fmt.Sprintf(" and %d bytes of %s", len(b)-l.Bytes, l.Tail)
	}
	return s
}
