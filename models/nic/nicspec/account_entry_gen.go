// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// AccountEntrySize is the size of a AccountEntry in bytes.
const AccountEntrySize = 16

// AccountEntry is a view of 16 bytes of memory: table Account.
// Accessors read and write the bytes in place and panic when there are fewer.
type AccountEntry []byte

// Balance returns balance, bytes 0..3: credits; above 2^24 - 1 BadValue.
func (b AccountEntry) Balance() uint32 { return binary.LittleEndian.Uint32(b[0:]) }

// SetBalance sets balance.
func (b AccountEntry) SetBalance(v uint32) { binary.LittleEndian.PutUint32(b[0:], v) }

// Latch returns latch, byte 4: 1: once a frame found no credit, all frames go the slow way until resume; above 1 BadValue.
func (b AccountEntry) Latch() uint8 { return b[4] }

// SetLatch sets latch.
func (b AccountEntry) SetLatch(v uint8) { b[4] = v }

// Slow returns slow, byte 5: 1 in state Slow; ignored on write.
func (b AccountEntry) Slow() uint8 { return b[5] }

// SetSlow sets slow.
func (b AccountEntry) SetSlow(v uint8) { b[5] = v }

// Drawn returns drawn, bytes 8..11: credits drawn by frames since the account was set; ignored on write.
func (b AccountEntry) Drawn() uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// SetDrawn sets drawn.
func (b AccountEntry) SetDrawn(v uint32) { binary.LittleEndian.PutUint32(b[8:], v) }

// Seq returns seq, bytes 12..15: account_seq of the next frame; ignored on write.
func (b AccountEntry) Seq() uint32 { return binary.LittleEndian.Uint32(b[12:]) }

// SetSeq sets seq.
func (b AccountEntry) SetSeq(v uint32) { binary.LittleEndian.PutUint32(b[12:], v) }

// AccountEntryFields holds the fields of AccountEntry as plain values.
type AccountEntryFields struct {
	Balance uint32 // credits; above 2^24 - 1 BadValue
	Latch   uint8  // 1: once a frame found no credit, all frames go the slow way until resume; above 1 BadValue
	Slow    uint8  // 1 in state Slow; ignored on write
	Drawn   uint32 // credits drawn by frames since the account was set; ignored on write
	Seq     uint32 // account_seq of the next frame; ignored on write
}

// DecodeAccountEntry reads all fields; it panics when b is shorter than 16 bytes.
func DecodeAccountEntry(b []byte) (f AccountEntryFields) {
	v := AccountEntry(b[:16])
	f.Balance = v.Balance()
	f.Latch = v.Latch()
	f.Slow = v.Slow()
	f.Drawn = v.Drawn()
	f.Seq = v.Seq()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 16 bytes; it panics when
// there are fewer.
func (f *AccountEntryFields) Encode(dst []byte) {
	v := AccountEntry(dst[:16])
	clear(v)
	v.SetBalance(f.Balance)
	v.SetLatch(f.Latch)
	v.SetSlow(f.Slow)
	v.SetDrawn(f.Drawn)
	v.SetSeq(f.Seq)
}

// DiffAccountEntry compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffAccountEntry(exp, got []byte) (field, e, g string, ok bool) {
	return AccountEntryInfo.Diff(exp, got)
}

// String lists the fields that are not zero.
func (b AccountEntry) String() string { return AccountEntryInfo.Format(b) }
