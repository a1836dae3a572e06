package stream

// Crossing is the timing of the packet that crosses a stream, and the first free cycle for the next
// one.
type Crossing struct {
	First, Last, Free int64

	Open       bool  // a packet is offered, or crosses
	Waits      bool  // it is offered and lacks a credit
	Beats      int   // its number of beats
	Unreported int64 // first cycle whose held state is not reported yet
}

// Offer offers a packet of so many beats, which may have to wait for a credit. A packet once
// offered stays.
func (x *Crossing) Offer(now int64, beats int) {
	x.Open, x.Waits, x.Beats, x.Unreported = true, true, beats, now
}

// Start sets the times of the offered packet.
func (x *Crossing) Start(s *Stall, now int64) {
	x.Waits = false
	x.First = s.From(now)
	x.Last = s.beats(x.First, x.Beats)
	x.Free = x.Last + 1
}

// MayBeHeld reports whether the packet may have been held in a cycle not yet reported. It is called
// every cycle and usually returns false.
func (x *Crossing) MayBeHeld(s *Stall) bool {
	return x.Open && (x.Waits || s.At != nil || x.First > x.Unreported)
}

// BeatsOf returns the number of beats of n bytes on a stream of so many bits; a packet without
// bytes takes one.
func BeatsOf(n, bits int) int { return max((n*8+bits-1)/bits, 1) }
