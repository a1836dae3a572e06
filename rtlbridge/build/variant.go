package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"nictwin/rtlbridge/build/toolchain"
)

// coverageHook occurs in the run-time headers of those versions of Verilator whose trace code a coverage build
// can take over, see verilator/harness/toggles.hpp.
const coverageHook = "pushNamePrefix"

// checkVariant refuses a variant that these tools cannot build.
func checkVariant(t *toolchain.Tools, v Variant) error {
	if v != VariantCoverage {
		return nil
	}
	const header = "verilated_trace.h"
	text, err := os.ReadFile(filepath.Join(t.IncludeDir, header))
	if err != nil {
		return fmt.Errorf("run-time of Verilator: %w", err)
	}
	if !bytes.Contains(text, []byte(coverageHook)) {
		return fmt.Errorf("%w: variant %s needs Verilator 5.006: the traces of %s have another interface (no %s in %s)",
			toolchain.ErrToolMissing, v, strings.TrimSpace(t.VerilatorVersion), coverageHook, header)
	}
	return nil
}

// Variant is the purpose of a build; one binary cannot serve all at full speed.
type Variant string

// Build variants.
const (
	VariantSpeed    Variant = "speed"    // no assertions, no traces
	VariantDebug    Variant = "debug"    // assertions in the RTL are checked, and it powers up with random contents
	VariantWaves    Variant = "waves"    // debug, and able to write a waveform
	VariantCoverage Variant = "coverage" // debug, and counts lines, branches and bits
	VariantTuned    Variant = "tuned"    // as speed, but optimized with a profile taken while playing a recording
	VariantAgent    Variant = "agent"    // the device is behind a shell, at the end of a link
	VariantBoard    Variant = "board"    // shell and device in one program, which speaks over the link
)

// Plays reports whether a variant is for playing traffic; the others are for observing a design.
func (v Variant) Plays() bool {
	return v == VariantSpeed || v == VariantTuned || v == VariantDebug
}

// emulates reports whether a variant is one end of a link to a shell.
func (v Variant) emulates() bool { return v == VariantAgent || v == VariantBoard }

// verilatorFlags returns the options of a variant: those for speed, as far as its purpose allows.
func verilatorFlags(v Variant) ([]string, error) {
	// Verilator 5.006 crashes on constant tables with --x-assign unique.
	f := []string{
		"-O3", "--x-assign", "fast", "--output-split", "20000", "--output-split-cfuncs", "2000", "--expand-limit", "8",
		"--no-timing", "--timescale", "1ps/1ps", "-Wno-fatal",
		"-Werror-USERFATAL", "-Werror-USERERROR", // $fatal and $error at elaboration: the design refuses its parameters
	}
	if v == VariantSpeed || v == VariantTuned || v.emulates() {
		f = append(f, "--x-initial", "fast", "--no-assert") // newer Verilators assert unless told otherwise
	} else {
		f = append(f, "--x-initial", "unique")
	}
	switch v {
	case VariantSpeed, VariantTuned, VariantAgent, VariantBoard:
	case VariantDebug:
		f = append(f, "--assert")
	case VariantWaves:
		f = append(f, "--assert", "--trace-fst", "--trace-structs")
	case VariantCoverage:
		// With split processes, a branch would be counted by the value of its condition after the branch's
		// assignments.
		f = append(f, "--assert", "--coverage-line", "-fno-split")
		f = append(f, "--trace", "--trace-structs", "--trace-max-width", "2048", "--trace-max-array", "64")
	default:
		return nil, fmt.Errorf("build variant %q is not known: speed, tuned, debug, waves or coverage", v)
	}
	return f, nil
}
