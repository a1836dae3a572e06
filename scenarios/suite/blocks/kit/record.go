package kit

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"nictwin/models/nic/nicspec"
)

// NewRecord is the layout of a structure whose bytes are what encoding/binary makes of it: names, widths and places
// are said once. A field has its name in small letters; codes are told by their String; bytes stay bytes; other arrays
// are numbered; structures inside are those of their fields, or, with a tag entry, the one of the contract of that
// name; blank ones are gaps.
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

// recordParts are those of a field, whose name is followed by a number or nothing.
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

// small is a name as layouts have it: PayAddr is pay_addr.
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

// entryNamed is a structure of the contract.
func entryNamed(name string) Part {
	for _, s := range nicspec.Structs {
		if s.Name == name {
			return Entry(s)
		}
	}
	panic(fmt.Sprintf("blocks: the contract has no structure %q", name))
}

// Decode reads a structure from the bytes of a packet; it panics when there are fewer.
func Decode[T any](b []byte) (v T) {
	if _, err := binary.Decode(b, LittleEndian, &v); err != nil {
		panic(fmt.Sprintf("blocks: %d bytes for %T: %v", len(b), v, err))
	}
	return v
}

// Encode is its bytes.
func Encode(v any) []byte {
	b, err := binary.Append(nil, LittleEndian, v)
	if err != nil {
		panic(fmt.Sprintf("blocks: %T: %v", v, err))
	}
	return b
}

// Anything is a structure whose bytes are random.
func Anything[T any](rng *rand.Rand) (v T) { return Decode[T](Noise(rng, binary.Size(v))) }
