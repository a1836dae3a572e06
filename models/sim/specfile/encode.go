package specfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Marshal writes every field of a spec, in order.
func Marshal(spec any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(spec), e.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// MarshalOver writes the fields of a spec, in order, that differ from those of a base of the same type: decoding the
// text over the base gives the spec. presets maps top-level fields of the base that are presets to the names of these.
// Times and rates are written with units.
func MarshalOver(spec, base any, presets map[string]string) ([]byte, error) {
	var n yaml.Node
	if err := n.Encode(spec); err != nil {
		return nil, err
	}
	strip(&n, reflect.ValueOf(spec), reflect.ValueOf(base), presets)
	return Marshal(&n)
}

// strip removes the fields of a mapping that are equal to the base's. Fields with a preset are kept.
func strip(n *yaml.Node, v, base reflect.Value, presets map[string]string) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
		if base.Kind() == reflect.Pointer && !base.IsNil() {
			base = base.Elem()
		} else {
			base = defaultValue(v.Type())
		}
	}
	switch {
	case n.Kind == yaml.SequenceNode && v.Kind() == reflect.Slice:
		for i, x := range n.Content {
			strip(x, v.Index(i), defaultValue(v.Type().Elem()), nil)
		}
		return
	case n.Kind == yaml.SequenceNode && v.Kind() == reflect.Array:
		for i, x := range n.Content {
			strip(x, v.Index(i), base.Index(i), nil)
		}
		return
	case n.Kind != yaml.MappingNode || v.Kind() != reflect.Struct:
		return
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, x := n.Content[i], n.Content[i+1]
		f, ok := entryOf(v, key.Value)
		b, _ := entryOf(base, key.Value)
		preset := presets[key.Value]
		if ok && preset == "" && reflect.DeepEqual(f.value.Interface(), b.value.Interface()) {
			continue
		}
		if ok {
			strip(x, f.value, b.value, nil)
			f.shorten(key, x)
		}
		if preset != "" {
			word := func(w string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: w} }
			x.Content = append([]*yaml.Node{word(keyPreset), word(preset)}, x.Content...)
		}
		kept = append(kept, key, x)
	}
	n.Content = kept
}

// defaultValue returns the value over which Decode reads an entry of a list, or an optional part.
func defaultValue(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	if b, ok := v.Interface().(Defaulter); ok {
		b.SetDefaults()
	}
	return v.Elem()
}

// JSON returns the spec as a JSON object. Decode can read it.
func JSON(spec any) (json.RawMessage, error) {
	var n yaml.Node
	if err := n.Encode(spec); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := writeJSON(&b, &n)
	return b.Bytes(), err
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Quote(n.Content[i].Value) + ":")
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, x := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, x); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b.Write(text)
	}
	return nil
}
