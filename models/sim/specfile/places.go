package specfile

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/field"
)

// Places holds the line numbers of a file's fields.
type Places struct {
	file string
	line map[field.Path]int
	// by path of a field whose key is in the short form (latency, not latency_ps): its path as the file writes it
	short map[field.Path]field.Path
	long  []Long
}

func newPlaces(file string) Places {
	return Places{file: file, line: map[field.Path]int{}, short: map[field.Path]field.Path{}}
}

// Long is a field that a file writes in its long form, with the unit in the name, such as within_ps.
type Long struct {
	File  string
	Line  int
	Path  field.Path
	Short string // name of the field for values with units
}

// Longs returns the fields that the file writes in their long form, in the order of its lines.
func (p *Places) Longs() []Long { return p.long }

// spell notes the line of a field and the form of its name that the file writes.
func (p *Places) spell(at field.Path, e entry, key *yaml.Node) {
	path := under(at, e.name)
	p.line[path], p.line[under(at, key.Value)] = key.Line, key.Line
	if e.name != key.Value {
		p.short[path] = under(at, key.Value)
	} else if e.unit.form == long {
		p.long = append(p.long, Long{p.file, key.Line, path, e.unit.short})
	}
}

// spelled returns the path of a field as the file writes it.
func (p *Places) spelled(path field.Path) field.Path {
	if own, ok := p.short[path]; ok {
		return own
	}
	return path
}

// Locate adds file and line to each field error: the line of the field, or of the innermost mapping
// on its path that the file has. If the file does not set the field itself, but another field that
// the error concerns, the error is reported for that field, since a user cannot have got a default
// wrong.
func (p *Places) Locate(err error) error {
	if err == nil {
		return nil
	}
	d := decoder{Places: *p}
	for _, one := range field.Each(err) {
		e := &Error{File: p.file, Line: p.line[""], Err: one}
		if f, ok := one.(*field.Error); ok {
			at := p.blamed(f)
			e.Line, e.Path = p.nearest(at), p.spelled(at)
			e.Err = f.Renamed(p.spelled)
			if at != f.Path {
				e.Err = fmt.Errorf("conflicts with a value that the file does not set: %w", e.Err)
			}
		}
		d.errs = append(d.errs, e)
	}
	return d.joined()
}

// blamed returns the field to report the error for: a field that the error concerns and the file
// sets. It returns the error's own field if the file sets that, or sets no such field.
func (p *Places) blamed(e *field.Error) field.Path {
	if p.Gives(e.Path) {
		return e.Path
	}
	for _, other := range e.Others() {
		if p.Gives(other) {
			return other
		}
	}
	return e.Path
}

// Gives reports whether the file sets a field: an entry of a list, too, which the file may write as one word.
func (p *Places) Gives(at field.Path) bool {
	_, given := p.line[at]
	if i := strings.LastIndexByte(string(at), '['); !given && i > 0 && strings.HasSuffix(string(at), "]") {
		_, given = p.line[at[:i]]
	}
	return given
}

// nearest returns the line of a path, or of its longest prefix in the file.
func (p *Places) nearest(at field.Path) int {
	for at != "" {
		if n, ok := p.line[at]; ok {
			return n
		}
		i := strings.LastIndexAny(string(at), ".[")
		at = at[:max(i, 0)]
	}
	return p.line[""]
}
