package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"nictwin/scenarios/papers"
	"nictwin/scenarios/papers/study"
)

// Result is one figure.
type Result struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"` // ratio for a comparison
	Goal    float64 `json:"goal"` // 0: none, unless AtMost
	AtMost  bool    `json:"at_most,omitempty"`
	OK      bool    `json:"ok"`      // the goal is reached, or none is set
	Against string  `json:"against"` // the other side of the comparison, or the method
	// Disturbed is the share of the wall time in which the measured work had no processor. Beyond tooBusy, OK is false.
	Disturbed float64 `json:"disturbed,omitempty"`

	Claim      // set for a claim of a paper: Value is its first number or, without numbers, 1 if it holds, else 0
	Experiment // set for a whole experiment: Value is the share of its scored claims that passed
}

// Claim is a claim of a paper, compared with its measurement.
type Claim struct {
	group        string    // group of the claim's experiment
	Of           string    `json:"experiment,omitempty"`
	Where        string    `json:"where,omitempty"`
	Metric       string    `json:"metric,omitempty"`
	Paper        string    `json:"paper,omitempty"`
	Measured     []float64 `json:"measured,omitempty"`
	Text         string    `json:"text,omitempty"`
	Check        string    `json:"check,omitempty"`
	Tolerance    float64   `json:"tolerance,omitempty"`
	Anchor       string    `json:"anchor,omitempty"`
	Verdict      string    `json:"verdict,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Derivability string    `json:"derivability,omitempty"`
	Settled      string    `json:"settled,omitempty"`
	Spread       []float64 `json:"spread,omitempty"`
	Percent      int       `json:"percent,omitempty"` // percentage of the usual round trips that it was measured with
}

// Experiment is the record of an experiment.
type Experiment struct {
	Series  []study.Series   `json:"series,omitempty"`
	Inputs  []study.Input    `json:"inputs,omitempty"`
	Ledgers []study.Ledger   `json:"ledgers,omitempty"`
	Runs    []study.Run      `json:"runs,omitempty"`
	LeftOut []papers.LeftOut `json:"left_out,omitempty"`
	Notes   []string         `json:"notes,omitempty"`
}

// figure returns a result that should be at least goal.
func figure(name string, value float64, unit string, goal float64, against string, a ...any) Result {
	return Result{
		Name: name, Value: value, Unit: unit, Goal: goal, OK: value >= goal,
		Against: fmt.Sprintf(against, a...),
	}
}

// limit returns a result that should be at most goal.
func limit(name string, value float64, unit string, goal float64, against string, a ...any) Result {
	r := figure(name, value, unit, goal, against, a...)
	r.AtMost, r.OK = true, value <= goal
	return r
}

// disturbed records the share of missing processor time. If it is above the limit tooBusy, a goal
// does not count as reached.
func (r Result) disturbed(share float64) Result {
	if r.Disturbed = share; share > tooBusy && r.hasGoal() {
		r.OK = false
	}
	return r
}

func (r *Result) hasGoal() bool { return r.Goal != 0 || r.AtMost }

// Report is the result of a suite.
type Report struct {
	Results    []Result
	Seed       uint64
	Digest     string // of the run that measured the bridge's speed
	Build      string // hash of the RTL build
	Checked    uint64
	Mismatches uint64
	Cycles     int64
	SimPs      int64
	Wall       time.Duration

	Experiments *papers.Report // nil: none was run
}

// Write prints the results as text.
func (r *Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range r.Results {
		x := &r.Results[i]
		if x.Of != "" || x.Series != nil {
			continue // printed in the report of the experiments
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", x.Name, number(x.Value), x.Unit, x.goal(), x.Against+x.disturbance())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if r.Experiments != nil {
		return r.Experiments.Write(w)
	}
	return nil
}

func (r *Result) goal() string {
	if !r.hasGoal() {
		return "-"
	}
	rel, verdict := ">=", "ok"
	if r.AtMost {
		rel = "<="
	}
	switch {
	case r.Disturbed > tooBusy:
		verdict = "machine too busy to tell"
	case !r.OK:
		verdict = "missed"
	}
	return fmt.Sprintf("%s (goal %s %s)", verdict, rel, number(r.Goal))
}

func (r *Result) disturbance() string {
	if r.Disturbed <= tooBusy {
		return ""
	}
	return fmt.Sprintf("; disturbed: processors were missing %.0f%% of the time", r.Disturbed*100)
}

// number formats a value with four significant digits.
func number(v float64) string {
	if v >= 10_000 || v <= -10_000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
