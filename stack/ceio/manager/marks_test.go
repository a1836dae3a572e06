package manager

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// call makes a receive call of flow 0 that wants nothing.
func (w *world) call(t *testing.T, now Ps) {
	t.Helper()
	w.now = now
	_, err := w.m.AsyncRecv(now, 0, 0, nil)
	require.NoError(t, err)
}

// TestMarks checks that packets are marked in the period behind one in which the slow path grew, and no later.
func TestMarks(t *testing.T) {
	w := opened(t, 0, 1, func(s *Spec) { s.MarkEvery = 100 })
	w.call(t, 100)
	w.frames(0, 6)
	w.call(t, 200)
	require.False(t, w.m.Marking(0), "it had caught up at the begin")
	w.frames(0, 3)
	w.call(t, 290)
	require.False(t, w.m.Marking(0))
	w.call(t, 300)
	require.True(t, w.m.Marking(0), "3 more came, none was copied")
	w.now = 310
	w.receiveAll(t, 0)
	require.Equal(t, uint64(9), w.m.Stats().Marked)
	w.call(t, 400)
	require.False(t, w.m.Marking(0), "9 were processed, none came")
}

// TestMarksOnlyWhereCopiesLag checks that packets whose copies are under way are no growth, and that packets that wait
// behind all possible copies are.
func TestMarksOnlyWhereCopiesLag(t *testing.T) {
	for copies, marked := range map[int]bool{4: true, 16: false} {
		w := opened(t, 0, 1, func(s *Spec) { s.MarkEvery, s.Landing, s.Copies = 100, 64, copies })
		for range 8 {
			w.frames(0, 1)
			_, err := w.m.AsyncRecv(w.now, 0, 1, nil)
			require.NoError(t, err)
			w.now += 100
		}
		require.Len(t, w.ended, min(copies, 8))
		require.Equal(t, marked, w.m.Marking(0), "%d copies", copies)
	}
}

// TestMarksUntilProcessed checks that packets count as consumed when the application has processed them, not when they
// have been copied. An application that takes all packets but holds them, as one does until a chunk is complete, keeps
// up.
func TestMarksUntilProcessed(t *testing.T) {
	for _, x := range []struct {
		name             string
		taken, processed int // packets of eight that come
		marked           bool
	}{{"slow CPU", 6, 6, true}, {"CPU keeps pace", 8, 8, false}, {"holds packets", 8, 0, false}} {
		w := opened(t, 0, 1, func(s *Spec) { s.MarkEvery, s.Landing = 100, 256 })
		for w.now = 10; w.now < 900; w.now += 30 { // a slow one falls behind first
			w.frames(0, 8)
			got, err := w.m.AsyncRecv(w.now, 0, x.taken, nil)
			require.NoError(t, err)
			for len(w.ended) > 0 {
				w.endCopy()
			}
			got, err = w.m.AsyncRecv(w.now, 0, x.taken-len(got), got)
			require.NoError(t, err)
			w.m.Processed(w.now, 0, 0, min(x.processed, len(got)), 1)
		}
		require.Equal(t, x.marked, w.m.Marking(0), x.name)
	}
}

// TestRunsAreLong checks that packets wait for the end of the copy under way until there are as many as a receive call
// wants, and that landing buffers which are freed one by one make no copies of one packet each.
func TestRunsAreLong(t *testing.T) {
	w := opened(t, 0, 1, func(s *Spec) { s.Landing = 16 })
	receive := func(n, want int, runs ...int) {
		t.Helper()
		got, err := w.m.AsyncRecv(w.now, 0, n, nil)
		require.NoError(t, err)
		require.Len(t, got, want)
		require.Equal(t, runs, w.flows[0].runs)
	}
	w.frames(0, 1)
	receive(8, 0, 1)
	w.frames(0, 6)
	receive(8, 0, 1)
	w.frames(0, 2)
	receive(8, 0, 1, 7) // those that it wants
	w.endCopy()
	w.endCopy()
	w.endCopy() // of the last one
	w.frames(0, 9)
	receive(12, 9, 3, 4) // those that it wants, and those that landing buffers have room for
	for range 9 {
		w.m.Processed(w.now, 0, 0, 1, 1)
	}
	receive(0, 0, 3, 4)
	w.endCopy()
	receive(0, 0, 4)
	w.endCopy()
	require.Equal(t, []int{2}, w.flows[0].runs)
}

// Without Spec.Async, only the packets that a receive call waits for are copied.
func TestCopiesOnDemand(t *testing.T) {
	const frames, wanted = 40, 8
	for async, copies := range map[bool]int{true: frames, false: wanted} {
		w := opened(t, 0, 1, func(s *Spec) { s.Async, s.Landing = async, frames })
		w.frames(0, frames)
		require.Equal(t, frames, w.m.Pending(0))
		_, ok, err := w.m.Recv(w.now, 0, wanted, nil)
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, copies, w.m.flows[0].ring.Copying(), "async %v", async)
	}
}

// TestCopiesAhead checks how many slow packets are copied before a receive call asks for them: with the slow packets in
// host memory, as many as the flow's share of the credits. Of an inactive flow, and of those that share a ring, only
// those that a call asks for are copied.
func TestCopiesAhead(t *testing.T) {
	const share, asked, frames = 8, 2, 30
	w := opened(t, 2*share, 2, func(s *Spec) { s.Landing, s.Batch = 64, 4 })
	w.frames(0, frames)
	receive := func() int {
		got, err := w.m.AsyncRecv(w.now, 0, asked, nil)
		require.NoError(t, err)
		return len(got)
	}
	for taken := range share / asked {
		require.Equal(t, asked, receive(), "fast packets %d", taken)
	}
	require.Zero(t, w.m.flows[0].ring.Copying(), "no call has asked")
	require.Zero(t, receive())
	require.Equal(t, asked, w.m.flows[0].ring.Copying(), "fast packets hold the share")
	require.Equal(t, Inactive, w.m.State(0))
	w.m.Processed(w.now, 0, share, 0, share)
	w.effects()
	require.Equal(t, asked, w.m.flows[0].ring.Copying(), "others have the share")

	w = opened(t, 2*share, 2, func(s *Spec) { s.Landing, s.Batch = 64, 1 })
	w.frames(1, frames)
	got, err := w.m.AsyncRecv(w.now, 1, share, nil)
	require.NoError(t, err)
	require.Len(t, got, share)
	w.m.Processed(w.now, 1, share/2, 0, share/2)
	_, err = w.m.AsyncRecv(w.now, 1, asked, nil)
	require.NoError(t, err)
	require.Equal(t, Draining, w.m.State(1))
	require.Equal(t, share, w.m.flows[1].ring.Copying(), "the share, beside fast packets in host memory")
	w.m.Processed(w.now, 1, share/2, 0, share/2)
	w.endCopy()
	require.Equal(t, share, w.m.flows[1].landed)

	w = opened(t, 2*share, 2, func(s *Spec) { s.Landing, s.Accounts = 64, AccountsShared })
	require.NoError(t, w.m.Open(w.now, 2))
	w.frames(2, frames)
	_, err = w.m.AsyncRecv(w.now, 2, asked, nil)
	require.NoError(t, err)
	w.endCopy()
	require.Equal(t, asked, w.m.flows[2].landed, "no share")
}
