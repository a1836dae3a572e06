package seq

import "nictwin/models/sim/fifo"

// Order assigns numbers to copies, which may end in any order, and tracks up to which number all have ended.
type Order struct {
	base  uint64 // all numbers below have ended
	ended fifo.Queue[bool]
}

// Next returns the number that the next copy will get.
func (t *Order) Next() uint64 { return t.base + uint64(t.ended.Len()) }

// Open assigns the next number to a copy.
func (t *Order) Open() uint64 {
	n := t.Next()
	t.ended.Push(false)
	return n
}

// End records that a copy has ended. It returns false if n is not in flight.
func (t *Order) End(n uint64) bool {
	if n < t.base || n >= t.Next() || *t.ended.At(int(n - t.base)) {
		return false
	}
	*t.ended.At(int(n - t.base)) = true
	for t.ended.Len() > 0 && *t.ended.Front() {
		t.ended.Pop()
		t.base++
	}
	return true
}

// Before reports whether all copies numbered below n have ended.
func (t *Order) Before(n uint64) bool { return t.base >= n }
