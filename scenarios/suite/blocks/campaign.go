package blocks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"nictwin/models/sim/field"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"

	"nictwin/scenarios/suite/blocks/kit"
)

// Options select the blocks and what is played on them.
type Options struct {
	Blocks       []*kit.Block
	Manifest     func(name string) string // returns the path of a block's manifest
	Seed         uint64                   // seed of the first run; each further run adds 1
	Runs         int                      // number of runs for each block
	Stall        int                      // percent of cycles; below 0: drawn from each run's seed
	Transactions int                      // number of requests in a run
	Variant      build.Variant
	Link         *emulation.Link       // the way to the blocks; nil: they are simulated without a shell
	Log          io.Writer             // progress of builds; nil: it is not shown
	Progress     func(done, total int) // called after each run; may be nil
}

// DefaultOptions returns the options that play all blocks.
func DefaultOptions() Options {
	return Options{Blocks: All(), Seed: 1, Runs: 4, Stall: -1, Transactions: 400, Variant: build.VariantSpeed}
}

// Validate returns all errors of the options, each a field.Error.
func (o *Options) Validate() error {
	var errs []error
	check := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	check(o.Runs >= 1 && o.Runs <= 1e6, "runs", "%d: want 1 to 1000000", o.Runs)
	check(o.Stall >= -1 && o.Stall <= MaxStall, "stall", "%d: want 0 to %d, or -1", o.Stall, MaxStall)
	check(o.Transactions >= 1 && o.Transactions <= 1e5, "transactions", "%d: want 1 to 100000", o.Transactions)
	check(o.Variant == build.VariantSpeed || o.Variant == build.VariantDebug, "variant", "%q: want speed or debug",
		o.Variant)
	return errors.Join(errs...)
}

// Report is the outcome of a block's runs, which end with the first mismatch.
type Report struct {
	Block    *kit.Block
	Build    string // hash of the build
	Runs     int
	Requests int
	Compared int
	Cycles   uint64
	SimPs    uint64   // simulated time of all runs
	Digests  []uint64 // digest of each run
	Mismatch *Mismatch
}

// Play builds the blocks and plays on them, several at a time. Reports are in the order of the blocks and do not
// depend on the number of processors. The first error ends the campaign.
func Play(ctx context.Context, o Options) ([]Report, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	list := make([]Report, len(o.Blocks))
	c := &campaign{Options: o, total: o.Runs * len(o.Blocks), slots: make(chan struct{}, runtime.NumCPU())}
	var all sync.WaitGroup
	for i, b := range o.Blocks {
		list[i].Block = b
		all.Go(func() {
			c.slots <- struct{}{}
			defer func() { <-c.slots }()
			if err := c.play(ctx, &list[i]); err != nil {
				stop(fmt.Errorf("block %s: %w", b.Name, err))
			}
		})
	}
	all.Wait()
	return list, context.Cause(ctx)
}

type campaign struct {
	Options
	slots chan struct{}
	mu    sync.Mutex
	done  int
	total int
}

func (c *campaign) play(ctx context.Context, r *Report) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d, err := Open(ctx, r.Block, c.Manifest(r.Block.Name), c.Link, c.Variant, c.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	r.Build = d.Build
	for i := range c.Runs {
		x, err := d.Play(ctx, Run{Seed: c.Seed + uint64(i), Stall: c.Stall, Transactions: c.Transactions})
		if err != nil {
			return err
		}
		r.Runs++
		r.Requests, r.Compared, r.Cycles = r.Requests+x.Requests, r.Compared+x.Compared, r.Cycles+x.Cycles
		r.SimPs += x.Cycles * uint64(d.conn.Hello().PeriodPs)
		r.Digests, r.Mismatch = append(r.Digests, x.Digest), x.Mismatch
		c.step()
		if x.Mismatch != nil {
			return nil
		}
	}
	return nil
}

func (c *campaign) step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.Progress != nil {
		c.Progress(c.done, c.total)
	}
}
