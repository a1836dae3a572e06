// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

// WqeMoreSize is the size of a WqeMore in bytes.
const WqeMoreSize = 64

// WqeMore is a view of 64 bytes of memory: a further block of a work entry: four more slots.
// Accessors read and write the bytes in place and panic when there are fewer.
type WqeMore []byte

// Slots returns slots, bytes 0..63: the slots after those of earlier blocks (part long).
func (b WqeMore) Slots() []byte { return b[0:64:64] }

// SetSlots copies v to slots and fills up with zeros; it panics when v is longer than 64 bytes.
func (b WqeMore) SetSlots(v []byte) { putBytes(b[0:64], v) }

// WqeMoreFields holds the fields of WqeMore as plain values.
type WqeMoreFields struct {
	Slots [64]byte // the slots after those of earlier blocks (part long)
}

// DecodeWqeMore reads all fields; it panics when b is shorter than 64 bytes.
func DecodeWqeMore(b []byte) (f WqeMoreFields) {
	v := WqeMore(b[:64])
	copy(f.Slots[:], v.Slots())
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 64 bytes; it panics when
// there are fewer.
func (f *WqeMoreFields) Encode(dst []byte) {
	v := WqeMore(dst[:64])
	clear(v)
	v.SetSlots(f.Slots[:])
}

// DiffWqeMore compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffWqeMore(exp, got []byte) (field, e, g string, ok bool) { return WqeMoreInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b WqeMore) String() string { return WqeMoreInfo.Format(b) }
