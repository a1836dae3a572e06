package rings_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/rings"
	"nictwin/models/nic/nicspec"
)

// Before returns the producer index of the latest doorbell before a cycle, also if the index wraps.
func TestDoorbellsBefore(t *testing.T) {
	var d rings.Doorbells
	require.EqualValues(t, 0, d.Before(5, 9), "none yet")
	d.Rung(0xfffe, 10)
	d.Rung(3, 20)
	require.EqualValues(t, 0, d.Before(10, 9), "accepted in that cycle is not before it")
	require.EqualValues(t, 0xfffe, d.Before(11, 9))
	require.EqualValues(t, 3, d.Before(21, 9))
	d.Reset()
	require.EqualValues(t, 0, d.Before(100, 9))
}

// If so many doorbells followed that the right one is no longer kept, Before returns its second argument, and Lost
// counts the call.
func TestDoorbellsLost(t *testing.T) {
	var d rings.Doorbells
	for i := range 100 {
		d.Rung(uint16(i), int64(1000+i))
	}
	require.EqualValues(t, 7, d.Before(1000, 7))
	require.EqualValues(t, 1, d.Lost())
	require.EqualValues(t, 98, d.Before(1099, 7), "what is still known is answered")
	require.EqualValues(t, 1, d.Lost())
}

// Take returns the doorbells that a failing read may have left without effect, and each of them once.
func TestRecentTake(t *testing.T) {
	var f rings.Recent
	f.Reset()
	require.EqualValues(t, 0, f.Take(0), "none")
	for _, c := range []int64{100, 200, 201} {
		f.Note(c)
	}
	require.EqualValues(t, 2, f.Take(200+nicspec.VisibleCycles))
	require.EqualValues(t, 0, f.Take(200+nicspec.VisibleCycles), "they are forgotten")
	for i := range int64(20) {
		f.Note(i)
	}
	require.EqualValues(t, len(f), f.Take(20), "no more than are known")
}

// Failures compare indices modulo 2^16. Only reads that surely failed stop entries.
func TestFailures(t *testing.T) {
	l := rings.Failures{{First: 0xfff0, Cycle: 50}, {First: 2, Sure: true, Cycle: 90}}
	require.True(t, l.AllBehind(0xffef))
	require.False(t, l.AllBehind(0xfff0), "that read may have failed")
	require.False(t, l.Reach(0xfff5))
	require.True(t, l.Reach(2))
	require.True(t, l.Reach(7))
	require.Nil(t, l.SureBefore(90+nicspec.VisibleCycles))
	require.EqualValues(t, 2, l.SureBefore(91+nicspec.VisibleCycles).First)
	require.True(t, rings.Failures(nil).AllBehind(0))
	require.False(t, rings.Failures(nil).Reach(0))
}
