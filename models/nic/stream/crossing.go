package stream

// Crossing is the time of the packet that crosses a stream now, and the first
// cycle for the next one.
type Crossing struct {
	First, Last, Free int64

	Open   bool  // a packet is offered, or crosses
	Waits  bool  // it is offered, and there is no credit for it
	Beats  int   // of it
	Untold int64 // first cycle of it of which is not told yet whether it was held
}

// Offer begins with a packet of so many beats that may have to wait for a
// credit: what is offered stays.
func (x *Crossing) Offer(now int64, beats int) {
	x.Open, x.Waits, x.Beats, x.Untold = true, true, beats, now
}

// Start sets the times of the packet that is offered.
func (x *Crossing) Start(s *Stall, now int64) {
	x.Waits = false
	x.First = s.From(now)
	x.Last = s.beats(x.First, x.Beats)
	x.Free = x.Last + 1
}

// MayBeHeld reports whether the packet may have been held in a cycle of which is
// not told yet. It is asked in every cycle, and mostly says no.
func (x *Crossing) MayBeHeld(s *Stall) bool {
	return x.Open && (x.Waits || s.At != nil || x.First > x.Untold)
}

// BeatsOf is the beats of n bytes on a stream of so many bits; a packet
// without bytes takes one.
func BeatsOf(n, bits int) int { return max((n*8+bits-1)/bits, 1) }
