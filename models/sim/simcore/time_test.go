package simcore

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSecondsRoundTrip(t *testing.T) {
	for _, p := range []Ps{0, 1, 2, 2499, 2500, Second - 1, 2048*Second + 1, 8192*Second - 1} {
		assert.Equal(t, p, FromSec(p.Sec()))
	}
	for p := 4000 * Second; p < 8192*Second; p += 50_000_000_123_457 / 997 * 7 {
		require.Equal(t, p, FromSec(p.Sec()))
	}
	rapid.Check(t, func(t *rapid.T) {
		p := Ps(rapid.Int64Range(0, int64(8192*Second)).Draw(t, "ps"))
		if got := FromSec(p.Sec()); got != p {
			t.Fatalf("%v became %v", p, got)
		}
	})
}

func TestFromSecRounds(t *testing.T) {
	for sec, want := range map[sim.VTimeInSec]Ps{1.4e-12: 1, 1.6e-12: 2, 2.5e-9: 2500, 1: Second} {
		assert.Equal(t, want, FromSec(sec), "%v s", sec)
	}
}

func TestFreq(t *testing.T) {
	f := Freq{}
	assert.Equal(t, DefaultPeriodPs, f.Period())
	assert.NoError(t, f.Validate())
	assert.ErrorContains(t, Freq{-1}.Validate(), "period_ps -1: want")
	for _, c := range []struct{ at, ceil, next Ps }{
		{0, 0, 2500}, {1, 2500, 2500}, {2499, 2500, 2500}, {2500, 2500, 5000}, {2501, 5000, 5000},
	} {
		assert.Equal(t, c.ceil, f.Ceil(c.at), "Ceil(%v)", c.at)
		assert.Equal(t, c.next, f.Next(c.at), "Next(%v)", c.at)
	}
	assert.Equal(t, int64(3), f.Cycle(f.At(3)))
	assert.Equal(t, int64(2), f.Cycle(f.At(3)-1))
}

func TestNowOfBothEngines(t *testing.T) {
	for name, e := range bothEngines() {
		var seen Ps
		e.Schedule(&Event{At: 123_456_789_012_345, H: handlerFunc(func(sim.Event) error {
			seen = Now(e)
			return nil
		})})
		assert.NoError(t, e.Run(), name)
		assert.Equal(t, Ps(123_456_789_012_345), seen, name)
	}
}
