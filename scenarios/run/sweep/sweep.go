package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
	"nictwin/models/sim/specfile"
)

// Axes are the entries of a sweep.
type Axes []Axis

// Axis is one entry of a sweep: a path of fields with the list of their values. A list on the path without an index
// stands for each of its entries.
type Axis struct {
	key    *yaml.Node
	list   *yaml.Node
	path   field.Path
	name   string // name of the axis in the names of cases
	old    *Old
	values []value
	load   specfile.Presets
	names  string // every Old.Name, for the error about an unknown path
}

// value is one value of an axis.
type value struct {
	node *yaml.Node // the value as a scenario file would write it in the fields that the axis sets
	text string     // text of the value in the names of cases
}

// Old is a name that a sweep may give in place of a path.
type Old struct {
	Name string
	Path field.Path
	// Prepare adds the field at Path to a spec that may lack it; nil: every spec has the field
	Prepare func(spec any)
	// Value converts a value of the axis to a value of the field, and returns its text for names of cases, too; nil:
	// values of the axis are values of the field
	Value func(file string, n *yaml.Node, at field.Path) (*yaml.Node, string, error)
}

// Parse returns the axes of a sweep: first those that the file names as `old` does, in the order of `old`, then those
// that it names by paths, in the order of the file.
func Parse(n *yaml.Node, old []Old) (Axes, error) {
	if n.Kind != yaml.MappingNode {
		return nil, errors.New("want a mapping of paths, such as workload.depth, to lists of values")
	}
	var all, paths Axes
	var names []string
	for _, o := range old {
		names = append(names, o.Name)
	}
	for i := 0; i < len(n.Content); i += 2 {
		a := Axis{key: n.Content[i], list: n.Content[i+1], path: field.Path(n.Content[i].Value),
			names: strings.Join(names, ", ")}
		if k := slices.IndexFunc(old, func(o Old) bool { return o.Name == a.key.Value }); k >= 0 {
			a.old, a.path = &old[k], old[k].Path
			all = append(all, a)
		} else {
			paths = append(paths, a)
		}
	}
	rank := func(a Axis) int { return slices.IndexFunc(old, func(o Old) bool { return o.Name == a.old.Name }) }
	slices.SortStableFunc(all, func(a, b Axis) int { return rank(a) - rank(b) })
	return append(all, paths...), nil
}

// at returns the path of the axis in the file.
func (a *Axis) at() field.Path { return "sweep." + field.Path(a.key.Value) }

// Sets reports whether the sweep sets a field, a part of it, or a field that it is part of.
func (x Axes) Sets(path field.Path) bool {
	return slices.ContainsFunc(x, func(a Axis) bool {
		return len(a.list.Content) > 0 && overlap(withoutIndices(a.path), path)
	})
}

// Moved returns the axes with `from` replaced by `to` at the beginning of the paths for which old names stand.
func (x Axes) Moved(from, to field.Path) Axes {
	x = slices.Clone(x)
	for i := range x {
		if rest, ok := strings.CutPrefix(string(x[i].path), string(from)+"."); ok && x[i].old != nil {
			x[i].path = to + "." + field.Path(rest)
		}
	}
	return x
}

var anIndex = regexp.MustCompile(`\[[0-9]*\]`)

func withoutIndices(p field.Path) field.Path {
	return field.Path(anIndex.ReplaceAllString(string(p), ""))
}

// overlap reports whether two fields are the same, or one is a part of the other.
func overlap(a, b field.Path) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(string(b), string(a))
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// bad records a fault of a node of the sweep.
func (c *check) bad(n *yaml.Node, at field.Path, format string, args ...any) {
	c.errs = append(c.errs, &specfile.Error{File: c.file, Line: n.Line, Path: at, Err: fmt.Errorf(format, args...)})
}

// check decodes a sweep's values into a spec, and collects the errors.
type check struct {
	file   string
	spec   any
	refuse func(*specfile.Field) string
	errs   []error
	set    []fieldOf // the fields that earlier axes set
}

// fieldOf is a field that an axis sets.
type fieldOf struct {
	path field.Path
	tag  field.Path // see specfile.Field
	by   *Axis
}

// MaxCases bounds the cases of a sweep.
const MaxCases = 10_000

// Read reads the values of the axes for a spec, given by a pointer, and returns the axes with values, or every error.
// refuse says why a field cannot be set; empty: it can.
func (x Axes) Read(file string, spec any, presets specfile.Presets, refuse func(*specfile.Field) string) (Axes, error) {
	c := &check{file: file, spec: spec, refuse: refuse}
	n := 1
	var axes Axes
	for _, a := range x {
		a.load = presets
		if !c.axis(&a) {
			continue
		}
		axes = append(axes, a)
		if n *= len(a.list.Content); n > MaxCases {
			c.bad(a.key, a.at(), "more than %d cases: want fewer values", MaxCases)
			break
		}
	}
	for i := range axes {
		axes[i].name = axes[i].shortName(axes)
	}
	return axes, errors.Join(c.errs...)
}

// Set sets value at[i] of each axis i in a spec, given by a pointer, and returns the suffix that these values give to
// the case's name.
func (x Axes) Set(file string, spec any, at []int) (name string, err error) {
	for i := range x {
		a, v := &x[i], x[i].values[at[i]]
		fields, err := a.fields(spec)
		if err != nil {
			return "", &specfile.Error{File: file, Line: a.key.Line, Path: a.at(), Err: err}
		}
		for _, f := range fields {
			if err := f.Decode(file, v.node, a.at(), a.load); err != nil {
				return "", err
			}
		}
		name += ":" + a.name + "=" + v.text
	}
	return name, nil
}

// Next advances to the next combination of values, the last axis fastest, and reports false after the last.
func (x Axes) Next(at []int) bool {
	for i := len(x) - 1; i >= 0; i-- {
		if at[i]++; at[i] < len(x[i].values) {
			return true
		}
		at[i] = 0
	}
	return false
}

// axis reads the values of an axis, and reports whether it has some.
func (c *check) axis(a *Axis) bool {
	if a.key.Kind != yaml.ScalarNode {
		c.bad(a.key, "sweep", "a list or mapping as a key: want a path, such as workload.depth")
		return false
	}
	if a.list.Kind != yaml.SequenceNode || a.list.Anchor != "" {
		c.bad(a.list, a.at(), "want a list of values")
		return false
	}
	if len(a.list.Content) == 0 {
		if a.old == nil {
			c.bad(a.list, a.at(), "no values: want some")
		}
		return false
	}
	if !c.target(a) {
		return false
	}
	var earlier []any
	for i, n := range a.list.Content {
		at := field.Path(fmt.Sprintf("%s[%d]", a.at(), i))
		v, fields, err := a.decode(c.file, c.spec, n, at)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		same := func(x any) bool { return reflect.DeepEqual(x, fields[0].Value()) }
		if first := slices.IndexFunc(earlier, same); first >= 0 {
			c.bad(n, at, "%s a second time: %s[%d] has it", v.text, a.at(), first)
		}
		for slices.ContainsFunc(a.values, func(o value) bool { return o.text == v.text }) {
			v.text = fmt.Sprintf("%s.%d", v.text, i) // same text once strange characters are replaced
		}
		a.values, earlier = append(a.values, v), append(earlier, fields[0].Value())
	}
	return true
}

// target checks the path of an axis.
func (c *check) target(a *Axis) bool {
	fields, err := a.fields(specfile.Clone(c.spec))
	if err != nil {
		c.bad(a.key, a.at(), "%w", err)
		return false
	}
	for _, f := range fields {
		if why := c.refuse(&f); why != "" {
			c.bad(a.key, a.at(), "%s", why)
			return false
		}
		for _, o := range c.set {
			if overlap(o.tag, f.Tag) {
				c.bad(a.key, a.at(), "%s in line %d sets %s, too", o.by.key.Value, o.by.key.Line, o.path)
				return false
			}
		}
	}
	for _, f := range fields {
		c.set = append(c.set, fieldOf{f.Path, f.Tag, a})
	}
	return true
}

// fields returns the fields that the axis sets.
func (a *Axis) fields(spec any) ([]specfile.Field, error) {
	if a.old != nil && a.old.Prepare != nil {
		a.old.Prepare(spec)
	}
	all, err := specfile.Fields(spec, a.path)
	switch {
	case err == nil:
	case strings.HasSuffix(string(a.path), ".preset"):
		err = errors.New("presets are read before a sweep: want fields, such as board.network.latency, or a file for " +
			"each preset")
	case !strings.ContainsAny(string(a.path), ".["):
		err = fmt.Errorf("no such field: want a path such as workload.depth, or one of %s", a.names)
	}
	return all, err
}

// decode reads a value into the fields of a copy of the scenario.
func (a *Axis) decode(file string, spec any, n *yaml.Node, at field.Path) (value, []specfile.Field, error) {
	v := value{node: n}
	var err error
	if a.old != nil && a.old.Value != nil {
		if v.node, v.text, err = a.old.Value(file, n, at); err != nil {
			return v, nil, err
		}
	}
	fields, err := a.fields(specfile.Clone(spec))
	if err != nil {
		return v, nil, err
	}
	for _, f := range fields {
		if err := f.Decode(file, v.node, at, a.load); err != nil {
			return v, nil, err
		}
	}
	text, ok := fields[0].Text()
	if !ok {
		text = written(n)
	}
	v.text = cmp.Or(v.text, strange.ReplaceAllString(text, "_"), "_")
	return v, fields, nil
}

// strange matches characters that do not stand in names of cases, because these become names of folders.
var strange = regexp.MustCompile(`[^A-Za-z0-9_.+-]+`)

// written returns the keys and values of a YAML node as one text, joined by "+".
func written(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var all []string
	for _, x := range n.Content {
		all = append(all, written(x))
	}
	return strings.Join(all, "+")
}

// shortName returns the shortest end of the path that no other axis has, or the name that stands for the path (Old).
func (a *Axis) shortName(axes Axes) string {
	if a.old != nil {
		return a.old.Name
	}
	name := string(a.path)
	for from := len(name); from > 0; {
		from = max(strings.LastIndexByte(name[:from], '.'), 0)
		end := strings.TrimPrefix(name[from:], ".")
		if !slices.ContainsFunc(axes, func(b Axis) bool {
			other := string(b.path)
			if b.old != nil {
				other = b.old.Name
			}
			return b.key != a.key && (other == end || strings.HasSuffix(other, "."+end))
		}) {
			return end
		}
	}
	return name
}
