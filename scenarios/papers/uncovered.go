package papers

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"

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

// gap is a reason why no experiment measures some claims.
type gap struct {
	Why    string
	Claims []string
}

// gapsOf groups claims by the reason why no experiment measures them.
func gapsOf(ids []string) (list []gap, err error) {
	why, err := uncovered()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		i := slices.IndexFunc(list, func(g gap) bool { return g.Why == why[id] })
		if i < 0 {
			i, list = len(list), append(list, gap{Why: why[id]})
		}
		list[i].Claims = append(list[i].Claims, id)
	}
	return list, nil
}
