package build

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// outline lists the modules of a design, with their instances and signals, from Verilator's description of it.
type outline struct {
	top     string
	files   map[string]string // file names, by Verilator's short names
	modules map[string]*moduleOutline
}

// moduleOutline describes one module. Names are relative to it, with the generate blocks around them, each
// followed by a space.
type moduleOutline struct {
	instances map[string]string // module of each instance, by name
	signals   map[string]*signalDecl
	clocks    map[string]bool
}

// signalDecl records where a signal is declared, and whether its edges clock something.
type signalDecl struct {
	file, line string
	clock      bool
}

// describe runs Verilator to describe the design.
func (b *builder) describe() (*outline, error) {
	dir, err := os.MkdirTemp(b.work, "xml-")
	if err != nil {
		return nil, fmt.Errorf("build cache: %w", err)
	}
	file := filepath.Join(dir, "design.xml")
	args := []string{"--xml-only", "--xml-output", file, "--Mdir", dir, "--trace", "--no-timing", "--assert",
		"-Wno-fatal"}
	if _, err := b.verilator("outlining", args...); err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("outline of %s: %w", b.m.Top, err)
	}
	o, err := readOutline(f)
	if err != nil {
		return nil, fmt.Errorf("outline of %s: %w", b.m.Top, err)
	}
	for _, m := range o.modules {
		for _, s := range m.signals {
			s.file = b.relativePaths(s.file)
		}
	}
	if b.wrapper != "" { // the wrapper is not the user's design
		o.modules[o.top].signals = nil
	}
	return o, errors.Join(f.Close(), os.RemoveAll(dir))
}

// readOutline reads Verilator's description.
func readOutline(r io.Reader) (*outline, error) {
	o := &outline{files: map[string]string{}, modules: map[string]*moduleOutline{}}
	d := xml.NewDecoder(r)
	var open []element
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return o, o.markClocks()
		}
		if err != nil {
			return nil, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			open = append(open, newElement(t))
			o.take(open)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

// element is an element of the description.
type element struct {
	kind string
	attr map[string]string
}

func newElement(t xml.StartElement) element {
	e := element{t.Name.Local, map[string]string{}}
	for _, a := range t.Attr {
		e.attr[a.Name.Local] = a.Value
	}
	return e
}

// take records the innermost open element if it belongs to the outline.
func (o *outline) take(open []element) {
	e := open[len(open)-1]
	switch e.kind {
	case "file":
		o.files[e.attr["id"]] = e.attr["filename"]
		return
	case "module":
		o.modules[e.attr["name"]] = &moduleOutline{map[string]string{}, map[string]*signalDecl{}, map[string]bool{}}
		if e.attr["topModule"] != "" {
			o.top = e.attr["name"]
		}
		return
	}
	m, blocks, deep := o.within(open[:len(open)-1])
	switch {
	case m == nil:
	case e.kind == "varref" && open[len(open)-2].kind == "senitem":
		m.clocks[blocks+e.attr["name"]] = true
	case deep:
	case e.kind == "instance":
		m.instances[blocks+e.attr["name"]] = e.attr["defName"]
	case e.kind == "var" && e.attr["param"] == "" && e.attr["localparam"] == "":
		if at := strings.Split(e.attr["loc"], ","); len(at) > 1 {
			m.signals[blocks+e.attr["name"]] = &signalDecl{file: o.files[at[0]], line: at[1]}
		}
	}
}

// within returns the module that encloses the innermost of the open elements, the names of the generate blocks
// between the two, and whether the element lies deeper: in a process, a function or an expression.
func (o *outline) within(open []element) (m *moduleOutline, blocks string, deep bool) {
	for _, e := range open {
		switch {
		case e.kind == "module":
			m = o.modules[e.attr["name"]]
		case m != nil && e.kind == "begin" && !deep:
			blocks += e.attr["name"] + " "
		case m != nil:
			deep = true
		}
	}
	return m, blocks, deep
}

// markClocks marks the declarations of clock signals. A clock is named relative to the generate block of the process
// that it triggers, and may be declared there or in an enclosing block.
func (o *outline) markClocks() error {
	if o.modules[o.top] == nil {
		return errors.New("it has no top module")
	}
	for _, m := range o.modules {
		for name := range m.clocks {
			for m.signals[name] == nil {
				block, rest, inner := cutLastBlock(name)
				if !inner {
					break
				}
				name = block + rest
			}
			if s := m.signals[name]; s != nil {
				s.clock = true
			}
		}
	}
	return nil
}

// cutLastBlock removes the innermost generate block from a name.
func cutLastBlock(name string) (blocks, rest string, found bool) {
	at := strings.LastIndexByte(name, ' ')
	if at < 0 {
		return "", name, false
	}
	return name[:strings.LastIndexByte(name[:at], ' ')+1], name[at+1:], true
}

// signal is a signal whose bits are counted; its first counter and range of bits are text printed by the program.
type signal struct {
	counter, msb, lsb string
	module            string
	name              string // relative to the module
	decl              *signalDecl
}

// signal parses a line that describes a signal. A signal that does not belong to a module (a parameter, a
// variable of a process, a pin of the top module seen from outside) has no declaration.
func (o *outline) signal(line string) (signal, error) {
	w := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	if len(w) != 4 {
		return signal{}, fmt.Errorf("a signal in a form that is not known: %q", line)
	}
	s := signal{counter: w[0], msb: w[1], lsb: w[2]}
	path, ok := strings.CutPrefix(w[3], "TOP "+o.top+" ")
	if !ok {
		return s, nil
	}
	s.module = o.top
	words, blocks := strings.Split(path, " "), ""
	for _, word := range words[:len(words)-1] {
		if below := o.modules[s.module].instances[blocks+word]; below != "" {
			s.module, blocks = below, ""
		} else {
			blocks += word + " "
		}
		if o.modules[s.module] == nil {
			return signal{}, fmt.Errorf("signal %q is of module %s, which the outline has not", w[3], s.module)
		}
	}
	name := words[len(words)-1]
	root := name
	if at := strings.IndexAny(name, ".["); at >= 0 {
		root = name[:at]
	}
	s.decl = o.modules[s.module].signals[blocks+root]
	s.name = strings.ReplaceAll(blocks, " ", ".") + name
	return s, nil
}
