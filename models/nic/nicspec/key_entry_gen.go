// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// KeyEntrySize is the size of a KeyEntry in bytes.
const KeyEntrySize = 32

// KeyEntry is a view of 32 bytes of memory: table Key.
// Accessors read and write the bytes in place and panic when there are fewer.
type KeyEntry []byte

// Valid returns valid, byte 0: 1 valid, 0 not; other values BadValue.
func (b KeyEntry) Valid() uint8 { return b[0] }

// SetValid sets valid.
func (b KeyEntry) SetValid(v uint8) { b[0] = v }

// RightRead returns right_read, byte 1 bit 0: the device may read.
func (b KeyEntry) RightRead() bool { return b[1]&1 != 0 }

// SetRightRead sets right_read.
func (b KeyEntry) SetRightRead(v bool) {
	b[1] &^= 1 << 0
	if v {
		b[1] |= 1 << 0
	}
}

// RightWrite returns right_write, byte 1 bit 1: the device may write.
func (b KeyEntry) RightWrite() bool { return b[1]>>1&1 != 0 }

// SetRightWrite sets right_write.
func (b KeyEntry) SetRightWrite(v bool) {
	b[1] &^= 1 << 1
	if v {
		b[1] |= 1 << 1
	}
}

// Variant returns variant, byte 2: must equal bits 31:24 of the key.
func (b KeyEntry) Variant() uint8 { return b[2] }

// SetVariant sets variant.
func (b KeyEntry) SetVariant(v uint8) { b[2] = v }

// VaBase returns va_base, bytes 8..15: first virtual address.
func (b KeyEntry) VaBase() uint64 { return binary.LittleEndian.Uint64(b[8:]) }

// SetVaBase sets va_base.
func (b KeyEntry) SetVaBase(v uint64) { binary.LittleEndian.PutUint64(b[8:], v) }

// Length returns length, bytes 16..23: bytes; va_base + length must not pass 2^64, else BadValue.
func (b KeyEntry) Length() uint64 { return binary.LittleEndian.Uint64(b[16:]) }

// SetLength sets length.
func (b KeyEntry) SetLength(v uint64) { binary.LittleEndian.PutUint64(b[16:], v) }

// BusBase returns bus_base, bytes 24..31: bus address that va_base stands for; bus_base + length must stay inside one endpoint, else BadValue.
func (b KeyEntry) BusBase() uint64 { return binary.LittleEndian.Uint64(b[24:]) }

// SetBusBase sets bus_base.
func (b KeyEntry) SetBusBase(v uint64) { binary.LittleEndian.PutUint64(b[24:], v) }

// KeyEntryFields holds the fields of KeyEntry as plain values.
type KeyEntryFields struct {
	Valid      uint8  // 1 valid, 0 not; other values BadValue
	RightRead  bool   // the device may read
	RightWrite bool   // the device may write
	Variant    uint8  // must equal bits 31:24 of the key
	VaBase     uint64 // first virtual address
	Length     uint64 // bytes; va_base + length must not pass 2^64, else BadValue
	BusBase    uint64 // bus address that va_base stands for; bus_base + length must stay inside one endpoint, else BadValue
}

// DecodeKeyEntry reads all fields; it panics when b is shorter than 32 bytes.
func DecodeKeyEntry(b []byte) (f KeyEntryFields) {
	v := KeyEntry(b[:32])
	f.Valid = v.Valid()
	f.RightRead = v.RightRead()
	f.RightWrite = v.RightWrite()
	f.Variant = v.Variant()
	f.VaBase = v.VaBase()
	f.Length = v.Length()
	f.BusBase = v.BusBase()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 32 bytes; it panics when
// there are fewer.
func (f *KeyEntryFields) Encode(dst []byte) {
	v := KeyEntry(dst[:32])
	clear(v)
	v.SetValid(f.Valid)
	v.SetRightRead(f.RightRead)
	v.SetRightWrite(f.RightWrite)
	v.SetVariant(f.Variant)
	v.SetVaBase(f.VaBase)
	v.SetLength(f.Length)
	v.SetBusBase(f.BusBase)
}

// DiffKeyEntry compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffKeyEntry(exp, got []byte) (field, e, g string, ok bool) { return KeyEntryInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b KeyEntry) String() string { return KeyEntryInfo.Format(b) }
