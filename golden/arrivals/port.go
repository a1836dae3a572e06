package arrivals

import (
	"nictwin/golden/counters"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
)

// Port holds the undecided frames of a port and bounds the fill of its receive buffer.
type Port struct {
	Seq       uint32                // ordinal of the next frame [R1]
	Undecided fifo.Queue[*Frame]    // by ordinal; nil where the fate is known
	Base      uint32                // ordinal of the first of Undecided
	Drops     fifo.Queue[*Frame]    // frames that must be dropped, unless a configuration write saves them
	Unsure    []*Frame              // frames that the configuration may send to several places
	Bytes     int                   // bytes of the undecided frames
	Level     int                   // upper bound of the receive buffer's fill [R3]
	left      fifo.Queue[departure] // recent departures from the receive buffer
	Linger    fifo.Queue[departure] // dropped frames that may still be in the buffer
	Doubts    []Doubt               // counts of dropped frames with several possible causes
}

// departure is a frame leaving the receive buffer.
type departure struct {
	Cycle int64 // cycle in which the frame left the buffer; in the queue Port.Linger, cycle of the frame's last beat
	seq   uint32
	size  int

	Cause nicspec.PortCounter // cause of the drop, if Sure
	Sure  bool
	Rule  int // matched rule, if Hit
	Hit   bool
}

// Doubt counts frames that were dropped for one of several causes.
type Doubt struct {
	Causes counters.Drops
	Frames uint64
}

const bufferUnit = 64 // granularity of the receive buffer [R3]

// Find returns the frame with an ordinal, nil if its fate is known.
func (p *Port) Find(seq uint32) *Frame {
	if i := seq - p.Base; i < uint32(p.Undecided.Len()) {
		return *p.Undecided.At(int(i))
	}
	return nil
}

// keptDepartures is the number of recent departures kept.
const keptDepartures = 256

// depart subtracts a frame that left the receive buffer, size bytes, from Level.
func (p *Port) depart(cycle int64, size int) {
	p.Level -= size
	if p.left.Len() == keptDepartures {
		p.left.Pop()
	}
	p.left.Push(departure{Cycle: cycle, size: size})
}

// Room returns how much of the receive buffer a frame of n bytes takes [R3].
func Room(n int) int { return (n + bufferUnit - 1) / bufferUnit * bufferUnit }

// HighestLevel returns the highest fill that the receive buffer can have had since a recent cycle.
func (p *Port) HighestLevel(cycle int64) int {
	held := p.Level
	for i := p.left.Len() - 1; i >= 0 && p.left.At(i).Cycle >= cycle; i-- {
		held += p.left.At(i).size
	}
	return held
}

// Take adds a received frame to the undecided ones.
func (p *Port) Take(f *Frame) {
	room := Room(f.N)
	p.Seq++
	p.Level += room
	p.Bytes += max(room, bufferUnit)
	p.Undecided.Push(f)
}

// Decide removes a frame whose fate is known. If gone is set, it has left the receive buffer; else it stays in
// Linger until a later frame of the port or the passage of time shows that it left.
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
		p.depart(now, room)
	} else {
		d := departure{Cycle: f.Last, seq: f.Seq, size: room}
		d.Cause, d.Sure = f.Why.Single()
		d.Rule, d.Hit = f.Hit, f.HitSure
		p.Linger.Push(d)
	}
	f.next = nil
}

// Passed removes the frames before a delivered one from Linger: they have left the buffer.
func (p *Port) Passed(seq uint32, now int64) {
	for p.Linger.Len() > 0 && int32(seq-p.Linger.Front().seq) > 0 {
		p.depart(now, p.Linger.Pop().size)
	}
}

// Expire removes from Linger the frames whose last beat came before a cycle.
func (p *Port) Expire(cycle, now int64) {
	for p.Linger.Len() > 0 && p.Linger.Front().Cycle < cycle {
		p.depart(now, p.Linger.Pop().size)
	}
}

// RemoveDrop removes a frame from Drops: its fate is known now, or a configuration write may have saved it from the
// drop. It does nothing if the frame is not there.
func (p *Port) RemoveDrop(f *Frame) {
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
