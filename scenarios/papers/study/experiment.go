package study

import (
	"context"
	"fmt"
	"io"
)

// Experiment is one figure of a paper, or what convinces of a mechanism.
type Experiment struct {
	Group   string // of the figures of bench: path, ring
	Name    string // after the group: packets; no two experiments have the same
	Title   string
	Figures string   // of which papers
	Claims  []string // that it measures
	Inputs  []Input
	Run     func(s *Session) error

	// Reasons say why a claim is missed, if it is: what the model lacks, or where paper and mechanism differ.
	Reasons map[string]string
}

// FullName is the name with its group: path/packets.
func (x *Experiment) FullName() string { return x.Group + "/" + x.Name }

// Validate returns what is wrong with the experiment itself: two inputs of one name.
func (x *Experiment) Validate() error {
	seen := map[string]bool{}
	for _, in := range x.Inputs {
		if seen[in.Name] {
			return fmt.Errorf("experiment %s: input %s is there twice", x.Name, in.Name)
		}
		seen[in.Name] = true
		if in.Source == "" {
			return fmt.Errorf("experiment %s: input %s has no source", x.Name, in.Name)
		}
	}
	return nil
}

// Input is a number, or the name of a preset, that an experiment takes from outside.
type Input struct {
	Name    string   `json:"name"`
	Value   float64  `json:"value"`
	Text    string   `json:"text,omitempty"` // where the value is a name
	Unit    string   `json:"unit"`
	Source  string   `json:"source"`            // paper and section, parameter id, standard, data sheet, or assumption
	Anchors []string `json:"anchors,omitempty"` // claims that it was set by: not scored

	// Instead is what the input would be without that claim; leave-one-out runs with it.
	Instead *Instead `json:"instead,omitempty"`
}

// Instead is a replacement for an input.
type Instead struct {
	Value  float64 `json:"value"`
	Text   string  `json:"text,omitempty"`
	Source string  `json:"source"`
}

// Session is one run of an experiment.
type Session struct {
	Context context.Context
	Percent int       // of the usual round trips and points
	Log     io.Writer // nil: none

	Outcome Outcome

	inputs map[string]*Input
}

// NewSession begins a run; the inputs named in replaced have their Instead.
func NewSession(ctx context.Context, x *Experiment, percent int, replaced ...string) (*Session, error) {
	if err := x.Validate(); err != nil {
		return nil, err
	}
	s := &Session{Context: ctx, Percent: percent, inputs: map[string]*Input{}}
	for _, in := range x.Inputs {
		for _, name := range replaced {
			if name == in.Name && in.Instead != nil {
				in.Value, in.Text, in.Source = in.Instead.Value, in.Instead.Text, "instead: "+in.Instead.Source
			}
		}
		s.inputs[in.Name] = &in
		s.Outcome.Inputs = append(s.Outcome.Inputs, in)
	}
	return s, nil
}

// Input is the value of an input. It panics on one that the experiment does not declare: that is a mistake in the
// program.
func (s *Session) Input(name string) float64 { return s.input(name).Value }

// Text is the value of an input that is a name.
func (s *Session) Text(name string) string { return s.input(name).Text }

func (s *Session) input(name string) *Input {
	in := s.inputs[name]
	if in == nil {
		panic(fmt.Sprintf("study: input %q is not declared", name))
	}
	return in
}

// Scale is n by the session's percent, but never less than least.
func (s *Session) Scale(n, least int) int { return max(n*s.Percent/100, least) }

// few is the percent below which the axes of figures that no claim is about have their ends only.
const few = 10

// Few reports whether the run is of so few percent that what no claim is about is left out.
func (s *Session) Few() bool { return s.Percent < few }

// Points are the points of an axis: all of them, or the first and the last in a run of few percent.
func Points[T any](s *Session, all []T) []T {
	if !s.Few() || len(all) <= 2 {
		return all
	}
	return []T{all[0], all[len(all)-1]}
}

// Logf tells what is being done.
func (s *Session) Logf(format string, a ...any) {
	if s.Log != nil {
		fmt.Fprintf(s.Log, "  "+format+"\n", a...)
	}
}

// Err is the context's error.
func (s *Session) Err() error { return context.Cause(s.Context) }
