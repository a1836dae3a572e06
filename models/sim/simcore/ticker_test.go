package simcore

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTickerSleepsAndWakesAtEdges(t *testing.T) {
	for name, e := range bothEngines() {
		var ticks []Ps
		work := 0
		tk := NewTicker("T", e, Freq{1000}, func(now Ps) (bool, error) {
			ticks = append(ticks, now)
			work--
			return work > 0, nil
		})
		wake := func(when Ps, w int) {
			at(e, when, func() {
				work = w
				tk.TickLater()
				tk.TickLater() // already awake
			})
		}
		wake(0, 1)       // at an edge: woken for the next one
		wake(1500, 3)    // between edges
		wake(10_000, 1)  // at an edge, after a long sleep
		wake(11_000, 1)  // at the time of the ticker's own tick
		wake(11_999, 1)  // one ps before the next edge
		wake(12_001, 1)  // one ps after a tick
		wake(20_500, -5) // no work
		require.NoError(t, e.Run())
		assert.Equal(t, []Ps{1000, 2000, 3000, 4000, 11_000, 12_000, 13_000, 21_000}, ticks, name)
		assert.Equal(t, "T", tk.Name())
		assert.Equal(t, Freq{1000}, tk.Freq())
	}
}

// TestTickLaterInsideATick: TickLater called during a tick counts, even if the tick then reports no
// progress.
func TestTickLaterInsideATick(t *testing.T) {
	e := NewEngine()
	count := 0
	var tk *Ticker
	tk = NewTicker("T", e, Freq{}, func(Ps) (bool, error) {
		if count++; count < 3 {
			tk.TickLater()
		}
		return count == 1, nil
	})
	tk.TickLater()
	runWithin(t, e)
	assert.Equal(t, 3, count)
	assert.Equal(t, 3*DefaultPeriodPs, e.Now())
}

func TestTickerError(t *testing.T) {
	e := NewEngine()
	bad := errors.New("stuck")
	NewTicker("T", e, Freq{}, func(Ps) (bool, error) { return true, bad }).TickLater()
	assert.ErrorIs(t, e.Run(), bad)
	assert.Zero(t, e.Pending())
	assert.Panics(t, func() { NewTicker("T", e, Freq{-1}, nil) })
}

// TestTickComesBeforeDelivery: a tick sees the messages that arrived earlier, and none that arrives
// at its own time.
func TestTickComesBeforeDelivery(t *testing.T) {
	e := NewEngine()
	n := newNode("B", e, 1000, 1, 0, 4)
	var seen []bool
	n.Ticker.tick = func(Ps) (bool, error) {
		seen = append(seen, n.port.Peek() != nil)
		return false, nil
	}
	other := newStub("A")
	port := NewPort(other, 4, "A.Port")
	_, err := Connect("Link", e, LinkSpec{Latency: 1000}, port, n.port)
	require.NoError(t, err)
	require.Nil(t, port.Send(newMsg(0, 1, 0)))
	n.TickLater()
	runWithin(t, e)
	assert.Equal(t, []bool{false, true}, seen)
	assert.Equal(t, Ps(2000), e.Now())
}
