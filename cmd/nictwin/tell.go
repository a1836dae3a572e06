package main

import (
	"fmt"
	"io"
	"strings"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/cli"
)

// tell tells people how a run ended. found, if it is not nil, is what was found out, shown before a verdict.
func (a *app) tell(e *cli.Ended, found fmt.Stringer) {
	a.ended, a.object = e, e.Object
	w, o := a.people(), &e.Object
	if found != nil && (e.Outcome == result.Pass || e.Outcome == result.Mismatch) {
		say(w, "%v", found)
	}
	a.tellHome(e.Outcome, e.Err)
	switch e.Outcome {
	case result.Pass:
		tellWaves(w, o)
		for _, text := range o.Warnings {
			say(w, "warning: %s\n", text)
		}
		paint(w, green, "PASS")
		say(w, "  seed %d, %s\n", o.Seed, artifacts(o))
	case result.Mismatch:
		paint(w, red, "FAIL")
		say(w, "  seed %d\n", o.Seed)
		findings(w, o.Findings)
		last(w, o)
		a.told = cli.Found(e.Err)
	case result.Infrastructure:
		a.complain(e.Outcome, e.Err)
		a.told = true
		if !cli.SaysAll(e.Err) {
			last(a.stderr, o)
		}
	}
}

// tellHome tells which home was used, of what revision, and what was built, once. Where people only need to mend
// something first, that would be noise.
func (a *app) tellHome(out result.Outcome, err error) {
	h, w := a.object.Home, a.people()
	if a.toldHome || h == nil || out == result.Usage || out == result.Interrupted || cli.SaysAll(err) {
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
	a.toldHome = true
}

// maxShown is how many findings are shown; all of them are in the artifacts.
const maxShown = 8

// findings shows the most telling one whole and what the others are about.
func findings(w io.Writer, list []result.Finding) {
	for i, f := range list {
		head, rest, _ := strings.Cut(f.Text, "\n")
		switch {
		case i == maxShown:
			say(w, "  and %d more\n", len(list)-i)
			return
		case i == 0 && rest != "":
			say(w, "  %s\n%s\n", head, strings.TrimRight(rest, "\n"))
		default:
			say(w, "  %s\n", head)
		}
	}
}

// last are the last lines of a failure, after what differs: where the artifacts are, how to see it again.
func last(w io.Writer, o *result.Object) {
	tellWaves(w, o)
	say(w, "%s\nreproduce: %s\n", artifacts(o), o.Reproduce)
}

// tellWaves says where waveforms are.
func tellWaves(w io.Writer, o *result.Object) {
	for i := range o.Waves {
		say(w, "waveform: %v\n", &o.Waves[i])
	}
}

// artifacts says where they are and what is missing in them.
func artifacts(o *result.Object) string {
	switch {
	case o.Artifacts == "" && (o.Command == "blocks" || o.Command == "pair"): // which never have some
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
