package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Result is one figure.
type Result struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"` // ratio where it is compared with something
	Goal    float64 `json:"goal"` // 0: none, unless AtMost
	AtMost  bool    `json:"at_most,omitempty"`
	OK      bool    `json:"ok"`      // the goal is reached, or there is none
	Against string  `json:"against"` // what it is compared with or how it was taken
	// Disturbed is the share of the wall time in which what was measured lacked a processor. Beyond tooBusy, OK is false.
	Disturbed float64 `json:"disturbed,omitempty"`
}

// figure makes a result that is to be at least goal.
func figure(name string, value float64, unit string, goal float64, against string, a ...any) Result {
	return Result{
		Name: name, Value: value, Unit: unit, Goal: goal, OK: value >= goal,
		Against: fmt.Sprintf(against, a...),
	}
}

// limit makes a result that is to be at most goal.
func limit(name string, value float64, unit string, goal float64, against string, a ...any) Result {
	r := figure(name, value, unit, goal, against, a...)
	r.AtMost, r.OK = true, value <= goal
	return r
}

// disturbed notes that processors were missing.
func (r Result) disturbed(share float64) Result {
	if r.Disturbed = share; share > tooBusy && r.hasGoal() {
		r.OK = false
	}
	return r
}

func (r *Result) hasGoal() bool { return r.Goal != 0 || r.AtMost }

// Report is what a suite found.
type Report struct {
	Results    []Result
	Seed       uint64
	Digest     string // of the run that the bridge was measured with
	Build      string // hash of the RTL build
	Checked    uint64
	Mismatches uint64
	Cycles     int64
	SimPs      int64
	Wall       time.Duration
}

// Write prints the results for people.
func (r *Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range r.Results {
		x := &r.Results[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", x.Name, number(x.Value), x.Unit, x.goal(), x.Against+x.disturbance())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("bench: %w", err)
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

// number keeps four digits that matter.
func number(v float64) string {
	if v >= 10_000 || v <= -10_000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
