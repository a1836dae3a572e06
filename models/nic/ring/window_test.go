package ring

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
)

const place = nicspec.RxDescBytes

// TestGroups checks that a read has at most four slots of the ring, crosses no boundary of a group of four or of a
// page, is not longer than MRRS, and waits for room in the window.
func TestGroups(t *testing.T) {
	w := NewWindow(place, 8, false)
	assert.Equal(t, uint16(3), w.Wants(3, 0, 512), "as many as are posted")
	assert.Equal(t, uint16(4), w.Wants(9, 0, 512), "a group")
	assert.Equal(t, uint16(1), w.Wants(9, 4096-place, 512), "to the end of the page")
	w.Next = 2
	assert.Equal(t, uint16(2), w.Wants(9, 0, 512), "to the end of the group")
	w.Next = 6
	assert.Equal(t, uint16(2), w.Wants(9, 0, 512))
	w.Next = 8
	assert.Zero(t, w.Wants(12, 0, 512), "the window is full")

	blocks := NewWindow(nicspec.WqeBytes, 8, false)
	assert.Equal(t, uint16(128/nicspec.WqeBytes), blocks.Wants(9, 0, 128), "no more than MRRS")
}

// TestOrder: slots that arrive out of order are used in order, across the end of the window.
func TestOrder(t *testing.T) {
	w := NewWindow(place, 4, false)
	for i := range uint16(9) {
		w.Next++
		if i%2 == 0 {
			continue // this place arrives after the next one
		}
		for _, k := range []uint16{i, i - 1} {
			copy(w.Slot(k, 1), bytes.Repeat([]byte{byte(k)}, place))
			w.Arrived(k, 1)
			require.Equal(t, k < i, w.Ready())
		}
		for k := i - 1; k <= i; k++ {
			require.True(t, w.Ready(), "index %d", k)
			require.Equal(t, bytes.Repeat([]byte{byte(k)}, place), w.Peek())
			w.Take()
		}
		require.False(t, w.Ready())
	}
}

// TestCut: slots from the failed read on are never used, slots before it are, and Reset starts
// over.
func TestCut(t *testing.T) {
	w := NewWindow(place, 8, false)
	w.Next = 6
	w.CutAt(2)
	w.Arrived(0, 6)
	assert.True(t, w.Beyond(2))
	assert.False(t, w.Beyond(1))
	for range 2 {
		require.False(t, w.Spent())
		require.True(t, w.Ready())
		w.Take()
	}
	assert.False(t, w.Ready())
	assert.True(t, w.Spent())
	gen := w.Gen
	w.Reset()
	assert.Equal(t, gen+1, w.Gen)
	assert.False(t, w.Spent())
	assert.Zero(t, w.Next)
}
