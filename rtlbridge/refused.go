package rtlbridge

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// RefusedError tells that a design does not take its parameters: $fatal or $error at elaboration. It is a matter of what
// was asked for, not of the tools.
type RefusedError struct {
	Parameters []string // "NAME = VALUE", those that the reasons name; all if they name none
	Reasons    []string // the design's words
	Output     string   // Verilator's words
}

func (e *RefusedError) Error() string {
	what := "to be built"
	if len(e.Parameters) > 0 {
		what = strings.Join(e.Parameters, ", ")
	}
	return fmt.Sprintf("the design refuses %s: %s\n%s", what, strings.Join(e.Reasons, "; "), strings.TrimRight(e.Output, "\n"))
}

var (
	userFatal  = regexp.MustCompile(`(?m)^%Error-USER(?:FATAL|ERROR): [^:\n]+:\d+:\d+: (.+)$`)
	noSuchName = regexp.MustCompile(`(?m)^%Error: (Parameters from the command line were not found in the design: .+)$`)
)

// refused turns the error of a Verilator that met $fatal or $error at elaboration, or did not find a parameter, into a
// *RefusedError; others stay as they are.
func refused(m *Manifest, err error) error {
	var b *BuildError
	if !errors.As(err, &b) {
		return err
	}
	e := &RefusedError{Output: b.Output}
	for _, words := range []*regexp.Regexp{userFatal, noSuchName} {
		for _, found := range words.FindAllStringSubmatch(b.Output, -1) {
			if !slices.Contains(e.Reasons, found[1]) {
				e.Reasons = append(e.Reasons, found[1])
			}
		}
	}
	if len(e.Reasons) == 0 {
		return err
	}
	reasons := strings.Join(e.Reasons, "\n")
	for _, all := range []bool{false, true} {
		for _, name := range sortedKeys(m.Parameters) {
			if all || regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(reasons) {
				e.Parameters = append(e.Parameters, name+" = "+m.Parameters[name])
			}
		}
		if len(e.Parameters) > 0 {
			break
		}
	}
	return e
}
