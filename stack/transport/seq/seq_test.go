package seq

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNumbersWrap checks that PSNs have 24 bits and compare modulo 2^24: half are after a number, half before it.
func TestNumbersWrap(t *testing.T) {
	assert.Equal(t, uint32(2), Add(Mask, 3))
	assert.Equal(t, 3, Diff(2, Mask))
	assert.Equal(t, -3, Diff(Mask, 2))
	assert.Equal(t, 1<<23-1, Diff(1<<23-1, 0))
	assert.Equal(t, -1<<23, Diff(1<<23, 0))
}

// TestOrder checks that copies that end in any order are retired in the order of their numbers, and that none ends
// twice.
func TestOrder(t *testing.T) {
	var o Order
	a, b, c := o.Open(), o.Open(), o.Open()
	assert.True(t, o.End(b))
	assert.False(t, o.End(b), "it has ended")
	assert.False(t, o.Before(b), "the one before it is under way")
	assert.True(t, o.End(a))
	assert.True(t, o.Before(c))
	assert.False(t, o.Before(c+1))
	assert.True(t, o.End(c))
	assert.False(t, o.End(c+1), "never opened")
	assert.Equal(t, c+1, o.Next())
}

// TestWordsWrap checks that a word is 64 bits from any bit on, wrapping at the end.
func TestWordsWrap(t *testing.T) {
	b := NewBitmap(128)
	for _, i := range []int{1, 64, 127} {
		b.Set(i)
	}
	assert.True(t, b.Has(64) && b.Has(127) && !b.Has(65))
	assert.Equal(t, uint64(1<<1|1<<63|1), b.Word(64)|b.Word(0)) // bits 64 and 127, then bit 1
	assert.Equal(t, uint64(1|1<<2), b.Word(127), "bit 127, then bits 0 to 62")
	b.Clear(127)
	assert.Equal(t, uint64(1<<2), b.Word(127))
}
