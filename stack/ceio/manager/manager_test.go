package manager

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/ceio/ring"
)

// play plays a schedule until every flow has sent its frames and all of them have been handed over, and there were
// three exhaustions, drains and resumes. With Algorithm 1 as printed, lost credits may prevent that.
func (w *world) play(frames, steps int) error {
	open := 0
	for range steps {
		w.now += Ps(w.rand.IntN(3))
		id := w.rand.IntN(len(w.flows))
		if id >= open {
			if id = open; w.rand.IntN(20) > 0 && open > 0 {
				id = w.rand.IntN(open)
			} else if open++; w.m.Open(w.now, id) != nil {
				return w.m.Err()
			}
		}
		if err := w.step(id, frames); err != nil {
			return err
		}
		if err := w.check(); err != nil {
			return err
		}
		if !w.done(frames) {
			continue
		}
		if s := w.m.Stats(); w.spec.AsPrinted || min(s.Exhausted, s.Drains, s.Resumes) >= 3 {
			return nil
		}
		frames += 60
	}
	return &stuckError{w}
}

// stuckError reports a schedule that did not end.
type stuckError struct{ w *world }

func (e *stuckError) Error() string {
	s := "not all frames were handed over:"
	for i := range e.w.flows {
		s += " " + e.w.m.State(i).String()
	}
	return s
}

func (w *world) done(frames int) bool {
	for i := range w.flows {
		if len(w.flows[i].got) < frames {
			return false
		}
	}
	return true
}

func (w *world) step(id, frames int) error {
	f := &w.flows[id]
	switch w.rand.IntN(9) {
	case 0:
		for range 1 + w.rand.IntN(4) {
			if int(f.seq) < frames {
				w.frame(id)
			}
		}
	case 1, 2:
		for range w.rand.IntN(12) {
			w.report(id, w.rand.IntN(2))
		}
	case 3:
		for range min(len(w.late), w.rand.IntN(12)) {
			w.effect()
		}
	case 4:
		for range min(len(w.ended), w.rand.IntN(4)) {
			w.endCopy()
		}
	case 5, 6:
		if int(f.seq) == frames {
			f.size = min(max(frames-len(f.got), 1), f.size) // the last message is shorter
		}
		return w.receive(id)
	case 7:
		w.process(id)
	default:
		w.m.Tick(w.now)
		if w.spec.Controller == ControlArm && !w.m.flows[id].shared {
			w.m.Polled(id, f.hits)
		}
	}
	return nil
}

// schedules returns how many schedules a test plays: 1,000, and times NICTWIN_LONG if that is set.
func schedules(t *testing.T) uint64 {
	text := os.Getenv("NICTWIN_LONG")
	if text == "" {
		return 1000
	}
	n, err := strconv.ParseUint(text, 10, 32)
	require.NoError(t, err, "NICTWIN_LONG")
	return 1000 * n
}

// TestSchedules plays drawn schedules of arrivals, exhaustion, drains and resumes, with each controller.
func TestSchedules(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*Spec)
	}{
		{"nic", nil},
		{"arm", func(s *Spec) { s.Controller = ControlArm }},
		{"lent", func(s *Spec) { s.Lend = true }},
		{"few descriptors", func(s *Spec) { s.FastSlots, s.Landing = 12, 12 }},
		{"static", func(s *Spec) { s.Reallocate = false }},
		{"printed", func(s *Spec) { s.AsPrinted = true }},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			var all Stats
			for seed := range schedules(t) {
				w := newWorld(seed, x.change)
				require.NoError(t, w.play(300, 100_000), "seed %d", seed)
				s := w.m.Stats()
				all.Exhausted += s.Exhausted
				all.Late += s.Late
				all.Slow += s.Slow
				all.Fast += s.Fast
				all.Resumes += s.Resumes
				all.Overshoot += s.Overshoot
				all.Deactivated += s.Deactivated
				all.Marked += s.Marked
			}
			require.NotZero(t, all.Late, "no frame came between a resume and its effect")
			require.NotZero(t, all.Marked)
			t.Logf("%+v", all)
		})
	}
}

// TestFigure7 plays the example of Fig. 7 through the three receive functions: 4 credits, so that packets #1 to #4 are
// fast and #17 to #20 slow; the first message is #1 to #4, #17 and #18.
func TestFigure7(t *testing.T) {
	begin := func(lend bool) *world {
		w := newWorld(1, func(s *Spec) {
			s.Credits, s.Flows, s.Batch, s.Lend, s.Copies, s.Accounts = 4, 1, 2, lend, 1, AccountsExclusive
		})
		require.NoError(t, w.m.Open(0, 0))
		w.effects()
		for range 8 {
			w.frame(0)
		}
		for range 4 {
			w.report(0, 1)
			w.report(0, 0)
		}
		require.Equal(t, Slow, w.m.State(0))
		return w
	}
	fast := []ring.Packet{{Fast: true}, {Fast: true, Index: 1}, {Fast: true, Index: 2}, {Fast: true, Index: 3}}
	slow := []ring.Packet{{Index: 0}, {Index: 1}}

	w := begin(false)
	got, ok, err := w.m.Recv(0, 0, 6, nil)
	require.NoError(t, err)
	require.False(t, ok, "recv() waits for the DMA of #17 and #18")
	require.Empty(t, got)
	require.Equal(t, []int{2}, w.flows[0].runs, "one work entry copies the run that the message needs")
	w.endCopy()
	got, ok, _ = w.m.Recv(0, 0, 6, nil)
	require.True(t, ok)
	require.Equal(t, append(fast, slow...), got)
	require.Equal(t, []int{2}, w.flows[0].runs, "#19 and #20 follow at once")
	require.Equal(t, Draining, w.m.State(0))
	require.Zero(t, w.m.Credits().Balance(0))
	w.m.Processed(0, 0, 4, 2, 1)
	require.Zero(t, w.m.Credits().Balance(0), "a batch has two messages")
	w.endCopy()
	require.Equal(t, Slow, w.m.State(0), "drained, without credits")
	got, ok, _ = w.m.Recv(0, 0, 2, nil)
	require.True(t, ok)
	require.Equal(t, []ring.Packet{{Index: 2}, {Index: 3}}, got)
	w.m.Processed(0, 0, 0, 2, 1)
	require.Equal(t, Resuming, w.m.State(0), "the second message ends the batch")
	require.Equal(t, []late{{flow: 0, add: 4, resume: true}}, w.late)

	w = begin(false)
	got, err = w.m.AsyncRecv(0, 0, 6, nil)
	require.NoError(t, err)
	require.Equal(t, fast, got, "async_recv() returns #1 to #4 at once")
	require.Equal(t, []int{2}, w.flows[0].runs, "and has started the DMA of #17 and #18")
	w.endCopy()
	got, err = w.m.AsyncRecv(0, 0, 2, nil)
	require.NoError(t, err)
	require.Equal(t, slow, got)

	w = begin(true)
	got, err = w.m.AsyncRecv(0, 0, 6, nil)
	require.NoError(t, err)
	require.Equal(t, fast, got)
	require.Empty(t, w.flows[0].runs, "there is no buffer to copy to")
	require.NoError(t, w.m.PostRecv(0, 0, 2))
	require.Equal(t, []int{2}, w.flows[0].runs, "the lent buffers take #17 and #18")
	w.endCopy()
	require.Empty(t, w.flows[0].runs, "#19 and #20 wait for buffers")
}
