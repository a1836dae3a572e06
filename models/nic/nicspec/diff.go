package nicspec

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// Uint reads the field from a structure's bytes; a byte string reads as 0.
func (f *FieldInfo) Uint(b []byte) uint64 {
	if f.Bytes {
		return 0
	}
	first, shift := f.Bit/8, f.Bit%8
	var v uint64
	for i := (shift + f.Width - 1) / 8; i >= 0; i-- {
		v = v<<8 | uint64(b[first+i])
	}
	v >>= shift
	if f.Width < 64 {
		v &= 1<<f.Width - 1
	}
	return v
}

// Format formats the field's value: enum name and code, or decimal and hex, or a hex string.
func (f *FieldInfo) Format(b []byte) string {
	if f.Bytes {
		return hex.EncodeToString(b[f.Bit/8 : (f.Bit+f.Width)/8])
	}
	v := f.Uint(b)
	switch {
	case f.Enum != nil:
		return fmt.Sprintf("%s (%d)", f.Enum(v), v)
	case v < 10:
		return fmt.Sprintf("%d", v)
	}
	return fmt.Sprintf("%d (0x%x)", v, v)
}

func (f *FieldInfo) same(x, y []byte) bool {
	if f.Bytes {
		lo, hi := f.Bit/8, (f.Bit+f.Width)/8
		return bytes.Equal(x[lo:hi], y[lo:hi])
	}
	return f.Uint(x) == f.Uint(y)
}

// Diff compares two structures; ok is true if all bytes are equal. Otherwise `field` names the first field by position
// that differs, and e and g are its values. If all fields agree, `field` is the first "reserved byte N" that differs;
// if a side does not have the structure's size, `field` is "length". Diff allocates nothing if the structures are
// equal.
func (s *StructInfo) Diff(exp, got []byte) (field, e, g string, ok bool) {
	if len(exp) != s.Bytes || len(got) != s.Bytes {
		return "length", lengthText(len(exp), s.Bytes), lengthText(len(got), s.Bytes), false
	}
	if bytes.Equal(exp, got) {
		return "", "", "", true
	}
	for i := range s.Fields {
		if f := &s.Fields[i]; !f.same(exp, got) {
			return f.Name, f.Format(exp), f.Format(got), false
		}
	}
	n := 0
	for exp[n] == got[n] {
		n++
	}
	return fmt.Sprintf("reserved byte %d", n), fmt.Sprintf("0x%02x", exp[n]), fmt.Sprintf("0x%02x", got[n]), false
}

func lengthText(n, want int) string {
	if n == want {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d bytes instead of %d", n, want)
}

// Format lists every field of the structure as "name=value", in order of position, leaving out
// fields that are zero. It ignores bytes beyond the structure and reports missing ones.
func (s *StructInfo) Format(b []byte) string {
	if len(b) < s.Bytes {
		return fmt.Sprintf("%s{%s}", s.Name, lengthText(len(b), s.Bytes))
	}
	var out bytes.Buffer
	zero := make([]byte, s.Bytes)
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.same(b, zero) && f.Enum == nil {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		fmt.Fprintf(&out, "%s=%s", f.Name, f.Format(b))
	}
	return s.Name + "{" + out.String() + "}"
}

// putBytes copies src to dst and zeros the rest; it panics if src does not fit.
func putBytes(dst, src []byte) {
	if len(src) > len(dst) {
		panic(fmt.Sprintf("nicspec: %d bytes for a field of %d", len(src), len(dst)))
	}
	clear(dst[copy(dst, src):])
}
