package simcore

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type ran struct {
	at        Ps
	secondary bool
	seq       int
}

func (a ran) order(b ran) int {
	sec := func(r ran) int {
		if r.secondary {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(sec(a), sec(b)), cmp.Compare(a.seq, b.seq))
}

// TestOrder: events run in the order (time, primaries first, order of scheduling), whether
// scheduled before the run or during it, and however far apart.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEngine()
		var done, wanted []ran
		seq := 0
		var handler handlerFunc
		schedule := func(at Ps, secondary bool) {
			r := ran{at, secondary, seq}
			seq++
			wanted = append(wanted, r)
			e.Schedule(&Event{At: at, Secondary: secondary, H: handler, Kind: r.seq})
		}
		spread := rapid.SampledFrom([]int64{1, 5, 300, 100_000, 1 << 40})
		draw := func() Ps { return Ps(rapid.Int64Range(0, spread.Draw(t, "spread")).Draw(t, "step")) }
		budget := rapid.IntRange(0, 300).Draw(t, "events")
		handler = func(evt sim.Event) error {
			ev := evt.(*Event)
			if e.Now() != ev.At || FromSec(e.CurrentTime()) != ev.At {
				t.Fatalf("now is %v in an event at %v", e.Now(), ev.At)
			}
			done = append(done, ran{ev.At, ev.Secondary, ev.Kind})
			if budget > 0 {
				budget--
				// Among events of the same time, the order checked here has primaries first. A secondary must not
				// schedule a primary for the current time: it would run after the secondary.
				step := draw()
				secondary := rapid.Bool().Draw(t, "secondary")
				if ev.Secondary && step == 0 {
					secondary = true
				}
				schedule(ev.At+step, secondary)
			}
			return nil
		}
		for range rapid.IntRange(1, 100).Draw(t, "first") {
			schedule(draw(), rapid.Bool().Draw(t, "secondary"))
		}
		runInPieces(t, e, draw)
		slices.SortFunc(wanted, ran.order)
		require.Equal(t, wanted, done)
	})
}

func runInPieces(t *rapid.T, e *Engine, draw func() Ps) {
	for range rapid.IntRange(0, 5).Draw(t, "pieces") {
		until := e.Now() + draw()
		require.NoError(t, e.RunUntil(until))
		require.Equal(t, until, e.Now())
	}
	require.NoError(t, e.Run())
	require.Zero(t, e.Pending())
}

// TestPrimaryFromSecondary: a primary that a secondary schedules for its own time runs next.
func TestPrimaryFromSecondary(t *testing.T) {
	e := NewEngine()
	var got []string
	note := func(s string) handlerFunc {
		return func(sim.Event) error { got = append(got, s); return nil }
	}
	e.Schedule(&Event{At: 5, Secondary: true, H: handlerFunc(func(sim.Event) error {
		got = append(got, "first secondary")
		e.Schedule(&Event{At: 5, H: note("primary")})
		return nil
	})})
	e.Schedule(&Event{At: 5, Secondary: true, H: note("second secondary")})
	runWithin(t, e)
	assert.Equal(t, []string{"first secondary", "primary", "second secondary"}, got)
}

// TestOrderWhileWheelAdapts: if the intervals between events change by orders of magnitude, the
// wheel changes its bucket width in both directions, and the order of events stays right.
func TestOrderWhileWheelAdapts(t *testing.T) {
	e := NewEngine()
	rng := rand.New(rand.NewPCG(1, 2))
	last, count := ran{at: -1}, 0
	shifts := map[uint]bool{}
	h := handlerFunc(func(evt sim.Event) error {
		ev := evt.(*Event)
		r := ran{ev.At, ev.Secondary, ev.Kind}
		require.Negative(t, last.order(r))
		last = r
		shifts[e.q.shift] = true
		count++
		step := Ps(rng.Uint64N(1000))
		if count/50_000%2 == 1 {
			step *= 100_000
		}
		if count < 300_000 {
			ev.At += step + 1
			ev.Kind = count + 3000
			ev.Secondary = count%7 == 0
			e.Schedule(ev)
		}
		return nil
	})
	for i := range 3000 {
		e.Schedule(&Event{At: Ps(rng.Uint64N(1<<16) + 1), H: h, Kind: i})
	}
	runWithin(t, e)
	assert.Equal(t, 300_000+2999, count)
	assert.Greater(t, len(shifts), 3, "widths used: %v", shifts)
}

func TestSchedulingMistakesPanic(t *testing.T) {
	e := NewEngine()
	ev := &Event{At: 10, H: handlerFunc(func(sim.Event) error { return nil })}
	e.Schedule(ev)
	assert.True(t, ev.Pending())
	assert.PanicsWithValue(t, "simcore: an event of simcore.handlerFunc, at 10 ps "+
		"is scheduled again while it is pending at 10 ps", func() { e.Schedule(ev) })
	assert.Panics(t, func() { new(EventPool).Put(ev) })
	runWithin(t, e)
	assert.False(t, ev.Pending())

	ev.At = 9
	assert.PanicsWithValue(t, "simcore: an event of simcore.handlerFunc, at 9 ps "+
		"is scheduled in the past, now is 10 ps", func() { e.Schedule(ev) })
	ev.At = 11
	e.Schedule(ev)
	ev.At = 12
	assert.Panics(t, func() { _ = e.Run() }, "changed while pending")
}

func TestPoolReuses(t *testing.T) {
	var p EventPool
	a := p.Get()
	a.Kind = 3
	p.Put(a)
	assert.Same(t, a, p.Get())
	assert.Equal(t, Event{}, *a)
}

func TestHandlerErrorEndsTheRun(t *testing.T) {
	bad := errors.New("no such queue")
	e := NewEngine()
	c := NewTickingComponent("Dev", e, Freq{}, func(now Ps) (bool, error) {
		if now == 7500 {
			return false, bad
		}
		return true, nil
	})
	c.TickLater()
	reached := false
	at(e, 7501, func() { reached = true })
	err := e.Run()
	assert.ErrorIs(t, err, bad)
	assert.EqualError(t, err, "simcore: at 7500 ps: Dev: no such queue")
	assert.False(t, reached)
	assert.Equal(t, 1, e.Pending())

	e.AcceptHook(&eventLog{}) // the same with a hook, and with an event that is not an *Event
	e.Schedule(foreignEvent{7500, handlerFunc(func(sim.Event) error { return bad })})
	assert.ErrorIs(t, e.Run(), bad)
	runWithin(t, e)
	assert.True(t, reached)
}

func TestStandstillIsAnError(t *testing.T) {
	e := NewEngine()
	e.maxInstant = 1000
	ev := &Event{At: 5}
	ev.H = handlerFunc(func(sim.Event) error { e.Schedule(ev); return nil })
	e.Schedule(ev)
	assert.ErrorContains(t, e.Run(), "time stands still: 1000 events at 5 ps")
}

func TestStopAndRunUntil(t *testing.T) {
	e := NewEngine()
	var got []Ps
	for _, when := range []Ps{10, 20, 20, 30} {
		at(e, when, func() {
			got = append(got, e.Now())
			if e.Now() == 30 {
				e.Stop()
			}
		})
	}
	at(e, 40, func() { got = append(got, 40) })
	require.NoError(t, e.RunUntil(20))
	assert.Equal(t, []Ps{10, 20, 20}, got)
	assert.Equal(t, Ps(20), e.Now())
	require.NoError(t, e.RunUntil(25))
	assert.Equal(t, Ps(25), e.Now())
	require.NoError(t, e.RunUntil(50))
	assert.Equal(t, Ps(30), e.Now(), "stopped")
	assert.Equal(t, 1, e.Pending())
	require.NoError(t, e.RunUntil(50))
	assert.Equal(t, []Ps{10, 20, 20, 30, 40}, got)
	assert.Equal(t, Ps(50), e.Now())
}

type foreignEvent struct {
	at Ps
	h  sim.Handler
}

func (e foreignEvent) Time() sim.VTimeInSec { return e.at.Sec() }
func (e foreignEvent) Handler() sim.Handler { return e.h }
func (e foreignEvent) IsSecondary() bool    { return false }

// eventLog is a hook that records the events and positions with which it is called.
type eventLog struct {
	items []any
	pos   []*sim.HookPos
}

func (l *eventLog) Func(ctx sim.HookCtx) {
	l.items = append(l.items, ctx.Item)
	l.pos = append(l.pos, ctx.Pos)
}

func TestHooksSeeTheScheduledEvent(t *testing.T) {
	e := NewEngine()
	log := &eventLog{}
	e.AcceptHook(log)
	nop := handlerFunc(func(sim.Event) error { return nil })
	own, foreign := &Event{At: 1, H: nop}, &foreignEvent{2, nop}
	e.Schedule(own)
	e.Schedule(foreign)
	runWithin(t, e)
	before, after := sim.HookPosBeforeEvent, sim.HookPosAfterEvent
	assert.Equal(t, []any{own, own, foreign, foreign}, log.items)
	assert.Equal(t, []*sim.HookPos{before, after, before, after}, log.pos)
}

func TestPauseHoldsTheRun(t *testing.T) {
	e := NewEngine()
	count := 0
	ev := &Event{}
	ev.H = handlerFunc(func(sim.Event) error {
		if count++; count < 200_000 {
			ev.At += 3
			e.Schedule(ev)
		}
		return nil
	})
	e.Schedule(ev)
	e.Pause() // before the run
	result := make(chan error)
	go func() { result <- e.Run() }()
	for range 20 {
		e.Pause()
		e.Pause()
		seen := count // the race detector reports this read if the engine still runs
		time.Sleep(100 * time.Microsecond)
		assert.Equal(t, seen, count)
		e.Continue()
	}
	e.Continue()
	assert.NoError(t, <-result)
	assert.Equal(t, 200_000, count)
	assert.Panics(t, func() { e.runInside() })
}

// runInside calls Run from a handler.
func (e *Engine) runInside() {
	at(e, e.now, func() { _ = e.Run() })
	_ = e.Run()
}

func TestPauseFromAHandlerPanics(t *testing.T) {
	e := NewEngine()
	at(e, 1, func() { assert.Panics(t, func() { e.pause(10 * time.Millisecond) }) })
	runWithin(t, e)
}

type endHandler func(sim.VTimeInSec)

func (f endHandler) Handle(now sim.VTimeInSec) { f(now) }

func TestFinishedCallsInOrder(t *testing.T) {
	e := NewEngine()
	at(e, 5, func() {})
	var got []int
	for i := range 3 {
		e.RegisterSimulationEndHandler(endHandler(func(now sim.VTimeInSec) {
			assert.Equal(t, Ps(5), FromSec(now))
			got = append(got, i)
		}))
	}
	runWithin(t, e)
	e.Finished()
	assert.Equal(t, []int{0, 1, 2}, got)
}

func TestEventsAllocateNothing(t *testing.T) {
	e := NewEngine()
	rng := rand.New(rand.NewPCG(1, 2))
	left := 0
	var h handlerFunc = func(evt sim.Event) error {
		ev := evt.(*Event)
		ev.At += Ps(rng.Uint64N(1<<16)+1) * 1000
		e.Schedule(ev)
		if left--; left == 0 {
			e.Stop()
		}
		return nil
	}
	for range 1000 {
		e.Schedule(&Event{At: Ps(rng.Uint64N(1<<16) + 1), H: h})
	}
	run := func(n int) { left = n; _ = e.Run() }
	run(50_000)
	assert.Zero(t, testing.AllocsPerRun(10, func() { run(1000) }))
}
