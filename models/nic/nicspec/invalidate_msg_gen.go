// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// InvalidateMsgSize is the size of a InvalidateMsg in bytes.
const InvalidateMsgSize = 16

// InvalidateMsg is a view of 16 bytes of memory: payload of an invalidate message.
// Accessors read and write the bytes in place and panic when there are fewer.
type InvalidateMsg []byte

// Addr returns addr, bytes 0..7: bus address of the first line.
func (b InvalidateMsg) Addr() uint64 { return binary.LittleEndian.Uint64(b[0:]) }

// SetAddr sets addr.
func (b InvalidateMsg) SetAddr(v uint64) { binary.LittleEndian.PutUint64(b[0:], v) }

// Lines returns lines, bytes 8..11: number of 64 B lines.
func (b InvalidateMsg) Lines() uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// SetLines sets lines.
func (b InvalidateMsg) SetLines(v uint32) { binary.LittleEndian.PutUint32(b[8:], v) }

// InvalidateMsgFields holds the fields of InvalidateMsg as plain values.
type InvalidateMsgFields struct {
	Addr  uint64 // bus address of the first line
	Lines uint32 // number of 64 B lines
}

// DecodeInvalidateMsg reads all fields; it panics when b is shorter than 16 bytes.
func DecodeInvalidateMsg(b []byte) (f InvalidateMsgFields) {
	v := InvalidateMsg(b[:16])
	f.Addr = v.Addr()
	f.Lines = v.Lines()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 16 bytes; it panics when
// there are fewer.
func (f *InvalidateMsgFields) Encode(dst []byte) {
	v := InvalidateMsg(dst[:16])
	clear(v)
	v.SetAddr(f.Addr)
	v.SetLines(f.Lines)
}

// DiffInvalidateMsg compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffInvalidateMsg(exp, got []byte) (field, e, g string, ok bool) {
	return InvalidateMsgInfo.Diff(exp, got)
}

// String lists the fields that are not zero.
func (b InvalidateMsg) String() string { return InvalidateMsgInfo.Format(b) }
