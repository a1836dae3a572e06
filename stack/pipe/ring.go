package pipe

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/sim/field"
	"nictwin/stack/verbs"
)

// LineBytes is the length of a line, which arrives atomically.
const LineBytes = 64

// MaxLines is the length of the longest element in lines.
const MaxLines = 127

// tagAt is the offset of a line's tag. A tag holds the flag of the lap, and the number of lines left of its element,
// this one included.
const (
	tagAt   = LineBytes - 1
	lapFlag = 0x80
)

// counterBytes is the size of counters and records in memory.
const counterBytes = 8

// maxLogLines limits the size of a ring.
const maxLogLines = 24

// Spec is the configuration shared by both ends of a pipe.
type Spec struct {
	// LogLines is log2 of the ring's lines.
	LogLines int `yaml:"log_lines"`

	// Batch is the number of lines collected for one DMA; 1: each element is sent at once, as FN 3.4 does with elements
	// of the SQ. Flush sends fewer.
	Batch int `yaml:"batch"`

	// Credit is the number of lines pushed after which the producer reads the consumer's counter (FN 3.4: one DMA for
	// several elements).
	Credit int `yaml:"credit"`
}

// DefaultSpec returns a ring of 64 lines that sends elements at once and reads the counter each half lap: assumptions,
// FN gives no numbers.
func DefaultSpec() Spec { return Spec{LogLines: 6, Batch: 1, Credit: 32} }

// Validate returns every error of the spec.
func (s Spec) Validate() error {
	var errs []error
	if s.LogLines < 0 || s.LogLines > maxLogLines {
		return field.Errorf("log_lines", "%d: want 0 to %d", s.LogLines, maxLogLines)
	}
	for _, f := range []struct {
		path field.Path
		is   int
	}{{"batch", s.Batch}, {"credit", s.Credit}} {
		if f.is < 1 || f.is > s.lines() {
			errs = append(errs, field.Errorf(f.path, "%d: want 1 to %d, the lines of the ring (%v)", f.is, s.lines(),
				field.Path("log_lines")))
		}
	}
	return errors.Join(errs...)
}

func (s Spec) lines() int { return 1 << s.LogLines }

// MaxInline returns the most inline bytes of a send element that fits into the ring.
func (s Spec) MaxInline() int { return max(0, firstBody+(min(MaxLines, s.lines())-1)*tagAt) }

// Bytes returns the size of the ring.
func (s Spec) Bytes() int { return LineBytes << s.LogLines }

// Place holds the addresses of a pipe's parts, both in the consumer's memory: the ring at a multiple of 64, the counter
// at one of 8.
type Place struct {
	Ring    uint64 // Spec.Bytes long, initially zero
	Counter uint64 // 8 B, initially zero
}

func (p Place) validate() error {
	if p.Ring%LineBytes != 0 || p.Counter%counterBytes != 0 {
		return fmt.Errorf("pipe: ring at %#x, counter at %#x: want multiples of %d and %d", p.Ring, p.Counter,
			LineBytes, counterBytes)
	}
	return nil
}

// Sender is the producing end of a pipe or doorbell.
type Sender interface {
	// Push takes an element of whole lines; the last byte of each belongs to the pipe. On verbs.ENOMEM, for lack of
	// room, nothing was taken.
	Push(element []byte) error

	// Flush sends the elements collected so far.
	Flush() error

	// Room returns the number of lines that Push would take, by the last known value of the consumer's counter.
	Room() int

	// Refresh reads the consumer's counter, unless a read is in flight. Call it when waiting for room.
	Refresh()
}

// Receiver is the consuming end of a pipe or doorbell.
type Receiver interface {
	// Poll returns the next element, valid until the next call, or nil if it has not arrived.
	Poll() (element []byte, err error)

	// Prefetch begins to load the memory that Poll will look at, if that saves time.
	Prefetch()
}

// Mover moves bytes between the producer's side and the consumer's memory. done is called exactly once, during the call
// or later; until then the bytes belong to the Mover. A driver.Bus is one.
type Mover interface {
	// Write stores b. Lines may arrive in any order, at any time before done; the bytes of a line must arrive in the
	// order of their addresses.
	Write(addr uint64, b []byte, done func(error))

	// Read fills b from memory at addr.
	Read(addr uint64, b []byte, done func(error))
}

// Memory is memory that a core accesses directly.
type Memory interface {
	Load(addr uint64, b []byte) error
	Store(addr uint64, b []byte) error
}

// Prefetcher is a Memory that can begin to load what software is likely to read soon, and does not make it wait.
type Prefetcher interface {
	Prefetch(addr uint64, n int) error
}

// ErrFull is the error of Push when there is no room.
var ErrFull error = &verbs.Error{Verb: "push", Errno: verbs.ENOMEM,
	Detail: "the pipe is full: want its consumer to take some of it first"}

// LineError reports a line that no producer writes.
type LineError struct {
	Line uint32 // number of the line, counted since the pipe was created
	Tag  byte
	Want string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("pipe: line %d has tag %#x: want %s", e.Line, e.Tag, e.Want)
}

// lap returns the flag that a line has once it has arrived.
func (s Spec) lap(line uint32) byte {
	if line>>s.LogLines&1 == 0 {
		return lapFlag
	}
	return 0
}

// slots is the producer's state of the ring.
type slots struct {
	spec  Spec
	lines []byte // copy of the ring, as sent
	head  uint32 // line after the last one pushed
	sent  uint32 // line after the last one given to the mover
	freed uint32 // line after the last one that the consumer is known to have taken

	mover   Mover
	counter uint64
	word    [counterBytes]byte
	since   int // lines pushed since the consumer's counter was last read
	asking  bool
	asked   func(error)
	err     error
}

func newSlots(s Spec, counter uint64, m Mover) slots {
	return slots{spec: s, lines: make([]byte, s.Bytes()), mover: m, counter: counter}
}

func (r *slots) at(line uint32) []byte {
	return r.lines[int(line&uint32(r.spec.lines()-1))*LineBytes:][:LineBytes]
}

// put copies an element into the ring, tags its lines, and advances the head. oldest is the oldest line that must not
// be overwritten.
func (r *slots) put(e []byte, oldest uint32) error {
	if r.err != nil {
		return r.err
	}
	n := len(e) / LineBytes
	if n < 1 || n > min(MaxLines, r.spec.lines()) || len(e)%LineBytes != 0 {
		return verbs.Errorf("push", verbs.EINVAL, "an element of %d B: want 1 to %d lines of %d B", len(e),
			min(MaxLines, r.spec.lines()), LineBytes)
	}
	if int(r.head-oldest)+n > r.spec.lines() {
		r.readCounter()
		return ErrFull
	}
	for i := range n {
		b := r.at(r.head)
		copy(b, e[i*LineBytes:])
		b[tagAt] = r.spec.lap(r.head) | byte(n-i)
		r.head++
	}
	if r.since += n; r.since >= r.spec.Credit {
		r.readCounter()
	}
	return r.err
}

// readCounter starts reading the consumer's counter, unless a read is in flight.
func (r *slots) readCounter() {
	if r.asking || r.err != nil {
		return
	}
	r.asking, r.since = true, 0
	r.mover.Read(r.counter, r.word[:], r.asked)
}

// counterRead handles the end of a read of the counter.
func (r *slots) counterRead(err error) {
	r.asking = false
	v := uint32(binary.LittleEndian.Uint64(r.word[:]))
	switch {
	case err != nil:
		r.fail(fmt.Errorf("pipe: reading the counter at %#x: %w", r.counter, err))
	case v-r.freed > r.sent-r.freed:
		r.fail(fmt.Errorf("pipe: the counter at %#x says that %d lines were taken: want %d to %d", r.counter, v,
			r.freed, r.sent))
	default:
		r.freed = v
	}
}

func (r *slots) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// pieces calls f for each contiguous run of lines in the ring.
func (r *slots) pieces(from, to uint32, f func(at uint32, b []byte)) {
	for from != to {
		i := from & uint32(r.spec.lines()-1)
		n := min(to-from, uint32(r.spec.lines())-i)
		f(from, r.lines[int(i)*LineBytes:][:int(n)*LineBytes])
		from += n
	}
}

// Refresh implements Sender.
func (r *slots) Refresh() { r.readCounter() }
