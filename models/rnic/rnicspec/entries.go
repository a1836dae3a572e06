package rnicspec

import "encoding/binary"

// Sizes of the entries of rings, in bytes.
const (
	WQEBytes  = 64
	RecvBytes = 32
	CQEBytes  = 64
)

// Flags of a work entry.
const (
	FlagSignalled = 1 << iota // success is also reported by a completion entry; errors always are
	FlagInline                // the data is in Inline
	FlagSolicited             // sets the solicited event bit of the last packet
	FlagFence                 // starts only after all earlier READs and atomics have ended
)

// WQE is a work entry.
type WQE struct {
	Opcode Opcode
	Flags  uint8
	ID     uint64 // chosen by software, returned in the completion entry
	Imm    uint32

	Length    uint32 // bytes of the message
	RemoteVA  uint64 // for WRITE, READ and atomics
	RemoteKey uint32

	// For UD: the receiver, encoded in the place of RemoteVA and RemoteKey.
	DestQP uint32
	Handle uint32 // address handle of the receiver
	QKey   uint32

	LocalVA  uint64 // address of the data, unless the data are inline
	LocalKey uint32

	// Operands of atomics.
	SwapAdd, Compare uint64

	Inline [MaxInline]byte // with FlagInline: the data, Length bytes
}

// Signalled reports whether success is also reported by a completion entry.
func (w *WQE) Signalled() bool { return w.Flags&FlagSignalled != 0 }

// IsInline reports whether the entry contains its data.
func (w *WQE) IsInline() bool { return w.Flags&FlagInline != 0 }

// Encode writes the entry to the first WQEBytes of b. t is the type of its queue pair.
func (w *WQE) Encode(t QPType, b []byte) {
	b = b[:WQEBytes]
	clear(b)
	le := binary.LittleEndian
	b[0], b[1] = byte(w.Opcode), w.Flags
	le.PutUint32(b[4:], w.Imm)
	le.PutUint64(b[8:], w.ID)
	if t == UD {
		le.PutUint32(b[16:], w.DestQP)
		le.PutUint32(b[20:], w.Handle)
		le.PutUint32(b[24:], w.QKey)
	} else {
		le.PutUint64(b[16:], w.RemoteVA)
		le.PutUint32(b[24:], w.RemoteKey)
	}
	le.PutUint32(b[28:], w.Length)
	if w.IsInline() {
		copy(b[32:], w.Inline[:])
		return
	}
	le.PutUint64(b[32:], w.LocalVA)
	le.PutUint32(b[40:], w.LocalKey)
	if w.Opcode.IsAtomic() {
		le.PutUint64(b[48:], w.SwapAdd)
		le.PutUint64(b[56:], w.Compare)
	}
}

// Decode reads an entry from the first WQEBytes of b. t is the type of its queue pair.
func (w *WQE) Decode(t QPType, b []byte) {
	b = b[:WQEBytes]
	le := binary.LittleEndian
	*w = WQE{Opcode: Opcode(b[0]), Flags: b[1], Imm: le.Uint32(b[4:]), ID: le.Uint64(b[8:]), Length: le.Uint32(b[28:])}
	if t == UD {
		w.DestQP, w.Handle, w.QKey = le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint32(b[24:])
	} else {
		w.RemoteVA, w.RemoteKey = le.Uint64(b[16:]), le.Uint32(b[24:])
	}
	if w.IsInline() {
		copy(w.Inline[:], b[32:])
		return
	}
	w.LocalVA, w.LocalKey = le.Uint64(b[32:]), le.Uint32(b[40:])
	if w.Opcode.IsAtomic() {
		w.SwapAdd, w.Compare = le.Uint64(b[48:]), le.Uint64(b[56:])
	}
}

// RecvWQE is a receive entry, which names one buffer.
type RecvWQE struct {
	ID     uint64
	VA     uint64
	Length uint32
	Key    uint32
}

// Encode writes the entry to the first RecvBytes of b.
func (w *RecvWQE) Encode(b []byte) {
	b = b[:RecvBytes]
	clear(b)
	le := binary.LittleEndian
	le.PutUint64(b, w.ID)
	le.PutUint64(b[8:], w.VA)
	le.PutUint32(b[16:], w.Length)
	le.PutUint32(b[20:], w.Key)
}

// Decode reads the entry from the first RecvBytes of b.
func (w *RecvWQE) Decode(b []byte) {
	b = b[:RecvBytes]
	le := binary.LittleEndian
	*w = RecvWQE{ID: le.Uint64(b), VA: le.Uint64(b[8:]), Length: le.Uint32(b[16:]), Key: le.Uint32(b[20:])}
}

// CQE is a completion entry.
type CQE struct {
	ID     uint64
	Bytes  uint32 // number of bytes received
	Imm    uint32 // immediate data, if HasImm
	QPN    uint32 // number of the local queue pair
	SrcQP  uint32 // UD: number of the sender's queue pair
	Opcode Opcode
	Status Status
	HasImm bool
	Phase  bool // true in the first pass of the ring

	// Of a queue pair with an account. In receive entries, Drawn counts the credits that the account gave up to this
	// message, and Slow its slow packets. In events of accounts, Written counts the receive entries written so far.
	Drawn, Slow, Written uint32
}

// Encode writes the entry to the first CQEBytes of b. The phase is in its last byte.
func (c *CQE) Encode(b []byte) {
	b = b[:CQEBytes]
	clear(b)
	le := binary.LittleEndian
	le.PutUint64(b, c.ID)
	le.PutUint32(b[8:], c.Bytes)
	le.PutUint32(b[12:], c.Imm)
	le.PutUint32(b[16:], c.QPN)
	le.PutUint32(b[20:], c.SrcQP)
	le.PutUint32(b[28:], c.Drawn)
	le.PutUint32(b[32:], c.Slow)
	le.PutUint32(b[36:], c.Written)
	b[24], b[25], b[26], b[63] = byte(c.Opcode), byte(c.Status), bit(c.HasImm), bit(c.Phase)
}

// Decode reads the entry from the first CQEBytes of b.
func (c *CQE) Decode(b []byte) {
	b = b[:CQEBytes]
	le := binary.LittleEndian
	*c = CQE{
		ID: le.Uint64(b), Bytes: le.Uint32(b[8:]), Imm: le.Uint32(b[12:]), QPN: le.Uint32(b[16:]),
		SrcQP:  le.Uint32(b[20:]),
		Opcode: Opcode(b[24]), Status: Status(b[25]), HasImm: b[26]&1 != 0, Phase: b[63]&1 != 0,
		Drawn: le.Uint32(b[28:]), Slow: le.Uint32(b[32:]), Written: le.Uint32(b[36:]),
	}
}

func bit(on bool) byte {
	if on {
		return 1
	}
	return 0
}
