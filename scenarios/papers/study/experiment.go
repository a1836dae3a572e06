package study

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"

	"nictwin/models/sim/simcore"
)

// Experiment reproduces a figure of a paper, or gives evidence for a mechanism.
type Experiment struct {
	Group   string // path, ring, flexins or ceio: the group of figures in bench
	Name    string // unique name without the group: packets, if FullName is path/packets
	Title   string
	Figures string // figures of the papers that it reproduces
	// Pictures has the numbers of claims that are drawn beside series, by the name of the series.
	Pictures map[string]Picture
	Claims   []string // ids of the claims that it measures
	Inputs   []Input
	Run      func(s *Session) error

	// Reasons explains each missed claim by its id: what the model lacks, or where paper and mechanism differ.
	Reasons map[string]string

	// Notes are for the reader of the results: where two experiments differ, and why.
	Notes []string

	// Arithmetic lists claims that follow from inputs alone, whatever the model does: they are not scored.
	Arithmetic []string

	// Settled maps claims that missed at first to the interpretation of the paper by which they are judged since. Their
	// verdicts are marked.
	Settled map[string]string
}

// FullName returns the name with its group: path/packets.
func (x *Experiment) FullName() string { return x.Group + "/" + x.Name }

// Validate reports mistakes in the experiment's declaration: two inputs of one name, or an input without a source.
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
	Text    string   `json:"text,omitempty"` // name of a preset, if the input is no number
	Unit    string   `json:"unit"`
	Source  string   `json:"source"`            // paper and section, parameter id, standard, data sheet, or assumption
	Anchors []string `json:"anchors,omitempty"` // claims that set the value, so they are not scored

	// Instead is the value that the input would have without the claims that calibrated it. Leave-one-out runs use it.
	Instead *Instead `json:"instead,omitempty"`
}

// Instead is a replacement for an input's value, with its source.
type Instead struct {
	Value  float64 `json:"value"`
	Text   string  `json:"text,omitempty"`
	Source string  `json:"source"`
}

// Session is one run of an experiment.
type Session struct {
	Context context.Context
	Percent int       // percentage of the usual round trips and points
	Seed    uint64    // of arrival times and random addresses
	Log     io.Writer // progress; nil: it is not shown

	Outcome Outcome

	inputs map[string]*Input
}

// NewSession begins a run of an experiment. An input that parameter
// `replaced` names has the value of its field Instead.
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

// Input returns the value of an input. It panics if the experiment does not declare it, which is a bug of the
// program.
func (s *Session) Input(name string) float64 { return s.input(name).Value }

// Text returns the value of an input that is a preset's name.
func (s *Session) Text(name string) string { return s.input(name).Text }

func (s *Session) input(name string) *Input {
	in := s.inputs[name]
	if in == nil {
		panic(fmt.Sprintf("study: input %q is not declared", name))
	}
	return in
}

// Random returns a source of random numbers that depends on the seed and on a name alone.
func (s *Session) Random(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

// Phase returns a random time below a period: when something begins that repeats with that period.
func (s *Session) Phase(name string, period simcore.Ps) simcore.Ps {
	if period <= 0 {
		return 0
	}
	return simcore.Ps(s.Random(name).Int64N(int64(period)))
}

// Scale returns the session's percentage of n, or the second argument if that is more.
func (s *Session) Scale(n, least int) int { return max(n*s.Percent/100, least) }

// few is the value of Session.Percent below which figures that no claim refers to are measured only at the first and
// the last point of an axis (Points).
const few = 10

// Few reports whether Session.Percent is so low that measurements that no claim refers to are left out.
func (s *Session) Few() bool { return s.Percent < few }

// Points returns the points of an axis: all of them or, if Few reports true, only the first and the last.
func Points[T any](s *Session, all []T) []T {
	if !s.Few() || len(all) <= 2 {
		return all
	}
	return []T{all[0], all[len(all)-1]}
}

// Logf logs the progress.
func (s *Session) Logf(format string, a ...any) {
	if s.Log != nil {
		fmt.Fprintf(s.Log, "  "+format+"\n", a...)
	}
}

// Err returns the context's error.
func (s *Session) Err() error { return context.Cause(s.Context) }
