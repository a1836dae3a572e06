package cli

import (
	"context"
	"errors"
	"fmt"

	"nictwin/rtlbridge"
	"nictwin/scenarios/bench"
	"nictwin/scenarios/home"
)

// Bench is a measurement as the command line has it.
type Bench struct {
	bench.Options
	Home  string // folder of nictwin's files, empty to search for it
	Again string // the command line that does the same once more
}

// NewBench holds the defaults.
func NewBench() *Bench {
	b := &Bench{Options: bench.DefaultOptions()}
	b.DUT = DefaultDUT
	return b
}

// Run measures. The report is nil when nothing was measured.
func (b *Bench) Run(ctx context.Context) (*bench.Report, Object, Outcome, error) {
	o := Object{Seed: b.Seed}
	if err := b.prepare(); err != nil {
		o.End(Usage, err)
		return nil, o, Usage, err
	}
	r, err := bench.Run(ctx, b.Options)
	o.Seed, o.Digest, o.Build, o.Results = r.Seed, r.Digest, r.Build, r.Results
	o.Checked, o.Mismatches, o.Cycles, o.SimPs, o.WallS = r.Checked, r.Mismatches, r.Cycles, r.SimPs, r.Wall.Seconds()
	out := Classify(ctx, err)
	var wrong *bench.MismatchError
	if errors.As(err, &wrong) && out != Interrupted {
		out, o.Findings = Mismatch, wrong.Findings
	}
	if out == Interrupted {
		err = ErrInterrupted
	}
	if out == Mismatch || out == Infrastructure {
		o.Reproduce = b.Again
	}
	o.End(out, err)
	return r, o, out, err
}

// prepare checks the options and finds the device's manifest.
func (b *Bench) prepare() error {
	if err := b.Validate(); err != nil {
		return &UsageError{err}
	}
	if !b.NeedsDUT() {
		return nil
	}
	path, err := home.Resolve(b.DUT, b.Home)
	if err == nil {
		_, err = rtlbridge.LoadManifest(path)
	}
	if err != nil {
		return &UsageError{fmt.Errorf("--dut: %w", err)}
	}
	b.DUT = path
	return shareHarness(b.Home)
}
