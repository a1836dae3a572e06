package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
	"nictwin/scenarios/shell/pipeline"
)

// report prints the outcome of a run. Measurements, if not nil, are printed before the verdict.
func (a *app) report(e *cli.Ended, measured fmt.Stringer) {
	a.ended, a.object = e, e.Object
	w, o := a.human(), &e.Object
	if measured != nil && (e.Outcome == result.Pass || e.Outcome == result.Mismatch) {
		say(w, "%v", measured)
	}
	a.showHome(e.Outcome, e.Err)
	for _, text := range e.Notices {
		say(a.stderr, "warning: %s\n", text)
	}
	if err := pipeline.Annotate(a.stderr, o); err != nil {
		say(a.stderr, "warning: %v\n", err)
	}
	switch e.Outcome {
	case result.Pass:
		showWaves(w, o)
		showBundle(w, o)
		showWarnings(w, e)
		paint(w, green, "PASS")
		say(w, "  seed %d, %s\n", o.Seed, artifacts(o))
	case result.Mismatch:
		paint(w, red, "FAIL")
		say(w, "  seed %d\n", o.Seed)
		if o.Failure != "" {
			say(w, "  failure %s\n", o.Failure.Text())
		}
		findings(w, o.Findings)
		showBundle(w, o)
		showWarnings(w, e)
		showFollowUp(w, o)
		a.reported = cli.Found(e.Err)
	case result.Infrastructure:
		a.printError(e.Outcome, e.Err)
		a.showFailure(o.Failure)
		a.reported = true
		showBundle(a.stderr, o)
		if !cli.SaysAll(e.Err) {
			showFollowUp(a.stderr, o)
		}
	}
}

// showWarnings prints the warnings of a run that ended, except for those about its input.
func showWarnings(w io.Writer, e *cli.Ended) {
	for _, text := range e.Object.Warnings {
		if !slices.Contains(e.Notices, text) {
			say(w, "warning: %s\n", text)
		}
	}
}

// showHome prints once the home that was used, its revision, and the build. It prints nothing after errors
// that the user must correct first.
func (a *app) showHome(out result.Outcome, err error) {
	h, w := a.object.Home, a.human()
	if a.homeShown || h == nil || out == result.Usage || out == result.Interrupted || cli.SaysAll(err) {
		return
	}
	if out == result.Infrastructure {
		w = a.stderr
	}
	built := ""
	if a.object.Build != "" {
		built = ", build " + a.object.Build
	}
	say(w, "home      %v%s\n", h, built)
	a.homeShown = true
}

// maxShown is the number of findings shown; the artifacts have all of them.
const maxShown = 8

// findings prints the first finding whole and the first line of the others.
func findings(w io.Writer, list []result.Finding) {
	for i, f := range list {
		head, rest, _ := strings.Cut(f.Text, "\n")
		switch {
		case i == maxShown:
			say(w, "  and %d more\n", len(list)-i)
			return
		case i == 0 && rest != "":
			say(w, "  %s\n%s\n", head, indented(strings.TrimRight(rest, "\n")))
		default:
			say(w, "  %s\n", head)
		}
	}
}

// indented indents the lines of a finding's text that begin at the margin, where only lines of this program begin.
func indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" && !strings.HasPrefix(line, " ") {
			lines[i] = "  " + line
		}
	}
	return strings.Join(lines, "\n")
}

// showFollowUp prints the last lines after a failure: the folder of artifacts, and the command that
// reproduces it.
func showFollowUp(w io.Writer, o *result.Object) {
	showWaves(w, o)
	if s := o.Shrunk; s != nil {
		say(w, "shrunk to %v: %s\n", s, strings.Join(s.Files, " "))
	}
	say(w, "%s\n", artifacts(o))
	switch b := o.Bundle; {
	case b == nil:
	case b.File == "":
		say(w, "bundle: none: %s\n", b.Note)
	case b.Note != "":
		say(w, "bundle: %s; %s\n", b.File, b.Note)
	default:
		say(w, "bundle: %s\n", b.File)
	}
	say(w, "reproduce: %s\n", o.Reproduce)
}

// showBundle prints what became of the bundle that was played.
func showBundle(w io.Writer, o *result.Object) {
	b := o.FromBundle
	if b == nil {
		return
	}
	for _, note := range b.Notes {
		say(w, "%s: %s\n", b.File, note)
	}
	switch {
	case b.Reproduced:
		say(w, "%s: reproduced: %s\n", b.File, b.Finding)
	case len(o.Findings) > 0:
		say(w, "%s: did not reproduce %s; it fails in another way\n", b.File, b.Finding)
	default:
		say(w, "%s: did not reproduce: %s\n", b.File, b.Finding)
	}
}

// showWaves prints the paths of waveforms.
func showWaves(w io.Writer, o *result.Object) {
	for i := range o.Waves {
		say(w, "waveform: %v\n", &o.Waves[i])
	}
}

// artifacts describes the folder of artifacts, and lists those that were cut off at their size limit.
func artifacts(o *result.Object) string {
	switch {
	case o.Artifacts == "" && (o.Command == "blocks" || o.Command == "pair"): // they write artifacts only with --out
		return "artifacts: none"
	case o.Artifacts == "":
		return "artifacts: none (--no-artifacts)"
	}
	text := "artifacts: " + o.Artifacts
	for _, c := range o.Cut {
		text += fmt.Sprintf("; %s was cut at --artifact-mb: it has %d of %d records", c.File, c.Written,
			c.Written+c.LeftOut)
	}
	return text
}
