package control

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

const us Ps = 1e6

// host feeds a loop with samples of constant occupancy and link use.
type host struct {
	*Loop
	spec Spec
	now  Ps
}

func newHost(change func(*Spec)) *host {
	s := DefaultSpec()
	if change != nil {
		change(&s)
	}
	return &host{Loop: New(s), spec: s}
}

// run takes n samples.
func (h *host) run(n int, lines, gbps uint64) {
	for range n {
		h.now += h.spec.PeriodPs
		h.Step(h.now, Sample{Elapsed: h.spec.PeriodPs, Occupied: lines * lineBytes * uint64(h.spec.PeriodPs),
			Link: gbps * uint64(h.spec.PeriodPs) / 8000})
	}
}

// TestRamp checks how fast the averages follow, and that the throttle takes a level with each sample from then on.
func TestRamp(t *testing.T) {
	h := newHost(nil)
	h.run(10, 93, 50)
	require.False(t, h.Marking(), "93·(1 − (7/8)^10) = 68.5 lines")
	require.EqualValues(t, 68, h.Lines())
	require.Zero(t, h.Level())
	h.run(1, 93, 50)
	require.True(t, h.Marking(), "71.6 lines")
	require.Equal(t, 1, h.Level())
	h.run(2, 93, 50)
	require.Equal(t, 3, h.Level())
	h.run(5, 93, 50)
	require.Equal(t, 4, h.Level(), "no level beyond the last one")
	require.EqualValues(t, 3, h.Gbps(), "50·(1 − (255/256)^18)")
	h.run(2000, 0, 50)
	require.EqualValues(t, 49, h.Gbps())
}

// TestRegions checks each region of occupancy and link use.
func TestRegions(t *testing.T) {
	for name, x := range map[string]struct {
		lines, gbps uint64
		level       int // after 1,000 samples from level 2
		marks       bool
	}{
		"high occupancy, link below":  {90, 100, 4, true},
		"high occupancy, link above":  {90, 200, 2, true},
		"low occupancy, link above":   {60, 200, 0, false},
		"low occupancy, link below":   {60, 100, 2, false},
		"no traffic":                  {0, 0, 0, false},
		"high occupancy, no traffic":  {90, 0, 4, true},
		"exactly at both thresholds":  {70, 168, 2, false},
		"occupancy beyond any buffer": {1 << 20, 1 << 15, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(nil)
			h.level, h.occupancy, h.link = 2, int64(x.lines)*scale, int64(x.gbps)*scale
			h.run(1000, x.lines, x.gbps)
			require.Equal(t, x.level, h.Level())
			require.Equal(t, x.marks, h.Marking())
		})
	}
}

// TestStepsDown checks that levels are given back one by one, ReducePs apart, however often the loop samples.
func TestStepsDown(t *testing.T) {
	for _, period := range []Ps{us / 2, us, 10 * us, 200 * us} {
		h := newHost(func(s *Spec) { s.PeriodPs = period })
		h.level, h.link, h.lowered = 4, 200*scale, 0
		var at []Ps
		for h.level > 0 {
			before := h.level
			h.run(1, 10, 200)
			if h.level < before {
				at = append(at, h.now)
			}
		}
		require.Len(t, at, 4)
		for i, now := range at {
			require.Equal(t, Ps(i+1)*max(period, 150*us), now, "period of %d ps", period)
		}
	}
}

// TestOscillation drives the loop with a host that obeys it: with each level the occupancy falls. The level swings, but
// by no more than one around where the occupancy crosses its threshold, and with a period bounded by ReducePs.
func TestOscillation(t *testing.T) {
	for _, falls := range []uint64{5, 10, 20} {
		h := newHost(nil)
		var seen []int
		for range 20_000 {
			lines := 93 - falls*uint64(h.Level())
			gbps := uint64(140 + 20*h.Level())
			h.run(1, lines, gbps)
			seen = append(seen, h.Level())
		}
		low, high, changes := 4, 0, 0
		for i, level := range seen[10_000:] {
			low, high = min(low, level), max(high, level)
			if i > 0 && level != seen[10_000+i-1] {
				changes++
			}
		}
		require.LessOrEqual(t, high-low, 1, "with %d lines a level", falls)
		require.LessOrEqual(t, changes, 2*10_000/150, "with %d lines a level", falls)
		t.Logf("%d lines a level: from %d to %d, %d changes in 10 ms", falls, low, high, changes)
	}
}

// TestDrawnSamples checks the invariants for samples of any size.
func TestDrawnSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 1))
	for range 200 {
		s := Spec{PeriodPs: 1000 + r.Int64N(1e8), OccupancyLines: 1 + r.Int64N(200), TargetGbps: 1 + r.Int64N(400),
			OccupancyGain: 1 + r.Int64N(300), LinkGain: 1 + r.Int64N(300), Levels: r.IntN(6), ReducePs: r.Int64N(1e9)}
		require.NoError(t, s.Validate())
		l, twin, now, lowered := New(s), New(s), Ps(0), Ps(-1e12)
		for range 500 {
			x := Sample{Elapsed: r.Int64N(1e9), Occupied: r.Uint64() >> r.IntN(64), Link: r.Uint64() >> r.IntN(64)}
			now += x.Elapsed
			before := l.Level()
			l.Step(now, x)
			twin.Step(now, x)
			require.Equal(t, twin, l)
			require.True(t, l.Level() >= 0 && l.Level() <= s.Levels)
			require.LessOrEqual(t, max(l.Level()-before, before-l.Level()), 1)
			require.GreaterOrEqual(t, min(l.Lines(), l.Gbps()), int64(0))
			if l.Level() < before {
				require.GreaterOrEqual(t, now-lowered, s.ReducePs)
				lowered = now
			}
		}
	}
}

// TestGaps checks that gaps in the traffic shorter than ReducePs neither lower the level nor let the loop rest, and
// that longer ones do both.
func TestGaps(t *testing.T) {
	for gap, over := range map[int]bool{1: false, 9: false, 149: false, 150: true, 400: true} {
		h := newHost(nil)
		h.level = 2
		for range 10 {
			h.run(1, 10, 100)
			h.run(gap, 0, 0)
			require.False(t, !over && h.Resting())
		}
		require.Less(t, h.Gbps(), h.spec.TargetGbps)
		want := 2
		if over {
			want = 0
		}
		require.Equal(t, want, h.Level(), "gaps of %d us", gap)
		h.level = 0
		require.Equal(t, over, h.Resting(), "gaps of %d us", gap)
	}
}

// TestEndOfTraffic checks that levels are given back ReducePs after the last byte, and as far apart.
func TestEndOfTraffic(t *testing.T) {
	h := newHost(nil)
	h.level = 2
	h.run(1000, 10, 100)
	for left := range 2 {
		h.run(149, 0, 0)
		require.Equal(t, 2-left, h.Level())
		h.run(1, 0, 0)
		require.Equal(t, 1-left, h.Level())
	}
}

// TestRest checks that a loop which is left without traffic comes to rest, and that it resumes with the averages that
// it would have, had it sampled all the time.
func TestRest(t *testing.T) {
	for _, rest := range []int{0, 1, 100, 100_000} {
		h := newHost(nil)
		h.run(1000, 93, 150)
		require.False(t, h.Resting())
		n := 0
		for ; !h.Resting(); n++ {
			require.Less(t, n, 1000)
			h.run(1, 0, 0)
		}
		t.Logf("at rest after %d samples", n)
		twin := *h.Loop
		for range rest {
			h.run(1, 0, 0)
		}
		twin.Resume(int64(rest))
		require.Equal(t, h.occupancy, twin.occupancy)
		require.Equal(t, h.link, twin.link)
		require.Equal(t, rest == 100_000, twin.link == 0)
		require.False(t, twin.Resting(), "packets have arrived")
	}
	h := newHost(nil)
	h.Step(h.now, Sample{Occupied: 1 << 40})
	require.Zero(t, h.Lines(), "no time has passed")
}

func TestSpecErrors(t *testing.T) {
	s := DefaultSpec()
	require.NoError(t, s.Validate())
	err := (&Spec{Levels: 17, ReducePs: -1}).Validate()
	for _, want := range []string{"period_ps 0ps: want 1ns to 1s", "occupancy_lines 0", "target_gbps 0",
		"occupancy_gain 0", "link_gain 0", "levels 17: want 0 to 16", "reduce_ps -1"} {
		require.ErrorContains(t, err, want)
	}
}
