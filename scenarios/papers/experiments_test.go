package papers

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/rdma"
	"nictwin/scenarios/papers/study"
)

// twice runs experiments two times and checks that results and digests are equal.
func twice(t *testing.T, o Options) (a, b *Report) {
	t.Helper()
	a, err := Run(context.Background(), o)
	require.NoError(t, err)
	b, err = Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, a.Digest, b.Digest)
	require.Equal(t, a.Results, b.Results)
	return a, b
}

func TestTwoRunsAreOne(t *testing.T) {
	o := Options{Names: []string{"path/skew", "path/packets"}, Percent: 1}
	a, b := twice(t, o)
	x, err := a.Files()
	require.NoError(t, err)
	y, err := b.Files()
	require.NoError(t, err)
	require.Equal(t, x, y)
	require.Equal(t, 2, a.Summary.Anchors)

	list, err := ListClaims(nil)
	require.NoError(t, err)
	without, outputs := 0, 0
	for _, k := range list.Counts {
		if k.Derivability != "input" && k.Derivability != "context" {
			without, outputs = without+k.Status[NotCovered], outputs+k.Claims
		}
	}
	require.Equal(t, []int{without, outputs}, []int{len(a.Missing), a.Outputs}, "as bench --claims counts them")
	o.LeaveOneOut = true
	c, err := Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, a.Digest, c.Digest, "leaving out changes nothing of the run itself")
	require.Len(t, c.Results[1].LeftOut, 1)
	require.Len(t, c.Results[1].LeftOut[0].Moved, 3)
}

// TestEndedRunsCountClaims checks that a run that was ended has the counts of claims that do not depend on it.
func TestEndedRunsCountClaims(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	end()
	r, err := Run(ctx, Options{Names: []string{"path/skew"}, Percent: 1})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 348, r.Claims)
	require.NotEmpty(t, r.Missing)
	require.Greater(t, r.Outputs, len(r.Missing))
}

// TestExperimentsFitTheClaims checks that every claim that an experiment measures is in the files, and that no two
// experiments measure the same claim.
func TestExperimentsFitTheClaims(t *testing.T) {
	all, err := claims.All()
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, c := range all {
		ids[c.ID] = true
	}
	measured, named := map[string]string{}, map[string]bool{}
	for _, x := range List {
		require.NoError(t, x.Validate())
		require.Contains(t, Groups, x.Group)
		require.False(t, named[x.Name], "%s: in results an experiment is named without its group", x.Name)
		named[x.Name] = true
		for _, id := range x.Claims {
			require.True(t, ids[id], "%s: %s", x.Name, id)
			require.Empty(t, measured[id], id)
			measured[id] = x.Name
		}
		for _, in := range x.Inputs {
			for _, id := range in.Anchors {
				require.True(t, ids[id], "%s: anchor %s of %s", x.Name, id, in.Name)
			}
		}
		for _, id := range slices.Concat(slices.Sorted(maps.Keys(x.Reasons)), slices.Sorted(maps.Keys(x.Settled)),
			x.Arithmetic) {
			require.Contains(t, x.Claims, id)
		}
	}
}

func TestJudging(t *testing.T) {
	number := func(id string) claims.Claim {
		return claims.Claim{ID: id, Check: claims.Within, Tolerance: 0.1, Role: "output",
			Derivability: claims.Calibrated, Value: claims.Value{Numbers: []float64{10}}}
	}
	all := []claims.Claim{number("a"), number("b"), number("c"), number("loose"), number("equal")}
	x := &study.Experiment{
		Name: "x", Claims: []string{"a", "b", "c", "loose", "equal"}, Arithmetic: []string{"equal"},
		Settled: map[string]string{"a": "at 64 B"},
		Inputs:  []study.Input{{Name: "i", Source: "s", Anchors: []string{"b"}}},
		Reasons: map[string]string{"c": "there is no such mechanism"},
	}
	o := &study.Outcome{
		Runs: []study.Run{{Name: "good", Converged: true}, {Name: "bad", Relative: 0.023}},
		Measured: []study.Measured{
			{Claim: "c", Values: []float64{20}, Runs: []string{"bad"}},
			{Claim: "a", Values: []float64{10.5}, Runs: []string{"good"}},
			{Claim: "b", Values: []float64{10}, Exact: true},
			{Claim: "loose", Values: []float64{10}, Runs: []string{"good", "bad"}},
			{Claim: "equal", Values: []float64{10}, Exact: true},
		},
	}
	v, err := judge(x, o, all)
	require.NoError(t, err)
	var got []string
	for i := range v {
		got = append(got, v[i].Verdict)
	}
	require.Equal(t, []string{"pass", "anchor", "miss", "not_converged", "arithmetic"}, got)
	require.Equal(t, "20 is not in 9 to 11; there is no such mechanism", v[2].Reason)
	require.Equal(t, `1 of its 2 runs not known to 1%, worst "bad" to 2.3%`, v[3].Reason)
	require.Equal(t, "pass*", v[0].marked())
	require.Equal(t, Summary{CalibratedPass: 1, Calibrated: 3, NotConverged: 1, Anchors: 1, Arithmetic: 1},
		summarize(v))

	o.Measured[0].Runs = []string{"none"}
	_, err = judge(x, o, all)
	require.ErrorContains(t, err, `claim c: it stands on run "none", which did not take place`)
	o.Measured[0].Runs = nil
	_, err = judge(x, o, all)
	require.ErrorContains(t, err, "claim c: want the runs that it stands on, or that it was counted")
	o.Measured[0].Exact = true

	o.Measured = append(o.Measured, study.Measured{Claim: "a"})
	_, err = judge(x, o, all)
	require.ErrorContains(t, err, "claim a was measured 2 times, want once")
	o.Measured = append(o.Measured[:5], study.Measured{Claim: "d"})
	_, err = judge(x, o, all)
	require.ErrorContains(t, err, "it measured claim d, which it does not list")
	x.Claims = append(x.Claims, "e")
	_, err = judge(x, o, all)
	require.ErrorContains(t, err, "claim e is in no file of claims")
}

// TestTwoRunsThroughTheRDMANICAreOne checks that an experiment with the RDMA NIC repeats exactly, that its anchors are
// not scored, and that gains which follow from them are arithmetic; without the reserve of contexts they are missed.
func TestTwoRunsThroughTheRDMANICAreOne(t *testing.T) {
	o := Options{Names: []string{"path/zero"}, Percent: 1}
	a, _ := twice(t, o)
	require.Equal(t, 2, a.Summary.Anchors)
	require.Equal(t, 2, a.Summary.Arithmetic)
	all, err := claims.All()
	require.NoError(t, err)
	without, err := once(t.Context(), o, &rdma.Zero, all, "nic.reserve")
	require.NoError(t, err)
	for i, v := range a.Results[0].Verdicts {
		if v.Claim == "offpath.c12.gain_vs_p1" || v.Claim == "offpath.c12.gain_vs_p2" {
			require.Equal(t, "arithmetic", v.Verdict, v.Claim)
			require.Equal(t, "miss", without.Verdicts[i].Verdict, v.Claim)
		}
	}
}

// TestTwoRunsOfRingBuffersAreOne checks that experiments with ring buffers on simulated cores repeat exactly, that all
// of their structural claims hold, and that the group's page is written.
func TestTwoRunsOfRingBuffersAreOne(t *testing.T) {
	o := Options{Names: []string{"ring/pointers", "ring/round-trips"}, Percent: 1}
	a, _ := twice(t, o)
	s := a.SummaryOf("ring")
	require.Equal(t, 11, s.Structural)
	require.Equal(t, s.Structural, s.StructuralPass)
	require.Equal(t, Summary{}, a.SummaryOf("path"))
	files, err := a.Files()
	require.NoError(t, err)
	require.Equal(t, "ring.html", files[0].Name)
	require.Contains(t, string(files[0].Text), "rb2.wt.ordering")
}

// TestSeeds checks that another seed is another run, that a claim shows the spread over seeds, and that it passes only
// if it does with each.
func TestSeeds(t *testing.T) {
	o := Options{Names: []string{"path/skew"}, Percent: 1, Seed: 1}
	one, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, one.Results[0].Verdicts[1].Spread)
	o.Seed = 2
	two, err := Run(t.Context(), o)
	require.NoError(t, err)
	require.NotEqual(t, one.Digest, two.Digest)
	o.Seed, o.Seeds = 1, 2
	both, err := Run(t.Context(), o)
	require.NoError(t, err)
	a, b := one.Results[0].Verdicts[1].Measured[0], two.Results[0].Verdicts[1].Measured[0]
	require.Equal(t, []float64{min(a, b), max(a, b)}, both.Results[0].Verdicts[1].Spread)

	v := Verdict{Verdict: "pass", Measured: []float64{1}}
	v.widen(&Verdict{Verdict: "miss", Reason: "too low", Measured: []float64{3}}, 7)
	require.Equal(t, Verdict{Verdict: "miss", Reason: "with seed 7: too low", Measured: []float64{1},
		Spread: []float64{1, 3}}, v)
}

// TestLeavingOutComparesOneSeed checks that leave-one-out compares runs of one seed, also beside others, and that a
// value such as NaN is missed, and in no spread.
func TestLeavingOutComparesOneSeed(t *testing.T) {
	all := []claims.Claim{{ID: "a", Check: claims.Within, Tolerance: 0.1, Role: "output",
		Value: claims.Value{Numbers: []float64{10}}}}
	values := map[uint64]float64{1: 10, 2: 20, 3: math.NaN()}
	x := &study.Experiment{Name: "x", Claims: []string{"a"},
		Inputs: []study.Input{{Name: "i", Source: "s", Instead: &study.Instead{Value: 1, Source: "n"}}},
		Run: func(s *study.Session) error {
			s.Value("a", values[s.Seed], "").Counted()
			return nil
		}}
	r, err := run(t.Context(), Options{Seed: 1, Seeds: 3, LeaveOneOut: true}, x, all)
	require.NoError(t, err)
	require.Equal(t, "miss", r.Verdicts[0].Verdict)
	require.Equal(t, []float64{10, 20}, r.Verdicts[0].Spread)
	require.Empty(t, r.LeftOut[0].Moved, "the input changes nothing")

	r, err = run(t.Context(), Options{Seed: 3}, x, all)
	require.NoError(t, err)
	require.Equal(t, "NaN is no measurement", r.Verdicts[0].Reason)
	_, err = digest(&Report{Results: []Result{*r}})
	require.NoError(t, err)
}

// TestScriptAndNICAgree checks that path 1 keeps the same rate, to 2%, beside copies from the Arm of the scripted NIC
// and beside READs through the RDMA NIC, as long as path 3 gets the same. Of 130 Gbps it gets 125 and 116; path 1 has
// the rest of the channel's 256 Gbps in either case, at 20 B for 512 B of payload; posts of the NIC take 88 B for each
// 4 KB of path 3.
func TestScriptAndNICAgree(t *testing.T) {
	r, err := Run(t.Context(), Options{Names: []string{"path/pminusn", "path/cap"}, Percent: 1, Seed: 1})
	require.NoError(t, err)
	at := func(x *Result, series, system string, wire float64) float64 {
		i := slices.IndexFunc(x.Series, func(s study.Series) bool { return s.Name == series })
		require.GreaterOrEqual(t, i, 0, series)
		for _, p := range x.Series[i].Points {
			if p.System == system && p.At[0] == wire {
				return p.Value
			}
		}
		t.Fatalf("%s has no point at %g", series, wire)
		return 0
	}
	rates := func(system string, wire float64) (script, nic float64) {
		return at(&r.Results[0], "beside path 3 S2H", system, wire), at(&r.Results[1], "cap_READ_S2H", system, wire)
	}
	for _, wire := range []float64{0, 80} {
		script, nic := rates("path 1, payload", wire)
		require.InEpsilon(t, script, nic, 0.02, "at %g Gbps", wire)
	}
	for _, wire := range []float64{80, 130} {
		script, nic := rates("path 1, payload", wire)
		besideScript, besideNIC := rates("path 3, wire", wire)
		require.InEpsilon(t, 256, script*532/512+besideScript, 0.01, "script at %g Gbps", wire)
		_, posted := rates("path 3, payload", wire)
		require.InEpsilon(t, 256, nic*532/512+besideNIC+posted*88/4096, 0.015, "NIC at %g Gbps", wire)
	}
}
