package papers

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// TestEveryClaimHasAStatus checks that the list has all claims, each with a status, and a reason where no experiment
// measures it.
func TestEveryClaimHasAStatus(t *testing.T) {
	c, err := ListClaims(nil)
	require.NoError(t, err)
	require.Len(t, c.List, 348)
	sum := 0
	for _, k := range c.Counts {
		n := 0
		for _, of := range k.Status {
			n += of
		}
		require.Equal(t, k.Claims, n)
		sum += n
	}
	require.Equal(t, 348, sum)
	for i := range c.List {
		l := &c.List[i]
		require.NotEmpty(t, l.Status, l.Claim)
		require.Equal(t, l.Status == NotCovered, l.Role == "output" && l.Experiment == "" && l.Status != "anchor",
			l.Claim)
		require.True(t, l.Experiment != "" || len(l.Inputs) > 0 || l.Reason != "", l.Claim)
	}
	var text strings.Builder
	require.NoError(t, c.Write(&text))
	require.Contains(t, text.String(), "348 claims; ")
	require.Regexp(t, `offpath.c12.sum_alone .* anchor +path/zero`, text.String())
	require.Regexp(t, `ceio.t4.ceio.3_1 .* anchor +ceio/mixes: it calibrated rx_cycles and tx_cycles`, text.String())
	require.Regexp(t, `offpath.c13.p_minus_n_value .* arithmetic +path/pminusn`, text.String())
	require.Regexp(t, `offpath.bg.nic_core_mpps .* input +input of path/skew nic.rate and `, text.String())
	require.Regexp(t, `ceio.lazy.nccl_example .* not covered +NCCL is not modelled`, text.String())
}

// TestReasonsAreNotForAll checks that no reason why claims are not covered stands for more of them than a table has.
func TestReasonsAreNotForAll(t *testing.T) {
	why, err := uncovered()
	require.NoError(t, err)
	many := map[string]int{}
	for _, reason := range why {
		many[reason]++
		require.LessOrEqual(t, many[reason], 30, reason)
	}
}

// TestAnchorOfModels checks that a claim which calibrated the models is an anchor whatever an experiment measures.
func TestAnchorOfModels(t *testing.T) {
	all, err := claims.All()
	require.NoError(t, err)
	for id, constants := range map[string]string{
		"ceio.t4.ceio.3_1": "rx_cycles and tx_cycles of stack/hostnet",
		"ceio.t4.base.3_1": "bytes that stack/hostnet fetches at once",
	} {
		i := slices.IndexFunc(all, func(c claims.Claim) bool { return c.ID == id })
		for _, measured := range []float64{all[i].Value.Numbers[0], 10} {
			v, err := verdict(&study.Experiment{}, &study.Outcome{}, &all[i],
				&study.Measured{Claim: id, Values: []float64{measured}, Exact: true})
			require.NoError(t, err)
			require.Equal(t, "anchor", v.Verdict)
			require.Equal(t, constants, v.Anchor)
		}
		c, err := ListClaims([]Measurement{{From: "a", Claim: id, Verdict: "pass"}})
		require.NoError(t, err)
		require.Equal(t, "anchor", c.List[i].Status)
	}
}

func TestListHasVerdicts(t *testing.T) {
	m := []Measurement{{From: "a", Claim: "offpath.p1.bidir", Verdict: "pass", Measured: []float64{385.8}},
		{From: "a", Claim: "offpath.p1.lat_send", Verdict: "miss", Reason: "0.2 is not in 0.03 to 0.14"}}
	c, err := ListClaims(m)
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, c.Write(&text))
	require.Regexp(t, `offpath.p1.bidir .* 385.8 +Gbps +pass +path/duplex`, text.String())
	require.Regexp(t, `offpath.p1.lat_send .* miss +path/latency: 0.2 is not in`, text.String())
	require.Contains(t, text.String(), "1 of 2 judged ones pass")

	_, err = ListClaims(append(m, Measurement{From: "b", Claim: "offpath.p1.bidir", Verdict: "pass"}))
	require.EqualError(t, err, "claim offpath.p1.bidir is measured in a and in b: want one of them")
	_, err = ListClaims([]Measurement{{From: "b", Claim: "offpath.p1.bidir", Verdict: "great"}})
	require.EqualError(t, err, `b: claim offpath.p1.bidir: verdict "great": want one of ["pass" "miss" `+
		`"not_converged" "anchor" "arithmetic" "input" "not scored"]`)
	scored, err := ListClaims([]Measurement{{From: "a", Claim: "offpath.c12.sum_alone", Verdict: "pass"},
		{From: "a", Claim: "offpath.c12.gain_vs_p1", Verdict: "pass"}})
	require.NoError(t, err)
	text.Reset()
	require.NoError(t, scored.Write(&text))
	require.Regexp(t, `offpath.c12.sum_alone .* anchor +path/zero`, text.String(), "earlier versions scored it")
	require.Regexp(t, `offpath.c12.gain_vs_p1 .* arithmetic +path/zero`, text.String())
	_, err = ListClaims([]Measurement{{From: "b", Claim: "x"}})
	require.EqualError(t, err, "b: claim x: this version of nictwin has none of this name")
}
