package emit

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"

	"nictwin/models/nic/nicspec/schema"
)

// File is one generated file; Path is relative to the folder of nic.yaml.
type File struct {
	Path string
	Data []byte
}

// Paths of the generated files outside the folder of nic.yaml.
const (
	PathSV     = "../../../verilator/rtl/packages/nic_pkg.sv"
	PathTables = "../../../docs/nic-tables.md"
)

const goHeader = "// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.\n\npackage " +
	"nicspec\n\n"

// writer is a buffer with a method for formatted writes.
type writer struct{ bytes.Buffer }

func (w *writer) pf(f string, args ...any) { fmt.Fprintf(w, f, args...) }

// goFile is a Go file being generated. ids has the identifiers that the package declares so far.
type goFile struct {
	writer
	ids *ids
}

// ids detects two declarations that would get the same name.
type ids struct {
	where map[string]string
	errs  []error
}

func (d *ids) declare(name, what string) {
	if first, dup := d.where[name]; dup {
		d.errs = append(d.errs, fmt.Errorf("%s and %s would both be called %s; rename one in nic.yaml", first, what,
			name))
		return
	}
	d.where[name] = what
}

// part is a Go file to be generated: its path and the function that writes its contents.
type part struct {
	path string
	fill func(*goFile, *schema.Contract)
}

// goParts lists the Go files: one per structure and one per kind of everything else.
func goParts(c *schema.Contract) []part {
	parts := []part{
		{"const_gen.go", goConsts},
		{"enum_gen.go", goEnums},
		{"reg_gen.go", goRegs},
		{"counter_gen.go", goCounters},
		{"info_gen.go", goStructInfo},
	}
	for i := range c.Structs {
		s := &c.Structs[i]
		parts = append(parts,
			part{schema.Snake(s.Name) + "_gen.go", func(w *goFile, _ *schema.Contract) { goStruct(w, s) }})
	}
	return parts
}

// All generates every file from the contract, Go files first.
func All(c *schema.Contract) ([]File, error) {
	d := &ids{where: map[string]string{}}
	for _, name := range handwritten {
		d.declare(name, "the hand-written "+name)
	}
	var files []File
	for _, p := range goParts(c) {
		w := &goFile{ids: d}
		w.WriteString(goHeader)
		p.fill(w, c)
		src, err := format.Source(w.Bytes())
		if err != nil {
			return nil, fmt.Errorf("generating %s: %w", p.path, err)
		}
		files = append(files, File{p.path, src})
	}
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	sv, err := SV(c)
	if err != nil {
		return nil, err
	}
	return append(files, File{PathSV, sv}, File{PathTables, Tables(c)}), nil
}

// handwritten lists the package's exported identifiers that are not generated, so that the
// generator does not declare them again.
var handwritten = []string{
	"FieldInfo", "StructInfo", "RegFieldInfo", "RegInfo", "RegisterAt", "Access", "ReadOnly", "ReadWrite", "WriteOnly",
	"PortCounter", "DevCounter", "CounterInfo", "CounterAt", "CounterName",
}
