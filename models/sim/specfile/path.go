package specfile

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
)

// Field is a field of a spec that can be set.
type Field struct {
	Path field.Path // path of the field, with an index for every list on the path
	Tag  field.Path // Path with the names of the fields' tags, even where Path has short forms

	entry
}

// step is a part of a path: a name, and the indices behind it.
type step struct {
	name    string
	indices []int
}

var stepForm = regexp.MustCompile(`^([A-Za-z0-9_]+)((?:\[[0-9]{1,9}\])*)$`)

// stepsOf splits a path.
func stepsOf(path field.Path) (all []step, err error) {
	for part := range strings.SplitSeq(string(path), ".") {
		m := stepForm.FindStringSubmatch(part)
		if m == nil {
			return nil, fmt.Errorf("%s: no path: want names with points between them, such as a.b[0].c",
				Shown(string(path)))
		}
		s := step{name: m[1]}
		for index := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return r == '[' || r == ']' }) {
			i, _ := strconv.Atoi(index) // stepForm has only digits
			s.indices = append(s.indices, i)
		}
		all = append(all, s)
	}
	return all, nil
}

// Fields returns the fields of a spec, given by a pointer, that a path names. A list on the path without an index means
// each of its entries. An optional part that the spec lacks, or an empty list, is an error.
func Fields(spec any, path field.Path) ([]Field, error) {
	steps, err := stepsOf(path)
	if err != nil {
		return nil, err
	}
	at := []Field{{"", "", entry{value: reflect.ValueOf(spec).Elem()}}}
	for i, s := range steps {
		var next []Field
		for _, f := range at {
			more, err := f.fields(s, steps[i:])
			if err != nil {
				return nil, err
			}
			next = append(next, more...)
		}
		at = next
	}
	return at, nil
}

// fields returns the fields that a step of a path leads to from field f. `rest` lists that step and those after it.
func (f *Field) fields(s step, rest []step) (all []Field, err error) {
	v := f.value
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil(), v.Kind() == reflect.Slice && v.Len() == 0:
		return nil, fmt.Errorf("want %s, whose %s it sets", f.Path, pathOf(rest))
	case v.Kind() == reflect.Pointer:
		of := Field{f.Path, f.Tag, entry{value: v.Elem()}}
		return of.fields(s, rest)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		for i := range v.Len() {
			of := f.index(i)
			more, err := of.fields(s, rest)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	case v.Kind() != reflect.Struct:
		return nil, fmt.Errorf("%s has no fields, and no %s", f.Path, s.name)
	}
	e, ok := entryOf(v, s.name)
	if !ok {
		return nil, fmt.Errorf("no such field: %s is none of %s", under(f.Path, s.name), known(v.Type()))
	}
	to := Field{under(f.Path, s.name), under(f.Tag, e.name), e}
	for _, i := range s.indices {
		for to.value.Kind() == reflect.Pointer && !to.value.IsNil() {
			to.value = to.value.Elem()
		}
		if k := to.value.Kind(); k != reflect.Slice && k != reflect.Array {
			return nil, fmt.Errorf("%s is no list: want no [%d]", to.Path, i)
		}
		if i >= to.value.Len() {
			return nil, fmt.Errorf("%s has %d entries, and no [%d]", to.Path, to.value.Len(), i)
		}
		to = to.index(i)
	}
	return []Field{to}, nil
}

// index returns an entry of a list.
func (f *Field) index(i int) Field {
	at := func(p field.Path) field.Path { return field.Path(fmt.Sprintf("%s[%d]", p, i)) }
	return Field{at(f.Path), at(f.Tag), entry{f.name, f.value.Index(i), f.unit}}
}

// pathOf writes steps as a path.
func pathOf(steps []step) string {
	var names []string
	for _, s := range steps {
		name := s.name
		for _, i := range s.indices {
			name += fmt.Sprintf("[%d]", i)
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}

// Decode reads a value into the field. at is the path of the value in its file.
func (f *Field) Decode(file string, n *yaml.Node, at field.Path, presets Presets) error {
	d := &decoder{Places: newPlaces(file), presets: presets}
	d.value(n, f.value, at, f.unit)
	return d.joined()
}

// Value returns the field's value.
func (f *Field) Value() any { return f.value.Interface() }

// Long returns the short form of the field's name (latency) if the path has the long one (latency_ps), else "".
func (f *Field) Long() string {
	if f.unit.form == long {
		return f.unit.short
	}
	return ""
}

// Worded is a value that has a single word in texts; it need not be one that DecodeWord reads.
type Worded interface{ Word() string }

// Text returns the field's value as one word: entries of a list with a + between them. ok is false if the value is or
// contains a map, or a struct that is not Worded.
func (f *Field) Text() (text string, ok bool) { return f.unit.text(f.value) }

func (u *unit) text(v reflect.Value) (string, bool) {
	switch w := v.Interface().(type) {
	case Worded:
		return w.Word(), true
	case encoding.TextMarshaler: // a quantity
		text, err := w.MarshalText()
		return string(text), err == nil
	}
	switch k := v.Kind(); {
	case k == reflect.Pointer && v.IsNil():
		return "null", true
	case k == reflect.Pointer:
		return u.text(v.Elem())
	case k == reflect.Slice || k == reflect.Array:
		var all []string
		for i := range v.Len() {
			one, ok := u.text(v.Index(i))
			if !ok {
				return "", false
			}
			all = append(all, one)
		}
		return strings.Join(all, "+"), true
	case k == reflect.String:
		return v.String(), true
	case v.CanInt() && u.write != nil && v.Int() >= 0:
		return u.write(v.Int()), true
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case v.CanFloat() || k == reflect.Bool:
		return fmt.Sprint(v.Interface()), true
	}
	return "", false
}

// Clone returns a deep copy of a spec given by a pointer: its lists, and the values of its pointers, are copies, except
// in fields that are not exported.
func Clone[T any](spec T) T {
	v := reflect.ValueOf(&spec).Elem()
	if v.Kind() == reflect.Interface {
		c := reflect.New(v.Elem().Type()).Elem()
		c.Set(v.Elem())
		own(c)
		v.Set(c)
		return spec
	}
	own(v)
	return spec
}

// own replaces what a value shares with other values by copies.
func own(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			own(c.Elem())
			v.Set(c)
		}
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			for i := range c.Len() {
				own(c.Index(i))
			}
			v.Set(c)
		}
	case reflect.Array:
		for i := range v.Len() {
			own(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for i := v.MapRange(); i.Next(); {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(i.Value())
			own(e)
			c.SetMapIndex(i.Key(), e)
		}
		v.Set(c)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				own(f)
			}
		}
	}
}
