package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/protocol"
	"nictwin/scenarios/bed/boards"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/judge"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/observe/akitaview"
	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/replay"
	"nictwin/scenarios/replay/shrink"
	"nictwin/scenarios/shell/pipeline"
	"nictwin/scenarios/shell/shard"
	"nictwin/stack/driver"
)

// Replay holds the settings of the replay command. The command line sets the embedded options directly, but DUT
// may be the name of a device of the home instead of a manifest's path, and Out may be empty for the default folder.
type Replay struct {
	Common
	WaveFlag
	replay.Options
	Gap        time.Duration // parsed into MaxGap
	Recompute  []string      // parsed into Fix
	ArtifactMB int           // converted to ArtifactBytes
	Board      string        // name or file; gives Card, Ports, EthBits and PeriodPs; empty: a plain card
	TokenFile  string        // read into Token
	Akita      akitaview.Options
	IdleMode   string // parsed into IdleCycles
}

// NewReplay returns the default settings.
func NewReplay() *Replay {
	r := &Replay{Options: replay.DefaultOptions(), ArtifactMB: 256, IdleMode: protocol.IdleSkip.String()}
	r.Seed, r.DUT, r.ShrinkS = DefaultSeed, DefaultDUT, DefaultShrinkS
	r.Gap = time.Duration(r.MaxGap / simcore.Nanosecond)
	return r
}

// ReplayEnded is the outcome of a replay.
type ReplayEnded struct {
	Ended
	Result *replay.Result // nil: the replay did not begin

	failure *shrink.Failure // the failure to be shrunk; nil: none
}

// Run replays and judges. Canceling the context interrupts it.
func (r *Replay) Run(ctx context.Context) *ReplayEnded {
	ctx, stop := r.start(ctx)
	defer stop()
	e := &ReplayEnded{Ended: Ended{Object: result.Object{Command: "replay", Seed: r.Seed}}}
	e.do(ctx, &r.Common, work{
		prepare: func() (string, error) { return r.prepare(ctx) },
		play: func() error {
			err := r.tooSmall(r.play(ctx, e))
			return errors.Join(err, r.shrink(ctx, e))
		},
		differs: func(err error) bool { return differs(e.Result, err) },
		rtl:     r.rtl,
		bundle:  func(x *pipeline.Bundling) error { return r.bundle(x, e) },
		describe: func(o *result.Object) {
			if e.Outcome != result.Usage { // with a usage error, the settings may be wrong
				o.Captures, o.NIC, o.Dir, o.Stall, o.Ports = nil, r.NIC, r.Dir, new(r.Stall), r.Ports
				for _, path := range r.Captures {
					o.Captures = append(o.Captures, r.Bundle.Shown(path))
				}
			}
			if e.Result != nil {
				addReplay(o, e.Result)
			}
		},
	})
	return e
}

// differs reports whether a replay that ended with err found a mismatch. If it broke off, findings about the break
// itself do not count.
func differs(r *replay.Result, err error) bool {
	return r != nil && (r.Mismatches > 0 || err == nil && !r.Pass)
}

// rtl returns the manifest of the RTL that is built here.
func (r *Replay) rtl() string {
	if r.NIC != device.RTL || r.Connect != "" {
		return ""
	}
	return r.DUT
}

// bundle adds captures and board.
func (r *Replay) bundle(x *pipeline.Bundling, e *ReplayEnded) error {
	if s := e.Object.Shrunk; s != nil {
		x.AddShrunk(s, e.Object.Captures...)
		return x.AddBoard(r.Board)
	}
	if played := e.Result; played != nil && played.Frames > 0 {
		x.Bundle.Info.Original = map[string]int{"packets": played.Frames}
	}
	return errors.Join(x.AddFiles(bundle.Capture, r.Captures, r.Bundle.Shown), x.AddBoard(r.Board))
}

// play builds the board, replays, and closes the device.
func (r *Replay) play(ctx context.Context, e *ReplayEnded) (err error) {
	r.Events, r.Files, r.Beat = r.Out != "", r.opened, r.Heartbeat
	r.CaptureName = r.Bundle.Shown
	run, err := replay.New(ctx, r.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	view, err := akitaview.Open(ctx, r.Akita, run.Engine())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	e.Result, err = run.Play()
	err = errors.Join(err, r.excuse(ctx, &e.Object, r.wave(ctx, e, err)))
	if r.shrinkTime() > 0 && r.Connect == "" { // a device at --connect serves one session
		var wrong error
		e.failure, wrong = shrink.Of(run, e.Result, err)
		err = errors.Join(err, wrong)
	}
	return err
}

// shrink looks for the smallest part of the captures with which a failed replay still fails.
func (r *Replay) shrink(ctx context.Context, e *ReplayEnded) error {
	if e.failure == nil {
		return nil
	}
	s, err := e.failure.Shrink(ctx, r.Options, r.shrinkTime())
	if err != nil || s == nil {
		return explainShrinking(err)
	}
	small := *r
	if dir := s.Settings["dir"]; dir != "" {
		small.Dir = dir
	}
	if speed := s.Settings["speed"]; speed != "" {
		small.Speed = speed
	}
	return e.keep(&r.Common, s, small.Idle())
}

// repeats reports whether the replay writes a page and can be repeated on the build that dumps waveforms.
func (r *Replay) repeats() bool {
	return r.Report && r.NIC != device.Model && r.Connect == "" && r.RTLCoverage == ""
}

// tooSmall adds the field to blame to the error of a board with too little memory for the driver.
func (r *Replay) tooSmall(err error) error {
	room, ok := errors.AsType[*driver.RoomError](err)
	if !ok || r.Card == nil || room.Endpoint < 0 {
		return err
	}
	at := "servers[0].cards[0]." + board.BytesField(room.Endpoint)
	return &UsageError{fmt.Errorf("--board %s: %v: want more memory for the rings and buffers of the driver: %w",
		r.Board, at, err)}
}

// prepare completes the options. It reports every wrong setting at once.
func (r *Replay) prepare(ctx context.Context) (string, error) {
	var errLink error
	r.Link, errLink = r.link()
	err := errors.Join(r.part(), r.parse(!r.NoArtifacts, r.repeats()), r.gap(), r.fix(), errLink, r.artifacts(),
		r.readToken(ctx), r.board(), r.shrinks(), r.Validate(), r.loops(), r.device(),
		checkCoverageFolder(r.RTLCoverage), r.Akita.Validate())
	if err != nil {
		return "", &UsageError{err}
	}
	r.inputs, r.counted = r.Captures, r.RTLCoverage
	return r.Out, r.inputsSafe()
}

// part keeps only the captures that belong to this process's shard.
func (r *Replay) part() error {
	if err := r.Part.Check(len(r.Captures), "captures"); err != nil {
		return err
	}
	r.Captures = shard.Of(r.Part, r.Captures)
	return nil
}

// artifacts checks and sets the size limit of artifact files.
func (r *Replay) artifacts() error {
	const mb, most = 1_000_000, 1_000_000
	if r.ArtifactMB < 0 || r.ArtifactMB > most {
		return fmt.Errorf("--artifact-mb %d: want 0 (no limit) to %d", r.ArtifactMB, most)
	}
	r.ArtifactBytes = int64(r.ArtifactMB) * mb
	r.Out = r.folder(r.Out, fmt.Sprintf("replay-%s-%s-%d", r.NIC, r.Dir, r.Seed))
	return nil
}

// maxLoop bounds the number of passes: nobody waits for more, and frame counts stay within their types.
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
	if r.IdleCycles, err = protocol.ParseIdleMode(r.IdleMode); err != nil {
		return fmt.Errorf("--idle-cycles: %w", err)
	}
	if r.IdleCycles == protocol.IdleCheck && r.LinkText != "" {
		return fmt.Errorf("--idle-cycles check: --link %s clocks every cycle, so none can be checked: want skip or "+
			"evaluate, or no --link", r.LinkText)
	}
	r.Fix, err = replay.ParseRecompute(r.Recompute)
	if err = errors.Join(err, Once("word", r.Recompute)); err != nil {
		return fmt.Errorf("--recompute: %w", err)
	}
	return nil
}

// device finds the manifest of an RTL device and reads it, so that its faults are reported before the run.
func (r *Replay) device() error {
	if !build.Variant(r.Variant).Plays() {
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
	path, err := r.nic(r.DUT, device.Eth{Ports: r.Ports, Bits: r.EthBits})
	if err == nil {
		r.DUT = path
	}
	return errors.Join(err, r.quantum())
}

// board reads the card that carries the NIC.
func (r *Replay) board() error {
	if r.Board == "" {
		return nil
	}
	c, err := boards.Card(r.Board)
	if err != nil {
		return fmt.Errorf("--board: %w", err)
	}
	r.Card, r.Ports, r.EthBits, r.PeriodPs = c, max(c.Ports, 1), c.EthBits, c.Period
	return nil
}

// quantum checks, before the run, that the quantum is not longer than the latency of the board's links.
func (r *Replay) quantum() error {
	mode := rtlbridge.Pipelined
	if r.Serial {
		mode = rtlbridge.Serial
	}
	most := testbed.MaxQuantum(mode, testbed.DefaultLinkCycles)
	if c := r.Card; c != nil {
		latency := min(c.PCIe.Latency, c.Eth.Latency)
		most = rtlbridge.MaxQuantum(simcore.Freq{PeriodPs: c.Period}.Period(), mode, latency, latency)
	}
	if r.Quantum > most {
		return fmt.Errorf("--quantum %d: want at most %d, which the links allow", r.Quantum, most)
	}
	return nil
}

// inputsSafe refuses artifacts that would overwrite a capture to be played.
func (r *Replay) inputsSafe() error {
	if r.Out == "" {
		return nil
	}
	written, or := []string{judge.PcapngFile}, ""
	if r.shrinkTime() > 0 {
		written, or = append(written, result.ShrunkCaptures...), ", or --shrink-s 0"
	}
	for i, name := range written {
		target, err := os.Stat(filepath.Join(r.Out, name))
		if err != nil {
			continue
		}
		if i == 0 {
			or = ""
		}
		for _, c := range r.Captures {
			if in, err := os.Stat(c); err == nil && os.SameFile(in, target) {
				return Usagef("--out %s: the capture %s would be overwritten; choose another folder%s", r.Out, c, or)
			}
		}
	}
	return nil
}

// addReplay copies the result of a replay into the result object.
func addReplay(o *result.Object, r *replay.Result) {
	o.Seed, o.Digest, o.Build = r.Seed, r.Digest, r.Build
	o.Checked, o.Mismatches = r.Checked, r.Mismatches
	o.Cycles, o.SimPs, o.WallS = r.Cycles, int64(r.Sim), r.Wall.Seconds()
	o.Artifacts, o.Cut, o.Findings, o.Latency = r.Artifacts, r.Cut, r.Findings, r.Latency
	o.Captured = &result.Captured{
		Frames: r.Frames, NotPlayable: r.NotPlayable, LeftOut: r.LeftOut, Truncated: r.Truncated,
		Sections: r.SkippedSections, Shortened: r.Shortened, CutOff: r.CutOff, NotRead: r.NotRead,
	}
	if x := r.Rx; x != nil {
		o.Rx = &result.Received{In: x.In, Delivered: x.Delivered, Bytes: x.Bytes, Drops: map[string]uint64{},
			PerQueue: x.PerQueue}
		for _, p := range x.PerPort {
			o.Rx.PerPort = append(o.Rx.PerPort, result.ReceivedOn(p))
		}
		for _, d := range x.Drops {
			o.Rx.Drops[d.Cause] = d.Count
		}
	}
	if t := r.Tx; t != nil {
		o.Tx = &result.Transmitted{Posted: t.Posted, Out: t.Out, Refused: t.Refused, Bytes: t.Bytes}
	}
	if s := r.Shares; s != nil {
		o.Wall, o.RTLBusy = &result.Shares{RTL: s.RTL, Bridge: s.Bridge, Models: s.Models, Referee: s.Referee}, s.Busy
	}
}
