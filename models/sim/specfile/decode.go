package specfile

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
)

// Error is a fault of a file.
type Error struct {
	File string
	Line int        // 0 if the fault is of the file as a whole
	Path field.Path // empty if the fault is of no field
	Err  error
}

func (e *Error) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if _, ok := e.Err.(*field.Error); ok || e.Path == "" {
		return fmt.Sprintf("%s: %v", at, e.Err) // the error of a field begins with its path
	}
	return fmt.Sprintf("%s: %s: %v", at, e.Path, e.Err)
}

// Unwrap returns the fault without file and line.
func (e *Error) Unwrap() error { return e.Err }

// Presets maps types to functions that return the type's preset of a name.
type Presets map[reflect.Type]func(name string) (any, error)

// Of converts a function that returns presets of type T to the type that Presets holds.
func Of[T any](f func(name string) (T, error)) func(string) (any, error) {
	return func(name string) (any, error) { return f(name) }
}

// Defaulter is a spec that sets its own default values, before an entry of a list or an optional part is read into it.
type Defaulter interface{ SetDefaults() }

// WordDecoder is a spec that a file may give as a single word in place of a mapping. A type that is no struct,
// such as a quantity with its unit, gets every scalar but null, numbers without a unit too.
type WordDecoder interface{ DecodeWord(word string) error }

// Single is a list that a file may also give as one mapping, which is then its only entry.
type Single interface{ TakesOne() }

// keyPreset is the key of a mapping that names its preset.
const keyPreset = "preset"

// MaxBytes is the longest text that is accepted.
const MaxBytes = 1 << 20

// Decode reads a text into a spec; fields that the text lacks keep their values. Errors name file.
func Decode(file string, text []byte, presets Presets, into any) (*Places, error) {
	d := &decoder{Places: newPlaces(file), presets: presets}
	if len(text) > MaxBytes {
		return nil, &Error{File: file, Err: fmt.Errorf("%d bytes: want at most %d", len(text), MaxBytes)}
	}
	root, err := d.document(text)
	if err != nil {
		return nil, err
	}
	v := reflect.ValueOf(into).Elem()
	var others []string
	if presets[v.Type()] != nil {
		others = append(others, keyPreset)
	}
	if err := Recognise(root, v.Type(), others...); err != nil {
		return nil, &Error{File: file, Line: root.Line, Err: err}
	}
	d.value(root, v, "", noUnit)
	return &d.Places, d.joined()
}

// DecodeNode reads a part of a document that the caller has parsed; fields that the part lacks keep
// their values. at is the path of the part in its file; the paths of errors begin with it.
func DecodeNode(file string, n *yaml.Node, at field.Path, into any) (*Places, error) {
	d := &decoder{Places: newPlaces(file)}
	d.value(n, reflect.ValueOf(into).Elem(), at, noUnit)
	return &d.Places, d.joined()
}

// document returns the only document of a text.
func (d *decoder) document(text []byte) (*yaml.Node, error) {
	from := yaml.NewDecoder(strings.NewReader(string(text)))
	var doc, more yaml.Node
	switch err := from.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{File: d.file, Line: 1, Err: errors.New("empty: want a mapping of fields")}
	case err != nil:
		return nil, syntaxError(d.file, err)
	}
	if err := from.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Error{File: d.file, Line: max(more.Line, 1), Err: errors.New("a second document: want one")}
	}
	return doc.Content[0], nil
}

// decoder reads one document.
type decoder struct {
	Places
	presets Presets
	errs    []*Error
}

func (d *decoder) bad(n *yaml.Node, at field.Path, format string, a ...any) {
	d.errs = append(d.errs, &Error{d.file, n.Line, at, fmt.Errorf(format, a...)})
}

func (d *decoder) joined() error {
	slices.SortStableFunc(d.errs, func(a, b *Error) int { return a.Line - b.Line })
	errs := make([]error, len(d.errs))
	for i, e := range d.errs {
		errs[i] = e
	}
	return errors.Join(errs...)
}

// value decodes node n into v, the field with path at, whose values may have unit u.
func (d *decoder) value(n *yaml.Node, v reflect.Value, at field.Path, u unit) {
	d.line[at] = n.Line
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		d.bad(n, at, "an anchor or alias: want the value itself")
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		d.bad(n, at, "tag %s: want a plain value", n.Tag)
		return
	}
	if own, ok := v.Addr().Interface().(yaml.Unmarshaler); ok {
		if err := own.UnmarshalYAML(n); err != nil {
			d.bad(n, at, "%w", err)
		}
		return
	}
	if own, ok := v.Addr().Interface().(WordDecoder); ok && n.Kind == yaml.ScalarNode &&
		(n.Tag == "!!str" || v.Kind() != reflect.Struct && n.Tag != "!!null") {
		if err := own.DecodeWord(n.Value); err != nil {
			d.bad(n, at, "%w", err)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		d.pointer(n, v, at, u)
	case reflect.Map:
		d.named(n, v, at)
	case reflect.Struct:
		d.mapping(n, v, at)
	case reflect.Slice, reflect.Array:
		d.list(n, v, at, u)
	default:
		d.scalar(n, v, at, u)
	}
}

// pointer decodes a value that may be null, which sets a nil pointer.
func (d *decoder) pointer(n *yaml.Node, v reflect.Value, at field.Path, u unit) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		v.SetZero()
		return
	}
	own := reflect.New(v.Type().Elem()) // a copy: the preset may share its value with other specs
	if !v.IsNil() {
		own.Elem().Set(v.Elem())
	} else if b, ok := own.Interface().(Defaulter); ok {
		b.SetDefaults()
	}
	v.Set(own)
	d.value(n, own.Elem(), at, u)
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, at field.Path, u unit) {
	if _, one := v.Addr().Interface().(Single); one && n.Kind == yaml.MappingNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Line: n.Line, Content: []*yaml.Node{n}}
	}
	if n.Kind != yaml.SequenceNode {
		d.bad(n, at, "%s: want a list", kindOf(n))
		return
	}
	if v.Kind() == reflect.Slice && len(n.Content) == 0 {
		v.SetZero() // Marshal writes nil as an empty list, so an empty list is read as nil
	} else if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	} else if len(n.Content) != v.Len() {
		d.bad(n, at, "%d entries: want %d", len(n.Content), v.Len())
		return
	}
	for i, x := range n.Content {
		if b, ok := v.Index(i).Addr().Interface().(Defaulter); ok && v.Kind() == reflect.Slice {
			b.SetDefaults()
		}
		d.value(x, v.Index(i), field.Path(fmt.Sprintf("%s[%d]", at, i)), u)
	}
}

// named decodes a map whose keys are names that the file chooses.
func (d *decoder) named(n *yaml.Node, v reflect.Value, at field.Path) {
	if n.Kind != yaml.MappingNode {
		d.bad(n, at, "%s: want a mapping of names", kindOf(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i < len(n.Content); i += 2 {
		key, x := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.bad(key, at, "%s as a key: want a name", kindOf(key))
			continue
		}
		name := reflect.ValueOf(key.Value)
		if v.MapIndex(name).IsValid() {
			d.bad(key, under(at, key.Value), "a second time")
			continue
		}
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(x, e, under(at, key.Value), noUnit)
		d.line[under(at, key.Value)] = key.Line
		v.SetMapIndex(name, e)
	}
}

// mapping decodes the fields of a struct. It begins from the preset that the mapping names, if any.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, at field.Path) {
	if n.Kind != yaml.MappingNode {
		d.bad(n, at, "%s: want a mapping of fields: %s", kindOf(n), known(v.Type()))
		return
	}
	d.repeats(n, v, at)
	made := d.preset(n, v, at)
	for i := 0; i < len(n.Content); i += 2 {
		key, x := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.bad(key, at, "%s as a key: want one of %s", kindOf(key), known(v.Type()))
			continue
		}
		f, ok := entryOf(v, key.Value)
		switch {
		case ok:
			d.value(x, f.value, under(at, key.Value), f.unit)
			d.spell(at, f, key)
		case key.Value != keyPreset || !made:
			d.bad(key, under(at, key.Value), "no such field: want one of %s", known(v.Type()))
		}
	}
}

// repeats rejects keys that name a field a second time.
func (d *decoder) repeats(n *yaml.Node, v reflect.Value, at field.Path) {
	seen := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key, name := n.Content[i], n.Content[i].Value
		if f, ok := entryOf(v, name); ok {
			name = f.name
		}
		switch first, twice := seen[name]; {
		case twice && first.Value == key.Value:
			d.bad(key, under(at, key.Value), "a second time: first in line %d", first.Line)
		case twice:
			d.bad(key, under(at, key.Value), "a second time: %s in line %d is the same field", first.Value, first.Line)
		}
		seen[name] = key
	}
}

// preset sets a struct to the preset that its mapping names, and reports whether its type has presets.
func (d *decoder) preset(n *yaml.Node, v reflect.Value, at field.Path) (has bool) {
	make, has := d.presets[v.Type()]
	if !has {
		return false
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, x := n.Content[i], n.Content[i+1]
		if key.Value != keyPreset {
			continue
		}
		if x.Kind != yaml.ScalarNode || x.Tag != "!!str" {
			d.bad(x, under(at, keyPreset), "%s: want a name", kindOf(x))
			continue
		}
		p, err := make(x.Value)
		if err != nil {
			d.errs = append(d.errs, &Error{d.file, x.Line, under(at, keyPreset), underPath(at, err)})
			continue
		}
		v.Set(reflect.ValueOf(p))
	}
	return true
}

// underPath returns the error of a preset with `at`, the path of the field that the preset fills, in front of its path.
func underPath(at field.Path, err error) error {
	if at == "" {
		return err
	}
	if _, ok := err.(*field.Error); !ok {
		return err
	}
	return field.Each(field.Under(at, err))[0]
}

func under(at field.Path, key string) field.Path {
	if at == "" {
		return field.Path(key)
	}
	return at + "." + field.Path(key)
}
