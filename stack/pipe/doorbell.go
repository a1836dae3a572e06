package pipe

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// RecordKind is the location of a doorbell's record.
type RecordKind uint8

// Locations of a record.
const (
	Pushed RecordKind = iota // the record is in the consumer's memory; the producer writes it by DMA
	Polled                   // the record is in the producer's memory; the consumer reads it by DMA
)

// DoorbellPlace holds the addresses of a doorbell's parts. The ring is in the producer's memory, the counter in the
// consumer's.
type DoorbellPlace struct {
	Place
	Kind   RecordKind
	Record uint64 // 8 B, initially zero
}

// Doorbell keeps elements in the producer's memory, and announces the number of lines in a record.
type Doorbell struct {
	slots
	place       DoorbellPlace
	local       Memory
	recordBytes [counterBytes]byte
	writing     bool   // a write of the record is in flight
	value       uint32 // the value being written to the record
	ended       func(error)
	store       func(at uint32, b []byte)
}

// NewDoorbell returns the producing end. local is its own memory; m reaches the consumer's.
func NewDoorbell(s Spec, at DoorbellPlace, local Memory, m Mover) (*Doorbell, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	if err := at.validate(); err != nil {
		return nil, err
	}
	d := &Doorbell{slots: newSlots(s, at.Counter, m), place: at, local: local}
	d.asked, d.ended, d.store = d.counterRead, d.recorded, d.keep
	return d, nil
}

// Room implements Sender.
func (d *Doorbell) Room() int { return d.spec.lines() - int(d.head-d.freed) }

// Push implements Sender.
func (d *Doorbell) Push(e []byte) error {
	err := d.put(e, d.freed)
	if int(d.head-d.sent) >= d.spec.Batch || errors.Is(err, ErrFull) {
		if err := d.Flush(); err != nil {
			return err
		}
	}
	return err
}

// Flush implements Sender. It writes the elements to the producer's memory, then the record.
func (d *Doorbell) Flush() error {
	from := d.sent
	if d.sent = d.head; from != d.sent {
		d.pieces(from, d.sent, d.store)
		d.writeRecord()
	}
	return d.err
}

func (d *Doorbell) keep(line uint32, b []byte) {
	if err := d.local.Store(d.place.Ring+uint64(line&uint32(d.spec.lines()-1))*LineBytes, b); err != nil {
		d.fail(fmt.Errorf("pipe: storing line %d: %w", line, err))
	}
}

// writeRecord writes the record. Only one write is in flight at a time: if there were two, the older could arrive last.
func (d *Doorbell) writeRecord() {
	if d.err != nil || d.writing {
		return
	}
	d.value = d.sent
	binary.LittleEndian.PutUint64(d.recordBytes[:], uint64(d.sent))
	if d.place.Kind == Polled {
		d.fail(d.local.Store(d.place.Record, d.recordBytes[:]))
		return
	}
	d.writing = true
	d.mover.Write(d.place.Record, d.recordBytes[:], d.ended)
}

func (d *Doorbell) recorded(err error) {
	d.writing = false
	if err != nil {
		d.fail(fmt.Errorf("pipe: writing the record at %#x: %w", d.place.Record, err))
	}
	if d.value != d.sent {
		d.writeRecord()
	}
}

// Fetcher is the consuming end of a doorbell: it fetches the announced lines by DMA.
type Fetcher struct {
	spec  Spec
	place DoorbellPlace
	mem   Memory
	mover Mover

	announced uint32 // number of lines announced by the record
	requested uint32 // number of lines requested from the producer's memory
	arrived   uint32 // number of lines that have arrived, with all before them
	taken     uint32
	lines     []byte // copy of the ring, as fetched
	record    [counterBytes]byte
	word      [counterBytes]byte

	reading  bool // a read of the record is in flight
	fetching bool // a read of lines is in flight
	recorded func(error)
	fetched  func(error)
	reader
}

// NewFetcher returns the consuming end. mem is its own memory; m reaches the producer's.
func NewFetcher(s Spec, at DoorbellPlace, mem Memory, m Mover) (*Fetcher, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	if err := at.validate(); err != nil {
		return nil, err
	}
	f := &Fetcher{spec: s, place: at, mem: mem, mover: m, lines: make([]byte, s.Bytes())}
	f.recorded, f.fetched = f.recordRead, f.linesRead
	return f, nil
}

// Poll implements Receiver. It reads the record, and starts fetching new lines.
func (f *Fetcher) Poll() ([]byte, error) {
	f.pollRecord()
	f.fetch()
	for f.err == nil && f.taken+uint32(f.have) != f.arrived {
		line := f.taken + uint32(f.have)
		copy(f.slot(), f.lines[int(line&uint32(f.spec.lines()-1))*LineBytes:][:LineBytes])
		if tag := f.slot()[tagAt]; tag&lapFlag != f.spec.lap(line) {
			f.err = &LineError{line, tag, "the flag of its lap: the record announces it"}
			break
		}
		if !f.take(line, f.spec.lines()) {
			continue
		}
		e := f.element()
		f.taken += uint32(len(e) / LineBytes)
		binary.LittleEndian.PutUint64(f.word[:], uint64(f.taken))
		if err := f.mem.Store(f.place.Counter, f.word[:]); err != nil {
			f.err = fmt.Errorf("pipe: counter: %w", err)
		}
		return e, f.err
	}
	return nil, f.err
}

func (f *Fetcher) pollRecord() {
	switch {
	case f.err != nil || f.reading:
	case f.place.Kind == Polled:
		f.reading = true
		f.mover.Read(f.place.Record, f.record[:], f.recorded)
	default:
		f.recordRead(f.mem.Load(f.place.Record, f.record[:]))
	}
}

// recordRead handles the end of a read of the record: it updates the number of announced lines.
func (f *Fetcher) recordRead(err error) {
	f.reading = false
	v := uint32(binary.LittleEndian.Uint64(f.record[:]))
	switch {
	case err != nil:
		f.err = fmt.Errorf("pipe: reading the record at %#x: %w", f.place.Record, err)
	case int32(v-f.announced) < 0 || v-f.taken > uint32(f.spec.lines()):
		f.err = fmt.Errorf("pipe: the record at %#x announces %d lines: want %d to %d", f.place.Record, v, f.announced,
			f.taken+uint32(f.spec.lines()))
	default:
		f.announced = v
	}
}

// fetch starts reading announced lines, up to the end of the ring.
func (f *Fetcher) fetch() {
	if f.err != nil || f.fetching || f.requested == f.announced {
		return
	}
	i := f.requested & uint32(f.spec.lines()-1)
	n := min(f.announced-f.requested, uint32(f.spec.lines())-i)
	f.requested += n
	f.fetching = true
	f.mover.Read(f.place.Ring+uint64(i)*LineBytes, f.lines[int(i)*LineBytes:][:int(n)*LineBytes], f.fetched)
}

func (f *Fetcher) linesRead(err error) {
	f.fetching = false
	if err != nil {
		f.err = fmt.Errorf("pipe: fetching up to line %d: %w", f.requested, err)
		return
	}
	f.arrived = f.requested
	f.fetch()
}

// Prefetch implements Receiver. There is nothing to load: elements arrive by reads of the producer's memory.
func (*Fetcher) Prefetch() {}

var (
	_ Sender   = (*Doorbell)(nil)
	_ Receiver = (*Fetcher)(nil)
)
