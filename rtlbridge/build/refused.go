package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nictwin/rtlbridge/build/edges"
	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// RefusedError reports that a design refuses its parameters, by $fatal or $error at elaboration, or does not
// have them. Its cause is the request, not the tools.
type RefusedError struct {
	Parameters []string // "NAME = VALUE" of those that the reasons name; all if they name none
	Reasons    []string // messages of its $fatal and $error, or Verilator's about unknown parameters
	Output     string   // Verilator's output
}

func (e *RefusedError) Error() string {
	what := "to be built"
	if len(e.Parameters) > 0 {
		what = strings.Join(e.Parameters, ", ")
	}
	return fmt.Sprintf("the design refuses %s: %s\n%s", what, strings.Join(e.Reasons, "; "),
		strings.TrimRight(e.Output, "\n"))
}

var (
	userFatal  = regexp.MustCompile(`(?m)^%Error-USER(?:FATAL|ERROR): [^:\n]+:\d+:\d+: (.+)$`)
	noSuchTop  = regexp.MustCompile(`(?m)^%Error: Specified --top-module '.*' was not found in design`)
	noSuchFlag = regexp.MustCompile(`(?m)^%Error: (?:Invalid option|Unknown warning specified): (\S+?)(?:\.\.\.|\s|$)`)
	noSuchName = regexp.MustCompile(`(?m)^%Error: (Parameters from the command line were not found in the design: .+)$`)
)

// refused classifies a failure of Verilator by its output: $fatal or $error at elaboration, or an unknown
// parameter, is a *RefusedError; a missing top module or an unknown flag is a *manifest.Error; an error at a
// place in the sources is a *DesignError. Other failures are returned unchanged.
func (b *builder) refused(failed *toolchain.BuildError, out string) error {
	m := b.m
	if noSuchTop.MatchString(out) {
		return m.Errorf("top", "top %q: the sources have no such module; they have %s", m.Top, b.src.ModuleList())
	}
	if err := b.interfacePorts(out); err != nil {
		return err
	}
	if found := noSuchFlag.FindStringSubmatch(out); found != nil && slices.Contains(m.VerilatorFlags, found[1]) {
		at := fmt.Sprintf("verilator_flags[%d]", slices.Index(m.VerilatorFlags, found[1]))
		return m.Errorf(at, "verilator_flags: Verilator has no option %s; verilator --help lists them", found[1])
	}
	if err := unknownInFlags(m, out); err != nil {
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
	if e.Parameters = m.NamedIn(strings.Join(e.Reasons, "\n")); len(e.Parameters) == 0 {
		e.Parameters = m.Given()
	}
	return e
}

// unknownInFlags returns the error of the first option that sets a parameter which the design does not have.
func unknownInFlags(m *manifest.Manifest, out string) error {
	for _, found := range noSuchName.FindAllStringSubmatch(out, -1) {
		for i, f := range m.VerilatorFlags {
			if name, _, ok := manifest.FlagParameter(f); ok && m.Parameters[name] == "" &&
				manifest.Named(found[1], name) {
				return m.Errorf(fmt.Sprintf("verilator_flags[%d]", i),
					"verilator_flags: %s: module %s has no parameter %s", f, m.Top, name)
			}
		}
	}
	return nil
}

// checkEdges refuses a design that works at falling edges of a clock: those of a controlled clock lie elsewhere.
func (b *builder) checkEdges() error {
	dir, err := os.MkdirTemp(b.work, "xml-")
	if err != nil {
		return fmt.Errorf("build cache: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "flat.xml")
	args := []string{"--xml-only", "--flatten", "--xml-output", file, "--Mdir", dir, "--no-timing", "-Wno-fatal"}
	if _, err := b.verilator("looking for falling edges of", args...); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("description of %s: %w", b.m.Top, err)
	}
	defer f.Close()
	names := make([]string, len(b.m.Clocks))
	for i := range b.m.Clocks {
		names[i] = b.m.Clocks[i].Signal
	}
	faults, err := edges.Find(f, names)
	if err != nil {
		return fmt.Errorf("description of %s: %w", b.m.Top, err)
	}
	var errs []error
	for i, x := range faults {
		if i > 0 && faults[i-1].Clock == x.Clock {
			continue
		}
		errs = append(errs, b.m.Errorf(fmt.Sprintf("clocks[%d].signal", x.Clock), "the design works at falling edges "+
			"of %s (%s): a shell has only rising ones where they would be", names[x.Clock], b.relativePaths(x.Place)))
	}
	return errors.Join(errs...)
}
