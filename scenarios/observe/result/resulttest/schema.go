// Package resulttest checks, in tests, what commands write against the published schemas, docs/schema.
//
// Only tests import it, so that the program does not depend on schemas.
package resulttest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Names of the schemas.
const (
	Finding = "finding.json"
	Summary = "summary.json"
	Event   = "event.json"
	Report  = "report.json"
	Stats   = "stats.json"
)

// Dir returns the folder of the schemas.
func Dir() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..", "..", "docs", "schema")
}

// Schema is one of the published schemas.
type Schema struct{ compiled *jsonschema.Schema }

// Load reads a schema, which must itself be valid.
func Load(name string) (*Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	s, err := c.Compile(filepath.Join(Dir(), name))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	return &Schema{s}, nil
}

// Check returns the violations of the schema in a JSON text.
func (s *Schema) Check(text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.compiled.Validate(v)
}

// Lines checks every line of a text, and returns the number of lines.
func (s *Schema) Lines(text []byte) (n int, err error) {
	for line := range bytes.Lines(text) {
		n++
		if err := s.Check(line); err != nil {
			return n, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return n, nil
}
