package claims

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed *.yaml
var files embed.FS

// All returns the claims of the embedded files, in the order of the files' names and of their lines.
func All() ([]Claim, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	var all []Claim
	var errs []error
	seen := map[string]string{}
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("claims: %w", err)
		}
		list, err := Parse(e.Name(), text)
		errs = append(errs, err)
		for i := range list {
			at := fmt.Sprintf("%s:%d", e.Name(), list[i].Line)
			if before, twice := seen[list[i].ID]; twice {
				errs = append(errs, fmt.Errorf("%s: claim %s is there already, at %s", at, list[i].ID, before))
			}
			seen[list[i].ID] = at
		}
		all = append(all, list...)
	}
	return all, errors.Join(errs...)
}

// Find returns the claim with an id, or nil.
func Find(all []Claim, id string) *Claim {
	i := slices.IndexFunc(all, func(c Claim) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Parse reads the claims of a file. Errors name the file and the line.
func Parse(name string, text []byte) ([]Claim, error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var file struct {
		Claims []Claim `yaml:"claims"`
	}
	if err := dec.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, located(name, err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: a second document: want one", name)
	}
	var errs []error
	seen := map[string]bool{}
	for i := range file.Claims {
		c := &file.Claims[i]
		for _, wrong := range c.faults() {
			errs = append(errs, fmt.Errorf("%s:%d: claim %q: %s", name, c.Line, c.ID, wrong))
		}
		if seen[c.ID] {
			errs = append(errs, fmt.Errorf("%s:%d: claim %s is there twice", name, c.Line, c.ID))
		}
		seen[c.ID] = true
	}
	return file.Claims, errors.Join(errs...)
}

// located adds the file's name to each error of the YAML reader, which names only the line.
func located(name string, err error) error {
	texts := []string{err.Error()}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		texts = typed.Errors
	}
	var errs []error
	for _, t := range texts {
		t = strings.TrimPrefix(t, "yaml: ")
		if line, rest, ok := strings.Cut(strings.TrimPrefix(t, "line "), ": "); ok && strings.HasPrefix(t, "line ") {
			t = line + ": " + rest
		} else {
			t = " " + t
		}
		errs = append(errs, fmt.Errorf("%s:%s", name, t))
	}
	return errors.Join(errs...)
}

// UnmarshalYAML also records the claim's line, and refuses unknown fields: the decoder's strict mode does not apply
// inside custom unmarshalers.
func (c *Claim) UnmarshalYAML(n *yaml.Node) error {
	type plain Claim
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a claim is a mapping", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		if key := n.Content[i]; !slices.Contains(fields, key.Value) {
			return fmt.Errorf("line %d: field %s: want one of %s", key.Line, key.Value, strings.Join(fields, ", "))
		}
	}
	if err := n.Decode((*plain)(c)); err != nil {
		return err
	}
	c.Line = n.Line
	return nil
}

var fields = []string{
	"id", "paper", "where", "metric", "value", "bound", "unit", "check", "tolerance", "low", "high", "ends", "kind",
	"role", "derivability", "twin", "anchor", "rule",
}

// UnmarshalYAML reads a number, a list of numbers, a text, or null for no value.
func (v *Value) UnmarshalYAML(n *yaml.Node) error {
	switch {
	case n.Tag == "!!null":
		return nil
	case n.Kind == yaml.SequenceNode:
		if err := n.Decode(&v.Numbers); err != nil || len(v.Numbers) == 0 {
			return fmt.Errorf("line %d: value: want numbers", n.Line)
		}
		n = n.Content[0]
	case n.Tag == "!!int" || n.Tag == "!!float":
		var x float64
		if err := n.Decode(&x); err != nil {
			return err
		}
		v.Numbers = []float64{x}
	case n.Kind == yaml.ScalarNode:
		v.Text = n.Value
		return nil
	default:
		return fmt.Errorf("line %d: value: want nothing, a number, a list of numbers or a text", n.Line)
	}
	if _, after, ok := strings.Cut(n.Value, "."); ok {
		v.Digits = len(after)
	}
	return nil
}

// A value that is absent in the file is not unmarshaled, and counts like null.
var _ yaml.Unmarshaler = (*Value)(nil)

func (c *Claim) faults() (wrong []string) {
	oneOf := func(field, got string, of ...string) {
		if !slices.Contains(of, got) {
			wrong = append(wrong, fmt.Sprintf("%s %q: want one of %s", field, got, strings.Join(of, ", ")))
		}
	}
	for _, f := range [...]struct{ field, got string }{{"id", c.ID}, {"paper", c.Paper}, {"where", c.Where},
		{"metric", c.Metric}} {
		if f.got == "" {
			wrong = append(wrong, f.field+" is empty: want one")
		}
	}
	oneOf("check", string(c.Check), checkNames...)
	oneOf("bound", c.Bound, "eq", "approx", "upto", "range", "gt", "lt", "le", "atleast")
	oneOf("kind", c.Kind, "absolute", "ratio", "shape", "equation", "parameter")
	oneOf("role", c.Role, "output", "input", "context")
	oneOf("derivability", string(c.Derivability), string(Structural), string(Calibrated), string(Empirical))
	numbers := len(c.Value.Numbers)
	switch c.Check {
	case Within, UpperBound:
		if numbers == 0 {
			wrong = append(wrong, fmt.Sprintf("check %s without a number: want a value", c.Check))
		}
	case InRange:
		if numbers != 2 && (c.Low == nil || c.High == nil) {
			wrong = append(wrong, "check in_range: want two numbers, or low and high")
		}
	}
	if c.Tolerance < 0 || c.Tolerance > 1 {
		wrong = append(wrong, fmt.Sprintf("tolerance %g: want 0 to 1", c.Tolerance))
	}
	return wrong
}

var checkNames = []string{
	string(Exact), string(Within), string(InRange), string(UpperBound), string(LowerBound), string(Ordering),
	string(Direction), string(Shape),
	string(Input), string(None),
}
