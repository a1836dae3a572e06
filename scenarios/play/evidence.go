package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/models/ref"
	"nictwin/models/sim/field"
)

// evidence sums up what the passing runs have compared. A check that compared nothing proves nothing.
type evidence struct {
	runs     int
	streams  []shown
	memories int
}

// shown holds the tallies of one stream.
type shown struct {
	ref.Tally     // summed over all runs
	silent    int // runs in which nothing was expected and nothing came
}

// add adds a run.
func (e *evidence) add(r *Result) {
	e.runs++
	e.memories += r.Memories
	if e.streams == nil {
		e.streams = make([]shown, len(r.Tallies))
	}
	for i, t := range r.Tallies {
		x := &e.streams[i]
		x.Stream, x.In = t.Stream, t.In
		x.Told, x.Expected, x.Compared = x.Told+t.Told, x.Expected+t.Expected, x.Compared+t.Compared
		x.Covered, x.Nothing = x.Covered || t.Covered, x.Nothing || t.Nothing
		if t.Told == 0 && t.Expected == 0 {
			x.silent++
		}
	}
}

// sum adds up a count over the streams of a direction.
func (e *evidence) sum(in bool, n func(x *shown) int) int {
	total := 0
	for i := range e.streams {
		if e.streams[i].In == in {
			total += n(&e.streams[i])
		}
	}
	return total
}

// verdict checks that the passing runs have compared something on each stream. Where they have not, it returns an error
// or adds a warning to the report.
func (c *campaign) verdict(ctx context.Context, d *Device, last Run, r *Report) error {
	e := &c.evidence
	if d.referenced() {
		if err := c.requireComparison(ctx, d, last, r); err != nil {
			return err
		}
	}
	if e.sum(false, func(x *shown) int { return x.Told + x.Expected }) == 0 {
		return nil // the failure is in the report
	}
	var errs []error
	for i := range e.streams {
		x := &e.streams[i]
		what, never := e.silence(d, x)
		switch {
		case what == "":
		case never && c.Keep == nil:
			errs = append(errs, d.unproved("%s", what))
		default:
			r.Warnings = append(r.Warnings, what)
		}
	}
	return errors.Join(errs...)
}

// silence describes an output or input on which nothing was expected and nothing came in some runs, or whose
// transactions nobody compared; the text is empty if neither applies. isError says that the check covers the stream
// and that no run had anything there.
func (e *evidence) silence(d *Device, x *shown) (what string, isError bool) {
	never := x.silent == e.runs
	switch {
	case d.served(x.Stream):
		return "", false // the device decides whether it accesses a memory
	case x.In && never && slices.Contains(d.Spec.In, x.Stream) && !d.referenced():
		return fmt.Sprintf("input %s, which check %s is about, took nothing in %s", x.Stream, d.check, count(e.runs)),
			d.check != Rules
	case x.In && never && (d.check == Rules || x.Covered):
		return fmt.Sprintf("input %s took nothing in %s", x.Stream, count(e.runs)), false
	case x.In:
		return "", false
	case d.check == Rules && never:
		return fmt.Sprintf("output %s gave nothing in %s, so its rules were not checked", x.Stream, count(e.runs)),
			false
	case d.check == Rules:
		return "", false
	case !x.Covered && d.referenced() && x.Told > 0:
		return fmt.Sprintf("output %s: the reference does not look at it: %d transactions were not compared", x.Stream,
			x.Told), false
	}
	return e.outputSilence(d, x)
}

// outputSilence does the work of method silence for an output on which the check may expect transactions: it describes
// runs in which nothing was expected and nothing came.
func (e *evidence) outputSilence(d *Device, x *shown) (what string, isError bool) {
	never := x.silent == e.runs
	saidSo := d.referenced() && x.Nothing // the reference declared that this output stays silent
	what = fmt.Sprintf("output %s: nothing was expected and nothing came in ", x.Stream)
	switch {
	case never && d.referenced() && !x.Covered:
		return what + count(e.runs), false // no error: with a transaction, the reference might have looked at it
	case !x.Covered || x.silent == 0 || saidSo && !never:
		return "", false
	case never:
		return what + count(e.runs), !saidSo
	}
	return what + fmt.Sprintf("%d of %s", x.silent, count(e.runs)), false
}

// count returns a number of runs in words.
func count(runs int) string {
	if runs == 1 {
		return "one run"
	}
	return fmt.Sprintf("%d runs", runs)
}

// unproved returns an error about a check that has proved nothing: a mistake of the reference, or of the manifest's
// section `play`.
func (d *Device) unproved(format string, a ...any) error {
	what := fmt.Sprintf(format, a...)
	if d.referenced() {
		return &RefError{File: d.at.file, Line: d.at.line, What: what}
	}
	hint := ": want inputs that reach every stream of the check, or name those that it is about in play.in and play.out"
	if d.check == Memory {
		hint = ": want more runs or bursts (play.memory.bursts)"
	}
	return &SpecError{d.located(field.Errorf("play.check", "%s", what+hint))}
}

// uncompared returns the outputs that a reference listens to but never compared through models/ref.
func (e *evidence) uncompared() (list []string) {
	for i := range e.streams {
		if x := &e.streams[i]; !x.In && x.Covered && x.Told > 0 && x.Expected+x.Compared == 0 {
			list = append(list, x.Stream)
		}
	}
	return list
}

// requireComparison returns an error unless the reference compares outputs. A reference that does not use models/ref to
// compare an output is played with corrupted outputs, which it must notice.
func (c *campaign) requireComparison(ctx context.Context, d *Device, last Run, r *Report) error {
	e := &c.evidence
	sure := e.memories + e.sum(false, func(x *shown) int { return x.Expected + x.Compared })
	unsure := e.uncompared()
	if sure > 0 && len(unsure) == 0 {
		return nil
	}
	minds, err := c.noticesCorruption(ctx, d, last, unsure)
	switch {
	case err != nil || minds:
		return err
	case sure == 0:
		return d.unproved("the reference expected nothing and compared nothing in %s: want Expect, Want, Wrong or "+
			"the like", count(e.runs))
	}
	for i := range e.streams {
		if x := &e.streams[i]; slices.Contains(unsure, x.Stream) {
			r.Compared -= x.Told
		}
	}
	what := fmt.Sprintf("the reference looks at %s and compares nothing of what comes there",
		strings.Join(unsure, ", "))
	r.Warnings = append(r.Warnings, what)
	return nil
}
