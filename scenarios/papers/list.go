package papers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/study"
)

// Status of a listed claim that is not a verdict.
const (
	NotRun     = "not run"     // an experiment measures it, but its result is not at hand
	NotCovered = "not covered" // no experiment measures it
)

// Listed is a claim in the list of all claims.
type Listed struct {
	Claim        string    `json:"claim"`
	Paper        string    `json:"paper"`
	Where        string    `json:"where"`
	Metric       string    `json:"metric"`
	Role         string    `json:"role"`
	Derivability string    `json:"derivability"`
	Check        string    `json:"check"`
	Tolerance    float64   `json:"tolerance"`
	Value        string    `json:"value"` // as printed
	Unit         string    `json:"unit"`
	Rule         string    `json:"rule,omitempty"`
	Twin         string    `json:"twin,omitempty"`
	Status       string    `json:"status"`               // a verdict, not run or not covered
	Experiment   string    `json:"experiment,omitempty"` // that measures it
	Inputs       []string  `json:"inputs,omitempty"`     // that it gave or calibrated, with their experiments
	Measured     []float64 `json:"measured,omitempty"`
	Text         string    `json:"text,omitempty"` // the result, if it is not a number
	Reason       string    `json:"reason,omitempty"`
	Settled      string    `json:"settled,omitempty"`
}

// Measurement is the verdict of a claim in the results of an earlier run.
type Measurement struct {
	From     string // folder or file of the run
	Claim    string
	Verdict  string
	Measured []float64
	Text     string
	Reason   string
}

// Claims is the list of all claims, with counts.
type Claims struct {
	List   []Listed `json:"list"`
	Counts []Count  `json:"counts"`
}

// ListClaims lists every claim with its verdict, or with the reason why it has none.
func ListClaims(results []Measurement) (*Claims, error) {
	all, err := claims.All()
	if err != nil {
		return nil, err
	}
	why, err := uncovered()
	if err != nil {
		return nil, err
	}
	found, err := byClaim(all, results)
	if err != nil {
		return nil, err
	}
	c := &Claims{}
	for i := range all {
		l := listed(&all[i])
		if err := l.settle(&all[i], found[l.Claim], why[l.Claim]); err != nil {
			return nil, err
		}
		c.List = append(c.List, l)
	}
	c.Counts = count(c.List)
	return c, nil
}

// byClaim returns the measurements by claim. Each claim must be known, and be measured once.
func byClaim(all []claims.Claim, results []Measurement) (map[string]*Measurement, error) {
	found := map[string]*Measurement{}
	for i := range results {
		m := &results[i]
		if claims.Find(all, m.Claim) == nil {
			return nil, fmt.Errorf("%s: claim %s: this version of nictwin has none of this name", m.From, m.Claim)
		}
		if !slices.Contains(claims.Verdicts, claims.Verdict(m.Verdict)) {
			return nil, fmt.Errorf("%s: claim %s: verdict %q: want one of %q", m.From, m.Claim, m.Verdict,
				claims.Verdicts)
		}
		if before := found[m.Claim]; before != nil {
			return nil, fmt.Errorf("claim %s is measured in %s and in %s: want one of them", m.Claim, before.From,
				m.From)
		}
		found[m.Claim] = m
	}
	return found, nil
}

func listed(c *claims.Claim) Listed {
	l := Listed{Claim: c.ID, Paper: c.Paper, Where: c.Where, Metric: c.Metric, Role: c.Role,
		Derivability: string(c.Derivability), Check: string(c.Check), Tolerance: c.Tolerance, Value: c.Value.String(),
		Unit: c.Unit, Rule: c.Rule, Twin: c.Twin}
	for _, x := range List {
		for _, in := range x.Inputs {
			if slices.Contains(in.Anchors, c.ID) || mentions(in.Source, c.ID) {
				l.Inputs = append(l.Inputs, x.FullName()+" "+in.Name)
			}
		}
	}
	return l
}

// mentions reports whether the source of an input names a claim.
func mentions(source, claim string) bool {
	words := strings.FieldsFunc(source, func(r rune) bool { return strings.ContainsRune(" ,;:()", r) })
	return slices.Contains(words, claim)
}

// measuredBy returns the experiment that measures a claim, or nil.
func measuredBy(claim string) *study.Experiment {
	i := slices.IndexFunc(List, func(x *study.Experiment) bool { return slices.Contains(x.Claims, claim) })
	if i < 0 {
		return nil
	}
	return List[i]
}

// settle sets the status of a claim from its measurement m, nil if it has none, and from the reason why no experiment
// measures it.
func (l *Listed) settle(c *claims.Claim, m *Measurement, why string) error {
	x := measuredBy(c.ID)
	if x != nil {
		l.Experiment, l.Settled = x.FullName(), x.Settled[c.ID]
	}
	if m != nil {
		l.Measured, l.Text, l.Reason = m.Measured, m.Text, m.Reason
	}
	switch {
	case c.Role == "input" || c.Check == claims.Input:
		l.Status = string(claims.IsInput)
		if len(l.Inputs) == 0 && x == nil {
			l.Reason = "no experiment uses it"
		}
	case !c.Scored():
		l.Status, l.Reason = string(claims.NotScored), "a simulation cannot check it"
	case why != "" && c.Anchor != "":
		return fmt.Errorf("claim %s: it is an anchor: take it out of uncovered.yaml", c.ID)
	case c.Anchor != "":
		l.Status, l.Reason = string(claims.Anchor), "it calibrated "+c.Anchor
	case x == nil && why == "":
		return fmt.Errorf("claim %s: no experiment measures it, and uncovered.yaml has no reason", c.ID)
	case x != nil && why != "":
		return fmt.Errorf("claim %s: %s measures it: take it out of uncovered.yaml", c.ID, x.FullName())
	case x == nil:
		l.Status, l.Reason = NotCovered, why
	case anchor(x, c) != "": // also if an earlier version scored it
		l.Status = string(claims.Anchor)
	case slices.Contains(x.Arithmetic, c.ID) && (m == nil || m.Verdict == string(claims.Pass)):
		l.Status = string(claims.Arithmetic)
	case m != nil:
		l.Status = m.Verdict
	default:
		l.Status = NotRun
	}
	return nil
}

// Count has the numbers of a paper's outputs of one derivability, by status. Inputs and context are counted by role
// alone.
type Count struct {
	Paper        string         `json:"paper"`
	Derivability string         `json:"derivability"` // input and context for claims that are no outputs
	Claims       int            `json:"claims"`
	Status       map[string]int `json:"status"`
}

// covered returns the number of claims that an experiment measures.
func (c *Count) covered() int { return c.Claims - c.Status[NotCovered] }

func count(list []Listed) []Count {
	kinds := []string{string(claims.Structural), string(claims.Calibrated), string(claims.Empirical), "input",
		"context"}
	var all []Count
	for i := range list {
		l := &list[i]
		kind := l.Derivability
		if l.Role != "output" {
			kind = l.Role
		}
		k := slices.IndexFunc(all, func(c Count) bool { return c.Paper == l.Paper && c.Derivability == kind })
		if k < 0 {
			k = len(all)
			all = append(all, Count{Paper: l.Paper, Derivability: kind, Status: map[string]int{}})
		}
		all[k].Claims++
		all[k].Status[l.Status]++
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(strings.Compare(a.Paper, b.Paper),
			cmp.Compare(slices.Index(kinds, a.Derivability), slices.Index(kinds, b.Derivability)))
	})
	return all
}
