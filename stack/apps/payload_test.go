package apps

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReusedBuffersAreVerified checks that reused buffers are compared with their last message: a wrong byte is
// reported by address and message.
func TestReusedBuffersAreVerified(t *testing.T) {
	s := DefaultSpec()
	s.Kind, s.Payload, s.Depth, s.Count, s.Sizes = Write, Reused, 4, 50, []int{100, 64}
	require.NoError(t, s.Validate())
	r := arena{next: 0, end: 1 << 16}
	a, err := r.alloc(s.buffers(), s.largest(), 1, 0)
	require.NoError(t, err)
	m := make(flat, r.next)
	fresh := func(flip int) *Finding {
		e := &end{spec: &s, side: &side{Side: Side{Core: m}, want: make([]byte, 100), got: make([]byte, 100)}}
		for i := range 47 { // messages arrived in order; later ones overwrote earlier ones
			b := make([]byte, s.size(i))
			pattern(b, s.Seed, 0, request, s.patternOf(i))
			require.NoError(t, m.Store(a.pieceAddr(i, 0), b))
		}
		if flip >= 0 {
			m[flip] ^= 0x40
		}
		e.verifyReused(&a, 47)
		require.Zero(t, e.messages, "they were counted when they came")
		return e.firstFault
	}
	require.Nil(t, fresh(-1))
	for i := range a.slots {
		last := 43 + (i-43%4+4)%4 // the last message that the buffer received
		for _, off := range []int{0, s.size(last) - 1} {
			w := fresh(int(a.pieceAddr(i, 0)) + off)
			require.NotNil(t, w)
			require.Equal(t, [3]uint64{uint64(last), uint64(off), a.pieceAddr(i, 0) + uint64(off)},
				[3]uint64{uint64(w.Message), uint64(w.Offset), w.Addr})
		}
	}
}
