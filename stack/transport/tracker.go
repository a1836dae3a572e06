package transport

import "nictwin/models/fifo"

// tracker numbers copies and finds up to which all have ended, in whatever
// order they end.
type tracker struct {
	base  uint64 // all before have ended
	ended fifo.Queue[bool]
}

// next returns the number that the next copy will get.
func (t *tracker) next() uint64 { return t.base + uint64(t.ended.Len()) }

// open numbers a copy.
func (t *tracker) open() uint64 {
	n := t.next()
	t.ended.Push(false)
	return n
}

// end notes that a copy has ended; false if it is none that is under way.
func (t *tracker) end(n uint64) bool {
	if n < t.base || n >= t.next() || *t.ended.At(int(n - t.base)) {
		return false
	}
	*t.ended.At(int(n - t.base)) = true
	for t.ended.Len() > 0 && *t.ended.Front() {
		t.ended.Pop()
		t.base++
	}
	return true
}

// before reports whether all copies numbered below n have ended.
func (t *tracker) before(n uint64) bool { return t.base >= n }
