// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// SegSize is the size of a Seg in bytes.
const SegSize = 16

// Seg is a view of 16 bytes of memory: one piece of a frame.
// Accessors read and write the bytes in place and panic when there are fewer.
type Seg []byte

// Key returns key, bytes 0..3: memory key: index in bits 15:0, variant in 31:24, bits 23:16 zero.
func (b Seg) Key() uint32 { return binary.LittleEndian.Uint32(b[0:]) }

// SetKey sets key.
func (b Seg) SetKey(v uint32) { binary.LittleEndian.PutUint32(b[0:], v) }

// Len returns len, bytes 4..7: bytes, not zero.
func (b Seg) Len() uint32 { return binary.LittleEndian.Uint32(b[4:]) }

// SetLen sets len.
func (b Seg) SetLen(v uint32) { binary.LittleEndian.PutUint32(b[4:], v) }

// Addr returns addr, bytes 8..15: virtual address inside the key's range.
func (b Seg) Addr() uint64 { return binary.LittleEndian.Uint64(b[8:]) }

// SetAddr sets addr.
func (b Seg) SetAddr(v uint64) { binary.LittleEndian.PutUint64(b[8:], v) }

// SegFields holds the fields of Seg as plain values.
type SegFields struct {
	Key  uint32 // memory key: index in bits 15:0, variant in 31:24, bits 23:16 zero
	Len  uint32 // bytes, not zero
	Addr uint64 // virtual address inside the key's range
}

// DecodeSeg reads all fields; it panics when b is shorter than 16 bytes.
func DecodeSeg(b []byte) (f SegFields) {
	v := Seg(b[:16])
	f.Key = v.Key()
	f.Len = v.Len()
	f.Addr = v.Addr()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 16 bytes; it panics when
// there are fewer.
func (f *SegFields) Encode(dst []byte) {
	v := Seg(dst[:16])
	clear(v)
	v.SetKey(f.Key)
	v.SetLen(f.Len)
	v.SetAddr(f.Addr)
}

// DiffSeg compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffSeg(exp, got []byte) (field, e, g string, ok bool) { return SegInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b Seg) String() string { return SegInfo.Format(b) }
