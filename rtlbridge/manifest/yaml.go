package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/specfile"
)

// shape compares a YAML value with the type that it is meant for, and collects every unknown field and every
// value of a wrong type, by line and field. The YAML package would not name the field, and would silently
// truncate a fraction.
type shape struct {
	path    string // path of the file
	errs    []error
	unknown []string // paths of unknown values; "x." stands for a field in x whose name is unknown
}

func (s *shape) add(n *yaml.Node, field, format string, args ...any) {
	s.unknown = append(s.unknown, field)
	if field != "" {
		field += ": "
	}
	s.errs = append(s.errs, &Error{Path: s.path, Line: n.Line, Msg: field + fmt.Sprintf(format, args...)})
}

// check compares n, the value of field, with t.
func (s *shape) check(n *yaml.Node, t reflect.Type, field string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[yaml.Node]() { // a field that another package checks
		return
	}
	tag := n.ShortTag()
	if tag == "!!null" { // as if the field were absent
		return
	}
	switch k := t.Kind(); {
	case k == reflect.Struct || k == reflect.Map:
		if n.Kind != yaml.MappingNode {
			s.add(n, field, "%s: needs fields with values (name: value)", shown(n))
			return
		}
		s.fields(n, t, field)
	case k == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			s.add(n, field, "%s: needs a list", shown(n))
			return
		}
		for i, c := range n.Content {
			s.check(c, t.Elem(), fmt.Sprintf("%s[%d]", field, i))
		}
	case n.Kind != yaml.ScalarNode:
		s.add(n, field, "%s: needs a single value", shown(n))
	case k == reflect.Bool && tag != "!!bool":
		s.add(n, field, "%s: needs true or false", shown(n))
	default:
		s.number(n, k, field)
	}
}

// number checks a value that is a number, or a text that the design takes for one.
func (s *shape) number(n *yaml.Node, k reflect.Kind, field string) {
	whole := k == reflect.Int || k == reflect.Int64
	var err error
	switch {
	case specfile.Quoted(n):
	case whole:
		err = specfile.CheckNumber(n.Value)
	case k == reflect.String:
		err = specfile.CheckOctal(n.Value)
	}
	switch {
	case err != nil:
		s.add(n, field, "%v", err)
	case whole && n.ShortTag() != "!!int":
		s.add(n, field, "%s: needs a whole number", shown(n))
	}
}

// fields checks the fields of a structure, or the values of a map.
func (s *shape) fields(n *yaml.Node, t reflect.Type, field string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := key.Value
		if field != "" {
			name = field + "." + name
		}
		switch of, known := fieldType(t, key.Value); {
		case key.ShortTag() == "!!merge":
			s.check(value, t, field)
		case !known:
			s.add(key, field, "unknown field %q", key.Value)
			s.unknown[len(s.unknown)-1] = field + "."
		default:
			s.check(value, of, name)
		}
	}
}

// follows reports whether a fault at path may be a mere consequence of one that `shape` found, because it concerns a
// value that could not be read, or a missing value that an unknown name may have been meant for. `given` reports
// whether the file has a value at a path.
func (s *shape) follows(path string, given func(string) bool) bool {
	for _, u := range s.unknown {
		element, _, inside := strings.Cut(u, ".") // "streams[1]" of "streams[1].lane"
		switch {
		case u == "": // the manifest is not a group of fields
			return true
		case u == ".": // an unknown top-level key may be a misspelling of any missing one
			if !given(TopField(path)) || path == "busy" && !given("observe") {
				return true
			}
		case !inside: // the value itself, or an element of a list, whose loss renumbers the following ones
			if TopField(path) == TopField(u) {
				return true
			}
		case path == element || strings.HasPrefix(path, element+"."):
			return true
		}
		if path == "busy" && TopField(u) == "observe" {
			return true
		}
	}
	return false
}

// TopField returns the field of the manifest itself that a path leads into.
func TopField(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// fieldType returns the type that a structure or a map has for a key.
func fieldType(t reflect.Type, key string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && key != "-" && f.Tag.Get("yaml") == key {
			return f.Type, true
		}
	}
	return nil, false
}

// shown formats a value for messages.
func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a group of fields"
	case yaml.SequenceNode:
		return "a list"
	}
	return specfile.Shown(n.Value)
}

// indexLines records the line of every value by its path.
func indexLines(path string, n *yaml.Node, out map[string]int) {
	if path != "" {
		if _, ok := out[path]; !ok {
			out[path] = n.Line
		}
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if path != "" {
				key = path + "." + key
			}
			out[key] = n.Content[i].Line
			indexLines(key, n.Content[i+1], out)
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			indexLines(fmt.Sprintf("%s[%d]", path, i), c, out)
		}
	}
}

// keysTwice returns those of the YAML package's errors that report a duplicate key.
func keysTwice(te *yaml.TypeError) error {
	if te == nil {
		return nil
	}
	twice := slices.DeleteFunc(slices.Clone(te.Errors),
		func(s string) bool { return !strings.Contains(s, "already defined at") })
	if len(twice) == 0 {
		return nil
	}
	return &yaml.TypeError{Errors: twice}
}

// yamlErrors adds the file to errors of the YAML package, such as "line 3: did not find expected key".
func yamlErrors(path string, err error) error {
	list := []error{err}
	var te *yaml.TypeError
	if errors.As(err, &te) {
		list = nil
		for _, s := range te.Errors {
			list = append(list, errors.New(s))
		}
	}
	var errs []error
	for _, one := range list {
		e := &Error{Path: path}
		if e.Line, e.Msg = specfile.Syntax(one); e.Line == 0 {
			e.Msg = "is no YAML: " + e.Msg
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}
