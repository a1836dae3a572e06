package papers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"nictwin/scenarios/papers/ceio"
	"nictwin/scenarios/papers/claims"
	"nictwin/scenarios/papers/flexins"
	"nictwin/scenarios/papers/path"
	"nictwin/scenarios/papers/rdma"
	"nictwin/scenarios/papers/ring"
	"nictwin/scenarios/papers/study"
)

// Groups are the groups of experiments. Each is also a group of bench's figures.
var Groups = []string{"path", "ring", "flexins", "ceio"}

// AnyGroup lists the groups for messages: path, ring, flexins or ceio.
func AnyGroup() string {
	last := len(Groups) - 1
	return strings.Join(Groups[:last], ", ") + " or " + Groups[last]
}

// List contains the experiments in the order in which they run.
var List = []*study.Experiment{
	&path.Packets, &path.Duplex, &path.PMinusN, &path.Skew, &path.Passes, &path.Staged,
	&rdma.Hops, &rdma.Latency, &rdma.Rate, &rdma.Machines, &rdma.Zero, &rdma.Large, &rdma.Together, &rdma.Beside,
	&rdma.Cap, &rdma.Skewed, &rdma.Framing,
	&rdma.Doorbell, &rdma.Cores,
	&ring.Pointers, &ring.Synchronization, &ring.Throughput, &ring.Latency, &ring.Ablation, &ring.Cases,
	&flexins.Sizes, &flexins.Connections, &flexins.Transmit, &flexins.Duplex, &flexins.Receive, &flexins.Notify,
	&flexins.Reflector, &flexins.Walk, &flexins.Batch,
	&ceio.Mixes, &ceio.Static, &ceio.Dynamic, &ceio.Single, &ceio.Controllers, &ceio.Limits,
	&ceio.Unloaded, &ceio.Perftest, &ceio.Verbs, &ceio.Scale, &ceio.Release, &ceio.Index, &ceio.Jumbo,
}

// Names returns the experiments' names, with their groups.
func Names() []string {
	var names []string
	for _, x := range List {
		names = append(names, x.FullName())
	}
	return names
}

// Options select what is run.
type Options struct {
	Names       []string // names of experiments as Names returns them; empty: all experiments
	Percent     int      // percentage of the usual round trips
	Seed        uint64   // of arrival times and random addresses
	Seeds       int      // run with so many seeds, Seed and those above it; 0 means 1
	LeaveOneOut bool     // also run without each anchor
	Log         io.Writer
}

// Result is the result of one experiment.
type Result struct {
	Name     string   `json:"name"`
	Group    string   `json:"-"`
	Title    string   `json:"title"`
	Figures  string   `json:"figures"`
	Notes    []string `json:"notes,omitempty"`
	Verdicts []Verdict
	study.Outcome
	LeftOut []LeftOut `json:"left_out,omitempty"`

	Pictures map[string]study.Picture `json:"-"` // by the name of the series
}

// Report is the result of a run of experiments.
type Report struct {
	Results []Result
	Summary Summary
	Missing []string // outputs of the papers that no experiment measures, but for those that calibrated a model
	Outputs int      // number of all outputs of the papers, those without an experiment among them
	Claims  int      // number of all claims of the papers: outputs, inputs and context
	Digest  string
}

// Run runs experiments. After an error, the report has the results so far.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{}
	all, err := claims.All()
	if err != nil {
		return r, err
	}
	r.count(all)
	for _, x := range List {
		if len(o.Names) > 0 && !slices.Contains(o.Names, x.FullName()) {
			continue
		}
		if o.Log != nil {
			fmt.Fprintf(o.Log, "bench: running %s\n", x.FullName())
		}
		res, err := run(ctx, o, x, all)
		if err != nil {
			return r, fmt.Errorf("%s: %w", x.FullName(), err)
		}
		if err := checkPictures(x, &res.Outcome); err != nil {
			return r, err
		}
		res.Pictures = x.Pictures
		r.Results = append(r.Results, *res)
	}
	r.Summary = summarize(r.verdicts())
	r.Digest, err = digest(r)
	return r, err
}

// count counts the claims and outputs of the papers, and lists those that no experiment measures.
func (r *Report) count(all []claims.Claim) {
	r.Claims = len(all)
	for i := range all {
		if !all[i].Scored() {
			continue
		}
		if r.Outputs++; measuredBy(all[i].ID) == nil && all[i].Anchor == "" {
			r.Missing = append(r.Missing, all[i].ID)
		}
	}
}

func (r *Report) verdicts() (all []Verdict) {
	for i := range r.Results {
		all = append(all, r.Results[i].Verdicts...)
	}
	return all
}

// SummaryOf returns the summary of a group's experiments.
func (r *Report) SummaryOf(group string) Summary {
	var all []Verdict
	for i := range r.Results {
		if r.Results[i].Group == group {
			all = append(all, r.Results[i].Verdicts...)
		}
	}
	return summarize(all)
}

func run(ctx context.Context, o Options, x *study.Experiment, all []claims.Claim) (*Result, error) {
	res, err := once(ctx, o, x, all)
	if err != nil {
		return res, err
	}
	ofSeed := slices.Clone(res.Verdicts) // before those of other seeds are added
	if err := otherSeeds(ctx, o, x, all, res); err != nil || !o.LeaveOneOut {
		return res, err
	}
	for _, in := range x.Inputs {
		if in.Instead == nil {
			continue
		}
		if o.Log != nil {
			fmt.Fprintf(o.Log, "bench: %s without %s\n", x.Name, in.Name)
		}
		other, err := once(ctx, o, x, all, in.Name)
		if err != nil {
			return res, fmt.Errorf("without %s: %w", in.Name, err)
		}
		res.LeftOut = append(res.LeftOut, leaveOut(in, ofSeed, other.Verdicts))
	}
	return res, nil
}

func once(ctx context.Context, o Options, x *study.Experiment, all []claims.Claim, replaced ...string) (*Result,
	error) {
	s, err := study.NewSession(ctx, x, o.Percent, replaced...)
	if err != nil {
		return nil, err
	}
	s.Log, s.Seed = o.Log, o.Seed
	if err := x.Run(s); err != nil {
		return nil, err
	}
	v, err := judge(x, &s.Outcome, all)
	return &Result{Name: x.FullName(), Group: x.Group, Title: x.Title, Figures: x.Figures, Notes: x.Notes, Verdicts: v,
		Outcome: s.Outcome}, err
}

// otherSeeds runs an experiment with the other seeds, and adds their spread to its verdicts.
func otherSeeds(ctx context.Context, o Options, x *study.Experiment, all []claims.Claim, res *Result) error {
	seeds := o.Seeds
	for i := 1; i < seeds; i++ {
		o.Seed++
		if o.Log != nil {
			fmt.Fprintf(o.Log, "bench: %s with seed %d\n", x.Name, o.Seed)
		}
		other, err := once(ctx, o, x, all)
		if err != nil {
			return fmt.Errorf("seed %d: %w", o.Seed, err)
		}
		for k := range res.Verdicts {
			res.Verdicts[k].widen(&other.Verdicts[k], o.Seed)
		}
	}
	return nil
}

// digest hashes everything recorded with the original inputs. Wall time is not part of it.
func digest(r *Report) (string, error) {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, x := range r.Results {
		x.LeftOut = nil
		if err := e.Encode(&x); err != nil {
			return "", fmt.Errorf("experiments: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// LeftOut lists the claims whose results change when an input that was calibrated by claims gets a value from another
// source instead (study.Input.Instead).
type LeftOut struct {
	Input   string   `json:"input"`
	Anchors []string `json:"anchors"`
	Was     string   `json:"was"`
	Instead string   `json:"instead"`
	Source  string   `json:"source"`
	Moved   []Moved  `json:"moved"`
}

// Moved is a claim whose result changed when an anchor was left out.
type Moved struct {
	Claim   string    `json:"claim"`
	Before  []float64 `json:"before"`
	After   []float64 `json:"after"`
	Verdict string    `json:"verdict"` // as in "pass to miss"
}

// movedBy is the smallest relative change that is reported.
const movedBy = study.Precision

func leaveOut(in study.Input, before, after []Verdict) LeftOut {
	show := func(text string, value float64) string {
		if text != "" {
			return text
		}
		return fmt.Sprintf("%g %s", value, in.Unit)
	}
	l := LeftOut{
		Input: in.Name, Anchors: append([]string{}, in.Anchors...), Was: show(in.Text, in.Value),
		Instead: show(in.Instead.Text, in.Instead.Value), Source: in.Instead.Source, Moved: []Moved{},
	}
	for i := range before {
		a, b := &before[i], &after[i]
		if a.Verdict == b.Verdict && !differs(a.Measured, b.Measured) {
			continue
		}
		v := a.Verdict
		if b.Verdict != v {
			v = strings.Join([]string{a.Verdict, b.Verdict}, " to ")
		}
		l.Moved = append(l.Moved, Moved{a.Claim, a.Measured, b.Measured, v})
	}
	return l
}

func differs(a, b []float64) bool {
	return !slices.EqualFunc(a, b, func(x, y float64) bool { return max(x, y)-min(x, y) <= movedBy*max(x, -x) })
}
