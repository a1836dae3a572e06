package papers

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// Verdict is the result of one claim.
type Verdict struct {
	Claim      string    `json:"claim"`
	Experiment string    `json:"experiment"`
	Group      string    `json:"-"` // of the experiment
	Where      string    `json:"where"`
	Metric     string    `json:"metric"`
	Paper      string    `json:"paper"` // as printed
	Measured   []float64 `json:"measured"`
	Holds      bool      `json:"holds"`          // of a claim without numbers: it was found to be true
	Text       string    `json:"text,omitempty"` // the result, if it is not a number
	Unit       string    `json:"unit"`
	Check      string    `json:"check"`
	Tolerance  float64   `json:"tolerance"`
	Anchor     string    `json:"anchor,omitempty"`  // name of the input that the claim calibrated
	Verdict    string    `json:"verdict"`           // pass, miss, not_converged, anchor, arithmetic, input, not scored
	Reason     string    `json:"reason,omitempty"`  // of a miss, or of a run that did not converge
	Settled    string    `json:"settled,omitempty"` // the interpretation chosen after a first miss
	// Spread has the least and the most value of Measured[0] over all seeds; empty if there was one seed.
	Spread       []float64 `json:"spread,omitempty"`
	Derivability string    `json:"derivability"`
	How          string    `json:"how"`
}

// judge converts an experiment's measurements into verdicts, in the order of its list of claims.
func judge(x *study.Experiment, o *study.Outcome, all []claims.Claim) ([]Verdict, error) {
	var list []Verdict
	for _, id := range x.Claims {
		c := claims.Find(all, id)
		if c == nil {
			return nil, fmt.Errorf("experiment %s: claim %s is in no file of claims", x.Name, id)
		}
		var found []study.Measured
		for _, m := range o.Measured {
			if m.Claim == id {
				found = append(found, m)
			}
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("experiment %s: claim %s was measured %d times, want once", x.Name, id, len(found))
		}
		v, err := verdict(x, o, c, &found[0])
		if err != nil {
			return nil, fmt.Errorf("experiment %s: claim %s: %w", x.Name, id, err)
		}
		list = append(list, v)
	}
	for _, m := range o.Measured {
		if !slices.Contains(x.Claims, m.Claim) {
			return nil, fmt.Errorf("experiment %s: it measured claim %s, which it does not list", x.Name, m.Claim)
		}
	}
	return list, nil
}

func verdict(x *study.Experiment, o *study.Outcome, c *claims.Claim, m *study.Measured) (Verdict, error) {
	got, why := c.Judge(claims.Found{Values: m.Values, Holds: m.Holds, Broken: m.Broken})
	v := Verdict{
		Claim: c.ID, Experiment: x.Name, Group: x.Group, Where: c.Paper + ", " + c.Where, Metric: c.Metric,
		Paper: c.Value.String(), Measured: finite(m.Values),
		Holds: m.Holds, Text: m.Text, Unit: c.Unit, Check: string(c.Check), Tolerance: c.Tolerance,
		Anchor:       anchor(x, c),
		Derivability: string(c.Derivability), How: m.How, Settled: x.Settled[c.ID],
	}
	loose, err := looseRuns(o, m)
	switch {
	case got != claims.Pass && got != claims.Miss:
	case v.Anchor != "":
		got = claims.Anchor
	case got == claims.Miss:
		v.Reason = why
		if r := x.Reasons[c.ID]; r != "" {
			v.Reason += "; " + r
		}
	case slices.Contains(x.Arithmetic, c.ID):
		got = claims.Arithmetic
	case loose != "":
		got, v.Reason = claims.NotConverged, loose
	}
	v.Verdict = string(got)
	return v, err
}

// finite returns the numbers measured, or none if one of them is NaN or infinite: JSON cannot represent these, and
// the verdict gives the reason.
func finite(values []float64) []float64 {
	list := []float64{}
	for _, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return []float64{}
		}
		list = append(list, x)
	}
	return list
}

// looseRuns returns which of the runs of a measurement are not known to 1%; empty if all are. A measurement must name
// runs that took place, or be a count.
func looseRuns(o *study.Outcome, m *study.Measured) (string, error) {
	if m.Exact == (len(m.Runs) > 0) {
		return "", errors.New("want the runs that it stands on, or that it was counted")
	}
	worst, count := study.Run{}, 0
	names := slices.Compact(slices.Sorted(slices.Values(m.Runs)))
	for _, name := range names {
		there := false
		for _, r := range o.Runs {
			if r.Name != name {
				continue
			}
			there = true
			if !r.Converged {
				count++
			}
			if !r.Converged && (worst.Name == "" || r.Relative > worst.Relative) {
				worst = r
			}
		}
		if !there {
			return "", fmt.Errorf("it stands on run %q, which did not take place", name)
		}
	}
	if count == 0 {
		return "", nil
	}
	return fmt.Sprintf("%d of its %d runs not known to %.0f%%, worst %q to %.1f%%", count, len(names),
		100*study.Precision, worst.Name, 100*worst.Relative), nil
}

// anchor returns the name of the input that a claim calibrated, or the constants of the models; empty if the claim
// calibrated none.
func anchor(x *study.Experiment, c *claims.Claim) string {
	for _, in := range x.Inputs {
		if slices.Contains(in.Anchors, c.ID) {
			return in.Name
		}
	}
	return c.Anchor
}

// widen adds the same claim's verdict with another seed: a claim passes, or is arithmetic, if it is so with every seed.
func (v *Verdict) widen(other *Verdict, seed uint64) {
	if len(v.Measured) > 0 && len(other.Measured) > 0 {
		if v.Spread == nil {
			v.Spread = []float64{v.Measured[0], v.Measured[0]}
		}
		v.Spread[0], v.Spread[1] = min(v.Spread[0], other.Measured[0]), max(v.Spread[1], other.Measured[0])
	}
	good := v.Verdict == string(claims.Pass) || v.Verdict == string(claims.Arithmetic)
	if good && other.Verdict != v.Verdict {
		v.Verdict, v.Reason = other.Verdict, fmt.Sprintf("with seed %d: %s", seed, other.Reason)
	}
}

// Summary counts verdicts.
type Summary struct {
	StructuralPass int `json:"structural_pass"`
	Structural     int `json:"structural"` // number of scored structural claims
	CalibratedPass int `json:"calibrated_pass"`
	Calibrated     int `json:"calibrated"` // number of scored calibrated claims, without anchors
	EmpiricalPass  int `json:"empirical_pass"`
	Empirical      int `json:"empirical"`
	NotConverged   int `json:"not_converged"` // of the scored claims that do not pass
	Anchors        int `json:"anchors"`
	Arithmetic     int `json:"arithmetic"`
	Inputs         int `json:"inputs"`
	NotScored      int `json:"not_scored"`
}

// CalibratedGoal is the goal for the share of the calibrated claims, anchors excepted, that are within tolerance.
const CalibratedGoal = 0.80

func summarize(all []Verdict) (s Summary) {
	for i := range all {
		v := &all[i]
		pass := 0
		switch claims.Verdict(v.Verdict) {
		case claims.Anchor:
			s.Anchors++
			continue
		case claims.Arithmetic:
			s.Arithmetic++
			continue
		case claims.IsInput:
			s.Inputs++
			continue
		case claims.NotScored:
			s.NotScored++
			continue
		case claims.NotConverged:
			s.NotConverged++
		case claims.Pass:
			pass = 1
		}
		switch claims.Derivability(v.Derivability) {
		case claims.Structural:
			s.Structural, s.StructuralPass = s.Structural+1, s.StructuralPass+pass
		case claims.Calibrated:
			s.Calibrated, s.CalibratedPass = s.Calibrated+1, s.CalibratedPass+pass
		default:
			s.Empirical, s.EmpiricalPass = s.Empirical+1, s.EmpiricalPass+pass
		}
	}
	return s
}

// share returns part divided by whole, or 1 for an empty whole.
func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// StructuralShare returns the share of structural claims that hold.
func (s *Summary) StructuralShare() float64 { return share(s.StructuralPass, s.Structural) }

// CalibratedShare returns the share of calibrated claims within tolerance.
func (s *Summary) CalibratedShare() float64 { return share(s.CalibratedPass, s.Calibrated) }
