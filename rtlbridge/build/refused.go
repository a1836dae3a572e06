package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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

// aTrigger matches the debug message, in verilated code, that names the events of a process: "@(posedge clk or ...)".
var aTrigger = regexp.MustCompile(`region trigger index \d+ is active: @\(([^)\\]*)\)`)

// checkEdges refuses a translated design that works at falling edges of a clock: a shell's clocks fall at other times.
// A falling edge beside a rising one in a trigger is allowed, as that of an asynchronous reset that is active low.
func (b *builder) checkEdges() error {
	files, err := filepath.Glob(filepath.Join(b.objDir(), classPrefix+"*.cpp"))
	if err != nil {
		return fmt.Errorf("verilated sources: %w", err)
	}
	found := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("verilated source: %w", err)
		}
		for _, t := range aTrigger.FindAllSubmatch(text, -1) {
			for _, signal := range fallingClocks(b.m, string(t[1])) {
				found[signal] = true
			}
		}
	}
	var errs []error
	for _, signal := range manifest.SortedKeys(found) {
		at := "clocks"
		if k := clockIndex(b.m, signal); k >= 0 {
			at = fmt.Sprintf("clocks[%d].signal", k)
		}
		errs = append(errs, b.m.Errorf(at, "the design works at falling edges of %s: a shell has only rising ones "+
			"where they would be", signal))
	}
	return errors.Join(errs...)
}

// fallingClocks returns the signals of a trigger whose falling edges clock the process.
func fallingClocks(m *manifest.Manifest, trigger string) (list []string) {
	const falls, rises = "negedge ", "posedge "
	rising := strings.Contains(trigger, rises)
	for _, edge := range strings.Split(trigger, " or ") {
		signal, ok := strings.CutPrefix(strings.TrimSpace(edge), falls)
		reset := slices.ContainsFunc(m.Resets, func(r manifest.Reset) bool { return r.Signal == signal })
		if ok && !reset && (!rising || clockIndex(m, signal) >= 0) {
			list = append(list, signal)
		}
	}
	return list
}

func clockIndex(m *manifest.Manifest, signal string) int {
	return slices.IndexFunc(m.Clocks, func(c manifest.Clock) bool { return c.Signal == signal })
}
