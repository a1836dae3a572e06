package golden

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
)

// What spans say of the cycles that they are kept for is what they were told, be a stretch told in pieces or over others.
func TestSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := spans{keep: keptUsed}
	var in []bool
	for range 20000 {
		first := int64(len(in) + rng.IntN(5)*rng.IntN(40))
		if rng.IntN(4) == 0 && s.latest() > 20 { // over what was told
			first = s.latest() - int64(rng.IntN(20))
		}
		last := max(first+int64(rng.IntN(30)), s.latest())
		for int64(len(in)) <= last {
			in = append(in, false)
		}
		for x := first; x <= last; x++ {
			in[x] = true
		}
		s.add(first, last)
	}
	now := int64(len(in)) + 7
	in = append(in, make([]bool, 8)...)
	free := int64(0)
	for since := now - 1; free <= keptUsed-1; since-- {
		require.Equal(t, free, s.free(since, now-1), "since cycle %d", since)
		if !in[since] {
			free++
		}
		begin := since // where back ends, too: cycles of the set cost nothing
		for begin > 0 && in[begin-1] {
			begin--
		}
		require.Equal(t, begin, s.begin(since))
		require.Equal(t, begin, s.back(now, free), "back %d free cycles", free)
	}
	require.Greater(t, s.free(0, now), int64(keptUsed), "what is forgotten was long ago")
	require.Less(t, s.list.Len(), 2*keptUsed)
}

// Times that are none, or come out of order, end the judging.
func TestHeldTimesThatAreNone(t *testing.T) {
	good := boundary.Held{Kind: boundary.TLPOut, First: 10, Last: 20}
	for _, bad := range []boundary.Held{
		{Kind: boundary.TLPOut, First: 30, Last: 29}, {Kind: boundary.TLPOut, First: 20, Last: 30}, {Kind: boundary.TLPOut, First: 5, Last: 9},
		{Kind: boundary.FrameOut, Port: 1, First: 30, Last: 31}, {Kind: boundary.NumKinds, First: 30, Last: 31},
	} {
		r, err := New(DefaultConfig(nicspec.DefaultBuild()))
		require.NoError(t, err)
		r.Held(good)
		require.Empty(t, r.fault)
		r.Held(bad)
		require.Equal(t, Infrastructure, r.Finish().Result, "%v", bad)
	}
}
