package apps

import (
	"encoding/binary"
	"errors"
	"fmt"

	"nictwin/models/memory/mem"
	"nictwin/models/server/host/dsa"
	"nictwin/models/sim/fifo"
	"nictwin/stack/hostnet"
)

// ChunkServer collects the packets of each chunk where they landed. When a chunk is complete, it copies runs of
// adjacent packets into the file, checks every byte there, and answers.
type ChunkServer struct {
	cfg    ChunkServerConfig
	chunks []chunk // by number modulo their count
	ready  fifo.Queue[*chunk]
	file   uint64
	open   int // chunks with packets that have not been answered
	whole  int // chunks that are whole and whose copies have not ended

	records  uint64 // completion records of the copy engine
	runs     fifo.Queue[run]
	nextRun  int
	got      []byte
	want     []byte
	answer   [ChunkAnswerBytes]byte
	stats    ChunkStats
	finished fifo.Queue[*chunk] // copied, and to be checked
}

// ChunkStats counts what a server did with chunks.
type ChunkStats struct {
	Chunks uint64
	Bytes  uint64 // checked
	Runs   uint64 // copies: the fewer, the more packets were adjacent
	Twice  uint64 // chunks that came again after their answer
	Whole  int    // most whole chunks that were there at a time, and whose copies had not ended
}

// chunk is a chunk in progress.
type chunk struct {
	flow    *hostnet.Flow
	open    bool // it has packets, and has not been answered
	used    bool // number is that of a chunk
	number  uint32
	packets []landed
	arrived int
	copied  int // packets whose copy was started
	ended   int // packets whose copy has ended
	check   func()
}

// landed is a packet of a chunk in its buffer.
type landed struct {
	there  bool
	at     uint64
	length int
	packet hostnet.Packet
}

// run is a copy in progress, by the copy engine.
type run struct {
	chunk *chunk
	n     int // packets
	slot  int // of its completion record
}

// maxRuns is the number of copies by the engine in flight: assumption.
const maxRuns = 16

// NewChunkServer returns a server for a client with the same seed and spec.
func NewChunkServer(c ChunkServerConfig) (*ChunkServer, error) {
	if err := c.Spec.Validate(); err != nil {
		return nil, err
	}
	if c.Peek == nil {
		return nil, errors.New("chunks: no Peek: want one, which checks every byte")
	}
	if c.Engine != nil && !c.Spec.Copy {
		return nil, errors.New("chunks: a copy engine without Copy: want both")
	}
	s := &ChunkServer{cfg: c, chunks: make([]chunk, c.Spec.Outstanding), got: make([]byte, c.Spec.Segment),
		want: make([]byte, c.Spec.Segment)}
	for i := range s.chunks {
		x := &s.chunks[i]
		x.packets = make([]landed, c.Spec.packets())
		x.check = func() { s.finished.Push(x); x.flow.Wake() }
	}
	return s, nil
}

// Stats returns the counters.
func (s *ChunkServer) Stats() ChunkStats { return s.stats }

// File returns the address of the file, and its length in bytes.
func (s *ChunkServer) File() (addr uint64, bytes int) {
	return s.file, s.cfg.Spec.File * s.cfg.Spec.ChunkBytes
}

// Open implements hostnet.Server.
func (s *ChunkServer) Open(f *hostnet.Flow) (err error) {
	if held := s.cfg.Spec.packets() * len(s.chunks); held > f.Holds() {
		return fmt.Errorf("chunks: %d packets of %d chunks wait in receive buffers: want %d at most, or more buffers",
			held, len(s.chunks), f.Holds())
	}
	if s.cfg.Spec.Copy {
		_, n := s.File()
		if s.file, err = f.Alloc(uint64(n), 4096); err != nil {
			return fmt.Errorf("chunks: file: %w", err)
		}
	}
	if s.cfg.Engine == nil {
		return nil
	}
	const bytes = maxRuns * dsa.RecordBytes
	if s.records, err = f.Alloc(bytes, 64); err != nil {
		return err
	}
	return f.Watch(s.records, bytes)
}

// Take implements hostnet.Server.
func (s *ChunkServer) Take(f *hostnet.Flow, a *hostnet.Arrival) {
	if a.Bytes != s.cfg.Spec.ChunkBytes {
		f.Fail(fmt.Errorf("chunks: a chunk of %d bytes: want %d", a.Bytes, s.cfg.Spec.ChunkBytes))
		return
	}
	x, i := &s.chunks[a.Message%uint32(len(s.chunks))], a.Offset/s.cfg.Spec.Segment
	ahead := int32(a.Message - x.number)
	switch {
	case x.used && ahead <= 0 && !(ahead == 0 && x.open):
		s.again(f, x, a)
		return
	case x.used && ahead > 0 && x.open:
		f.Fail(fmt.Errorf("chunks: chunk %d began while chunk %d is open: want at most %d outstanding", a.Message,
			x.number, len(s.chunks)))
		return
	case !x.open:
		clear(x.packets)
		*x = chunk{flow: f, open: true, used: true, number: a.Message, packets: x.packets, check: x.check}
		s.open++
	}
	if x.packets[i].there { // sent again as a new message
		f.Release(a.Packet)
		return
	}
	x.packets[i] = landed{true, a.Payload, a.Length, *a.Packet}
	if x.arrived++; x.arrived == len(x.packets) {
		s.ready.Push(x)
		s.whole++
		s.stats.Whole = max(s.stats.Whole, s.whole)
	}
}

// again takes a packet of a chunk that was answered. The client may not have got the answer.
func (s *ChunkServer) again(f *hostnet.Flow, x *chunk, a *hostnet.Arrival) {
	f.Release(a.Packet)
	if a.Message == x.number && a.Offset+a.Length == a.Bytes {
		s.stats.Twice++
		s.reply(f, x)
	}
}

func (s *ChunkServer) reply(f *hostnet.Flow, x *chunk) {
	binary.BigEndian.PutUint32(s.answer[:], x.number)
	binary.BigEndian.PutUint32(s.answer[4:], uint32(s.cfg.Spec.ChunkBytes))
	f.Answer(x.number, s.answer[:])
}

// Wants implements hostnet.Reader: no packets while so many whole chunks wait for the end of their copies.
func (s *ChunkServer) Wants() bool { return s.cfg.Spec.Ahead == 0 || s.whole < s.cfg.Spec.Ahead }

// Work implements hostnet.Server: it ends copies, starts the next one, or answers a chunk.
func (s *ChunkServer) Work(f *hostnet.Flow) bool {
	worked := s.endRuns(f)
	if s.finished.Len() > 0 {
		s.end(f, s.finished.Pop())
		return true
	}
	if s.ready.Len() == 0 {
		return worked
	}
	x := *s.ready.Front()
	switch {
	case !s.cfg.Spec.Copy:
		s.whole--
		s.end(f, s.ready.Pop())
	case s.cfg.Engine != nil && s.runs.Len() == maxRuns:
		return worked
	default:
		if s.copy(f, x); x.copied == len(x.packets) {
			s.ready.Pop()
		}
	}
	return true
}

// adjacent returns the next packets of a chunk to copy, which are adjacent in memory, and their bytes.
func (s *ChunkServer) adjacent(x *chunk) (n, bytes int) {
	first := &x.packets[x.copied]
	for x.copied+n < len(x.packets) {
		p := &x.packets[x.copied+n]
		if n > 0 && (p.at != first.at+uint64(bytes) || bytes+p.length > s.cfg.Spec.RunBytes) {
			break
		}
		n, bytes = n+1, bytes+p.length
	}
	return n, bytes
}

// place returns the address in the file of a chunk's packet.
func (s *ChunkServer) place(x *chunk, packet int) uint64 {
	spec := &s.cfg.Spec
	return s.file + uint64(int(x.number)%spec.File*spec.ChunkBytes+packet*spec.Segment)
}

// copy copies a run of packets by the core, or has the engine copy it.
func (s *ChunkServer) copy(f *hostnet.Flow, x *chunk) {
	n, bytes := s.adjacent(x)
	from, to := x.packets[x.copied].at, s.place(x, x.copied)
	s.stats.Runs++
	f.Core().Compute(s.cfg.Spec.LineCycles * int64((bytes+mem.LineBytes-1)/mem.LineBytes))
	if s.cfg.Engine == nil {
		if err := f.Core().Copy(to, from, bytes); err != nil {
			f.Fail(err)
		}
		x.copied += n
		s.release(f, x, n)
		return
	}
	r := run{x, n, s.nextRun}
	s.nextRun = (s.nextRun + 1) % maxRuns
	record := s.records + uint64(r.slot*dsa.RecordBytes)
	var zero [dsa.RecordBytes]byte
	if err := f.Core().Store(record, zero[:]); err != nil {
		f.Fail(err)
	}
	d := dsa.EncodeDescriptor(from, to, uint32(bytes), record)
	f.Core().Post(s.cfg.Engine, 0, d[:])
	x.copied += n
	s.runs.Push(r)
}

// endRuns finishes, in order, the copies that the copy engine has completed.
func (s *ChunkServer) endRuns(f *hostnet.Flow) (worked bool) {
	for s.runs.Len() > 0 {
		r := s.runs.Front()
		var record [1]byte
		if err := f.Core().Load(s.records+uint64(r.slot*dsa.RecordBytes), record[:]); err != nil {
			f.Fail(err)
			return false
		}
		switch record[0] {
		case 0:
			return worked
		case dsa.RecordOK:
		default:
			f.Fail(fmt.Errorf("chunks: the copy engine failed, completion record %d", record[0]))
		}
		s.release(f, r.chunk, r.n)
		s.runs.Pop()
		worked = true
	}
	return worked
}

// release ends the use of the next packets of a chunk, whose copies have ended. After the last one, the chunk is
// checked once the core's stores have taken effect.
func (s *ChunkServer) release(f *hostnet.Flow, x *chunk, n int) {
	for range n {
		f.Release(&x.packets[x.ended].packet)
		x.ended++
	}
	if x.ended == len(x.packets) {
		s.whole--
		f.Core().Fence()
		f.Core().Call(x.check)
	}
}

// end checks a chunk and answers it.
func (s *ChunkServer) end(f *hostnet.Flow, x *chunk) {
	for i := range x.packets {
		p := &x.packets[i]
		at := p.at
		if s.cfg.Spec.Copy {
			at = s.place(x, i)
		}
		got, want := s.got[:p.length], s.want[:p.length]
		pattern(s.cfg.Seed, x.number, i*s.cfg.Spec.Segment, want)
		err := s.cfg.Peek(at, got)
		if err == nil {
			err = compare("chunk", i*s.cfg.Spec.Segment, got, want)
		}
		if err != nil {
			f.Fail(fmt.Errorf("chunk %d: %w", x.number, err))
		}
		if !s.cfg.Spec.Copy {
			f.Release(&p.packet)
		}
		s.stats.Bytes += uint64(p.length)
	}
	x.open = false
	s.open--
	s.stats.Chunks++
	if s.cfg.OnChunk != nil {
		s.cfg.OnChunk(x.number)
	}
	s.reply(f, x)
}

// Idle implements hostnet.Server.
func (s *ChunkServer) Idle() bool { return s.open == 0 }

var (
	_ hostnet.Client = (*ChunkClient)(nil)
	_ hostnet.Server = (*ChunkServer)(nil)
)
