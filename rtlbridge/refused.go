package rtlbridge

import (
	"fmt"
	"os"
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
	noSuchTop  = regexp.MustCompile(`(?m)^%Error: Specified --top-module '.*' was not found in design`)
	noSuchFlag = regexp.MustCompile(`(?m)^%Error: (?:Invalid option|Unknown warning specified): (\S+?)(?:\.\.\.|\s|$)`)
	aModule    = regexp.MustCompile(`(?m)^[ \t]*module[ \t]+(?:(?:automatic|static)[ \t]+)?([A-Za-z_][A-Za-z0-9_$]*)`)
	noSuchName = regexp.MustCompile(`(?m)^%Error: (Parameters from the command line were not found in the design: .+)$`)
)

// refused tells what a failure of Verilator means, by all that it said: $fatal or $error at elaboration, or a parameter that
// is not there, is a *RefusedError; a top module that was not found or a flag that is not known is a *ManifestError; an error
// at a place in the sources is a *DesignError. Others stay as they are.
func (b *builder) refused(failed *BuildError, out string) error {
	m := b.m
	if noSuchTop.MatchString(out) {
		return m.errorf("top", "top %q: the sources have no such module; they have %s", m.Top, b.src.modules())
	}
	if found := noSuchFlag.FindStringSubmatch(out); found != nil && slices.Contains(m.VerilatorFlags, found[1]) {
		at := fmt.Sprintf("verilator_flags[%d]", slices.Index(m.VerilatorFlags, found[1]))
		return m.errorf(at, "verilator_flags: Verilator has no option %s; verilator --help lists them", found[1])
	}
	e := &RefusedError{Output: failed.Output}
	for _, words := range []*regexp.Regexp{userFatal, noSuchName} {
		for _, found := range words.FindAllStringSubmatch(out, -1) {
			if !slices.Contains(e.Reasons, found[1]) {
				e.Reasons = append(e.Reasons, found[1])
			}
		}
	}
	if len(e.Reasons) == 0 {
		if d := b.designError(failed, out); d != nil {
			return d
		}
		return failed
	}
	if e.Parameters = m.namedIn(strings.Join(e.Reasons, "\n")); len(e.Parameters) == 0 {
		for _, name := range sortedKeys(m.Parameters) {
			e.Parameters = append(e.Parameters, name+" = "+m.Parameters[name])
		}
	}
	return e
}

// namedIn are the parameters of the manifest that a text names, with their values.
func (m *Manifest) namedIn(text string) (named []string) {
	for _, name := range sortedKeys(m.Parameters) {
		if regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text) {
			named = append(named, name+" = "+m.Parameters[name])
		}
	}
	return named
}

// maxModules is how many modules a message names.
const maxModules = 12

// modules names the modules that stand in the sources, as far as a look at their text tells.
func (s *sourceSet) modules() string {
	var names []string
	for _, path := range s.files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has been read before; what it has is only missing in a message
		}
		for _, found := range aModule.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > maxModules:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxModules], ", "), n-maxModules)
	}
	return strings.Join(names, ", ")
}
