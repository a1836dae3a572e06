package papers

import (
	"bytes"
	_ "embed"
	"fmt"

	"gopkg.in/yaml.v3"
)

//go:embed uncovered.yaml
var uncoveredText []byte

// uncovered returns why no experiment measures a claim, by the claims' ids.
func uncovered() (map[string]string, error) {
	var file struct {
		Uncovered []struct {
			Why    string   `yaml:"why"`
			Claims []string `yaml:"claims"`
		} `yaml:"uncovered"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(uncoveredText))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("uncovered.yaml: %w", err)
	}
	why := map[string]string{}
	for _, group := range file.Uncovered {
		for _, id := range group.Claims {
			if why[id] != "" || group.Why == "" {
				return nil, fmt.Errorf("uncovered.yaml: claim %s: want one reason, and once", id)
			}
			why[id] = group.Why
		}
	}
	return why, nil
}
