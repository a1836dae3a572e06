package bench

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/format/wire"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
	_ "nictwin/models/sim/fixedseed"
	"nictwin/rtlbridge/build"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/papers"
	"nictwin/scenarios/replay"
)

func tiny(t testing.TB, names ...string) Options {
	t.Helper()
	dut, err := filepath.Abs("../../verilator/duts/nic/dut.yaml")
	require.NoError(t, err)
	return Options{Names: names, DUT: dut, Seed: 3, Seeds: 1, Repeats: 1, Percent: 1, Program: "true"}
}

func TestFramesAreWhatTheNICChecks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(nicspec.FrameMin, 2000).Draw(t, "size")
		frames, err := Frames(3, size, rapid.Uint64().Draw(t, "seed"))
		require.NoError(t, err)
		for i, f := range frames {
			require.Len(t, f, size)
			c := core.Config{RxEnable: true, RocePort: nicspec.ResetRocePort}
			var v core.RxVerdict
			c.Classify(0, f, &v)
			h := &v.Headers
			require.True(t, h.Roce)
			require.EqualValues(t, i, h.DestQP)
			require.Equal(t, wire.OK, wire.VerifyFrameICRC(f).Verdict)
			require.Equal(t, wire.OK, wire.VerifyIPv4Header(f[ipAt:]))
			require.Equal(t, wire.OK, wire.VerifyUDPChecksum(f[ipAt:]))
		}
	})
}

// TestTrainingOnNarrowPorts checks that the traffic that trains a tuned build also passes on two ports of 256 bits.
func TestTrainingOnNarrowPorts(t *testing.T) {
	o := tiny(t)
	dev, err := device.Build(t.Context(), o.DUT, string(build.VariantSpeed), device.Eth{Ports: 2, Bits: 256}, nil)
	require.NoError(t, err)
	s := &session{Options: o, ctx: t.Context(), device: dev}
	training, err := s.training(2)
	require.NoError(t, err)
	training.Loop = 1
	rec, remove, err := s.record(training)
	require.NoError(t, err)
	defer remove()
	require.FileExists(t, rec.file)
}

// TestEveryFigureIsTaken takes every figure once, with little work, and checks that it has a unit, a comparison and a
// positive value. It does not judge the values.
func TestEveryFigureIsTaken(t *testing.T) {
	var names []string
	for _, n := range Names() {
		if !strings.HasPrefix(n, "build/") { // builds take long; the tests of devices cover them
			names = append(names, n)
		}
	}
	r, err := Run(context.Background(), tiny(t, names...))
	require.NoError(t, err)
	var got []string
	for _, x := range r.Results {
		require.NotEmpty(t, x.Unit, x.Name)
		require.NotEmpty(t, x.Against, x.Name)
		if x.Verdict != "" { // a claim of a paper may be missed
			continue
		}
		got = append(got, x.Name)
		// So little work converges for few claims, so that the share that passes may be 0.
		if !x.AtMost && !strings.Contains(x.Name, "wall_share") && !slices.Contains(experimentFigures(), x.Name) {
			require.Positive(t, x.Value, x.Name)
		}
		if slices.Contains(experimentFigures(), x.Name) {
			require.True(t, x.Value >= 0 && x.Value <= 1, "%s: %v: want a share", x.Name, x.Value)
		}
	}
	require.Equal(t, names, got)
	require.NotZero(t, r.Checked)
	require.Zero(t, r.Mismatches)
	require.Len(t, r.Build, 64)
	require.NotEmpty(t, r.Digest)
	require.Positive(t, r.Cycles)
	require.Positive(t, r.SimPs)

	var text strings.Builder
	require.NoError(t, r.Write(&text))
	require.Contains(t, text.String(), "bridge/refereed_over_raw")
}

// TestRatesOfTheNICRepeat checks that figures counted in cycles are the same in every run.
func TestRatesOfTheNICRepeat(t *testing.T) {
	first, err := Run(context.Background(), tiny(t, "nic/rx_line_rate_512", "nic/tx_line_rate_512"))
	require.NoError(t, err)
	again, err := Run(context.Background(), tiny(t, "nic/rx_line_rate_512", "nic/tx_line_rate_512"))
	require.NoError(t, err)
	require.Equal(t, first.Results, again.Results)
	require.Equal(t, first.Cycles, again.Cycles)
}

func TestResultAsJSON(t *testing.T) {
	b, err := json.Marshal(figure("a/b", 0.5, "ratio", 0.75, "the %s", "other"))
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"a/b","value":0.5,"unit":"ratio","goal":0.75,"ok":false,"against":"the other"}`,
		string(b))
	b, err = json.Marshal(limit("a/c", 2, "s", 15, "wall"))
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"a/c","value":2,"unit":"s","goal":15,"at_most":true,"ok":true,"against":"wall"}`,
		string(b))
}

// TestNoNumber checks that a claim measured as NaN, which JSON cannot represent, becomes a miss without a number.
func TestNoNumber(t *testing.T) {
	r := claim(&papers.Verdict{Claim: "x", Measured: []float64{math.NaN(), 1}, Verdict: "miss",
		Reason: "NaN is no measurement"}, 100)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"measured"`)
	require.Contains(t, string(text), `"value":0`)
	require.Contains(t, string(text), "NaN is no measurement")
	s := &session{Options: Options{Percent: 1}, ctx: t.Context()}
	take := func(*session) ([]Result, error) {
		return []Result{figure("engine/x", math.Inf(1), "ratio", 1, "y")}, nil
	}
	require.EqualError(t, s.take(&measurement{[]string{"engine/x"}, none, take}),
		"bench engine/x: +Inf is no measurement: raise --percent")
	require.Empty(t, s.report.Results)
}

func TestReportForPeople(t *testing.T) {
	r := Report{Results: []Result{
		figure("x/fast", 12345.6, "1/s", 10_000, "nothing"), figure("x/free", 1.5, "ratio", 0, "something"),
		limit("x/slow", 0.5, "s", 0.25, "the clock"), limit("x/none", 0, "cycles", 0, "all cycles"),
		figure("x/busy", 2, "ratio", 1, "something").disturbed(0.5),
		figure("x/calm", 2, "ratio", 1, "something").disturbed(0.01),
	}}
	var text strings.Builder
	require.NoError(t, r.Write(&text))
	require.Equal(t, ""+
		"x/fast  12346  1/s     ok (goal >= 10000)                    nothing\n"+
		"x/free  1.5    ratio   -                                     something\n"+
		"x/slow  0.5    s       missed (goal <= 0.25)                 the clock\n"+
		"x/none  0      cycles  ok (goal <= 0)                        all cycles\n"+
		"x/busy  2      ratio   machine too busy to tell (goal >= 1)  something; disturbed: processors were missing "+
		"50% of the time\n"+
		"x/calm  2      ratio   ok (goal >= 1)                        something\n", text.String())
	require.False(t, r.Results[4].OK)
}

func TestOptionsTellEverythingThatIsWrong(t *testing.T) {
	o := Options{Names: []string{"nic", "speed"}, Repeats: 0, Percent: 1_000_000}
	_, err := Run(context.Background(), o)
	var usage *replay.UsageError
	require.ErrorAs(t, err, &usage)
	require.ErrorContains(t, err, `no figure "speed"`)
	require.ErrorContains(t, err, "repeats 0: want")
	require.ErrorContains(t, err, "percent 1000000: want")
	require.NotContains(t, err.Error(), `"nic"`)
}

func TestNamesSelect(t *testing.T) {
	for _, c := range []struct {
		word, name string
		want       bool
	}{
		{"nic", "nic/mpps_64", true}, {"nic/", "nic/mpps_64", true}, {"nic/mpps_64", "nic/mpps_64", true},
		{"nic/mpps", "nic/mpps_64", false}, {"ni", "nic/mpps_64", false}, {"mpps_64", "nic/mpps_64", false},
	} {
		require.Equal(t, c.want, matches(c.name, c.word), c)
	}
	require.False(t, (&Options{Names: []string{"engine", "model"}}).NeedsDUT())
	require.True(t, (&Options{Names: []string{"build"}}).NeedsDUT())
	require.True(t, (&Options{}).NeedsDUT())
}

// TestLogNamesWhatIsWanted checks that the log names a measurement by the figure that was requested, not by the first
// that it produces.
func TestLogNamesWhatIsWanted(t *testing.T) {
	var log strings.Builder
	o := tiny(t, "path/skew", "engine/event_speedup_100")
	o.Log = &log
	_, err := Run(context.Background(), o)
	require.NoError(t, err)
	require.Contains(t, log.String(), "measuring engine/event_speedup_100")
	require.Contains(t, log.String(), "measuring path/skew\n")
	require.NotContains(t, log.String(), "path/packets")
}

func TestInterruptionEndsTheSuite(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Run(ctx, tiny(t, "engine"))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, r.Results)
}

func TestMeter(t *testing.T) {
	m := &meter{}
	for i := range int64(40) {
		m.out = append(m.out, beats{i * 25, i*25 + 23})
		m.done = append(m.done, i*24)
	}
	require.Equal(t, 24.0, m.perFrame())
	rate, bubbles := m.sending(24)
	require.InDelta(t, 0.96, rate, 1e-9)
	from, to := steady(40)
	require.EqualValues(t, to-1-from, bubbles)
	require.Zero(t, (&meter{}).perFrame())
	require.Zero(t, (&meter{}).offered())
}

func TestMedian(t *testing.T) {
	require.Equal(t, 2.0, median([]float64{3, 1, 2}))
	require.Equal(t, 2.5, median([]float64{4, 1, 2, 3}))
	require.Zero(t, median(nil))
}
