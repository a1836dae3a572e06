package kit

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"nictwin/models/nic/nicspec"
)

// NewRecord returns the layout of a structure as encoding/binary encodes it, so that names, widths and places
// are declared once. A field keeps its name in small letters; codes print by their String method; bytes stay
// bytes; other arrays are numbered; nested structures contribute their fields or, with a tag entry, those of the
// contract's structure of that name; blank fields are gaps.
func NewRecord[T any]() *Layout {
	var parts []Part
	var zero T
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		f := t.Field(i)
		if name, ok := f.Tag.Lookup("entry"); ok {
			parts = append(parts, entryNamed(name))
		} else {
			parts = append(parts, recordParts(f.Name, "", f.Type)...)
		}
	}
	l := NewLayout(parts...)
	if size := binary.Size(zero); size != l.Bytes {
		panic(fmt.Sprintf("blocks: the layout of %T has %d bytes, the structure %d", zero, l.Bytes, size))
	}
	return l
}

// recordParts returns the parts of a field, whose name is followed by a number or nothing.
func recordParts(name, number string, t reflect.Type) (parts []Part) {
	switch kind := t.Kind(); {
	case name == "_":
		return []Part{Gap(int(t.Size()))}
	case kind == reflect.Struct:
		for i := range t.NumField() {
			parts = append(parts, recordParts(t.Field(i).Name, number, t.Field(i).Type)...)
		}
		return parts
	case kind == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return []Part{Raw(small(name)+number, t.Len())}
	case kind == reflect.Array:
		for i := range t.Len() {
			parts = append(parts, recordParts(name, fmt.Sprintf("_%d", i), t.Elem())...)
		}
		return parts
	case kind == reflect.Uint8 && t.Implements(reflect.TypeFor[fmt.Stringer]()):
		return []Part{Code(small(name)+number, func(v uint64) string {
			return reflect.ValueOf(uint8(v)).Convert(t).Interface().(fmt.Stringer).String()
		})}
	}
	return []Part{Num(small(name)+number, int(t.Size()))}
}

// small converts a Go name to a layout's: PayAddr is pay_addr.
func small(name string) string {
	var b strings.Builder
	for i, c := range name {
		if 'A' <= c && c <= 'Z' && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// entryNamed returns the part of a layout that holds the contract's structure of the given name.
func entryNamed(name string) Part {
	for _, s := range nicspec.Structs {
		if s.Name == name {
			return Entry(s)
		}
	}
	panic(fmt.Sprintf("blocks: the contract has no structure %q", name))
}

// Decode reads a structure from the bytes of a packet; it panics if there are too few.
func Decode[T any](b []byte) (v T) {
	if _, err := binary.Decode(b, LittleEndian, &v); err != nil {
		panic(fmt.Sprintf("blocks: %d bytes for %T: %v", len(b), v, err))
	}
	return v
}

// Encode returns the bytes of a structure.
func Encode(v any) []byte {
	b, err := binary.Append(nil, LittleEndian, v)
	if err != nil {
		panic(fmt.Sprintf("blocks: %T: %v", v, err))
	}
	return b
}

// Anything returns a structure with random bytes.
func Anything[T any](rng *rand.Rand) (v T) { return Decode[T](Noise(rng, binary.Size(v))) }
