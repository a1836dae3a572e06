package fuzz

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/emulation"
	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/bed/boards"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/delta"
	"nictwin/scenarios/fuzz/coverage"
	"nictwin/scenarios/fuzz/generate"
	"nictwin/scenarios/fuzz/player"
	"nictwin/scenarios/fuzz/program"
	"nictwin/scenarios/fuzz/shrink"
	"nictwin/scenarios/observe/heartbeat"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/shard"
)

// Options describes a campaign.
type Options struct {
	NIC     string          // device.RTL or device.Model
	DUT     string          // manifest of the device when NIC is RTL
	Variant string          // variant of the device's build, or VariantMixed
	Link    *emulation.Link // the way to an RTL device; nil: it is simulated without a shell
	Seed    uint64
	Skip    int           // programs of the seed to skip before the first
	Runs    int           // number of programs; 0: as many as Time allows
	Shard   shard.Shard   // part of these programs to play
	Time    time.Duration // no program begins after that time, but at least one is played; 0: no limit
	Ports   int           // number of the NIC's ports; 0: one and two in alternate programs
	EthBits int           // width of a port's stream; 0: as the manifest says
	Build   string        // name of the NIC's build, see SizesOf
	Stall   int           // percentage; -1: each program has its own
	Overlap bool          // all entries of all queues of a program name the same few buffers
	Board   string        // preset or file of the board that provides the card; empty: a plain card
	Jobs    int           // programs played concurrently
	Shrink  bool          // shrink programs that fail
	// ShrinkTime limits the wall time of shrinking each program; 0: no limit.
	ShrinkTime time.Duration
	Most       int // number of failing programs that ends the campaign
	// RTLCoverage is a folder for the RTL coverage; see testbed.Spec.
	RTLCoverage string
	Wave        *device.Wave // waveform that the RTL device of the only program dumps; nil: none

	Program *program.Program // played instead of the seed's programs; nil: none
	Out     string           // folder for failing programs; empty: they are not written
	// Files is the folder named by field Out, if it is open already; nil: files are written under the path in Out.
	Files *files.Folder

	Log      io.Writer             // progress of builds
	Progress func(done, total int) // total is 0 if unknown
	Beat     *heartbeat.Beat       // receives the status of the run; nil: none
}

// DefaultOptions returns options that play a hundred programs on RTL.
func DefaultOptions() Options {
	return Options{NIC: device.RTL, Variant: VariantMixed, Runs: 100, Stall: -1, Jobs: 2, Shrink: true, Most: 5}
}

// maxNumber bounds the numbers of programs. It is out of reach in practice and avoids overflows.
const maxNumber = 1_000_000_000_000

// Validate returns every error, each a field.Error.
func (o *Options) Validate() error {
	var errs []error
	bad := func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	}
	bad(o.NIC == device.RTL || o.NIC == device.Model, "nic", "%q: want rtl or model", o.NIC)
	bad(o.Ports >= 0 && o.Ports <= board.MaxPorts, "ports", "%d: want 0 to %d", o.Ports, board.MaxPorts)
	bad(o.EthBits == 0 || nicspec.ValidEthBits(o.EthBits), "eth_bits", "%d: want %s", o.EthBits, nicspec.WantEthBits)
	_, err := program.SizesOf(o.Build)
	bad(err == nil, "build", ": %w", err)
	bad(o.Stall >= -1 && o.Stall <= 90, "stall", "%d: want -1 to 90 percent", o.Stall)
	bad(o.Runs >= 0 && o.Runs <= maxNumber, "runs", "%d: want 0 to %d", o.Runs, maxNumber)
	bad(o.Skip >= 0 && o.Skip <= maxNumber, "skip", "%d: want 0 to %d", o.Skip, maxNumber)
	bad(o.Time >= 0, "time", "%v: want 0 or more", o.Time)
	bad(o.Runs != 0 || o.Time != 0 || o.Program != nil, "runs", "0 and %s 0: want one of them", field.Path("time"))
	if o.Program == nil && o.Runs > 0 && o.Runs <= maxNumber {
		errs = append(errs, o.Shard.Check(o.Runs, "programs"))
	}
	bad(o.Jobs >= 1 && o.Jobs <= 64, "jobs", "%d: want 1 to 64", o.Jobs)
	bad(o.Most >= 1, "most", "%d: want 1 or more", o.Most)
	bad(o.RTLCoverage == "" || o.NIC == device.RTL, "rtl_coverage", "%s: only RTL counts", o.RTLCoverage)
	bad(o.Variant == VariantMixed || build.Variant(o.Variant).Plays(), "variant",
		"%q: want mixed, speed, tuned or debug", o.Variant)
	bad(o.Link == nil || o.NIC == device.RTL && o.RTLCoverage == "", "link",
		": only an RTL device has a shell around it, and none that counts %s", field.Path("rtl_coverage"))
	return errors.Join(errs...)
}

// Result is the outcome of a campaign.
type Result struct {
	Runs   int
	Seed   uint64
	Digest string // over the digests of the programs, in their order
	// Build is the hash of the RTL build with the most ports; in a mixed campaign, that of the speed build. It is the
	// same in all shards.
	Build    string
	Checked  uint64 // outputs and counters compared
	Cycles   int64
	Sim      simcore.Ps // simulated time of all Cycles
	Wall     time.Duration
	Failures []result.Failure
	Broken   *Broken // program whose run broke off, without a verdict; nil: none
	Coverage *coverage.Coverage
	Sizes    nicspec.Build // build of the NIC, with the largest number of ports that any program used

	Debug     int    // programs played on the debug build
	Unchecked string // why a mixed campaign played nothing on the debug build; empty: it could
}

// Broken is a program whose run broke off: the device died or hung, or nictwin made a mistake.
type Broken struct {
	Program *program.Program
	Variant string // of the build
}

// campaign plays many programs.
type campaign struct {
	Options
	devs map[devKey]*build.Device
	// buildDevice is device.BuildBehind(Link); tests replace it.
	buildDevice func(ctx context.Context, m *manifest.Manifest, variant string, eth device.Eth,
		log io.Writer) (*build.Device, error)
	sum []byte
	res *Result
}

// outcome is the outcome of one program.
type outcome struct {
	number  int
	variant string // variant of the device's build
	prog    *program.Program
	v       *player.Verdict
	cov     *coverage.Coverage
}

// Run plays programs. With an error, the result holds what was found before it.
func Run(ctx context.Context, o Options) (*Result, error) {
	begin := time.Now()
	c, err := newCampaign(o)
	if err == nil {
		err = c.build(ctx)
	}
	if err == nil {
		err = c.all(ctx)
	}
	c.res.Wall = time.Since(begin)
	c.res.Digest = hex.EncodeToString(c.sum)
	return c.res, err
}

func newCampaign(o Options) (*campaign, error) {
	if o.Program != nil {
		o.Build, o.EthBits = o.Program.Board.Build, o.Program.Board.EthBits
	}
	sizes, err := program.SizesOf(o.Build)
	if o.Board != "" && o.Program == nil {
		card, wrong := boards.Card(o.Board)
		if err = errors.Join(err, wrong); wrong == nil && o.EthBits == 0 {
			o.EthBits = card.EthBits
		}
	}
	return &campaign{Options: o, devs: map[devKey]*build.Device{}, buildDevice: device.BuildBehind(o.Link),
		res: &Result{Seed: o.Seed, Coverage: coverage.New(), Sizes: sizes}}, err
}

// ports returns the number of ports of a program's NIC.
func (c *campaign) ports(number int) int {
	if c.Program != nil {
		return c.Program.Board.Ports
	}
	if c.Ports == 0 {
		return 1 + number%board.MaxPorts
	}
	return c.Ports
}

// generate returns the program of that number.
func (c *campaign) generate(number int) *program.Program {
	if c.Program != nil {
		return c.Program
	}
	sizes := c.res.Sizes
	sizes.Ports = c.ports(number)
	p := generate.Generate(rand.New(rand.NewPCG(c.Seed, uint64(number))).Uint64()>>11,
		generate.Shape{Sizes: sizes, Stall: c.Stall, Overlap: c.Overlap})
	p.Board.EthBits, p.Board.Build, p.Board.Card = c.EthBits, c.Build, c.Board
	return p
}

func (c *campaign) total() int {
	if c.Program != nil {
		return 1
	}
	return c.Shard.Len(c.Runs)
}

// all plays the programs, several at a time, and takes their outcomes in order. It plays at least one, however short
// the time limit: a run that checked nothing fails.
func (c *campaign) all(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	begin := time.Now()
	var pending []chan *outcome
	next, total := 0, c.total()
	for {
		for len(pending) < c.Jobs && (total == 0 || next < total) &&
			(c.Time == 0 || next == 0 || time.Since(begin) < c.Time) && ctx.Err() == nil {
			ch := make(chan *outcome, 1)
			number := c.Skip + c.Shard.At(next)
			go func() { ch <- c.play(ctx, number) }()
			pending = append(pending, ch)
			next++
		}
		if len(pending) == 0 {
			return context.Cause(ctx)
		}
		oldest := c.Skip + c.Shard.At(next-len(pending))
		c.Beat.Report(heartbeat.Status{Doing: fmt.Sprintf("program %d", oldest), Cycle: c.res.Cycles})
		o := <-pending[0]
		pending = pending[1:]
		if done, err := c.take(ctx, o); done || err != nil {
			stop()
			for _, ch := range pending { // wait for the other programs' devices to end
				<-ch
			}
			return err
		}
		if c.Progress != nil {
			c.Progress(c.res.Runs, total)
		}
	}
}

func (c *campaign) play(ctx context.Context, number int) *outcome {
	o := &outcome{number: number, variant: c.variant(number), prog: c.generate(number), cov: coverage.New()}
	o.v = player.Run(o.prog, ctx, c.boardOf(o.variant), o.cov)
	return o
}

// take adds a program's outcome to the result. done reports that the campaign must end: enough programs have failed, or
// the context has ended.
func (c *campaign) take(ctx context.Context, o *outcome) (done bool, err error) {
	r := c.res
	if !o.v.Pass() && !o.v.Mismatch() {
		if ctx.Err() != nil {
			return true, context.Cause(ctx)
		}
		r.Broken = &Broken{o.prog, o.variant}
		return true, fmt.Errorf("program %d of seed %d: %w", o.number, c.Seed, c.why(o.v))
	}
	r.Runs++
	r.Coverage.Merge(o.cov)
	r.Cycles += o.v.Cycles
	r.Sim += o.v.Sim
	if o.v.Report != nil {
		r.Checked += o.v.Report.Checked
		next := sha256.Sum256(append(c.sum, o.v.Report.Digest...))
		c.sum = next[:]
	}
	if o.variant == string(build.VariantDebug) {
		r.Debug++
	}
	r.Build = cmp.Or(c.tested(), o.v.Build)
	if o.v.Pass() {
		return false, nil
	}
	f, err := c.failure(ctx, o)
	r.Failures = append(r.Failures, f)
	return len(r.Failures) >= c.Most, err
}

func (c *campaign) why(v *player.Verdict) error {
	if v.Err != nil {
		return v.Err
	}
	return errors.New(v.Report.Reason)
}

// failure shrinks a failing program and writes it to Out.
func (c *campaign) failure(ctx context.Context, o *outcome) (result.Failure, error) {
	f := result.Failure{Number: o.number, Variant: o.variant, Key: o.v.Key(), Ops: len(o.prog.Ops)}
	p, v := o.prog, o.v
	if c.Shrink {
		p, v, f.Trials = c.shrink(ctx, o)
	}
	f.Shrunk, f.Finding = len(p.Ops), finding(v)
	if c.Out == "" {
		return f, nil
	}
	text, err := p.JSON()
	if err == nil {
		name := fmt.Sprintf("program-%d.json", o.number)
		f.Program = filepath.Join(c.Out, name)
		err = c.write(name, text)
	}
	return f, err
}

// shrink makes a failing program smaller, within ShrinkTime. Candidates of a program that got stuck are first played
// with shorter time limits. The smallest one must get stuck with the full limits, too; otherwise more trials follow.
func (c *campaign) shrink(ctx context.Context, o *outcome) (small *program.Program, v *player.Verdict, trials int) {
	patience := o.v.Patience
	if o.v.Stuck() {
		patience = o.v.TrialPatience()
	}
	budget := ctx
	if c.ShrinkTime > 0 {
		var stop context.CancelFunc
		budget, stop = context.WithTimeout(ctx, c.ShrinkTime)
		defer stop()
	}
	key := o.v.Key()
	found := delta.Patiently(ctx, patience, o.v.Patience, func(patience int64) bool {
		var n int
		small, n = shrink.Shrink(budget, o.prog, func(p *program.Program) bool {
			again := player.RunWithin(p, budget, c.boardOf(o.variant), nil, patience)
			if again.Key() != key {
				return false
			}
			v = again
			return true
		})
		trials += n
		return small != o.prog
	}, func() bool {
		trials++
		v = player.Run(small, ctx, c.boardOf(o.variant), nil)
		return v.Key() == key
	})
	if !found {
		return o.prog, o.v, trials
	}
	return small, v, trials
}

// write writes a file into the folder for programs.
func (c *campaign) write(name string, text []byte) error {
	if c.Files != nil {
		return c.Files.Write(name, text)
	}
	return files.Write(filepath.Join(c.Out, name), text)
}

// finding returns the first finding of a failed program.
func finding(v *player.Verdict) result.Finding {
	switch {
	case v.Stuck():
		f := result.OfError(v.Err)
		if v.Found() {
			f.Text += "\n  the referee, in the end: " + v.Report.List[0].String()
		}
		return f
	case v.Found():
		f := result.OfMismatch(v.Report.List[0])
		if v.Err != nil {
			f.Text += "\n  then: " + v.Err.Error()
		}
		return f
	case v.Err != nil:
		return result.OfError(v.Err)
	}
	return result.Finding{Domain: result.Run, Text: v.Report.Reason}
}
