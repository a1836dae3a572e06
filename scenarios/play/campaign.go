package play

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"nictwin/models/ref"
	"nictwin/models/sim/field"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/observe/waves"
	"nictwin/scenarios/play/own"
	"nictwin/scenarios/shell/shard"
)

// Options selects the device, the runs and the settings of a campaign.
type Options struct {
	Manifest  *manifest.Manifest
	Spec      *Spec
	Reference ref.Reference // user's reference in this process; nil: the check that the manifest names decides
	Program   *own.Program  // user's reference in a separate process, instead of Reference
	Traffic   *Traffic      // captured packets to play; nil: all packets are drawn
	Seed      uint64        // seed of the first run; each next run adds one
	Runs      int
	Shard     shard.Shard // part of these runs to play
	Stall     int         // percentage for all streams; below 0: each run draws its own
	Keep      []Span
	NoGap     bool
	Cut       int // truncate drawn packets to that many bytes; 0: packets keep their length
	Given     Given
	NoShrink  bool
	// ShrinkTime limits the wall time for shortening a run; 0: no limit.
	ShrinkTime time.Duration
	Variant    build.Variant
	Link       *emulation.Link       // the way to the device; nil: it is simulated without a shell
	Log        io.Writer             // progress of builds; may be nil
	Progress   func(done, total int) // called after each run; may be nil
	Wave       waves.Policy
	WaveDir    string    // folder for a waveform; empty: no waveform is dumped
	Trace      io.Writer // receives the transactions of the failing run; may be nil
}

// Validate returns every error of the options, each a field.Error.
func (o *Options) Validate() error {
	var errs []error
	check := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	check(o.Runs >= 1 && o.Runs <= 1e6, "runs", "%d: want 1 to 1000000", o.Runs)
	check(o.Stall >= -1 && o.Stall <= MaxStall, "stall", "%d: want 0 to %d, or -1", o.Stall, MaxStall)
	check(o.Variant.Plays(), "variant", "%q: want speed, tuned or debug", o.Variant)
	check(o.Cut >= 0, "cut", "%d: want 1 or more", o.Cut)
	check(o.Keep == nil || o.Runs == 1, "runs", "%d: transactions are kept of one run", o.Runs)
	errs = append(errs, o.Shard.Check(o.Runs, "runs"))
	return errors.Join(errs...)
}

// Report is the outcome of a campaign, which ends with the first failing run.
type Report struct {
	Check    string
	Builds   []string // hashes of the builds
	Runs     int
	Taken    int
	Compared int
	Cycles   uint64
	SimPs    uint64
	Digest   string
	Cover    *Coverage
	Failed   *Failed // the failing run; nil: every run passed
	Wave     *Wave   // waveform of the failing run; nil: none was dumped
	Warnings []string
}

// Failed is the shortest failing run that was found.
type Failed struct {
	Run    Run
	Result *Result
	Of     int // number of transactions in the original run
	Kept   int // number of transactions left after shortening
	Build  int // index of the build, that is, of the combination of parameters
}

// Play builds the device with each combination of parameters and plays on the builds in turn.
func Play(ctx context.Context, o Options) (r *Report, err error) {
	c := campaign{Options: o, builds: combinations(ungiven(&o))}
	r = &Report{}
	defer func() {
		for _, d := range c.devices {
			if d != nil {
				r.Builds = append(r.Builds, d.Build)
				err = errors.Join(err, d.Close())
			}
		}
	}()
	c.devices = make([]*Device, len(c.builds))
	digest := fnv.New64a()
	var last latest
	runs := o.Shard.Len(o.Runs)
	for i := range runs {
		if last, err = c.play(ctx, o.Shard.At(i), r, digest); err != nil {
			return r, err
		}
		if o.Progress != nil {
			o.Progress(r.Runs, runs)
		}
		if r.Failed != nil {
			break
		}
	}
	r.Digest = hex.EncodeToString(digest.Sum(nil))
	if err := c.shorten(ctx, r.Failed); err != nil {
		return r, err
	}
	if f := r.Failed; f != nil {
		last = latest{f.Run, f.Result, f.Build}
	} else if err := c.verdict(ctx, c.devices[last.build], last.run, r); err != nil {
		return r, err
	}
	r.Wave, err = c.wave(ctx, c.devices[last.build], last.run, last.result)
	return r, err
}

// latest is the run that was played last.
type latest struct {
	run    Run
	result *Result
	build  int
}

// play plays run number i on the next build and adds it to the report.
func (c *campaign) play(ctx context.Context, i int, r *Report, digest io.Writer) (l latest, err error) {
	seed := c.Seed + uint64(i)
	l.build = int(seed % uint64(len(c.builds)))
	d, err := c.open(ctx, l.build)
	if err != nil {
		return l, err
	}
	if r.Cover == nil {
		r.Check, r.Cover = d.check, NewCoverage(d.streams)
	}
	l.run = Run{Seed: seed, Stall: c.Stall, Keep: c.Keep, NoGap: c.NoGap, Cut: c.Cut, Given: c.Given}
	res, err := d.Play(ctx, l.run, r.Cover)
	if err != nil {
		return l, err
	}
	l.result = res
	r.Runs++
	r.Taken, r.Compared, r.Cycles = r.Taken+res.Taken, r.Compared+res.Compared, r.Cycles+res.Cycles
	r.SimPs += res.Cycles * uint64(res.Settings.Clocks[0].PeriodPs)
	_, _ = fmt.Fprintf(digest, "%x,", res.Digest) // a hash never fails
	if res.Failure == nil {
		c.evidence.add(res)
	} else {
		r.Failed = &Failed{Run: l.run, Result: res, Of: res.Offered, Build: l.build}
	}
	return l, nil
}

// campaign is a campaign in progress.
type campaign struct {
	Options
	builds   [][]string
	devices  []*Device
	evidence evidence
}

// open builds and starts the device with combination n of the parameters, once.
func (c *campaign) open(ctx context.Context, n int) (*Device, error) {
	if c.devices[n] != nil {
		return c.devices[n], nil
	}
	m := *c.Manifest
	m.Parameters = maps.Clone(m.Parameters)
	for _, p := range c.builds[n] {
		name, value, _ := strings.Cut(p, "=")
		m.Parameters[name] = value
	}
	d, err := open(ctx, &m, &c.Options, c.parameters(n))
	c.devices[n] = d
	return d, err
}

// parameters returns the parameters of build n that are drawn or given by the user.
func (c *campaign) parameters(n int) []string {
	list := slices.Clone(c.builds[n])
	for name, value := range c.Given.Parameters {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// shorten searches for the shortest failing run, and repeats it for the trace.
func (c *campaign) shorten(ctx context.Context, f *Failed) error {
	if f == nil {
		return nil
	}
	d := c.devices[f.Build]
	var err error
	if !c.NoShrink {
		if f.Run, f.Result, err = d.Shrink(ctx, f.Run, f.Result, c.ShrinkTime); err != nil {
			return err
		}
	}
	f.Kept = len(slices.Compact(slices.Sorted(slices.Values(f.Result.began))))
	if c.Trace != nil {
		run := f.Run
		run.Trace = c.Trace
		if _, err = d.Play(ctx, run, nil); err != nil {
			return err
		}
	}
	return nil
}

// ungiven returns the parameters in the section `play` for which the user has given no value.
func ungiven(o *Options) map[string][]string {
	left := maps.Clone(o.Spec.Parameters)
	maps.DeleteFunc(left, func(name string, _ []string) bool { _, given := o.Given.Parameters[name]; return given })
	return left
}

// combinations returns every way to choose values of parameters, as NAME=VALUE; without parameters, the single empty
// choice.
func combinations(p map[string][]string) [][]string {
	list := [][]string{nil}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		var more [][]string
		for _, have := range list {
			for _, v := range p[name] {
				more = append(more, append(slices.Clone(have), name+"="+v))
			}
		}
		list = more
	}
	return list
}
