package pipe

import (
	"encoding/binary"
	"fmt"

	"nictwin/stack/verbs"
)

// Completion is an element of a CQ pipe, one line:
//
//	 0..7   ID of a send request; of a receive request, its number on its queue
//	 8      status (verbs.Status)
//	 9      opcode (verbs.WCOpcode)
//	10      flags (verbs.WCFlags)
//	11      bit 0: the sender asked for an event; bit 1: of a receive request
//	12..15  bytes
//	16..19  immediate data, or key that was invalidated
//	20..23  queue pair
//	24..27  queue pair of the sender (UD)
//	28..62  0
type Completion struct {
	ID        uint64
	Status    verbs.Status
	Opcode    verbs.WCOpcode
	Flags     verbs.WCFlags
	Solicited bool
	Recv      bool
	Bytes     uint32
	Imm       uint32
	QPN       uint32
	SrcQP     uint32
}

const (
	completionBytes = 28
	solicited       = 1
	ofReceive       = 2
)

// Encode writes the completion to a line.
func (c *Completion) Encode(b []byte) {
	b = b[:LineBytes]
	clear(b)
	le := binary.LittleEndian
	le.PutUint64(b, c.ID)
	b[8], b[9], b[10] = byte(c.Status), byte(c.Opcode), byte(c.Flags)
	if c.Solicited {
		b[11] = solicited
	}
	if c.Recv {
		b[11] |= ofReceive
	}
	le.PutUint32(b[12:], c.Bytes)
	le.PutUint32(b[16:], c.Imm)
	le.PutUint32(b[20:], c.QPN)
	le.PutUint32(b[24:], c.SrcQP)
}

// Decode reads a completion from a line. It returns an error for a line that Encode cannot have written.
func (c *Completion) Decode(b []byte) error {
	if len(b) != LineBytes {
		return fmt.Errorf("pipe: a completion of %d B: want %d", len(b), LineBytes)
	}
	le := binary.LittleEndian
	*c = Completion{
		ID: le.Uint64(b), Status: verbs.Status(b[8]), Opcode: verbs.WCOpcode(b[9]), Flags: verbs.WCFlags(b[10]),
		Solicited: b[11]&solicited != 0, Recv: b[11]&ofReceive != 0,
		Bytes: le.Uint32(b[12:]), Imm: le.Uint32(b[16:]), QPN: le.Uint32(b[20:]), SrcQP: le.Uint32(b[24:]),
	}
	if b[11] > solicited|ofReceive {
		return fmt.Errorf("pipe: a completion with byte 11 %#x: want 0 to 3", b[11])
	}
	for i, v := range b[completionBytes:tagAt] {
		if v != 0 {
			return fmt.Errorf("pipe: a completion with byte %d %#x: want 0", completionBytes+i, v)
		}
	}
	return nil
}
