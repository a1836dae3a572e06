package pair

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/format/ether"
	"nictwin/models/sim/simcore"
)

// The protocol of docs/split.md. Numbers are little-endian.
const (
	magic   = 0x4c50534e4957544e // "NTWINSPL"
	version = 1

	headBytes   = 8
	recordBytes = 32
	stateBytes  = 32
	helloBytes  = 32

	maxFrame = 64 << 20 // payload of a message
	maxText  = 8 << 10  // text of an error
	chunk    = 1 << 20  // bytes of played frames after which a message is full
)

// kind is the type of a message.
type kind uint16

const (
	kindHello   kind = 1 + iota // from each process, first
	kindJob                     // to the second process: what to simulate
	kindFrames                  // to the second process: frames to play
	kindReady                   // from the second process: its server is built
	kindQuantum                 // from each process: what left in a quantum
	kindReport                  // from the second process: its results
	kindError                   // from each process: why it ends
	kinds
)

var kindNames = [...]string{"0", "HELLO", "JOB", "FRAMES", "READY", "QUANTUM", "REPORT", "ERROR"}

func (k kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprint(uint16(k))
}

// errProtocol reports a message that breaks the protocol.
var errProtocol = errors.New("protocol")

func broken(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errProtocol, fmt.Sprintf(format, a...))
}

// parseHead reads the head of a message.
func parseHead(b []byte) (k kind, length int, err error) {
	n, k, zero := binary.LittleEndian.Uint32(b), kind(binary.LittleEndian.Uint16(b[4:])),
		binary.LittleEndian.Uint16(b[6:])
	switch {
	case k == 0 || k >= kinds:
		return k, 0, broken("message of type %d: want 1 to %d", k, kinds-1)
	case zero != 0:
		return k, 0, broken("%v: byte 6 and 7 are %#x: want 0", k, zero)
	case n > maxFrame:
		return k, 0, broken("%v of %d bytes: want at most %d", k, n, maxFrame)
	}
	return k, int(n), nil
}

// putHead fills in the head of a message that begins at b[at].
func putHead(b []byte, at int, k kind) error {
	n := len(b) - at - headBytes
	if n > maxFrame {
		return broken("%v of %d bytes: want at most %d", k, n, maxFrame)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(n))
	binary.LittleEndian.PutUint16(b[at+4:], uint16(k))
	binary.LittleEndian.PutUint16(b[at+6:], 0)
	return nil
}

// appendHello appends the payload of HELLO.
func appendHello(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, magic)
	b = binary.LittleEndian.AppendUint32(b, version)
	return append(b, make([]byte, helloBytes-12)...)
}

func parseHello(b []byte) error {
	if len(b) != helloBytes || binary.LittleEndian.Uint64(b) != magic {
		return broken("HELLO: want %d bytes that begin with %#x", helloBytes, uint64(magic))
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return broken("HELLO: version %d: want %d", v, version)
	}
	return nil
}

// state is the progress of a server at the end of a quantum.
type state struct {
	ready    bool   // the NIC is configured to receive
	played   bool   // all frames have been sent and received
	counted  bool   // counters have been read
	progress uint64 // grows with each posted entry, ended entry and received frame
}

const (
	flagPlayed = 1 << iota
	flagCounted
	flagReady
	flagsAll = 1<<iota - 1
)

// appendState appends the beginning of the payload of QUANTUM.
func appendState(b []byte, quantum uint64, s state, records int) []byte {
	flags := uint32(0)
	if s.played {
		flags |= flagPlayed
	}
	if s.counted {
		flags |= flagCounted
	}
	if s.ready {
		flags |= flagReady
	}
	b = binary.LittleEndian.AppendUint64(b, quantum)
	b = binary.LittleEndian.AppendUint64(b, s.progress)
	b = binary.LittleEndian.AppendUint32(b, flags)
	b = binary.LittleEndian.AppendUint32(b, uint32(records))
	return binary.LittleEndian.AppendUint64(b, 0)
}

// recordKind is the type of a record.
type recordKind uint8

const (
	recordFrame  recordKind = 1
	recordCredit recordKind = 2
)

// record is a frame that left, or a returned credit.
type record struct {
	kind  recordKind
	cable int
	at    simcore.Ps // departure of a frame; time from which a credit may be used
	seq   uint64
	frame ether.Frame // Data points into the message
}

func padded(n int) int { return (n + 7) &^ 7 }

// appendRecord appends a record.
func appendRecord(b []byte, r *record) []byte {
	f := &r.frame
	b = append(b, byte(r.kind), byte(r.cable), byte(f.Port), 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Data)))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.at))
	b = binary.LittleEndian.AppendUint64(b, r.seq)
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(f.Queue)))
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(f.Trim)))
	b = append(b, f.Data...)
	for range padded(len(f.Data)) - len(f.Data) {
		b = append(b, 0)
	}
	return b
}

// parseQuantum parses the payload of QUANTUM and passes each record to take; its frame points into b.
func parseQuantum(b []byte, cables int, take func(record) error) (quantum uint64, s state, err error) {
	if len(b) < stateBytes {
		return 0, s, broken("QUANTUM of %d bytes: want at least %d", len(b), stateBytes)
	}
	quantum, s.progress = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	flags, records := binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint32(b[20:])
	if flags > flagsAll || binary.LittleEndian.Uint64(b[24:]) != 0 {
		return quantum, s, broken("QUANTUM %d: flags %#x, or bytes that want to be 0", quantum, flags)
	}
	s.played, s.counted, s.ready = flags&flagPlayed != 0, flags&flagCounted != 0, flags&flagReady != 0
	b = b[stateBytes:]
	var r record
	for i := range records {
		n, err := parseRecord(b, cables, &r)
		if err == nil {
			err = take(r)
		}
		if err != nil {
			return quantum, s, fmt.Errorf("QUANTUM %d: record %d of %d: %w", quantum, i, records, err)
		}
		b = b[n:]
	}
	if len(b) != 0 {
		return quantum, s, broken("QUANTUM %d: %d bytes behind its %d records", quantum, len(b), records)
	}
	return quantum, s, nil
}

// parseRecord parses a record and returns its length.
func parseRecord(b []byte, cables int, r *record) (int, error) {
	if len(b) < recordBytes {
		return 0, broken("%d bytes are left: want at least %d", len(b), recordBytes)
	}
	size := binary.LittleEndian.Uint32(b[4:])
	*r = record{
		kind: recordKind(b[0]), cable: int(b[1]), at: simcore.Ps(binary.LittleEndian.Uint64(b[8:])),
		seq: binary.LittleEndian.Uint64(b[16:]),
		frame: ether.Frame{Port: int(b[2]), Queue: int(int32(binary.LittleEndian.Uint32(b[24:]))),
			Trim: int(int32(binary.LittleEndian.Uint32(b[28:])))},
	}
	switch {
	case r.kind != recordFrame && r.kind != recordCredit:
		return 0, broken("of kind %d: want 1 or 2", r.kind)
	case r.kind == recordCredit && (size != 0 || r.seq != 0 || r.frame.Port != 0 || r.frame.Queue != 0 ||
		r.frame.Trim != 0):
		return 0, broken("a credit with fields of a frame")
	case b[3] != 0:
		return 0, broken("byte 3 is %d: want 0", b[3])
	case r.cable >= cables:
		return 0, broken("cable %d: want 0 to %d", r.cable, cables-1)
	case r.frame.Port >= board.MaxPorts:
		return 0, broken("port %d: want 0 to %d", r.frame.Port, board.MaxPorts-1)
	case r.at < 0:
		return 0, broken("time %d: want 0 or more", int64(r.at))
	case size > ether.MaxOffered || r.kind == recordFrame && size == 0:
		return 0, broken("frame of %d bytes: want 1 to %d", size, ether.MaxOffered)
	case r.frame.Trim < 0 || r.frame.Trim > int(size):
		return 0, broken("trim %d of a frame of %d bytes", r.frame.Trim, size)
	}
	end := recordBytes + padded(int(size))
	if len(b) < end {
		return 0, broken("%d bytes are left: want %d", len(b), end)
	}
	r.frame.Data = b[recordBytes : recordBytes+int(size)]
	for _, x := range b[recordBytes+int(size) : end] {
		if x != 0 {
			return 0, broken("padding of %#x: want 0", x)
		}
	}
	return end, nil
}

// appendPlayed appends frames to the payload of FRAMES, about one chunk, and returns the remaining ones.
func appendPlayed(b []byte, frames [][]byte) ([]byte, [][]byte) {
	for from := len(b); len(frames) > 0 && len(b)-from < chunk; frames = frames[1:] {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(frames[0])))
		b = append(b, frames[0]...)
	}
	return b, frames
}

// parsePlayed parses the payload of FRAMES.
func parsePlayed(b []byte) (frames [][]byte, err error) {
	for len(b) > 0 {
		if len(b) < 4 {
			return nil, broken("FRAMES: %d bytes are left: want 4 or more", len(b))
		}
		n := binary.LittleEndian.Uint32(b)
		if b = b[4:]; n == 0 || n > ether.MaxOffered || int(n) > len(b) {
			return nil, broken("FRAMES: a frame of %d bytes where %d are left: want 1 to %d", n, len(b),
				ether.MaxOffered)
		}
		frames = append(frames, append([]byte(nil), b[:n]...))
		b = b[n:]
	}
	return frames, nil
}
