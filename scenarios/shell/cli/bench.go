package cli

import (
	"context"
	"errors"
	"strings"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bench"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/papers"
)

// Bench holds the settings of the bench command. Only experiments write artifacts, and only if Out is set.
type Bench struct {
	Common
	bench.Options
	Out     string   // folder for the plots and the page of experiments; empty: none
	Claims  bool     // list the claims of the papers; nothing is measured
	Results []string // folders of earlier runs, whose verdicts the list shows
}

// NewBench returns the default settings.
func NewBench() *Bench {
	b := &Bench{Options: bench.DefaultOptions()}
	b.DUT = DefaultDUT
	return b
}

// BenchEnded is the outcome of a measurement.
type BenchEnded struct {
	Ended
	Report *bench.Report  // nil: the measurement did not begin
	Claims *papers.Claims // nil: they were not to be listed
}

// Run runs the benchmarks or experiments. Canceling the context interrupts it.
func (b *Bench) Run(ctx context.Context) *BenchEnded {
	ctx, stop := b.start(ctx)
	defer stop()
	e := &BenchEnded{Ended: Ended{Object: result.Object{Command: "bench", Seed: b.Seed}}}
	e.do(ctx, &b.Common, work{
		prepare: b.prepare,
		play: func() (err error) {
			if b.Claims {
				e.Claims, err = bench.Claims(b.Results)
				return err
			}
			e.Report, err = bench.Run(ctx, b.Options)
			return errors.Join(err, b.leavePlots(e.Report))
		},
		differs: func(err error) bool { return is[*bench.MismatchError](err) },
		describe: func(o *result.Object) {
			if r := e.Report; r != nil {
				o.Digest, o.Build, o.Results = r.Digest, r.Build, r.Results
				o.Checked, o.Mismatches, o.Cycles, o.SimPs, o.WallS = r.Checked, r.Mismatches, r.Cycles, r.SimPs,
					r.Wall.Seconds()
			}
			if e.Claims != nil {
				o.Claims = e.Claims
			}
			if wrong, ok := errors.AsType[*bench.MismatchError](e.Err); ok {
				o.Findings = wrong.Findings
			}
		},
	})
	return e
}

// prepare checks the options and finds the device's manifest.
func (b *Bench) prepare() (string, error) {
	if b.Claims {
		return "", b.checkList()
	}
	if len(b.Results) > 0 {
		return "", Usagef("--results: has no effect without --claims")
	}
	if err := errors.Join(b.Validate(), Once("figure", b.Names)); err != nil {
		return "", &UsageError{err}
	}
	if b.Out != "" && !b.HasExperiments() {
		return "", Usagef("--out: only experiments have pictures: want %s among the figures",
			papers.AnyGroup())
	}
	if !b.NeedsDUT() {
		return b.Out, nil
	}
	path, err := b.nic(b.DUT, device.Eth{})
	if err != nil {
		return "", &UsageError{err}
	}
	b.DUT = path
	return b.Out, nil
}

// checkList checks the options of a list of claims, which measures and writes nothing.
func (b *Bench) checkList() error {
	switch {
	case len(b.Names) > 0:
		return Usagef("--claims: measures nothing: want no figure beside it, not %s; run it first, with --out, and "+
			"name that folder by --results", strings.Join(b.Names, " "))
	case b.Out != "":
		return Usagef("--claims: writes nothing: want --results %s for the verdicts of a run, not --out", b.Out)
	}
	if err := Once("folder", b.Results); err != nil {
		return &UsageError{err}
	}
	return nil
}

// leavePlots writes the plots and the page of the experiments that ran.
func (b *Bench) leavePlots(r *bench.Report) error {
	if b.opened == nil || r.Experiments == nil {
		return nil
	}
	list, err := r.Experiments.Files()
	for _, f := range list {
		err = errors.Join(err, b.opened.Write(f.Name, f.Text))
	}
	return err
}
