package rtlbridge

import (
	"fmt"
	"maps"
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
	if err := b.interfacePorts(out); err != nil {
		return err
	}
	if found := noSuchFlag.FindStringSubmatch(out); found != nil && slices.Contains(m.VerilatorFlags, found[1]) {
		at := fmt.Sprintf("verilator_flags[%d]", slices.Index(m.VerilatorFlags, found[1]))
		return m.errorf(at, "verilator_flags: Verilator has no option %s; verilator --help lists them", found[1])
	}
	if err := m.unknownInFlags(out); err != nil {
		return err
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
		e.Parameters = m.given()
	}
	return e
}

// unknownInFlags is the error of the first option that sets a parameter which the design has not.
func (m *Manifest) unknownInFlags(out string) error {
	for _, found := range noSuchName.FindAllStringSubmatch(out, -1) {
		for i, f := range m.VerilatorFlags {
			if name, _, ok := flagParameter(f); ok && m.Parameters[name] == "" && named(found[1], name) {
				return m.errorf(fmt.Sprintf("verilator_flags[%d]", i), "verilator_flags: %s: module %s has no parameter %s", f, m.Top, name)
			}
		}
	}
	return nil
}

// flagParameter is the parameter that an option sets.
func flagParameter(f string) (name, value string, ok bool) {
	if strings.HasPrefix(f, "--") {
		f = f[1:]
	}
	def, ok := strings.CutPrefix(f, parameterFlag)
	name, value, given := strings.Cut(def, "=")
	return name, value, ok && given
}

// parameters are those of the manifest, with their values; an option counts after a field.
func (m *Manifest) parameters() map[string]string {
	all := maps.Clone(m.Parameters)
	if all == nil {
		all = map[string]string{}
	}
	for _, f := range m.VerilatorFlags {
		if name, value, ok := flagParameter(f); ok {
			all[name] = value
		}
	}
	return all
}

// given are the parameters of the manifest, as "NAME = VALUE".
func (m *Manifest) given() (list []string) {
	all := m.parameters()
	for _, name := range sortedKeys(all) {
		list = append(list, name+" = "+all[name])
	}
	return list
}

// namedIn are the parameters of the manifest that a text names, with their values.
func (m *Manifest) namedIn(text string) (list []string) {
	all := m.parameters()
	for _, name := range sortedKeys(all) {
		if named(text, name) {
			list = append(list, name+" = "+all[name])
		}
	}
	return list
}

func named(text, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}

// maxModules is how many modules a message names.
const maxModules = 12

// modules names the modules that stand in the sources, as far as a look at their text tells.
func (s *sourceSet) modules() string {
	names := sortedKeys(s.moduleNames())
	switch n := len(names); {
	case n == 0:
		return "none"
	case n > maxModules:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxModules], ", "), n-maxModules)
	}
	return strings.Join(names, ", ")
}

// moduleNames are the modules that stand in the sources, as far as a look at their text tells, and others.
func (s *sourceSet) moduleNames(others ...string) map[string]bool {
	names := map[string]bool{}
	for _, name := range others {
		names[name] = true
	}
	for _, path := range s.files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has been read before
		}
		for _, found := range aModule.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
	}
	return names
}
