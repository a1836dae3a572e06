package specfile

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
)

// scalar decodes a number, a string or a boolean.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, at field.Path, u unit) {
	if n.Kind != yaml.ScalarNode {
		d.bad(n, at, "%s: want %s", kindOf(n), u.wanted(v.Kind()))
		return
	}
	if u.reads(n) {
		if err := u.set(n.Value, v); err != nil {
			d.bad(n, at, "%w", err)
		}
		return
	}
	if isNumber(v) && !Quoted(n) {
		if err := CheckNumber(n.Value); err != nil {
			d.bad(n, at, "%w", err)
			return
		}
	}
	if !setScalar(n, v) {
		d.bad(n, at, "%s: want %s", kindOf(n), u.wanted(v.Kind()))
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

// entry is a field of a struct that a key of a mapping names.
type entry struct {
	name  string // name in the field's yaml tag, such as latency_ps; the key may be its short form, latency
	value reflect.Value
	unit  unit
}

// entryOf returns the field of a struct with a key, or with a short form of that name.
func entryOf(v reflect.Value, key string) (entry, bool) {
	e, ok := search(v, func(name string, f reflect.StructField) (unit, bool) { return unitOf(f), name == key })
	if ok {
		return e, true
	}
	return search(v, func(_ string, f reflect.StructField) (unit, bool) { return shortUnit(f, key) })
}

// search returns the first field of a struct for which function `is` returns true.
func search(v reflect.Value, is func(name string, f reflect.StructField) (unit, bool)) (entry, bool) {
	t := v.Type()
	for i := range t.NumField() {
		name, inline := tagOf(t.Field(i))
		if inline {
			if e, ok := search(v.Field(i), is); ok {
				return e, true
			}
		} else if u, ok := is(name, t.Field(i)); ok && name != "" {
			return entry{name, v.Field(i), u}, true
		}
	}
	return entry{}, false
}

// tagOf returns a field's key, "" for a field that is not part of a file.
func tagOf(f reflect.StructField) (name string, inline bool) {
	name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" || !f.IsExported() && !f.Anonymous {
		return "", false
	}
	return name, strings.Contains(","+opts+",", ",inline,")
}

// known lists the keys of a struct, each in its short form if it has one.
func known(t reflect.Type) string {
	var names []string
	eachField(t, func(name string, f reflect.StructField) { names = append(names, cmp.Or(shortOf(f), name)) })
	return strings.Join(names, ", ")
}

// eachField calls f for each field of a struct that is part of a file.
func eachField(t reflect.Type, f func(name string, of reflect.StructField)) {
	for i := range t.NumField() {
		switch name, inline := tagOf(t.Field(i)); {
		case inline:
			eachField(t.Field(i).Type, f)
		case name != "":
			f(name, t.Field(i))
		}
	}
}
