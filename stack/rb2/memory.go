package rb2

import (
	"encoding/binary"

	"nictwin/stack/verbs"
)

// Core is the processor core that runs an end of a ring. Memory accesses and Compute take time there.
type Core interface {
	Load(addr uint64, b []byte) error
	Store(addr uint64, b []byte) error
	Compute(cycles int64)
}

// Place is the memory of an end: its slots, and two cache lines of pointers. The other end writes a word at the start
// of the first line, and with HeadPull reads one at the start of the second. The lines, and the words in slots, must be
// 0 initially.
type Place struct {
	Slots uint64 // address of the first slot
	Lines uint64 // address of the two lines of pointers
	Key   uint32 // key of the region with slots and lines: LKey in an end's own Place, RKey in the peer's
}

// LinesBytes is the length of both lines of pointers, lineBytes that of one.
const (
	LinesBytes = 2 * lineBytes
	lineBytes  = 64
)

// Config configures an end of a ring.
type Config struct {
	Spec
	Core      Core
	QP        verbs.QP // RC, with room for Spec.SendRequests (receiver: RecvRequests, Receives) and WordBytes inline
	Own, Peer Place
	// cost in cycles of writing or reading a message, besides its bytes: the cost of posting requests and updating
	// pointers, divided by the messages that they serve
	Work int64
}

// slot returns the address of message n's slot at a place.
func (c *Config) slot(p *Place, n uint64) uint64 {
	return p.Slots + n%uint64(c.Slots)*uint64(c.SlotBytes)
}

// word returns the address of the word at the end of message n's slot.
func (c *Config) word(p *Place, n uint64) uint64 {
	return c.slot(p, n) + uint64(c.SlotBytes) - WordBytes
}

// load reads the word that the other end writes to this end's memory.
func (c *Config) load(b *[WordBytes]byte) (uint64, error) {
	err := c.Core.Load(c.Own.Lines, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// Kinds of requests. A request's ID has its kind from bit kindBits on, and a number of its own in the bits below.
const (
	kindBits = 56
	idTail   = 1 << kindBits
	idPull   = 2 << kindBits
	idSlots  = 3 << kindBits
	idHead   = 4 << kindBits
	idWord   = 5 << kindBits
	idRecv   = 6 << kindBits
	idKind   = 7 << kindBits

	// With Window, the ID of a WRITE of slots holds the number of messages, too, which leaves fewer bits for the first
	// one's number.
	countBit  = 40
	maxWindow = 1<<(kindBits-countBit) - 1
)

// IsReceive reports whether an ID is that of a receive request. Completions in error need it, as they have no valid
// opcode.
func IsReceive(id uint64) bool { return id&idKind == idRecv }

// Stats are the counters of an end.
type Stats struct {
	Messages uint64 // messages written, or read
	Slots    uint64 // number of WRITEs of slots
	Words    uint64 // WRITEs of the tail (sender) or of the head (receiver)
	Skipped  uint64 // tails skipped because the WRITE of the previous one had not ended
	Flushed  uint64 // tails written because of Flush
	Pulls    uint64 // READs of the head by the sender
	Ended    uint64 // completions from the send queue
	Receives uint64 // completions from the receive queue: receive requests used up
	Refused  uint64 // times that a queue or its pipe was full
}
