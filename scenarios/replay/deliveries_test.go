package replay

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

// Deliveries are classified as if all frames were recorded, except frames more than deliverySpan behind the latest.
func TestSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, all, top := new(deliveryRecord), map[int]bool{}, 0
		at := rapid.IntRange(0, 3*deliverySpan).Draw(t, "begin")
		for range rapid.IntRange(1, 60).Draw(t, "frames") {
			step := rapid.OneOf(rapid.IntRange(-3, 5), rapid.IntRange(-2*deliverySpan, 3*deliverySpan)).Draw(t, "step")
			at = max(0, at+step)
			want := firstTime
			switch {
			case at < top-deliverySpan:
				want = tooLate
			case all[at]:
				want = again
			}
			require.Equal(t, want, s.mark(at), "frame %d after %d", at, top)
			if want == firstTime {
				all[at] = true
			}
			top = max(top, at+1)
		}
	})
}

// Ordinals are found although the 32 bits in completion entries wrap.
func TestOrdinalOf(t *testing.T) {
	for _, x := range []struct {
		seq  uint32
		sent int
		want int
	}{
		{0, 1, 0}, {4, 10, 4}, {9, 10, 9}, {0xffff_fffe, 1<<32 + 3, 1<<32 - 2}, {2, 1<<32 + 3, 1<<32 + 2},
		{7, 3<<32 + 7, 2<<32 + 7},
	} {
		require.Equal(t, x.want, ordinalOf(x.seq, x.sent))
	}
	require.Negative(t, ordinalOf(10, 10), "not sent")
	require.Negative(t, ordinalOf(0, 0), "nothing sent")
}

// Neither the time to start a run nor its memory grows with the number of loops.
func TestMemoryDoesNotGrowWithLoops(t *testing.T) {
	o := options("model", shipped(t)[:1])
	o.Loop = 1 << 40
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(done, _ int) {
		if done > 1000 {
			cancel()
		}
	}
	r, err := New(ctx, o)
	require.NoError(t, err)
	_, err = r.Play()
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, r.rx.first)
	require.Greater(t, r.rx.got, 100)
	require.NoError(t, r.Close())
}
