package edges

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// node is an element of the description.
type node struct {
	kind     string
	attr     map[string]string
	children []*node
}

// design holds the processes and assignments of a description.
type design struct {
	files map[string]string // names of files, by Verilator's short names
	scope *node             // of all processes and assignments
}

// read parses a description.
func read(r io.Reader) (*design, error) {
	d := &design{files: map[string]string{}}
	dec := xml.NewDecoder(r)
	open := []*node{{}}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			n := &node{kind: t.Name.Local, attr: map[string]string{}}
			for _, a := range t.Attr {
				n.attr[a.Name.Local] = a.Value
			}
			top := open[len(open)-1]
			top.children = append(top.children, n)
			open = append(open, n)
			switch n.kind {
			case "file":
				d.files[n.attr["id"]] = n.attr["filename"]
			case "topscope":
				d.scope = n
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	if d.scope == nil {
		return nil, errors.New("the description of the design is not flat")
	}
	return d, nil
}

// place returns file and line of a node, as far as they are known.
func (d *design) place(n *node) string {
	at := strings.Split(n.attr["loc"], ",")
	if len(at) < 2 || d.files[at[0]] == "" {
		return ""
	}
	return fmt.Sprintf("%s:%s", d.files[at[0]], at[1])
}

// each calls f for all nodes below n that are of a kind.
func (n *node) each(kind string, f func(*node)) {
	for _, c := range n.children {
		if c.kind == kind {
			f(c)
		}
		c.each(kind, f)
	}
}
