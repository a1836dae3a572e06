package rb2

import (
	"encoding/binary"

	"nictwin/stack/verbs"
)

// Core is the processor core that an end of a ring runs on. Accesses to memory and Compute take their time there.
type Core interface {
	Load(addr uint64, b []byte) error
	Store(addr uint64, b []byte) error
	Compute(cycles int64)
}

// Place is an end's memory: its slots, and its pointers in two cache lines. The other end writes a word at the
// beginning of the first, and with HeadPull reads one at the beginning of the second. Words of slots are 0 when the
// ring begins.
type Place struct {
	Slots uint64 // address of the first
	Lines uint64 // of the pointers
	Key   uint32 // of the region that both are in: local key of the own place, remote key of the other's
}

// LinesBytes is the bytes of the pointers' lines, and lineBytes of one.
const (
	LinesBytes = 2 * lineBytes
	lineBytes  = 64
)

// Config is an end of a ring. The words of its lines are 0 when it begins.
type Config struct {
	Spec
	Core      Core
	QP        verbs.QP // RC, with room for Spec.SendRequests or RecvRequests and Receives, and WordBytes of inline data
	Own, Peer Place
	// cycles of writing or reading a message besides its bytes, its share of posting, and pointers in memory
	Work int64
}

// slot is the address of the slot of message n at a place.
func (c *Config) slot(p *Place, n uint64) uint64 {
	return p.Slots + n%uint64(c.Slots)*uint64(c.SlotBytes)
}

// word is the address of the word at the end of that slot.
func (c *Config) word(p *Place, n uint64) uint64 {
	return c.slot(p, n) + uint64(c.SlotBytes) - WordBytes
}

// load reads the word that the other end writes here.
func (c *Config) load(b *[WordBytes]byte) (uint64, error) {
	err := c.Core.Load(c.Own.Lines, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// IDs of requests: what they are, above their number.
const (
	kindBits = 56
	idTail   = 1 << kindBits
	idPull   = 2 << kindBits
	idSlots  = 3 << kindBits
	idHead   = 4 << kindBits
	idWord   = 5 << kindBits
	idRecv   = 6 << kindBits
	idKind   = 7 << kindBits

	// With Window, requests of slots have the number of their messages, too, and fewer bits for which message is the
	// first.
	countBit  = 40
	maxWindow = 1<<(kindBits-countBit) - 1
)

// Received reports whether an ID is that of a receive request, for completions that do not say.
func Received(id uint64) bool { return id&idKind == idRecv }

// Stats is what an end did.
type Stats struct {
	Messages uint64 // written, or read
	Slots    uint64 // WRITEs of slots
	Words    uint64 // WRITEs of tails, or of heads
	Skipped  uint64 // tails that were left out, as the WRITE of the last had not ended
	Flushed  uint64 // tails that were written for Flush
	Pulls    uint64 // READs of the head
	Ended    uint64 // completions of the send queue
	Receives uint64 // completions of the receive queue, each of which took a receive request
	Refused  uint64 // times that a queue or its pipe had no room
}
