package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"nictwin/models/sim/field"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/build/sources"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/observe/waves"
	"nictwin/scenarios/play"
	"nictwin/scenarios/play/own"
	"nictwin/scenarios/shell/pipeline"
)

// Play holds the settings of the play command, which plays random transactions on a user's device.
type Play struct {
	Common
	play.Options
	DUT         string // manifest, its folder, or a device name
	Ref         string // folder of the user's reference; empty: none
	RefLimits   own.Limits
	RefOutput   io.Writer // receives the output of the reference
	Captures    []string  // captures to play on Stream
	Stream      string
	Count       int // transactions per input; 0: the manifest's
	VariantName string
	KeepText    string
	Settings    GivenText
	Out         string
	WaveText    string
}

// NewPlay returns the default settings.
func NewPlay() *Play {
	return &Play{
		Options: play.Options{Seed: DefaultSeed, Runs: 20, Stall: -1}, Settings: GivenText{Stall: "-1"},
		VariantName: string(build.VariantSpeed), WaveText: "fail", RefLimits: own.DefaultLimits(),
		Common: Common{ShrinkS: DefaultShrinkS},
	}
}

// PlayEnded is the outcome of a run.
type PlayEnded struct {
	Ended
	Report *play.Report // nil: the run did not begin
}

// nothing makes the error for a campaign in which nothing came out of the device's outputs.
func (p *Play) nothing(runs int) error {
	why := "want inputs that let something come out: see the manifest's section \"play\""
	if rest := p.Manifest.TieRest; rest != "" {
		why = fmt.Sprintf("either the inputs of section \"play\" let nothing through, or tie_rest: %s holds an input "+
			"that matters (dut ports shows them all)", rest)
	}
	return &NothingError{fmt.Errorf("%s: nothing came out in %d runs, so nothing was compared: %s", p.Manifest.Path,
		runs, why)}
}

// Run plays and judges. Canceling the context interrupts it.
func (p *Play) Run(ctx context.Context) *PlayEnded {
	ctx, stop := p.start(ctx)
	defer stop()
	e := &PlayEnded{Ended: Ended{Object: result.Object{Command: "play", Seed: p.Seed}}}
	begin := time.Now()
	var trace bytes.Buffer
	p.Trace = &trace
	e.do(ctx, &p.Common, work{
		prepare: p.prepare,
		play: func() (err error) {
			if err = p.reference(ctx); err != nil {
				return err
			}
			e.Report, err = play.Play(ctx, p.Options)
			if err == nil && e.Report.Failed == nil && e.Report.Compared == 0 {
				err = p.nothing(e.Report.Runs)
			}
			if err == nil && e.Report.Failed != nil && p.opened != nil {
				err = p.opened.Write(result.TransactionsFile, trace.Bytes())
			}
			return err
		},
		differs: func(error) bool { return e.Report != nil && e.Report.Failed != nil },
		rtl: func() string {
			if p.Manifest == nil { // not read yet
				return ""
			}
			return p.Manifest.Path
		},
		bundle: func(x *pipeline.Bundling) error { return p.bundle(x, e, trace.Bytes()) },
		describe: func(o *result.Object) {
			if e.Report != nil && e.Report.Cover != nil && e.Outcome != result.Usage {
				p.describe(o, e.Report)
			}
			o.WallS = time.Since(begin).Seconds()
		},
	})
	return e
}

// prepare completes the options. It reports every wrong setting at once.
func (p *Play) prepare() (string, error) {
	p.Variant, p.Shard = build.Variant(p.VariantName), p.Part
	var errKeep, errTraffic, errCount, errWave, errLink error
	p.Link, errLink = p.link()
	if p.Wave, errWave = waves.Parse(p.WaveText); errWave != nil {
		errWave = fmt.Errorf("--wave: %w", errWave)
	}
	if p.Keep, errKeep = play.ParseKeep(p.KeepText); errKeep != nil {
		errKeep = fmt.Errorf("--keep: %w", errKeep)
	}
	if b := p.Bundle; b != nil && b.Info.Reference && p.Ref == "" {
		return "", Usagef("%s: its run was judged by a reference in Go, which bundles do not hold: give its folder by "+
			"--ref", b.Path)
	}
	if len(p.Captures) > 0 {
		p.Traffic, errTraffic = play.ReadTraffic(p.Stream, p.Captures)
	}
	if p.Count < 0 || p.Count > play.MaxCount {
		errCount = field.Errorf("count", "%d: want 1 to %d, or 0", p.Count, play.MaxCount)
	}
	errGiven := p.Settings.parse(&p.Options)
	_, m, err := p.manifest(p.DUT)
	if err == nil {
		m, err = p.parameters(m)
	}
	if err == nil {
		p.Manifest = m
		p.Spec, err = play.ReadSpec(m)
	}
	err = errors.Join(err, p.shrinks(), p.Validate(), p.RefLimits.Validate(), errKeep, errTraffic, errCount, errGiven,
		errWave, errLink)
	if err != nil {
		return "", &UsageError{err}
	}
	if p.Count > 0 {
		p.Spec.Count = p.Count
	}
	p.NoShrink, p.ShrinkTime = p.NoShrink || p.ShrinkS == 0, p.shrinkLimit()
	p.Out = p.folder(p.Out, fmt.Sprintf("play-%s-%d", m.Name, p.Seed))
	p.WaveDir, p.inputs = p.Out, p.Captures
	return p.Out, nil
}

// parameters returns the manifest with the user's parameters in place of its own.
func (p *Play) parameters(m *manifest.Manifest) (*manifest.Manifest, error) {
	if len(p.Settings.Parameters) == 0 {
		return m, nil
	}
	return m.WithParameters(p.Settings.Parameters)
}

// describe copies the report into the result object.
func (p *Play) describe(o *result.Object, r *play.Report) {
	o.Digest, o.Build, o.Checked = r.Digest, strings.Join(r.Builds, ","), uint64(r.Compared)
	o.Cycles, o.SimPs, o.Warnings = int64(r.Cycles), int64(r.SimPs), r.Warnings
	o.Played = &result.DevicePlayed{
		Device: p.Manifest.Name, Check: r.Check, Builds: r.Builds, Runs: r.Runs, Taken: r.Taken, Compared: r.Compared,
		Coverage: r.Cover,
	}
	if p.Stall >= 0 {
		o.Stall = new(p.Stall)
	}
	if w := r.Wave; w != nil {
		x := result.Wave{FST: w.FST, SaveFile: w.SaveFile, From: w.From, To: int64(w.To), Note: w.Note}
		if w.To > math.MaxInt64 {
			x.To = -1
		}
		o.Waves = []result.Wave{x}
	}
	if f := r.Failed; f != nil {
		p.failed(o, f)
	}
}

// failed copies the failing run into the result object.
func (p *Play) failed(o *result.Object, f *play.Failed) {
	x := f.Result.Failure
	o.Mismatches, o.Reproduce = 1, p.again(f)
	drawn := &f.Result.Settings
	o.Played.Failed = &result.DeviceFailed{
		Seed: f.Run.Seed, Parameters: drawn.Parameters, Transactions: f.Kept, Of: f.Of,
		Keep: play.FormatSpans(f.Run.Keep), Drawn: drawn,
		Stream: x.Stream, Transaction: x.N, Cycle: x.Cycle, Field: x.Field, Expected: x.Expected, Got: x.Got,
	}
	text := fmt.Sprintf("seed %d, %d of its %d transactions", f.Run.Seed, f.Kept, f.Of)
	if len(drawn.Parameters) > 0 {
		text += ", " + strings.Join(drawn.Parameters, " ")
	}
	found := result.Finding{
		Domain: result.Device, Stream: x.Stream, Field: x.Field, Expected: result.Value(x.Expected),
		Got:   result.Value(x.Got),
		Files: p.topFile(),
		Cycle: new(int64(x.Cycle)), Text: text + ": " + x.Error() + "\n  with:     " + drawn.String(),
		Command: o.Reproduce,
	}
	switch {
	case f.Result.Hangs:
		found.Failure = result.Hang
	case f.Result.Stopped:
		found.Failure = result.Crash
	}
	o.Findings = append(o.Findings, found)
}

// topFile returns the file of the device's top module: relative to the home if it is below it, else to the working
// folder; none if it is below neither.
func (p *Play) topFile() []string {
	src, err := sources.Expand(p.Manifest)
	if err != nil {
		return nil // the sources were there for the build, and have been removed since
	}
	file := src.FileOf(p.Manifest.Top)
	here, err := os.Getwd()
	if file == "" || err != nil {
		return nil
	}
	roots := []string{here}
	if p.Used != nil {
		roots = []string{p.Used.Dir, here}
	}
	for _, root := range roots {
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
			return []string{filepath.ToSlash(rel)}
		}
	}
	return nil
}

// again returns the command line that repeats the failing run, with everything that was drawn for it.
func (p *Play) again(f *play.Failed) string {
	if p.Bundle != nil {
		return p.Again
	}
	list := p.drawn(f)
	add := func(flag, value, usual string) {
		if value != usual {
			list = append(list, setting{flag, value})
		}
	}
	add("ref", p.Ref, "")
	usual := own.DefaultLimits()
	add("ref-s", strconv.Itoa(p.RefLimits.S), strconv.Itoa(usual.S))
	add("ref-mb", strconv.Itoa(p.RefLimits.MB), strconv.Itoa(usual.MB))
	add("ref-count", strconv.Itoa(p.RefLimits.Count), strconv.Itoa(usual.Count))
	for _, c := range p.Captures {
		add("capture", c, "")
	}
	add("stream", p.Stream, "")
	add("variant", p.VariantName, string(build.VariantSpeed))
	add("link", p.LinkText, "")
	add("home", p.Home, "")
	return Quote(append([]string{p.Self, "play", p.DUT}, words(list)...))
}

// drawn returns the flags that repeat the failed run with everything that was drawn for it, without those that name
// files, device and reference.
func (p *Play) drawn(f *play.Failed) []setting {
	list := []setting{{"seed", strconv.FormatUint(f.Run.Seed, 10)}, {"runs", "1"}}
	if len(f.Run.Keep) > 0 {
		list = append(list, setting{"keep", play.FormatSpans(f.Run.Keep)})
	}
	if f.Run.Cut != 0 {
		list = append(list, setting{"cut", strconv.Itoa(f.Run.Cut)})
	}
	list = append(append(list, givenSettings(&f.Result.Settings)...), setting{flag: "no-shrink"})
	if p.Count != 0 {
		list = append(list, setting{"count", strconv.Itoa(p.Count)})
	}
	return list
}

// bundle adds what repeats the failed run, or the run in which the device died.
func (p *Play) bundle(x *pipeline.Bundling, e *PlayEnded, trace []byte) error {
	i := &x.Bundle.Info
	i.Reference = p.Ref != ""
	list := []setting{}
	switch r := e.Report; {
	case r != nil && r.Failed != nil:
		f := r.Failed
		list, i.Seed = p.drawn(f), f.Run.Seed
		i.Original, i.Shrunk = map[string]int{"transactions": f.Of}, map[string]int{"transactions": f.Kept}
		x.Bundle.Add(bundle.Transactions, result.TransactionsFile, trace)
	case r != nil:
		for _, f := range p.Flags {
			switch name, value := bundle.Flag(f); name {
			case "seed":
				i.Seed = p.Seed + uint64(p.Part.At(r.Runs))
				list = append(list, setting{name, strconv.FormatUint(i.Seed, 10)})
			case "runs":
				list = append(list, setting{name, "1"})
			case "stream", "variant", "link":
			default:
				list = append(list, setting{name, value})
			}
		}
	default:
		return errors.New("the input is not known")
	}
	if p.Stream != "" {
		list = append(list, setting{"stream", p.Stream})
	}
	if p.LinkText != "" {
		list = append(list, setting{"link", p.LinkText})
	}
	i.Flags = flags(append(list, setting{"variant", pipeline.Untuned(p.VariantName)}))
	return x.AddFiles(bundle.Capture, p.Captures, p.Bundle.Shown)
}

// reference builds the user's reference, if one is given.
func (p *Play) reference(ctx context.Context) (err error) {
	if p.Ref == "" {
		return nil
	}
	h, err := p.find()
	if err != nil {
		return err
	}
	p.Program, err = own.Build(ctx, own.Options{Home: h.Dir, Dir: p.Ref, Limits: p.RefLimits, Log: p.Log,
		Output: p.RefOutput})
	return err
}
