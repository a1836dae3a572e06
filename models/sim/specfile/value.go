package specfile

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
)

// scalar decodes a number, a string or a boolean.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, at field.Path) {
	if n.Kind != yaml.ScalarNode {
		d.bad(n, at, "%s: want %s", kindOf(n), wanted(v.Kind()))
		return
	}
	if isNumber(v) && !Quoted(n) {
		if err := CheckNumber(n.Value); err != nil {
			d.bad(n, at, "%w", err)
			return
		}
	}
	if !setScalar(n, v) {
		d.bad(n, at, "%s: want %s", kindOf(n), wanted(v.Kind()))
	}
}

func isNumber(v reflect.Value) bool { return v.CanInt() || v.CanUint() || v.CanFloat() }

func setScalar(n *yaml.Node, v reflect.Value) bool {
	switch k := v.Kind(); {
	case k == reflect.String && n.Tag == "!!str":
		v.SetString(n.Value)
	case k == reflect.Bool && n.Tag == "!!bool":
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case v.CanFloat() && (n.Tag == "!!int" || n.Tag == "!!float"):
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) || v.OverflowFloat(x) {
			return false
		}
		v.SetFloat(x)
	case n.Tag != "!!int":
		return false
	case v.CanInt():
		i, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil || v.OverflowInt(i) {
			return false
		}
		v.SetInt(i)
	case v.CanUint():
		u, err := strconv.ParseUint(n.Value, 0, 64)
		if err != nil || v.OverflowUint(u) {
			return false
		}
		v.SetUint(u)
	default:
		return false
	}
	return true
}

// wanted describes the valid values of a kind.
func wanted(k reflect.Kind) string {
	bits := map[reflect.Kind]int{reflect.Int8: 7, reflect.Int16: 15, reflect.Int32: 31, reflect.Int: 63,
		reflect.Int64: 63,
		reflect.Uint8: 8, reflect.Uint16: 16, reflect.Uint32: 32, reflect.Uint: 64, reflect.Uint64: 64}[k]
	switch {
	case k == reflect.String:
		return "a word"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.Float64 || k == reflect.Float32:
		return "a decimal number"
	case k >= reflect.Uint:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-bits))
	}
	return fmt.Sprintf("a whole number within ±%d", uint64(math.MaxUint64)>>(64-bits))
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	if n.Tag == "!!null" {
		return "null"
	}
	return Shown(n.Value)
}

// fieldOf returns the field of a struct with a key.
func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	t := v.Type()
	for i := range t.NumField() {
		name, inline := tagOf(t.Field(i))
		switch {
		case inline:
			if f, ok := fieldOf(v.Field(i), key); ok {
				return f, true
			}
		case name != "" && name == key:
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// tagOf returns a field's key, "" for a field that is not part of a file.
func tagOf(f reflect.StructField) (name string, inline bool) {
	name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" || !f.IsExported() && !f.Anonymous {
		return "", false
	}
	return name, strings.Contains(","+opts+",", ",inline,")
}

// known lists the keys of a struct.
func known(t reflect.Type) string {
	var names []string
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		for i := range t.NumField() {
			switch name, inline := tagOf(t.Field(i)); {
			case inline:
				walk(t.Field(i).Type)
			case name != "":
				names = append(names, name)
			}
		}
	}
	walk(t)
	return strings.Join(names, ", ")
}

// Places holds the lines of a file's fields.
type Places struct {
	file string
	line map[field.Path]int
}

// Locate adds file and line to each field error: the line of the field, or of the innermost mapping
// on its path that the file has. If the file does not set the field itself, but another field that
// the error concerns, the error is reported for that field, since a user cannot have got a default
// wrong.
func (p *Places) Locate(err error) error {
	if err == nil {
		return nil
	}
	d := decoder{Places: *p}
	for _, one := range field.Each(err) {
		e := &Error{File: p.file, Line: p.line[""], Err: one}
		if f, ok := one.(*field.Error); ok {
			at := p.blamed(f)
			e.Line, e.Path = p.nearest(at), at
			if at != f.Path {
				e.Err = fmt.Errorf("conflicts with a value that the file does not set: %w", f)
			}
		}
		d.errs = append(d.errs, e)
	}
	return d.joined()
}

// blamed returns the field to report the error for: a field that the error concerns and the file
// sets. It returns the error's own field if the file sets that, or sets no such field.
func (p *Places) blamed(e *field.Error) field.Path {
	if _, given := p.line[e.Path]; given {
		return e.Path
	}
	for _, other := range e.Others() {
		if _, given := p.line[other]; given {
			return other
		}
	}
	return e.Path
}

// nearest returns the line of a path, or of its longest prefix in the file.
func (p *Places) nearest(at field.Path) int {
	for at != "" {
		if n, ok := p.line[at]; ok {
			return n
		}
		i := strings.LastIndexAny(string(at), ".[")
		at = at[:max(i, 0)]
	}
	return p.line[""]
}
