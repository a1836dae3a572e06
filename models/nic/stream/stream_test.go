package stream

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

type everyThird struct{}

func (everyThird) Of(string) func(int64) bool { return func(cycle int64) bool { return cycle%3 == 0 } }

// TestStalledBeats: the first beat moves in the first cycle without a stall, and each stall delays the rest by one.
func TestStalledBeats(t *testing.T) {
	s := StallOf(everyThird{}, "tlp_out")
	var x Crossing
	x.Offer(3, 4)
	assert.True(t, x.Open && x.Waits)
	assert.True(t, x.MayBeHeld(&s))
	x.Start(&s, 3)
	assert.Equal(t, []int64{4, 8, 9}, []int64{x.First, x.Last, x.Free}, "beats in cycles 4, 5, 7 and 8")
}

// TestNoStall: without stalls beats follow each other.
func TestNoStall(t *testing.T) {
	s := StallOf(nil, "tlp_out")
	var x Crossing
	x.Offer(3, BeatsOf(65, 512))
	x.Start(&s, 3)
	assert.Equal(t, []int64{3, 4, 5}, []int64{x.First, x.Last, x.Free})
	assert.False(t, x.MayBeHeld(&s), "it began at once")
	assert.Equal(t, 1, BeatsOf(0, 512), "a packet without bytes takes a beat")
}
