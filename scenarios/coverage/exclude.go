package coverage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Exclusion leaves coverage sites out of the figures, with a reason. Patterns are those of path.Match without brackets:
// "*" matches any name.
type Exclusion struct {
	Module string
	// Signal names bits: a signal, or bits of it: data[127:96], flags[3], job[].len[15:0]. Empty brackets stand for
	// all lanes.
	Signal string
	// Line selects line points by source: those of lines that contain this text. If the field What is set (if, else,
	// ...), only line points of that kind are selected.
	Line string
	What string
	Why  string

	sites int // number of sites it matches
}

// ReadExclusions reads a list of exclusions.
func ReadExclusions(file string) ([]*Exclusion, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("exclusions: %w", err)
	}
	var entries []entry
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&entries); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var list []*Exclusion
	var errs []error
	for i, e := range entries {
		switch {
		case len(e.Module) == 0 || e.Why == "":
			errs = append(errs, fmt.Errorf("%s: entry %d: want module and why", file, i+1))
		case (len(e.Signal) == 0) == (e.Line == ""):
			errs = append(errs, fmt.Errorf("%s: entry %d (%s): want signal or line", file, i+1, e.Module[0]))
		}
		for _, m := range e.Module {
			for _, s := range e.Signal {
				list = append(list, &Exclusion{Module: m, Signal: s, Why: e.Why})
			}
			if e.Line != "" {
				list = append(list, &Exclusion{Module: m, Line: e.Line, What: e.What, Why: e.Why})
			}
		}
	}
	return list, errors.Join(errs...)
}

// entry is one entry of the file. It stands for an exclusion for each combination of its modules and signals.
type entry struct {
	Module names  `yaml:"module"`
	Signal names  `yaml:"signal"`
	Line   string `yaml:"line"`
	What   string `yaml:"what"`
	Why    string `yaml:"why"`
}

// names is read from YAML as a single name or a list of names.
type names []string

func (n *names) UnmarshalYAML(v *yaml.Node) error {
	if v.Kind == yaml.ScalarNode {
		*n = names{v.Value}
		return nil
	}
	return v.Decode((*[]string)(n))
}

// Exclude marks the sites that a list excludes. It is an error if an entry matches no site, or a site that was hit: the
// list is out of date. rtl is the folder of the sources.
func Exclude(sites []*Site, list []*Exclusion, rtl string) error {
	src := sources{dir: rtl, lines: map[string][]string{}}
	var errs []error
	for _, x := range list {
		var hit []string
		for _, s := range sites {
			if ok, err := x.matches(s, &src); err != nil {
				return err
			} else if !ok {
				continue
			}
			x.sites++
			if s.Hit {
				hit = append(hit, s.String())
			}
			s.Why = x.Why
		}
		switch {
		case x.sites == 0:
			errs = append(errs, fmt.Errorf("exclusion %v: %w", x, errNothing))
		case len(hit) > 0:
			errs = append(errs, fmt.Errorf("exclusion %v: %d of its %d sites were hit, first %s", x, len(hit), x.sites,
				hit[0]))
		}
	}
	return errors.Join(errs...)
}

func (x *Exclusion) String() string {
	if x.Signal != "" {
		return x.Module + " " + x.Signal
	}
	return fmt.Sprintf("%s %q %s", x.Module, x.Line, x.What)
}

func (x *Exclusion) matches(s *Site, src *sources) (bool, error) {
	if s.Toggle != (x.Signal != "") || !glob(x.Module, s.Module) {
		return false, nil
	}
	if s.Toggle {
		return x.bit(s.What), nil
	}
	if x.What != "" && x.What != s.What {
		return false, nil
	}
	text, err := src.line(s.Module, s.Line)
	return strings.Contains(text, x.Line), err
}

var bits = regexp.MustCompile(`^(.*)\[(\d+)(?::(\d+))?\]$`)

// bit reports whether the exclusion names a bit.
func (x *Exclusion) bit(name string) bool {
	m := bits.FindStringSubmatch(x.Signal)
	if m == nil {
		return glob(x.Signal, name) || glob(x.Signal, baseOf(name))
	}
	b := bits.FindStringSubmatch(name)
	if b == nil || !glob(m[1], b[1]) {
		return false
	}
	hi, lo := number(m[2]), number(m[2])
	if m[3] != "" {
		lo = number(m[3])
	}
	n := number(b[2])
	return lo <= n && n <= hi
}

// baseOf returns the signal of a bit.
func baseOf(name string) string {
	if m := bits.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

var brackets = strings.NewReplacer("[", "(", "]", ")")

func glob(pattern, name string) bool {
	ok, err := path.Match(brackets.Replace(pattern), brackets.Replace(name))
	return ok && err == nil
}

// sources caches the lines of the RTL, by module.
type sources struct {
	dir   string
	lines map[string][]string
}

// read finds the file of a module in one of the folders below dir, and reads it.
func (s *sources) read(module string) ([]byte, error) {
	list, err := filepath.Glob(filepath.Join(s.dir, "*", module+".sv"))
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%s.sv is in %d folders of %s: want it in one", module, len(list), s.dir)
	}
	return os.ReadFile(list[0])
}

func (s *sources) line(module string, n int) (string, error) {
	text, ok := s.lines[module]
	if !ok {
		b, err := s.read(module)
		if err != nil {
			return "", fmt.Errorf("source of %s: %w", module, err)
		}
		text = strings.Split(string(b), "\n")
		s.lines[module] = text
	}
	if n < 1 || n > len(text) {
		return "", fmt.Errorf("%s.sv has no line %d: the coverage is of other sources", module, n)
	}
	return text[n-1], nil
}
