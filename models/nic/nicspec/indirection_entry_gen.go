// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// IndirectionEntrySize is the size of a IndirectionEntry in bytes.
const IndirectionEntrySize = 4

// IndirectionEntry is a view of 4 bytes of memory: table Indirection.
// Accessors read and write the bytes in place and panic when there are fewer.
type IndirectionEntry []byte

// Queue returns queue, bytes 0..1: receive queue; beyond the queues of this build BadValue.
func (b IndirectionEntry) Queue() uint16 { return binary.LittleEndian.Uint16(b[0:]) }

// SetQueue sets queue.
func (b IndirectionEntry) SetQueue(v uint16) { binary.LittleEndian.PutUint16(b[0:], v) }

// IndirectionEntryFields holds the fields of IndirectionEntry as plain values.
type IndirectionEntryFields struct {
	Queue uint16 // receive queue; beyond the queues of this build BadValue
}

// DecodeIndirectionEntry reads all fields; it panics when b is shorter than 4 bytes.
func DecodeIndirectionEntry(b []byte) (f IndirectionEntryFields) {
	v := IndirectionEntry(b[:4])
	f.Queue = v.Queue()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 4 bytes; it panics when
// there are fewer.
func (f *IndirectionEntryFields) Encode(dst []byte) {
	v := IndirectionEntry(dst[:4])
	clear(v)
	v.SetQueue(f.Queue)
}

// DiffIndirectionEntry compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffIndirectionEntry(exp, got []byte) (field, e, g string, ok bool) {
	return IndirectionEntryInfo.Diff(exp, got)
}

// String lists the fields that are not zero.
func (b IndirectionEntry) String() string { return IndirectionEntryInfo.Format(b) }
