package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nictwin/models/simcore"
	"nictwin/rtlbridge"
	"nictwin/scenarios/board"
	"nictwin/scenarios/home"
	"nictwin/scenarios/replay"
)

// Replay is a replay as the command line has it. The embedded options hold what needs no translation; DUT and Out are
// names and may be empty.
type Replay struct {
	replay.Options
	Home        string        // folder of nictwin's files, empty to search for it
	Gap         time.Duration // becomes MaxGap
	Recompute   []string      // becomes Fix
	Wave        string
	Mutant      string
	NoArtifacts bool
	TokenFile   string // becomes Token
	Again       string // the command line that does the same once more
}

// DefaultSeed and DefaultDUT are used unless told otherwise.
const (
	DefaultSeed = 1
	DefaultDUT  = "nic"
)

// NewReplay holds the defaults.
func NewReplay() *Replay {
	r := &Replay{Options: replay.DefaultOptions(), Wave: "never"}
	r.Seed, r.DUT = DefaultSeed, DefaultDUT
	r.Gap = time.Duration(r.MaxGap / simcore.Nanosecond)
	return r
}

// Ended is how a replay came out.
type Ended struct {
	Outcome Outcome
	Err     error          // what kept it from its end
	Result  *replay.Result // nil when it did not begin
	Object  Object
}

// Run plays and judges. A canceled context interrupts it.
func (r *Replay) Run(ctx context.Context) *Ended {
	e := &Ended{Object: Object{Command: "replay", Seed: r.Seed}}
	dir, err := r.prepare()
	if err == nil {
		err = r.play(ctx, e, dir)
	}
	e.Outcome, e.Err = r.judge(ctx, e.Result, err), err
	if e.Outcome == Interrupted {
		e.Err = ErrInterrupted
	}
	e.Object.End(e.Outcome, e.Err)
	if e.Result != nil {
		e.Object.add(e.Result)
	}
	if e.Outcome == Mismatch || e.Outcome == Infrastructure {
		e.Object.Reproduce = r.Again
	}
	if dir != nil {
		r.leave(e, dir)
	}
	return e
}

// judge weighs the result and the error: a device that was caught with a mismatch before the run broke off has one,
// unless the run broke off for reasons of its own.
func (r *Replay) judge(ctx context.Context, res *replay.Result, err error) Outcome {
	out := Classify(ctx, err)
	switch {
	case out == Pass && res.Pass:
		return Pass
	case out == Pass:
		return Mismatch
	case out == Infrastructure && !isInfra(err) && res != nil && res.Mismatches > 0:
		return Mismatch
	}
	return out
}

// leave writes the verdict into the folder, or gives the folder up when there was no run.
func (r *Replay) leave(e *Ended, dir *folder) {
	if e.Outcome == Usage {
		dir.drop()
		return
	}
	defer dir.close()
	e.Object.Artifacts = dir.dir
	if err := dir.write(&e.Object); err != nil {
		e.Err = errors.Join(e.Err, err)
		if e.Outcome == Pass {
			e.Outcome = Infrastructure
		}
		e.Object.End(e.Outcome, e.Err)
	}
}

// play builds the board, plays, and ends the device.
func (r *Replay) play(ctx context.Context, e *Ended, dir *folder) (err error) {
	r.Events = dir.dir != ""
	run, err := replay.New(ctx, r.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	e.Result, err = run.Play()
	return err
}

// prepare completes the options and takes the folder. Everything that is wrong with the settings is told at once.
func (r *Replay) prepare() (*folder, error) {
	err := errors.Join(r.waves(), r.gap(), r.fix(), r.readToken(), r.Validate(), r.loops(), r.device())
	if err != nil {
		return nil, &UsageError{err}
	}
	switch {
	case r.NoArtifacts:
		r.Out = ""
	case r.Out == "":
		r.Out = filepath.Join("out", fmt.Sprintf("replay-%s-%s-%d", r.NIC, r.Dir, r.Seed))
	}
	if err := r.inputsSafe(); err != nil {
		return nil, err
	}
	return openFolder(r.Out)
}

func (r *Replay) waves() error {
	var errs []error
	switch r.Wave {
	case "never":
	case "fail", "always":
		errs = append(errs, fmt.Errorf("--wave %s: not built yet; leave it at never", r.Wave))
	default:
		errs = append(errs, fmt.Errorf("--wave %q: want never, fail or always", r.Wave))
	}
	if r.Mutant != "" {
		errs = append(errs, fmt.Errorf("--mutant %s: not built yet", r.Mutant))
	}
	return errors.Join(errs...)
}

// maxLoop is more than anybody waits for, and keeps counts of frames within their types.
const maxLoop = 1_000_000

func (r *Replay) loops() error {
	if r.Loop > maxLoop {
		return fmt.Errorf("--loop %d: want at most %d", r.Loop, maxLoop)
	}
	return nil
}

func (r *Replay) gap() error {
	if r.Gap > math.MaxInt64/time.Duration(simcore.Nanosecond) {
		return fmt.Errorf("--max-gap %v: too long", r.Gap)
	}
	r.MaxGap = simcore.Ps(r.Gap) * simcore.Nanosecond
	return nil
}

func (r *Replay) fix() (err error) {
	if r.Fix, err = replay.ParseRecompute(r.Recompute); err != nil {
		return fmt.Errorf("--recompute: %w", err)
	}
	return nil
}

// device finds the manifest, which only an RTL device has, and reads it once to report its faults early.
func (r *Replay) device() error {
	if !rtlbridge.Variant(r.Variant).Plays() {
		return fmt.Errorf("--variant %q: want speed, tuned or debug", r.Variant)
	}
	if r.NIC != "rtl" {
		return nil
	}
	if r.Connect != "" {
		err := rtlbridge.CheckAddress(r.Connect)
		if err != nil {
			err = fmt.Errorf("--connect: %w", err)
		}
		return errors.Join(err, r.quantum())
	}
	path, err := home.Resolve(r.DUT, r.Home)
	if err != nil {
		return fmt.Errorf("--dut: %w", err)
	}
	m, err := rtlbridge.LoadManifest(path)
	if err != nil {
		return fmt.Errorf("--dut: %w", err)
	}
	if err := r.fitsPorts(m); err != nil {
		return err
	}
	r.DUT = path
	return errors.Join(r.fits(m), r.quantum(), shareHarness(r.Home))
}

// readToken reads the token of a device that runs elsewhere.
func (r *Replay) readToken() error {
	if r.Connect == "" {
		return nil
	}
	if r.TokenFile == "" {
		return fmt.Errorf("--connect %s: --token-file is missing", r.Connect)
	}
	text, err := readToken(r.TokenFile)
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	r.Token = strings.TrimSpace(string(text))
	return nil
}

// maxTokenFile is in bytes: a token and some space around it.
const maxTokenFile = 4 << 10

func readToken(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err == nil && len(text) > maxTokenFile {
		err = fmt.Errorf("%s: longer than %d bytes: this is no token", path, maxTokenFile)
	}
	return text, err
}

// fits tells early what would only come out once the device is built: that it is no NIC.
func (r *Replay) fits(m *rtlbridge.Manifest) error {
	var errs []error
	if err := board.IsNIC(m); err != nil {
		errs = append(errs, fmt.Errorf("--dut %w", err))
	}
	return errors.Join(errs...)
}

// quantum tells early that the quantum is too long for the board's links.
func (r *Replay) quantum() error {
	mode, latency := rtlbridge.Pipelined, board.DefaultLinkCycles*board.Cycle
	if r.Serial {
		mode = rtlbridge.Serial
	}
	if most := rtlbridge.MaxQuantum(board.Cycle, mode, latency, latency); r.Quantum > most {
		return fmt.Errorf("--quantum %d: want at most %d, which the links allow", r.Quantum, most)
	}
	return nil
}

// fitsPorts tells early that a manifest cannot be built with so many ports. Other faults of it or of the number are told
// elsewhere.
func (r *Replay) fitsPorts(m *rtlbridge.Manifest) error {
	if r.Ports < 2 || r.Ports > board.MaxPorts || r.fits(m) != nil {
		return nil
	}
	if _, err := board.Widen(m, r.Ports); err != nil {
		return fmt.Errorf("--ports %d: %w", r.Ports, err)
	}
	return nil
}

// inputsSafe refuses to overwrite a capture that is to be played.
func (r *Replay) inputsSafe() error {
	target, err := os.Stat(filepath.Join(r.Out, replay.PcapngFile))
	if r.Out == "" || err != nil {
		return nil
	}
	for _, c := range r.Captures {
		if in, err := os.Stat(c); err == nil && os.SameFile(in, target) {
			return Usagef("--out %s: the capture %s would be overwritten; choose another folder", r.Out, c)
		}
	}
	return nil
}
