package papers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/claims"
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

	o.LeaveOneOut = true
	c, err := Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, a.Digest, c.Digest, "leaving out changes nothing of the run itself")
	require.Len(t, c.Results[1].LeftOut, 1)
	require.Len(t, c.Results[1].LeftOut[0].Moved, 3)
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
		for id := range x.Reasons {
			require.Contains(t, x.Claims, id)
		}
	}
}

func TestJudging(t *testing.T) {
	number := func(id string) claims.Claim {
		return claims.Claim{ID: id, Check: claims.Within, Tolerance: 0.1, Role: "output",
			Derivability: claims.Calibrated, Value: claims.Value{Numbers: []float64{10}}}
	}
	all := []claims.Claim{number("a"), number("b"), number("c")}
	x := &study.Experiment{
		Name: "x", Claims: []string{"a", "b", "c"},
		Inputs:  []study.Input{{Name: "i", Source: "s", Anchors: []string{"b"}}},
		Reasons: map[string]string{"c": "there is no such mechanism"},
	}
	o := &study.Outcome{Measured: []study.Measured{
		{Claim: "c", Values: []float64{20}}, {Claim: "a", Values: []float64{10.5}}, {Claim: "b", Values: []float64{10}},
	}}
	v, err := judge(x, o, all)
	require.NoError(t, err)
	require.Equal(t, []string{"pass", "anchor", "miss"}, []string{v[0].Verdict, v[1].Verdict, v[2].Verdict})
	require.Equal(t, "20 is not in 9 to 11; there is no such mechanism", v[2].Reason)
	require.Equal(t, Summary{CalibratedPass: 1, Calibrated: 2, Anchors: 1}, summarize(v))

	o.Measured = append(o.Measured, study.Measured{Claim: "a"})
	_, err = judge(x, o, all)
	require.ErrorContains(t, err, "claim a was measured 2 times, want once")
	o.Measured = append(o.Measured[:3], study.Measured{Claim: "d"})
	_, err = judge(x, o, all)
	require.ErrorContains(t, err, "it measured claim d, which it does not list")
	x.Claims = append(x.Claims, "e")
	_, err = judge(x, o, all)
	require.ErrorContains(t, err, "claim e is in no file of claims")
}

// TestTwoRunsThroughTheRDMANICAreOne checks that an experiment with the RDMA NIC repeats exactly, and that its anchors
// are not scored.
func TestTwoRunsThroughTheRDMANICAreOne(t *testing.T) {
	o := Options{Names: []string{"path/zero"}, Percent: 1}
	a, _ := twice(t, o)
	require.Equal(t, 2, a.Summary.Anchors)
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
