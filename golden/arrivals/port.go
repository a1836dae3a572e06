package arrivals

import (
	"nictwin/golden/counters"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Port is the frames that came in on a port and whose fate is not known, and
// what the receive buffer can hold.
type Port struct {
	Seq       uint32                // ordinal of the next frame [R1]
	Undecided fifo.Queue[*Frame]    // by ordinal; nil when the fate is known
	Base      uint32                // ordinal of the first of them
	Drops     fifo.Queue[*Frame]    // sure to be dropped, unless the configuration still changes
	Unsure    []*Frame              // of which the configuration does not say where they go
	Bytes     int                   // held by the undecided frames
	Level     int                   // most that the receive buffer can hold now [R3]
	left      fifo.Queue[departure] // room that was given back lately
	Linger    fifo.Queue[departure] // dropped frames that may still be in the buffer
	Doubts    []Doubt               // drops whose cause is not known
}

// departure is a frame that leaves the receive buffer.
type departure struct {
	Cycle int64 // at which it left, or for linger its last beat
	seq   uint32
	size  int

	Cause nicspec.PortCounter // of a drop, if it is sure
	Sure  bool
	Rule  int // that it matched, if hit
	Hit   bool
}

// Doubt counts frames that were dropped for one of several causes.
type Doubt struct {
	Causes counters.Drops
	Frames uint64
}

const bufferUnit = 64 // of the receive buffer [R3]

// Find is the frame with an ordinal, nil if its fate is known.
func (p *Port) Find(seq uint32) *Frame {
	if i := seq - p.Base; i < uint32(p.Undecided.Len()) {
		return *p.Undecided.At(int(i))
	}
	return nil
}

// keptDepartures is how many of the latest frames that left are known.
const keptDepartures = 256

// leaves gives a frame's room back.
func (p *Port) leaves(cycle int64, size int) {
	p.Level -= size
	if p.left.Len() == keptDepartures {
		p.left.Pop()
	}
	p.left.Push(departure{Cycle: cycle, size: size})
}

// Room is how much of the receive buffer a frame of n bytes takes [R3].
func Room(n int) int { return (n + bufferUnit - 1) / bufferUnit * bufferUnit }

// HighestLevel is the most that the receive buffer can have held in a cycle not
// long ago.
func (p *Port) HighestLevel(cycle int64) int {
	held := p.Level
	for i := p.left.Len() - 1; i >= 0 && p.left.At(i).Cycle >= cycle; i-- {
		held += p.left.At(i).size
	}
	return held
}

// Take enters a frame that came in.
func (p *Port) Take(f *Frame) {
	room := Room(f.N)
	p.Seq++
	p.Level += room
	p.Bytes += max(room, bufferUnit)
	p.Undecided.Push(f)
}

// Decide forgets a frame whose fate is known. Its room in the buffer is given
// back at once, or when a later frame shows that it has left.
func (p *Port) Decide(f *Frame, now int64, gone bool) {
	if i := f.Seq - p.Base; i < uint32(p.Undecided.Len()) {
		*p.Undecided.At(int(i)) = nil
	}
	for p.Undecided.Len() > 0 && *p.Undecided.Front() == nil {
		p.Undecided.Pop()
		p.Base++
	}
	room := Room(f.N)
	p.Bytes -= max(room, bufferUnit)
	if gone {
		p.leaves(now, room)
	} else {
		d := departure{Cycle: f.Last, seq: f.Seq, size: room}
		d.Cause, d.Sure = f.Why.Single()
		d.Rule, d.Hit = f.Hit, f.HitSure
		p.Linger.Push(d)
	}
	f.next = nil
}

// Passed ends the lingering of the frames before one that was delivered.
func (p *Port) Passed(seq uint32, now int64) {
	for p.Linger.Len() > 0 && int32(seq-p.Linger.Front().seq) > 0 {
		p.leaves(now, p.Linger.Pop().size)
	}
}

// Expire ends the lingering of the frames whose last beat came before a cycle.
func (p *Port) Expire(cycle, now int64) {
	for p.Linger.Len() > 0 && p.Linger.Front().Cycle < cycle {
		p.leaves(now, p.Linger.Pop().size)
	}
}

// DropNoMore takes a frame back that was to be dropped.
func (p *Port) DropNoMore(f *Frame) {
	for i := range p.Drops.Len() {
		if *p.Drops.At(i) == f {
			p.Drops.Remove(i)
			return
		}
	}
}

// Doubt counts a frame that was dropped for one of several causes.
func (p *Port) Doubt(m counters.Drops) {
	for i := range p.Doubts {
		if p.Doubts[i].Causes == m {
			p.Doubts[i].Frames++
			return
		}
	}
	p.Doubts = append(p.Doubts, Doubt{m, 1})
}
