package papers

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"nictwin/scenarios/papers/study"
)

// Write prints verdicts, calibration sheets, and the effect of leaving each anchor out.
func (r *Report) Write(w io.Writer) error {
	for i := range r.Results {
		if err := r.Results[i].write(w); err != nil {
			return err
		}
	}
	s := r.Summary
	_, err := fmt.Fprintf(w, "\nstructural: %d of %d hold; calibrated, not anchors: %d of %d within tolerance (goal "+
		"%.0f%%); empirical: %d of %d; not converged: %d of these\n"+
		"not scored: %d anchors, %d arithmetic, %d inputs, %d others\n"+
		"outputs without an experiment: %d of %d outputs among the %d claims of the papers (bench --claims lists "+
		"them)\ndigest %s\n",
		s.StructuralPass, s.Structural, s.CalibratedPass, s.Calibrated, 100*CalibratedGoal, s.EmpiricalPass,
		s.Empirical, s.NotConverged, s.Anchors, s.Arithmetic, s.Inputs, s.NotScored, len(r.Missing), r.Outputs,
		r.Claims, r.Digest)
	return err
}

func (x *Result) write(w io.Writer) error {
	fmt.Fprintf(w, "\n%s: %s (%s)\n", x.Name, x.Title, x.Figures)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "claim\tpaper\tmeasured\tunit\ttolerance\tanchor\tseeds\tverdict")
	for i := range x.Verdicts {
		v := &x.Verdicts[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", v.Claim, dash(v.Paper), v.found(), dash(v.Unit),
			v.tolerance(), dash(v.Anchor), v.spread(), v.marked())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("experiments: %w", err)
	}
	for i := range x.Verdicts {
		v := &x.Verdicts[i]
		if v.Reason != "" {
			fmt.Fprintf(w, "%s %s: %s\n", v.Claim, v.Verdict, v.Reason)
		}
		if v.Settled != "" {
			fmt.Fprintf(w, "%s settled after a first miss: %s\n", v.Claim, v.Settled)
		}
	}
	for _, n := range x.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	fmt.Fprintln(w, "inputs:")
	for i := range x.Inputs {
		in := &x.Inputs[i]
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", in.Name, inputValue(in), in.Source, dash(strings.Join(in.Anchors, ", ")))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("experiments: %w", err)
	}
	x.writeLeftOut(w)
	_, err := fmt.Fprintln(w, x.precision())
	return err
}

func (x *Result) writeLeftOut(w io.Writer) {
	for i := range x.LeftOut {
		l := &x.LeftOut[i]
		fmt.Fprintf(w, "without %s (%s instead of %s: %s): %d claims move\n", l.Input, l.Instead, l.Was, l.Source,
			len(l.Moved))
		for _, m := range l.Moved {
			fmt.Fprintf(w, "  %s: %s, was %s (%s)\n", m.Claim, numbers(m.After), numbers(m.Before), m.Verdict)
		}
	}
}

// precision describes how many runs there were, the fewest round trips of one, and how many rates did not converge.
func (x *Result) precision() string {
	loose, least, scale := 0, 0, 1.0
	for _, r := range x.Runs {
		if !r.Converged {
			loose++
		}
		scale = max(scale, r.Scale)
		if r.RoundTrips > 0 && (least == 0 || r.RoundTrips < least) {
			least = r.RoundTrips
		}
	}
	if len(x.Runs) == 0 {
		return "counts only: no rates"
	}
	return fmt.Sprintf("%d runs of at least %d round trips, phases and sizes scaled by at most %g; %d not known to "+
		"1%% (the runs have their half widths)", len(x.Runs), least, scale, loose)
}

func (v *Verdict) found() string {
	switch {
	case len(v.Measured) > 0:
		return numbers(v.Measured)
	case v.Text != "":
		return v.Text
	case v.Verdict == "pass":
		return "found"
	}
	return "-"
}

// marked returns the verdict, with an asterisk if the claim's interpretation was chosen after a first miss (Settled).
func (v *Verdict) marked() string {
	if v.Settled != "" {
		return v.Verdict + "*"
	}
	return v.Verdict
}

// spread returns the range, over all seeds, of the claim's first measured number.
func (v *Verdict) spread() string {
	if len(v.Spread) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4g to %.4g", v.Spread[0], v.Spread[1])
}

func (v *Verdict) tolerance() string {
	if len(v.Measured) == 0 {
		return v.Check
	}
	if v.Tolerance == 0 {
		return v.Check
	}
	return fmt.Sprintf("%s %.0f%%", v.Check, 100*v.Tolerance)
}

func inputValue(in *study.Input) string {
	if in.Text != "" {
		return in.Text
	}
	return fmt.Sprintf("%g %s", in.Value, in.Unit)
}

func numbers(list []float64) string {
	if len(list) == 0 {
		return "-"
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprintf("%.4g", v)
	}
	return strings.Join(parts, ", ")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
