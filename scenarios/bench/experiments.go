package bench

import (
	"cmp"
	"math"
	"slices"

	"nictwin/scenarios/papers"
)

// Suffixes of the figures that report, for a group of experiments, the share of structural or calibrated claims that
// hold.
const (
	structuralShare = "/structural"
	calibratedShare = "/calibrated"
)

// experimentFigures returns the names of all figures of experiments: one for each experiment and, for each group of
// experiments, the shares of its structural and of its calibrated claims that hold.
func experimentFigures() []string {
	all := papers.Names()
	for _, g := range papers.Groups {
		all = append(all, g+structuralShare, g+calibratedShare)
	}
	return all
}

// runExperiments runs the selected experiments. It reports missed claims as figures, and fails if a ledger of bytes
// does not balance.
func runExperiments(s *session) ([]Result, error) {
	o := papers.Options{Percent: s.Percent, Seed: s.Seed, Seeds: s.Seeds, LeaveOneOut: s.LeaveOneOut, Log: s.Log}
	for _, n := range papers.Names() {
		if s.wants(n) {
			o.Names = append(o.Names, n)
		}
	}
	r, err := papers.Run(s.ctx, o)
	s.report.Experiments = r
	var list []Result
	for i := range r.Results {
		x := &r.Results[i]
		list = append(list, experimentFigure(x))
		s.report.SimPs += x.SimPs
		for k := range x.Verdicts {
			list = append(list, claim(&x.Verdicts[k], s.Percent))
		}
	}
	if err != nil {
		return nil, err
	}
	if s.report.Digest == "" {
		s.report.Digest = r.Digest
	}
	for _, g := range papers.Groups {
		sum := r.SummaryOf(g)
		list = append(list,
			figure(g+structuralShare, sum.StructuralShare(), "ratio", 1, "%d of %d structural claims hold",
				sum.StructuralPass, sum.Structural),
			figure(g+calibratedShare, sum.CalibratedShare(), "ratio", papers.CalibratedGoal,
				"%d of %d calibrated claims that are not anchors are within tolerance", sum.CalibratedPass,
				sum.Calibrated))
	}
	return list, nil
}

// experimentFigure returns the figure of a whole experiment: the share of its scored claims that pass.
func experimentFigure(x *papers.Result) Result {
	passed, scored := 0, 0
	for i := range x.Verdicts {
		switch x.Verdicts[i].Verdict {
		case "pass":
			passed, scored = passed+1, scored+1
		case "miss", "not_converged":
			scored++
		}
	}
	r := figure(x.Name, 1, "ratio", 0, "%d of its %d scored claims pass: %s", passed, scored, x.Title)
	if scored > 0 {
		r.Value = float64(passed) / float64(scored)
	}
	r.Experiment = Experiment{Series: x.Series, Inputs: x.Inputs, Ledgers: x.Ledgers, Runs: x.Runs, LeftOut: x.LeftOut,
		Notes: x.Notes}
	return r
}

// noNumber reports whether JSON cannot represent a value.
func noNumber(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// claim returns the benchmark result for a paper's claim. Its value is the number measured; for a claim without a
// number, 1 if the claim holds, else 0.
func claim(v *papers.Verdict, percent int) Result {
	r := Result{Name: v.Claim, Unit: cmp.Or(v.Unit, "holds"), Against: v.How,
		OK: v.Verdict != "miss" && v.Verdict != "not_converged"}
	measured := v.Measured
	if slices.ContainsFunc(measured, noNumber) {
		measured = nil // JSON cannot represent NaN or infinity; the verdict is a miss, with the value in its reason
	}
	switch {
	case len(measured) > 0:
		r.Value = measured[0]
	case v.Holds:
		r.Value = 1
	}
	r.Claim = Claim{
		group: v.Group, Of: v.Experiment, Where: v.Where, Metric: v.Metric, Paper: v.Paper, Measured: measured,
		Text: v.Text, Check: v.Check,
		Tolerance: v.Tolerance, Anchor: v.Anchor, Verdict: v.Verdict, Reason: v.Reason, Derivability: v.Derivability,
		Settled: v.Settled, Spread: v.Spread, Percent: percent,
	}
	return r
}
