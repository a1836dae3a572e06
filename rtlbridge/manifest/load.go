package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"

	"nictwin/models/sim/specfile"
)

const maxManifestBytes = 1 << 20

// Load reads and validates a manifest; the error joins every fault found, each with file and line.
func Load(path string) (*Manifest, error) {
	path, text, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// designFields are the fields that define the design: what Verilator reads, and how.
var designFields = []string{"top", "sources", "include_dirs", "defines", "parameters", "verilator_flags"}

// LoadDesign reads only the design of a manifest that Load refuses: nil if the design is unknown because a field
// that defines it is faulty.
func LoadDesign(path string) *Manifest {
	path, text, err := readManifest(path)
	if err != nil {
		return nil
	}
	m, wrong, _ := parseManifest(path, text)
	for _, field := range wrong {
		if field = TopField(field); field == "" || slices.Contains(designFields, field) {
			return nil
		}
	}
	return m
}

// readManifest reads a manifest, which may be named by its folder; it also returns the file's path.
func readManifest(path string) (string, []byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return path, nil, fmt.Errorf("device manifest: %w", err)
	}
	if st.IsDir() {
		path = filepath.Join(path, "dut.yaml")
		if st, err = os.Stat(path); err != nil {
			return path, nil, fmt.Errorf("device manifest: %w", err)
		}
	}
	if !st.Mode().IsRegular() {
		return path, nil, &Error{Path: path, Msg: "is a folder, a pipe or a device; a manifest is a file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return path, nil, fmt.Errorf("device manifest: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifestBytes+1))
	if err != nil {
		return path, nil, fmt.Errorf("device manifest: %w", err)
	}
	if len(b) > maxManifestBytes {
		return path, nil, &Error{Path: path, Msg: fmt.Sprintf("larger than the limit of %d bytes", maxManifestBytes)}
	}
	return path, b, nil
}

// Parse validates the text of a manifest; path is used for messages and as the base of relative paths. All
// faults are reported at once, by line, except for those that might only follow from others: the intended
// meaning of an unknown field or a value of a wrong type is not known.
func Parse(path string, text []byte) (*Manifest, error) {
	m, _, err := parseManifest(path, text)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// parseManifest reads as much of a manifest as possible, which is nothing (nil) if it is not YAML. With an
// error, `wrong` lists the fields that the error is about.
func parseManifest(path string, text []byte) (m *Manifest, wrong []string, err error) {
	m = &Manifest{Path: path, lines: map[string]int{}}
	var root yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, yamlErrors(path, err)
	}
	if len(root.Content) == 0 {
		return nil, nil, &Error{Path: path, Msg: "is empty; it needs at least name, top, sources, clocks and streams"}
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, nil, &Error{Path: path, Msg: "holds more than one YAML document; a manifest is one"}
	}
	if err := specfile.Recognise(root.Content[0], reflect.TypeFor[Manifest]()); err != nil {
		return nil, nil, &Error{Path: path, Line: root.Content[0].Line, Msg: err.Error()}
	}
	err = root.Decode(m)
	var te *yaml.TypeError
	if err != nil && !errors.As(err, &te) { // for example, aliases without end
		return nil, nil, yamlErrors(path, err)
	}
	s := shape{path: path}
	s.check(root.Content[0], reflect.TypeFor[Manifest](), "")
	if twice := keysTwice(te); twice != nil { // the YAML package reads nothing of a mapping with a duplicate key
		return nil, nil, errors.Join(errors.Join(s.errs...), yamlErrors(path, twice))
	}
	if te != nil && len(s.errs) == 0 {
		return nil, nil, yamlErrors(path, te)
	}
	indexLines("", root.Content[0], m.lines)
	m.expand(func(path, format string, args ...any) { s.errs = append(s.errs, m.Errorf(path, format, args...)) })
	errs, fields := m.validate(&s)
	return m, append(s.unknown, fields...), byLine(append(s.errs, errs...))
}

// byLine joins faults in the order of their lines.
func byLine(errs []error) error {
	line := func(err error) int {
		var e *Error
		if errors.As(err, &e) {
			return e.Line
		}
		return 0
	}
	slices.SortStableFunc(errs, func(a, b error) int { return line(a) - line(b) })
	return errors.Join(errs...)
}
