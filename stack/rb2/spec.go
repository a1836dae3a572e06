package rb2

import (
	"errors"
	"slices"

	"nictwin/models/sim/field"
)

// HeadSync is the method by which the sender learns the receiver's head (RB² section 4-A).
type HeadSync string

// TailSync is the method by which the receiver learns the sender's tail.
type TailSync string

// Methods of synchronization.
const (
	HeadPush HeadSync = "push" // the receiver WRITEs it to the sender, once per gamma messages
	HeadPull HeadSync = "pull" // the sender READs it when the ring looks full

	TailWrite TailSync = "write_twice" // a WRITE of the tail behind those of the slots
	TailImm   TailSync = "write_imm"   // each message is a WRITE_WITH_IMM, whose completion announces it

	// With poll_message and poll_last the receiver polls a word at the end of the next slot, and clears it after
	// reading the message.
	TailWord TailSync = "poll_message" // a WRITE for each message, behind those of the slots, writes its word
	// a message's word is the end of the WRITE that transmits its slot; the NIC must place a WRITE's bytes in order
	TailLast TailSync = "poll_last"
)

// inSlots reports whether slots contain words.
func (t TailSync) inSlots() bool { return t == TailWord || t == TailLast }

const tailNames = string(TailWrite + ", " + TailImm + ", " + TailWord + " or " + TailLast)

// Spec is the configuration shared by both ends of a ring.
type Spec struct {
	Alpha   int      `yaml:"alpha"`   // messages after which the tail is published
	Beta    int      `yaml:"beta"`    // messages transmitted by one WRITE
	Gamma   int      `yaml:"gamma"`   // messages after which the head is pushed
	Head    HeadSync `yaml:"head"`    // how the sender knows the head
	Tail    TailSync `yaml:"tail"`    // how the receiver knows the tail
	Elastic bool     `yaml:"elastic"` // do not write the tail while the previous WRITE of it is in flight
	Aligned bool     `yaml:"aligned"` // slots are whole cache lines (section 4-C)
	// with write_imm: the largest number of messages in flight; waiting messages leave in one WRITE. 0: one WRITE for
	// each, no limit
	Window int `yaml:"window"`

	Slots     int `yaml:"-"` // one fewer can be in use
	SlotBytes int `yaml:"-"` // length of a slot: the longest message, rounded up to cache lines if Aligned
}

// DefaultSpec returns the thresholds of the paper's evaluation (rb.alpha, rb.beta, rb.gamma), for rings of rb.slots.
func DefaultSpec() Spec {
	return Spec{Alpha: 32, Beta: 16, Gamma: 32, Head: HeadPush, Tail: TailWrite, Elastic: true, Aligned: true,
		Slots: 128, SlotBytes: 64}
}

// SlotFor returns the slot length for messages of so many bytes (rb.slot_align). The word of a slot is aligned, so that
// no packet or TLP splits it.
func (s *Spec) SlotFor(bytes int) int {
	unit := 1
	if s.Tail.inSlots() {
		bytes, unit = bytes+WordBytes, WordBytes
	}
	if s.Aligned {
		unit = lineBytes
	}
	return (bytes + unit - 1) / unit * unit
}

// WordsInSlots reports whether slots contain words, which must be aligned to WordBytes.
func (s *Spec) WordsInSlots() bool { return s.Tail.inSlots() }

// Limits of a spec's fields.
const (
	MinSlots = 2
	MaxSlots = 1 << 14

	MaxSlotBytes = 1<<24 + 1<<12
)

// Validate returns every error of the spec, each a field.Error.
func (s *Spec) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	slots := s.Slots >= MinSlots && s.Slots <= MaxSlots
	bad(slots, "slots", "%d: want %d to %d", s.Slots, MinSlots, MaxSlots)
	bad(s.SlotBytes >= 1 && s.SlotBytes <= MaxSlotBytes, "slot_bytes", "%d: want 1 to %d", s.SlotBytes, MaxSlotBytes)
	bad(!s.Tail.inSlots() || s.SlotBytes%WordBytes == 0, "slot_bytes", "%d: want a multiple of %d, as each has a word",
		s.SlotBytes, WordBytes)
	if slots {
		most := s.Slots - 1
		bad(s.Alpha >= 1 && s.Alpha <= most, "alpha", "%d: want 1 to %d, as one of the %d slots stays free", s.Alpha,
			most, s.Slots)
		bad(s.Gamma >= 1 && s.Gamma <= most, "gamma", "%d: want 1 to %d, as one of the %d slots stays free", s.Gamma,
			most, s.Slots)
	}
	bad(s.Beta >= 1 && s.Beta <= max(s.Alpha, 1), "beta", "%d: want 1 to %d: slots leave before the tail that "+
		"announces them, or with it (%v)", s.Beta, max(s.Alpha, 1), field.Path("alpha"))
	bad(s.Head == HeadPush || s.Head == HeadPull, "head", "%q: want %s or %s", s.Head, HeadPush, HeadPull)
	bad(slices.Contains([]TailSync{TailWrite, TailImm, TailWord, TailLast}, s.Tail), "tail", "%q: want %s", s.Tail,
		tailNames)
	if s.Tail != TailWrite {
		bad(s.Alpha == s.Beta, "alpha", "%d: with %v %s messages announce themselves when transmitted: want the "+
			"value of %v, %d", s.Alpha, field.Path("tail"), s.Tail, field.Path("beta"), s.Beta)
		bad(!s.Elastic, "elastic", ": with %v %s no tail is written: want false", field.Path("tail"), s.Tail)
	}
	bad(s.Tail != TailWord || s.Beta == 1, "beta", "%d: with %v %s each message has two WRITEs of its own: want 1",
		s.Beta, field.Path("tail"), TailWord)
	bad(s.Window >= 0 && s.Window < max(s.Slots, 1), "window", "%d: want 0 to %d", s.Window, max(s.Slots, 1)-1)
	bad(s.Window == 0 || s.Tail == TailImm && s.Beta == 1, "window", "%d: want 0, or %v %s and %v 1", s.Window,
		field.Path("tail"), TailImm, field.Path("beta"))
	return errors.Join(errs...)
}

// WordBytes is the length of a pointer in memory: a count, little endian.
const WordBytes = 8

// slack is the number of requests beyond those of full batches: for a batch that wraps around the end of the ring, a
// flushed one, the tail, and a pull.
const slack = 8

// SendRequests returns the capacity that a sender's queue needs: the slots of two rounds of the ring, because the
// receiver may have read a whole round before the sender sees that its last tail was written. An elastic sender needs
// no more; others wait for room if they have more in flight.
func (s *Spec) SendRequests() int {
	const rounds = 2
	each := (s.Alpha + s.Beta - 1) / s.Beta // WRITEs for alpha messages
	if s.Tail == TailImm {
		each = s.Alpha
	}
	n := rounds*(s.Slots/s.Alpha+1)*each + 1
	if !s.Elastic && (s.Tail == TailWrite || s.Tail == TailWord) {
		n += rounds * s.Slots / s.Alpha
	}
	return n + slack
}

// RecvRequests returns the capacity that the receiver's send queue needs: for the WRITEs of its head in one round of
// the ring, one for every Gamma slots.
func (s *Spec) RecvRequests() int {
	if s.Head == HeadPull {
		return 1
	}
	return s.Slots/s.Gamma + slack
}

// Receives returns the number of receive requests that the receiver keeps posted.
func (s *Spec) Receives() int {
	if s.Tail == TailImm {
		return s.Slots
	}
	return 0
}
