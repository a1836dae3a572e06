package stream

// Crossing holds the cycles of the packet that a stream offers or is transferring.
type Crossing struct {
	First, Last, Free int64 // cycles of the first and the last beat, and the first cycle for the next packet

	Open       bool  // a packet is offered or being transferred
	Waits      bool  // the packet is offered and has not started: it lacks a credit
	Beats      int   // number of beats of the packet
	Unreported int64 // first cycle for which observers do not know yet whether the stream was held up
}

// Offer offers a packet of so many beats. It may have to wait for a credit, and stays offered until
// it starts.
func (x *Crossing) Offer(now int64, beats int) {
	x.Open, x.Waits, x.Beats, x.Unreported = true, true, beats, now
}

// Start starts the offered packet in the first cycle from now on without a stall, and computes its
// last cycle.
func (x *Crossing) Start(s *Stall, now int64) {
	x.Waits = false
	x.First = s.From(now)
	x.Last = s.beats(x.First, x.Beats)
	x.Free = x.Last + 1
}

// MayBeHeld reports whether the packet may have been held up in an unreported cycle. It is called
// every cycle, and is usually false.
func (x *Crossing) MayBeHeld(s *Stall) bool {
	return x.Open && (x.Waits || s.At != nil || x.First > x.Unreported)
}

// BeatsOf returns the number of beats of n bytes on a stream of the given width in bits. A packet
// without bytes takes one beat.
func BeatsOf(n, bits int) int { return max((n*8+bits-1)/bits, 1) }
