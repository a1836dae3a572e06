package run

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
	"nictwin/models/sim/specfile"
	"nictwin/scenarios/run/sweep"
	"nictwin/stack/apps"
	"nictwin/stack/transport"
)

var _ yaml.Unmarshaler = (*SweepSpec)(nil)

// SweepSpec expands a scenario to one case for every combination of values.
type SweepSpec struct {
	axes sweep.Axes
}

// UnmarshalYAML reads the axes (yaml.Unmarshaler); read reads their values.
func (w *SweepSpec) UnmarshalYAML(n *yaml.Node) (err error) {
	w.axes, err = sweep.Parse(n, oldAxes)
	return err
}

// readSweep reads the values of the sweep.
func (s *Spec) readSweep(file string) (err error) {
	if s.Workload == nil {
		s.Sweep.axes = s.Sweep.axes.Moved("workload", "workloads")
	}
	s.Sweep.axes, err = s.Sweep.axes.Read(file, s, presets, s.refuse)
	return err
}

var stackOption = regexp.MustCompile(`^stacks\[[0-9]+\]\.flexins\b`)

// refuse says why a sweep cannot set a field; empty: it can.
func (s *Spec) refuse(f *specfile.Field) string {
	top, _, _ := strings.Cut(string(f.Path), ".")
	flexins := func(x StackSpec) bool { return x.Kind == StackFlexiNS }
	switch {
	case top == "name" || top == "description" || top == "sweep":
		return "it is the same in all cases: want another field"
	case stackOption.MatchString(string(f.Path)) && !slices.ContainsFunc(s.Stacks, flexins):
		return fmt.Sprintf("an option of stacks of kind %s: there is none", StackFlexiNS)
	case top != "board" && f.Long() != "":
		return fmt.Sprintf("an old name: want %s, with a unit", f.Long())
	}
	return ""
}

// oldAxes lists the old names of sweep axes, in the order in which their values appear in names of cases.
var oldAxes = []sweep.Old{
	{Name: "kind", Path: "workload.kind"},
	{Name: "transport", Path: "workload.transport"},
	{Name: "size", Path: "workload.sizes[0]", Prepare: oneSize},
	{Name: "processes", Path: "workload.processes"},
	{Name: "queue_pairs", Path: "workload.queue_pairs"},
	{Name: "depth", Path: "workload.depth"},
	{Name: "pieces", Path: "workload.pieces"},
	{Name: "offset", Path: "workload.offset"},
	{Name: "batch", Path: "workload.batch"},
	{Name: "signal_every", Path: "workload.signal_every"},
	{Name: "mtu", Path: "workload.mtu"},
	{Name: "low_latency", Path: "workload.low_latency"},
	{Name: "head", Path: "workload.ring.head"},
	{Name: "tail", Path: "workload.ring.tail"},
	{Name: "loss", Path: "faults.wire.chances.loss"},
	{Name: "stall", Path: "faults.stall"},
	{Name: "data_cores", Path: "stacks.flexins.data_cores"},
	{Name: "receive", Path: "stacks.flexins.data.receive"},
	{Name: "transmit", Path: "stacks.flexins.data.transmit"},
	{Name: "staging_bytes", Path: "stacks.flexins.data.staging_bytes"},
	{Name: "selective_repeat", Path: "stacks.flexins.data.recovery", Value: recovery},
	{Name: "cc", Path: "stacks.flexins.data.cc.kind"},
	{Name: "rnic_cc", Path: "stacks.rnic.cc.kind"},
	{Name: "spray", Path: "stacks.flexins.data.spray"},
	{Name: "notify", Path: "stacks.flexins.notify"},
	{Name: "pcie", Path: "faults.pcie.kind"},
	{Name: "seed", Path: "workload.seed"},
}

// oneSize gives every workload a single size.
func oneSize(spec any) {
	for _, w := range spec.(*Spec).AllWorkloads() {
		w.Sizes = make([]int, 1)
	}
}

// recovery reads whether to use selective repeat, and returns the recovery of a stack.
func recovery(file string, n *yaml.Node, at field.Path) (*yaml.Node, string, error) {
	method := map[bool]transport.Recovery{false: transport.GoBackN, true: transport.SelectiveRepeat}
	selective := false
	if _, err := specfile.DecodeNode(file, n, at, &selective); err != nil {
		return nil, "", err
	}
	of := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(method[selective]), Line: n.Line}
	return of, fmt.Sprint(selective), nil
}

// Case is a scenario with one value for each axis of its sweep.
type Case struct {
	Spec
	File string
	Name string // name of the scenario and the values of its sweep: name:size=64:depth=8

	places *specfile.Places // positions of the fields in the file
}

// Locate adds file and line to errors about fields.
func (c *Case) Locate(err error) error { return c.places.Locate(err) }

// OldNames returns a warning for each field that the case's file gives by its old name, such as within_ps: the unit is
// part of an old name. Fields of boards are named so in this release, too, and cause no warning.
func (c *Case) OldNames() (all []string) {
	for _, l := range c.places.Longs() {
		if !strings.HasPrefix(string(l.Path), "board.") {
			const text = "%s:%d: %s: an old name, which the next release will refuse: want %s, with a unit"
			all = append(all, fmt.Sprintf(text, l.File, l.Line, l.Path, l.Short))
		}
	}
	return all
}

// cases returns one case for each combination of values; the last axis varies fastest.
func (s *Spec) cases(file string) (list []*Case, err error) {
	axes := s.Sweep.axes
	at := make([]int, len(axes))
	for more := true; more; more = axes.Next(at) {
		spec := specfile.Clone(s)
		spec.Sweep = SweepSpec{}
		values, err := axes.Set(file, spec, at)
		if err != nil {
			return nil, err
		}
		c := &Case{Spec: *spec, File: file, Name: s.Name + values}
		if err := c.complete(); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// complete checks a case, and gives its workloads the timeout that follows from its board.
func (c *Case) complete() error {
	if len(c.Name) > maxCaseName {
		return field.Errorf("sweep", ": the name of case %s has %d characters: want %d at most, by a "+
			"shorter name or fewer fields", c.Name, len(c.Name), maxCaseName)
	}
	var errs []error
	for _, err := range field.Each(c.Validate()) {
		errs = append(errs, field.Errorf("sweep", ": case %s: %w", c.Name, err))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, w := range c.AllWorkloads() {
		if w.Timeout == nil && w.Transport != apps.UDP {
			w.Timeout = new(c.timeout())
		}
	}
	return errors.Join(c.validateWindow(), c.validatePhases())
}
