package specfile

import (
	"bytes"
	"encoding/json"
	"errors"
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
