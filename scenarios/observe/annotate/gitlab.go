package annotate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"nictwin/scenarios/observe/result"
)

// issue is an entry of GitLab's code quality report.
type issue struct {
	Description string   `json:"description"`
	Check       string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"`
	Location    location `json:"location"`
}

type location struct {
	Path  string `json:"path"`
	Lines lines  `json:"lines"`
}

type lines struct {
	Begin int `json:"begin"`
}

// GitLab returns the code quality report: a list of the findings that name a source file. An entry keeps its
// fingerprint while rule, field, stream and file are the same, so that GitLab tells old findings from new ones.
func GitLab(tree Tree, o *result.Object) ([]byte, error) {
	list := []issue{}
	known := map[string]bool{}
	for i := range o.Findings {
		f := &o.Findings[i]
		p, ok := tree.placeOf(f)
		if !ok {
			continue
		}
		sum := sha256.Sum256([]byte(fmt.Sprintf("%q %q %q %q %q", o.Command, f.Rule, f.Field, f.Stream, p.file)))
		print := hex.EncodeToString(sum[:16])
		if known[print] {
			continue
		}
		known[print] = true
		list = append(list, issue{printable(f.Head()), cmp.Or(f.Rule, string(f.Domain)), print, "critical",
			location{p.file, lines{p.line}}})
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("code quality report: %w", err)
	}
	return append(text, '\n'), nil
}
