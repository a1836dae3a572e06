package arrivals_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/golden/arrivals"
	"nictwin/golden/counters"
	"nictwin/models/nic/nicspec"
)

// come makes a frame of n bytes come in.
func come(p *arrivals.Port, n int, last int64) *arrivals.Frame {
	f := &arrivals.Frame{}
	f.Begin(0, p.Seq, make([]byte, n), last-1, last)
	p.Take(f)
	return f
}

// Frames are found by their ordinals until they are decided, in any order.
func TestDecide(t *testing.T) {
	var p arrivals.Port
	p.Seq, p.Base = 0xfffffffe, 0xfffffffe // ordinals wrap
	a, b, c := come(&p, 64, 10), come(&p, 65, 20), come(&p, 100, 30)
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

// A dropped frame stays in the buffer until a later one is delivered, or for a while; the recent
// fill of the buffer is known.
func TestLevel(t *testing.T) {
	var p arrivals.Port
	a, b, c := come(&p, 64, 10), come(&p, 64, 20), come(&p, 128, 30)
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

// The frames of a queue stay in order of arrival, including one that was taken out and put back.
func TestList(t *testing.T) {
	var p arrivals.Port
	var l arrivals.List
	f := []*arrivals.Frame{come(&p, 64, 1), come(&p, 64, 2), come(&p, 64, 3)}
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

// Doubts are counted by their causes.
func TestDoubt(t *testing.T) {
	var p arrivals.Port
	ab := counters.Drop(nicspec.CntRxDropRule) | counters.Drop(nicspec.CntRxDropOverflow)
	p.Doubt(ab)
	p.Doubt(counters.Drop(nicspec.CntRxDropRule))
	p.Doubt(ab)
	require.Equal(t,
		[]arrivals.Doubt{{Causes: ab, Frames: 2}, {Causes: counters.Drop(nicspec.CntRxDropRule), Frames: 1}}, p.Doubts)
}

// A frame that is too long to be delivered keeps its length only.
func TestTooLong(t *testing.T) {
	var p arrivals.Port
	f := come(&p, nicspec.FrameMax+1, 5)
	require.Empty(t, f.Data)
	require.Equal(t, nicspec.FrameMax+1, f.N)
	require.Contains(t, f.Describe(), "to be dropped")
}
