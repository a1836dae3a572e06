package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// Load reads and checks the contract in the file path.
func Load(path string) (*Contract, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the contract: %w", err)
	}
	return Parse(path, data)
}

// Parse reads and checks a contract; name is the file name for errors. All errors are returned
// together, each as "name:line: what". If the file has unknown keys or values of a wrong type, only
// those are reported: other faults may merely follow from them.
func Parse(name string, data []byte) (*Contract, error) {
	c := &Contract{}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(c); err != nil {
		return nil, decodeError(name, err)
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: a contract is one YAML document, but more follows the first", name)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, decodeError(name, err)
	}
	setLines(c, &root)
	setDefaults(c)
	return c, validate(name, c)
}

// decodeError puts the file name in front of each message of the YAML decoder, which begins with
// the line.
func decodeError(name string, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file is empty: %w", name, err)
	}
	var te *yaml.TypeError
	if !errors.As(err, &te) {
		return fmt.Errorf("%s: %w", name, err)
	}
	errs := make([]error, 0, len(te.Errors))
	for _, m := range te.Errors {
		if rest, ok := strings.CutPrefix(m, "line "); ok {
			errs = append(errs, fmt.Errorf("%s:%s", name, rest))
			continue
		}
		errs = append(errs, fmt.Errorf("%s: %s", name, m))
	}
	return errors.Join(errs...)
}

func setDefaults(c *Contract) {
	for i := range c.Registers {
		if c.Registers[i].Width == 0 {
			c.Registers[i].Width = 32
		}
	}
}

// setLines copies the line of every list item from the node tree. The decoder does not give lines,
// and custom unmarshalers, which have them, would not check for unknown keys.
func setLines(c *Contract, doc *yaml.Node) {
	root := deref(doc)
	each(child(root, "constants"), len(c.Constants), func(i int, n *yaml.Node) { c.Constants[i].Line = n.Line })
	each(child(root, "enums"), len(c.Enums), func(i int, n *yaml.Node) {
		e := &c.Enums[i]
		e.Line = n.Line
		each(child(n, "values"), len(e.Values), func(j int, m *yaml.Node) { e.Values[j].Line = m.Line })
	})
	each(child(root, "registers"), len(c.Registers), func(i int, n *yaml.Node) {
		r := &c.Registers[i]
		r.Line = n.Line
		each(child(n, "fields"), len(r.Fields), func(j int, m *yaml.Node) { r.Fields[j].Line = m.Line })
	})
	each(child(root, "structs"), len(c.Structs), func(i int, n *yaml.Node) {
		s := &c.Structs[i]
		s.Line = n.Line
		each(child(n, "fields"), len(s.Fields), func(j int, m *yaml.Node) { s.Fields[j].Line = m.Line })
	})
	each(child(root, "counters"), len(c.Counters), func(i int, n *yaml.Node) { c.Counters[i].Line = n.Line })
}

func deref(n *yaml.Node) *yaml.Node {
	for n != nil {
		switch {
		case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
			n = n.Content[0]
		case n.Kind == yaml.AliasNode:
			n = n.Alias
		default:
			return n
		}
	}
	return nil
}

// child returns the value of a mapping's key, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	n = deref(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return deref(n.Content[i+1])
		}
	}
	return nil
}

// each calls f for the first limit items of a sequence.
func each(seq *yaml.Node, limit int, f func(i int, n *yaml.Node)) {
	if seq == nil || seq.Kind != yaml.SequenceNode {
		return
	}
	for i, n := range seq.Content {
		if i < limit {
			f(i, n)
		}
	}
}
