package build

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"nictwin/rtlbridge/build/toolchain"
)

// DesignError is a design that Verilator does not accept: an error at a place in its sources. Its cause is the
// design or its parameters, not the tools.
type DesignError struct {
	Step       string
	Count      int      // number of errors
	Parameters []string // "NAME = VALUE" of the manifest's parameters that the errors name
	Output     string   // Verilator's output, the first errors first
}

func (e *DesignError) Error() string {
	s := fmt.Sprintf("%s: the design has %s", e.Step, counted(e.Count, "error"))
	if len(e.Parameters) > 0 {
		s += ", with " + strings.Join(e.Parameters, ", ")
	}
	return s + "\n" + strings.TrimRight(e.Output, "\n")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Remark is a message of Verilator about a place in the sources, or about the whole design.
type Remark struct {
	Rule string `json:"rule,omitempty"` // WIDTH, UNUSED; "" for errors without a name
	File string `json:"file,omitempty"` // relative to the manifest
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`

	isError bool
	whole   string // the message with its continuation lines
}

// String returns the remark in one line.
func (r Remark) String() string {
	s := r.Text
	if r.Rule != "" {
		s = r.Rule + ": " + s
	}
	if r.File != "" {
		s = fmt.Sprintf("%s:%d: %s", r.File, r.Line, s)
	}
	return s
}

var (
	aRemark = regexp.MustCompile(`^%(Error|Warning)(?:-([A-Z0-9_]+))?: (?:([^:\n]+):(\d+):(?:\d+:)? )?(.*)$`)
	anEnd   = regexp.MustCompile(`^%Error: (?:Exiting due to|Command Failed)`)
)

// readRemarks extracts errors and warnings from Verilator's output. It leaves out the line in which Verilator counts
// them.
func readRemarks(out string) (remarks []Remark) {
	var last *Remark
	for line := range strings.Lines(out) {
		text := strings.TrimRight(line, "\n")
		m := aRemark.FindStringSubmatch(text)
		switch {
		case anEnd.MatchString(text):
			last = nil
		case m != nil:
			n, _ := strconv.Atoi(m[4]) // digits, or none
			remarks = append(remarks, Remark{Rule: m[2], File: m[3], Line: n, Text: m[5], isError: m[1] == "Error",
				whole: line})
			last = &remarks[len(remarks)-1]
		case last != nil && strings.HasPrefix(line, " "):
			last.whole += line
		default:
			last = nil
		}
	}
	return remarks
}

// designError returns the error of a design with errors at places in its sources; nil if Verilator failed in
// another way.
func (b *builder) designError(failed *toolchain.BuildError, out string) *DesignError {
	e := &DesignError{Step: failed.Step, Output: failed.Output}
	var text strings.Builder
	for _, r := range readRemarks(out) {
		if r.isError && r.File != "" {
			e.Count++
			text.WriteString(r.whole)
		}
	}
	if e.Count == 0 {
		return nil
	}
	e.Parameters = b.m.NamedIn(text.String())
	return e
}

// designText matches text that only Verilog files contain: a design unit, an item of one, or a directive.
var designText = regexp.MustCompile("(?m)^[ \\t]*(?:`[a-z_]+|(?:module|macromodule|package|interface|program|" +
	"primitive|class|checker|config|bind|function|task|typedef|parameter|localparam|import)[ \\t]+[A-Za-z_$`\\\\])")

// shown returns the text of a remark on a design in a folder. For a file that is not Verilog, which may contain
// secrets, the text has only file and line.
func (r *Remark) shown(dir string) string {
	if r.File == "" {
		return r.whole
	}
	path := r.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if text, err := os.ReadFile(path); err != nil || designText.Match(text) {
		return r.whole
	}
	const what = "the file is no Verilog: it has no module, package or the like, and no directive"
	return fmt.Sprintf("%%Error: %s:%d: %s\n", r.File, r.Line, what)
}

// firstErrors shortens Verilator's output on a design in a folder: errors first, in their order, then the number
// of messages left out. Text without remarks is only truncated.
func firstErrors(dir, out string) string {
	var errs []Remark
	warnings := 0
	for _, r := range readRemarks(out) {
		if r.isError {
			r.whole = r.shown(dir)
			errs = append(errs, r)
		} else {
			warnings++
		}
	}
	if len(errs) == 0 {
		return toolchain.HeadLines(out, toolchain.MaxToolLines)
	}
	var s strings.Builder
	lines, shown := 0, 0
	for _, r := range errs {
		n := strings.Count(r.whole, "\n")
		if shown > 0 && lines+n > toolchain.MaxToolLines {
			break
		}
		s.WriteString(toolchain.HeadLines(r.whole, toolchain.MaxToolLines))
		lines, shown = lines+n, shown+1
	}
	if shown < len(errs) {
		fmt.Fprintf(&s, "... and %s\n", counted(len(errs)-shown, "more error"))
	}
	if warnings > 0 {
		fmt.Fprintf(&s, "(%s left out)\n", counted(warnings, "warning"))
	}
	return s.String()
}
