package manager

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArm checks the overshoot when frames exceed the credits before a poll and before the rule is rewritten, and the
// order of packets across the rewriting.
func TestArm(t *testing.T) {
	w := opened(t, 4, 1, func(s *Spec) { s.Controller = ControlArm })
	poll := func() { w.m.Polled(0, w.flows[0].hits) }
	poll()
	w.frames(0, 3)
	poll()
	require.Empty(t, w.late)
	w.frames(0, 3)
	poll()
	require.Equal(t, []late{{flow: 0, steer: 2}}, w.late)
	w.frames(0, 2) // before the rule is rewritten
	require.EqualValues(t, 4, w.m.Stats().Overshoot)
	require.Equal(t, 8, w.m.InHost(0))
	w.effects()
	w.frames(0, 2)
	w.receiveAll(t, 0)
	require.Equal(t, []late{{flow: 0, steer: 1}}, w.late)
	require.Zero(t, w.m.InHost(0))
	w.frames(0, 1)
	w.effects()
	w.receiveAll(t, 0)
	w.frames(0, 1)
	w.receiveAll(t, 0)
	require.Equal(t, Fast, w.m.State(0))
	require.EqualValues(t, 1, w.m.Stats().Late)
	require.NoError(t, w.check())
}

// TestResumeAfterDrain checks that the fast path stays paused until the last slow packet has been copied.
func TestResumeAfterDrain(t *testing.T) {
	w := opened(t, 4, 1, func(s *Spec) { s.Copies = 2 })
	w.frames(0, 16)
	got, err := w.m.AsyncRecv(0, 0, 4, nil)
	require.NoError(t, err)
	require.Len(t, got, 4)
	w.m.Processed(0, 0, 4, 0, 4)
	require.Equal(t, 4, w.m.ledger.Balance(0))
	got, err = w.m.AsyncRecv(0, 0, 16, nil) // starts the copies
	require.NoError(t, err)
	require.Empty(t, got)
	for copies := 3; copies > 0; copies-- {
		require.Equal(t, Draining, w.m.State(0), "%d copies left", copies)
		require.Empty(t, w.late)
		w.endCopy()
	}
	require.Equal(t, Resuming, w.m.State(0))
	require.Equal(t, []late{{flow: 0, add: 4, resume: true}}, w.late)
}

// TestLazyRelease checks that credits return after each batch of messages, and that a batch of as many messages as the
// flow has credits, or more, counts as one less.
func TestLazyRelease(t *testing.T) {
	for _, x := range []struct{ batch, want int }{{3, 3}, {100, 7}} {
		w := opened(t, 8, 1, func(s *Spec) { s.Batch = x.batch })
		w.frames(0, 8)
		got, err := w.m.AsyncRecv(0, 0, 8, nil)
		require.NoError(t, err)
		require.Len(t, got, 8)
		for n := 1; n < x.want; n++ {
			w.m.Processed(0, 0, 1, 0, 1)
			require.Zero(t, w.m.ledger.Balance(0), "%d messages", n)
		}
		w.m.Processed(0, 0, 1, 0, 1)
		require.Equal(t, x.want, w.m.ledger.Balance(0))
		require.Equal(t, []late{{flow: 0, add: x.want}}, w.late)
	}
}

// TestInvolved checks that a flow stays active if only some of its unprocessed packets belong to the message in
// progress.
func TestInvolved(t *testing.T) {
	w := opened(t, 16, 2, nil)
	w.frames(0, 12)
	got, err := w.m.AsyncRecv(0, 0, 3, nil)
	require.NoError(t, err)
	require.Len(t, got, 3)
	got, err = w.m.AsyncRecv(0, 0, 9, got)
	require.NoError(t, err)
	require.Len(t, got, 8)
	require.Equal(t, Draining, w.m.State(0))
	require.Equal(t, 8, w.m.ledger.Entitled(0))
}

// TestArmResumesByItsEstimate checks that the controller `arm` does not resume a flow while packets that it has counted
// are on their way.
func TestArmResumesByItsEstimate(t *testing.T) {
	w := opened(t, 4, 1, func(s *Spec) { s.Controller = ControlArm })
	poll := func() { w.m.Polled(0, w.flows[0].hits) }
	poll()
	for range 4 {
		w.frame(0)
	}
	w.report(0, 0)
	poll()
	w.effects() // the rule is rewritten
	got, err := w.m.AsyncRecv(0, 0, 4, nil)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, 3, w.m.ledger.Balance(0))
	w.m.Processed(0, 0, 0, 0, 0)
	require.Empty(t, w.late, "3 packets are on their way")
	w.m.Processed(0, 0, 1, 0, 1)
	require.Equal(t, []late{{flow: 0, steer: 1}}, w.late)
}
