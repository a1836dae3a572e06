package bench

import (
	"context"
	"errors"
	"fmt"
	"io"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/replay"
)

// Traffic that trains a tuned build: frames of all sizes in both directions, with gaps and back-pressure. It differs
// from the traffic of the figures.
const (
	trainingFrames = 6_000 // frames in each direction
	trainingSeed   = 0x7261696e
	trainingStall  = 10 // percentage of cycles with gaps, and of those with back-pressure
)

var trainingSizes = []int{64, 90, 128, 300, 512, 1024, 1500, 1500, 1500, 4000}

// Tune makes the tuned build of a NIC's manifest with these Ethernet ports, or finds it in the cache. It trains with a
// replay of generated traffic through the speed build. Errors: those of build.Build and replay, and *MismatchError
// if the NIC does not pass, or the tuned build behaves differently from the speed build.
func Tune(ctx context.Context, manifest string, eth device.Eth, log io.Writer) (*build.Device, error) {
	// Ask the cache, and check that the tools exist, before the speed build is made.
	tuned, err := device.Build(ctx, manifest, string(build.VariantTuned), eth, log)
	if !errors.Is(err, build.ErrNotTuned) {
		return tuned, err
	}
	plain, err := device.Build(ctx, manifest, string(build.VariantSpeed), eth, log)
	if err != nil {
		return nil, err
	}
	return tune(ctx, plain, max(eth.Ports, 1), log)
}

func tune(ctx context.Context, plain *build.Device, ports int, log io.Writer) (*build.Device, error) {
	tuned, err := build.Build(plain.Manifest, build.Options{Variant: build.VariantTuned, Log: log, Context: ctx})
	if !errors.Is(err, build.ErrNotTuned) {
		return tuned, err
	}
	s := &session{Options: Options{Seed: trainingSeed, Percent: 100, Log: log}, ctx: ctx, device: plain}
	o, err := s.training(ports)
	if err != nil {
		return nil, err
	}
	rec, remove, err := s.record(o)
	if err != nil {
		return nil, fmt.Errorf("training: %w", err)
	}
	defer remove()
	tuned, err = build.Build(plain.Manifest, build.Options{Variant: build.VariantTuned, Training: rec.file, Log: log,
		Context: ctx})
	if err != nil {
		return nil, err
	}
	_, err = rec.play(ctx, tuned)
	return tuned, err
}

func (s *session) training(ports int) (replay.Options, error) {
	o, err := s.options(minFrame, distinct)
	if err != nil {
		return o, err
	}
	o.Ports, o.Stall, o.Speed, o.Quantum = ports, trainingStall, "beats", bridgeQuantum
	o.Frames = nil
	for _, size := range trainingSizes {
		f, err := Frames(distinct/len(trainingSizes), size, s.Seed+uint64(size))
		if err != nil {
			return o, err
		}
		o.Frames = append(o.Frames, f...)
	}
	o.Loop = trainingFrames / len(o.Frames)
	return o, nil
}

// tunedSpeed measures the bridge's figures with the tuned build, and its raw speed against the speed build's.
func tunedSpeed(s *session) ([]Result, error) {
	plain := s.device
	tuned, err := tune(s.ctx, plain, 1, s.Log)
	if err != nil {
		return nil, err
	}
	s.device = tuned
	defer func() { s.device = plain }()
	c, err := s.compare(plain)
	if err != nil {
		return nil, err
	}
	list := []Result{
		figure("tuned/raw_cycles_per_s", median(c.raw), "1/s", 1e6, "inputs from memory, no bridge; median of %d turns",
			s.Repeats),
		figure("tuned/over_speed_build", median(c.over), "ratio", 1,
			"raw speed of the speed build with the same inputs"),
		figure("tuned/refereed_over_raw", median(c.ratios), "ratio", 0.85, "as bridge/refereed_over_raw"),
		figure("tuned/rx_frames_per_s", c.received(), "1/s", 30_000, "duplex, referee included; %.0f cycles/s",
			median(c.refereed)),
		figure("tuned/tx_frames_per_s", c.sent(), "1/s", 30_000, "the same"),
	}
	for i := range list {
		list[i] = list[i].disturbed(median(c.missing))
	}
	return list, nil
}
