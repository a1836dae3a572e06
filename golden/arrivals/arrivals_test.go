package arrivals_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/arrivals"
	"nictwin/golden/counters"
	"nictwin/models/nic/nicspec"
)

// receive adds a frame of n bytes to a port.
func receive(p *arrivals.Port, n int, last int64) *arrivals.Frame {
	f := &arrivals.Frame{}
	f.Begin(0, p.Seq, make([]byte, n), last-1, last)
	p.Take(f)
	return f
}

// Frames can be decided in any order: until then, Find returns them by their ordinals.
func TestDecide(t *testing.T) {
	var p arrivals.Port
	p.Seq, p.Base = 0xfffffffe, 0xfffffffe // ordinals wrap
	a, b, c := receive(&p, 64, 10), receive(&p, 65, 20), receive(&p, 100, 30)
	require.EqualValues(t, 1, p.Seq)
	require.Equal(t, b, p.Find(0xffffffff))
	p.Decide(b, 40, true)
	require.Nil(t, p.Find(0xffffffff))
	require.Equal(t, a, p.Find(0xfffffffe))
	require.Equal(t, c, p.Find(0))
	p.Decide(a, 41, true)
	require.EqualValues(t, 0, p.Base, "what is decided at the front is gone")
	require.Equal(t, 1, p.Undecided.Len())
	p.Decide(c, 42, true)
	require.Zero(t, p.Bytes)
	require.Zero(t, p.Level)
}

// A dropped frame counts as held in the buffer until a later frame is delivered (Passed), or until its own last beat
// is long ago (Expire). HighestLevel gives the recent maximum.
func TestLevel(t *testing.T) {
	var p arrivals.Port
	a, b, c := receive(&p, 64, 10), receive(&p, 64, 20), receive(&p, 128, 30)
	require.Equal(t, 256, p.Level)
	a.Why = counters.Drop(nicspec.CntRxDropRule)
	p.Decide(a, 40, false)
	b.Why = counters.Drop(nicspec.CntRxDropRule)
	p.Decide(b, 40, false)
	require.Equal(t, 256, p.Level, "they may still be there")
	require.True(t, p.Linger.Front().Sure)
	p.Expire(20, 50)
	require.Equal(t, 192, p.Level)
	p.Decide(c, 60, true)
	p.Passed(c.Seq, 60)
	require.Equal(t, 0, p.Level)
	require.Equal(t, 192, p.HighestLevel(51))
	require.Equal(t, 256, p.HighestLevel(50))
}

// A list keeps the frames of a queue in order of arrival, even if one was removed and added again.
func TestList(t *testing.T) {
	var p arrivals.Port
	var l arrivals.List
	f := []*arrivals.Frame{receive(&p, 64, 1), receive(&p, 64, 2), receive(&p, 64, 3)}
	for _, g := range f {
		l.Push(g)
	}
	for _, i := range []int{1, 0, 2} {
		l.Remove(f[i])
		l.Push(f[i])
	}
	for _, want := range f {
		require.Equal(t, want, l.Head)
		l.Remove(l.Head)
	}
	require.Nil(t, l.Head)
	l.Push(f[2])
	require.Equal(t, f[2], l.Head, "an empty list takes any")
}

// Dropped frames with several possible causes are counted by their set of causes.
func TestDoubt(t *testing.T) {
	var p arrivals.Port
	ab := counters.Drop(nicspec.CntRxDropRule) | counters.Drop(nicspec.CntRxDropOverflow)
	p.Doubt(ab)
	p.Doubt(counters.Drop(nicspec.CntRxDropRule))
	p.Doubt(ab)
	require.Equal(t,
		[]arrivals.Doubt{{Causes: ab, Frames: 2}, {Causes: counters.Drop(nicspec.CntRxDropRule), Frames: 1}}, p.Doubts)
}

// Of a frame that is too long to be delivered, only the length is kept.
func TestTooLong(t *testing.T) {
	var p arrivals.Port
	f := receive(&p, nicspec.FrameMax+1, 5)
	require.Empty(t, f.Data)
	require.Equal(t, nicspec.FrameMax+1, f.N)
	require.Contains(t, f.Describe(), "to be dropped")
}
