package bench

import (
	"context"
	"errors"
	"fmt"
	"io"

	"nictwin/rtlbridge"
	"nictwin/scenarios/board"
	"nictwin/scenarios/replay"
)

// Work that a tuned build is trained with: frames of all sizes both ways, with gaps and back-pressure. It is not what the
// figures are measured with.
const (
	trainingFrames = 6_000 // each way
	trainingSeed   = 0x7261696e
	trainingStall  = 10 // percent
)

var trainingSizes = []int{64, 90, 128, 300, 512, 1024, 1500, 1500, 1500, 4000}

// Tune makes the tuned build of a NIC's manifest with these Ethernet ports, or finds it in the cache: it replays generated
// traffic through the speed build and trains with that. Errors: those of rtlbridge.Build and replay, and *MismatchError when
// the NIC does not pass, or the tuned build does not do what the speed build does.
func Tune(ctx context.Context, manifest string, eth board.Eth, log io.Writer) (*rtlbridge.Device, error) {
	plain, err := board.Build(ctx, manifest, string(rtlbridge.VariantSpeed), eth, log)
	if err != nil {
		return nil, err
	}
	return tune(ctx, plain, max(eth.Ports, 1), log)
}

func tune(ctx context.Context, plain *rtlbridge.Device, ports int, log io.Writer) (*rtlbridge.Device, error) {
	tuned, err := rtlbridge.Build(plain.Manifest, rtlbridge.BuildOptions{Variant: rtlbridge.VariantTuned, Log: log, Context: ctx})
	if !errors.Is(err, rtlbridge.ErrNotTuned) {
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
	tuned, err = rtlbridge.Build(plain.Manifest, rtlbridge.BuildOptions{Variant: rtlbridge.VariantTuned, Training: rec.file, Log: log, Context: ctx})
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

// tunedSpeed compares the tuned build with the speed build, turn and turn about, with the inputs of the bridge's figure.
func tunedSpeed(s *session) ([]Result, error) {
	tuned, err := tune(s.ctx, s.device, 1, s.Log)
	if err != nil {
		return nil, err
	}
	o, err := s.bridgeOptions()
	if err != nil {
		return nil, err
	}
	rec, remove, err := s.record(o)
	if err != nil {
		return nil, err
	}
	defer remove()
	if _, err := rec.play(s.ctx, tuned); err != nil { // and warms up
		return nil, err
	}
	var ratios, speeds, missing []float64
	for range s.Repeats {
		watch := startClock()
		fast, err := rec.play(s.ctx, tuned)
		if err != nil {
			return nil, err
		}
		plain, err := rec.play(s.ctx, s.device)
		if err != nil {
			return nil, err
		}
		missing = append(missing, watch.starved())
		speeds = append(speeds, fast.CyclesPerSecond())
		ratios = append(ratios, fast.CyclesPerSecond()/plain.CyclesPerSecond())
	}
	list := []Result{
		figure("tuned/raw_cycles_per_s", median(speeds), "1/s", 1e6, "inputs from memory, no bridge; median of %d turns", s.Repeats),
		figure("tuned/over_speed_build", median(ratios), "ratio", 1, "raw speed of the speed build with the same inputs"),
	}
	for i := range list {
		list[i] = list[i].disturbed(median(missing))
	}
	return list, nil
}
