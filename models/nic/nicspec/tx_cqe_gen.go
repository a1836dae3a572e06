// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// TxCqeSize is the size of a TxCqe in bytes.
const TxCqeSize = 64

// TxCqe is a view of 64 bytes of memory: transmit completion entry; reserved bytes are zero.
// Accessors read and write the bytes in place and panic when there are fewer.
type TxCqe []byte

// Type returns type, byte 0: Tx, or Event when the queue entered the error state.
func (b TxCqe) Type() CqeType { return CqeType(b[0]) }

// SetType sets type.
func (b TxCqe) SetType(v CqeType) { b[0] = uint8(v) }

// Status returns status, byte 1: how the work entry ended, or the status of the failing read in an Event.
func (b TxCqe) Status() Status { return Status(b[1]) }

// SetStatus sets status.
func (b TxCqe) SetStatus(v Status) { b[1] = uint8(v) }

// Queue returns queue, bytes 2..3: transmit queue.
func (b TxCqe) Queue() uint16 { return binary.LittleEndian.Uint16(b[2:]) }

// SetQueue sets queue.
func (b TxCqe) SetQueue(v uint16) { binary.LittleEndian.PutUint16(b[2:], v) }

// Index returns index, bytes 4..5: work entry (free-running); in an Event the first block of the failing read.
func (b TxCqe) Index() uint16 { return binary.LittleEndian.Uint16(b[4:]) }

// SetIndex sets index.
func (b TxCqe) SetIndex(v uint16) { binary.LittleEndian.PutUint16(b[4:], v) }

// WqeId returns wqe_id, bytes 8..11: from the work entry; zero in an Event.
func (b TxCqe) WqeId() uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// SetWqeId sets wqe_id.
func (b TxCqe) SetWqeId(v uint32) { binary.LittleEndian.PutUint32(b[8:], v) }

// FrameLen returns frame_len, bytes 12..13: bytes that left, padding included; zero unless a frame left.
func (b TxCqe) FrameLen() uint16 { return binary.LittleEndian.Uint16(b[12:]) }

// SetFrameLen sets frame_len.
func (b TxCqe) SetFrameLen(v uint16) { binary.LittleEndian.PutUint16(b[12:], v) }

// Phase returns phase, byte 63 bit 0: 1 on the first lap of the ring, then toggling.
func (b TxCqe) Phase() bool { return b[63]&1 != 0 }

// SetPhase sets phase.
func (b TxCqe) SetPhase(v bool) {
	b[63] &^= 1 << 0
	if v {
		b[63] |= 1 << 0
	}
}

// TxCqeFields holds the fields of TxCqe as plain values.
type TxCqeFields struct {
	Type     CqeType // Tx, or Event when the queue entered the error state
	Status   Status  // how the work entry ended, or the status of the failing read in an Event
	Queue    uint16  // transmit queue
	Index    uint16  // work entry (free-running); in an Event the first block of the failing read
	WqeId    uint32  // from the work entry; zero in an Event
	FrameLen uint16  // bytes that left, padding included; zero unless a frame left
	Phase    bool    // 1 on the first lap of the ring, then toggling
}

// DecodeTxCqe reads all fields; it panics when b is shorter than 64 bytes.
func DecodeTxCqe(b []byte) (f TxCqeFields) {
	v := TxCqe(b[:64])
	f.Type = v.Type()
	f.Status = v.Status()
	f.Queue = v.Queue()
	f.Index = v.Index()
	f.WqeId = v.WqeId()
	f.FrameLen = v.FrameLen()
	f.Phase = v.Phase()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 64 bytes; it panics when
// there are fewer.
func (f *TxCqeFields) Encode(dst []byte) {
	v := TxCqe(dst[:64])
	clear(v)
	v.SetType(f.Type)
	v.SetStatus(f.Status)
	v.SetQueue(f.Queue)
	v.SetIndex(f.Index)
	v.SetWqeId(f.WqeId)
	v.SetFrameLen(f.FrameLen)
	v.SetPhase(f.Phase)
}

// DiffTxCqe compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffTxCqe(exp, got []byte) (field, e, g string, ok bool) { return TxCqeInfo.Diff(exp, got) }

// String lists the fields that are not zero.
func (b TxCqe) String() string { return TxCqeInfo.Format(b) }
