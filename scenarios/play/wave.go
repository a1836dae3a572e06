package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
	"nictwin/rtlbridge/build"
	"nictwin/scenarios/observe/waves"
)

// Wave is the waveform of a run.
type Wave struct {
	FST      string
	SaveFile string // save file for GTKWave; empty: it could not be written
	From, To uint64 // first and last cycle of the waveform
	// Note says if the run did not fail, or failed differently, on the build that dumps waveforms; empty: it failed in
	// the same way.
	Note string
}

// Names of the waveform's files.
const (
	FSTFile  = "wave.fst"
	SaveFile = "wave.gtkw"
)

// wave repeats a run on the build that dumps waveforms, if the policy asks for one. That build powers up with random
// contents, so the window is placed around the failure as it occurs there.
func (c *campaign) wave(ctx context.Context, d *Device, run Run, res *Result) (*Wave, error) {
	period := simcore.Ps(res.Settings.Clocks[0].PeriodPs)
	at := uint64(0)
	if res.Failure != nil {
		at = res.Failure.Cycle
	}
	from, to, ok := c.Wave.Cycles(res.Failure != nil, at, period)
	if !ok || c.WaveDir == "" {
		return nil, nil
	}
	w := &Wave{FST: filepath.Join(c.WaveDir, FSTFile), From: from, To: to}
	built, err := build.Build(d.Manifest, build.Options{Variant: build.VariantWaves, Log: c.Log, Context: ctx})
	if err != nil {
		return nil, err
	}
	run.Trace = nil
	for range 2 {
		again, err := c.playWave(ctx, d, built, run, w)
		if err != nil {
			return nil, err
		}
		switch f := again.Failure; {
		case f == nil && res.Failure != nil:
			w.Note = "the run does not fail on the build that writes waveforms, which powers up with other contents"
		case f == nil || f.Cycle == at:
		case c.Wave.Kind == waves.Fail && f.Cycle+waves.After > w.To: // it fails too late: repeat with a later window
			at = f.Cycle
			w.From, w.To, _ = c.Wave.Cycles(true, at, period)
			continue
		}
		if f := again.Failure; f != nil && f.Error() != res.Failure.Error() {
			w.Note = "on the build that writes waveforms, which powers up with other contents, it fails so: " +
				f.Error()
		}
		break
	}
	return w, c.save(w, built, period, at, res)
}

// playWave plays a run on the build that dumps waveforms.
func (c *campaign) playWave(ctx context.Context, d *Device, built *build.Device, run Run, w *Wave) (res *Result,
	err error) {
	x := &Device{
		Manifest: d.Manifest, Build: built.HashString(), Spec: d.Spec, built: built, own: d.own, program: d.program,
		given: d.given, parameters: d.parameters, captured: d.captured,
	}
	x.launching = rtlbridge.LaunchOptions{Wave: w.FST, WaveFrom: w.From, WaveTo: w.To}
	if err := x.launch(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := x.fit(x.conn.Hello()); err != nil {
		return nil, err
	}
	return x.Play(ctx, run, nil)
}

// save writes the GTKWave view of the waveform.
func (c *campaign) save(w *Wave, built *build.Device, period simcore.Ps, at uint64, res *Result) error {
	v := waves.View{Manifest: built.Manifest, Ports: built.Ports, FST: w.FST, Period: period}
	if res.Failure != nil {
		v.Marks = []waves.Mark{{Name: "difference", Cycle: at}}
		if c := res.Failure.Cause; c != 0 {
			v.Marks = append(v.Marks, waves.Mark{Name: "expected since", Cycle: c})
		}
	}
	w.SaveFile = filepath.Join(c.WaveDir, SaveFile)
	if err := os.WriteFile(w.SaveFile, []byte(v.SaveFile()), 0o644); err != nil {
		return fmt.Errorf("waveform: %w", err)
	}
	return nil
}
