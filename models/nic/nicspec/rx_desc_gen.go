// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// RxDescSize is the size of a RxDesc in bytes.
const RxDescSize = 16

// RxDesc is a view of 16 bytes of memory: receive descriptor, in the ring at ring_base + 16 * (index mod size).
// Accessors read and write the bytes in place and panic when there are fewer.
type RxDesc []byte

// HdrAddr returns hdr_addr, bytes 0..7: bus address of the header buffer; unused when nothing is split off.
func (b RxDesc) HdrAddr() uint64 { return binary.LittleEndian.Uint64(b[0:]) }

// SetHdrAddr sets hdr_addr.
func (b RxDesc) SetHdrAddr(v uint64) { binary.LittleEndian.PutUint64(b[0:], v) }

// PayAddr returns pay_addr, bytes 8..15: bus address of the payload buffer.
func (b RxDesc) PayAddr() uint64 { return binary.LittleEndian.Uint64(b[8:]) }

// SetPayAddr sets pay_addr.
func (b RxDesc) SetPayAddr(v uint64) { binary.LittleEndian.PutUint64(b[8:], v) }

// RxDescFields holds the fields of RxDesc as plain values.
type RxDescFields struct {
	HdrAddr uint64 // bus address of the header buffer; unused when nothing is split off
	PayAddr uint64 // bus address of the payload buffer
}

// DecodeRxDesc reads all fields; it panics when b is shorter than 16 bytes.
func DecodeRxDesc(b []byte) (f RxDescFields) {
	v := RxDesc(b[:16])
	f.HdrAddr = v.HdrAddr()
	f.PayAddr = v.PayAddr()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 16 bytes; it panics when
// there are fewer.
func (f *RxDescFields) Encode(dst []byte) {
	v := RxDesc(dst[:16])
	clear(v)
	v.SetHdrAddr(f.HdrAddr)
	v.SetPayAddr(f.PayAddr)
}

// DiffRxDesc compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffRxDesc(exp, got []byte) (field, e, g string, ok bool) { return RxDescInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b RxDesc) String() string { return RxDescInfo.Format(b) }
