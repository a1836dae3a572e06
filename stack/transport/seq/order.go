package seq

import "nictwin/models/sim/fifo"

// Order numbers copies and finds up to which all have ended, in whatever
// order they end.
type Order struct {
	base  uint64 // all before have ended
	ended fifo.Queue[bool]
}

// Next returns the number that the next copy will get.
func (t *Order) Next() uint64 { return t.base + uint64(t.ended.Len()) }

// Open numbers a copy.
func (t *Order) Open() uint64 {
	n := t.Next()
	t.ended.Push(false)
	return n
}

// End notes that a copy has ended; false if it is none that is under way.
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
