package result

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// End sets the outcome and, unless it is nil, the error.
func (o *Object) End(out Outcome, err error) {
	o.Schema, o.Result, o.Revision = Schema, out.String(), ThisVersion().Tree()
	o.Error = ""
	if err != nil {
		o.Error = err.Error()
	}
}

// WriteLine writes the object as one line. If JSON cannot represent it, for instance because of a NaN, it writes an
// object with that error.
func (o *Object) WriteLine(w io.Writer) error {
	text, err := o.text("")
	if err != nil {
		instead := Object{Command: o.Command, Seed: o.Seed}
		instead.End(Infrastructure, err)
		text, _ = instead.text("") // it holds only strings and whole numbers
	}
	if _, werr := w.Write(append(text, '\n')); werr != nil {
		err = fmt.Errorf("result as JSON: %w", werr)
	}
	return err
}

// text returns the object as JSON without null values: a mandatory list or map is empty instead.
func (o *Object) text(indent string) ([]byte, error) {
	noNull(reflect.ValueOf(o).Elem())
	write := json.Marshal
	if indent != "" {
		write = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", indent) }
	}
	text, err := write(o)
	if err != nil {
		return nil, fmt.Errorf("result as JSON: %w", err)
	}
	return text, nil
}

// noNull replaces nil lists and maps that JSON would write as null by empty ones.
func noNull(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			noNull(v.Elem())
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return // already JSON
		}
		for i := range v.Len() {
			noNull(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, tag := v.Field(i), v.Type().Field(i).Tag.Get("json")
			if !v.Type().Field(i).IsExported() || tag == "-" {
				continue
			}
			if !strings.Contains(tag, ",omitempty") && f.CanSet() {
				fill(f)
			}
			noNull(f)
		}
	}
}

// fill replaces f, if it is a nil list or map, by an empty one.
func fill(f reflect.Value) {
	switch {
	case f.Kind() == reflect.Slice && f.IsNil():
		f.Set(reflect.MakeSlice(f.Type(), 0, 0))
	case f.Kind() == reflect.Map && f.IsNil():
		f.Set(reflect.MakeMap(f.Type()))
	}
}

// Portable returns a copy of the object as others may see it: without folders of this machine and measured times, and
// with the given names replaced in every text.
func (o *Object) Portable(names *strings.Replacer) (*Object, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("result as JSON: %w", err)
	}
	c := new(Object)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("result as JSON: %w", err)
	}
	c.Home, c.Artifacts, c.WallS, c.Wall, c.RTLBusy, c.Bundle, c.FromBundle = nil, "", 0, nil, 0, nil, nil
	if s := c.Shrunk; s != nil {
		s.WallS, s.Whole = 0, ""
	}
	rename(reflect.ValueOf(c).Elem(), names)
	return c, nil
}

// rename replaces names in every text of a value.
func rename(v reflect.Value, names *strings.Replacer) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(names.Replace(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			rename(v.Elem(), names)
		}
	case reflect.Slice:
		for i := range v.Len() {
			rename(v.Index(i), names)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				rename(v.Field(i), names)
			}
		}
	}
}

// Text returns the object as it is written among the artifacts.
func (o *Object) Text() ([]byte, error) {
	text, err := o.text("  ")
	return append(text, '\n'), err
}
