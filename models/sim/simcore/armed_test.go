package simcore

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"
)

// named is a handler that describes its events of kind 1.
type named struct{}

func (named) Handle(sim.Event) error { return nil }

func (named) Name() string { return "Part" }

func (named) Describe(e *Event) string {
	if e.Kind == 1 {
		return "the timer of queue pair 3"
	}
	return ""
}

// TestArmedAndDescribed: Armed counts the pending timers, and events describe themselves.
func TestArmedAndDescribed(t *testing.T) {
	e := NewEngine()
	timer, other := &Event{At: 20, H: named{}, Kind: 1, Timer: true}, &Event{At: 10, H: named{}}
	e.Schedule(timer)
	e.Schedule(other)
	require.Equal(t, 2, e.Pending())
	require.Equal(t, 1, e.Armed())
	require.Equal(t, "an event of Part, at 10 ps", e.Next().String())
	require.NoError(t, e.RunUntil(10))
	require.Equal(t, e.Pending(), e.Armed())
	require.Equal(t, "the timer of queue pair 3, at 20 ps", e.Next().String())
	require.NoError(t, e.Run())
	require.Zero(t, e.Armed())
	a := NewAlarm(e, named{}, false)
	a.SetTimer(30)
	require.Equal(t, 1, e.Armed())
	a.Set(25)
	require.Equal(t, 2, e.Pending())
	require.Equal(t, 1, e.Armed())
}
