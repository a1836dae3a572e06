package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/protocol"
)

// PlaybackResult is a device's response to a recorded input stream.
type PlaybackResult struct {
	Cycles                      uint64
	Wall                        time.Duration // time simulating, without loading the recording
	Digest                      uint64        // digest of all events, the same as Comp.Digest
	Inputs, Outputs, Violations uint64
	Stopped                     bool // the design ended the run
}

// CyclesPerSecond returns the device's raw speed.
func (r PlaybackResult) CyclesPerSecond() float64 {
	return float64(r.Cycles) / r.Wall.Seconds()
}

const playbackTimeout = 10 * time.Minute

// Playback makes the device play a recording (LaunchOptions.Record) from memory: no socket, no serialised
// outputs, the same stimulus in the same cycles. Its speed is the raw speed that a bridged run is compared with.
// When ctx is done the device is killed, and the error wraps the cause.
func Playback(ctx context.Context, d *Device, file string, plusArgs ...string) (PlaybackResult, error) {
	return play(ctx, d.Manifest.Name, d.Binary, file, nil, append(slices.Clone(d.Args), plusArgs...)...)
}

// play runs a device's program with a recording and additional environment variables.
func play(ctx context.Context, name, program, file string, env []string, plusArgs ...string) (PlaybackResult, error) {
	var r PlaybackResult
	ctx, cancel := context.WithTimeoutCause(ctx, playbackTimeout,
		fmt.Errorf("%w (%v)", protocol.ErrTimeout, playbackTimeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"--playback", file}, plusArgs...)...)
	cmd.Env = append(os.Environ(), env...)
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		return r,
			&protocol.InfraError{Device: name, Op: "playback",
				LastWords: toolchain.HeadLines(words.String(), toolchain.MaxToolLines), Err: err}
	}
	var j struct {
		Cycles     uint64 `json:"cycles"`
		WallNs     int64  `json:"wall_ns"`
		Digest     string `json:"digest"`
		Inputs     uint64 `json:"inputs"`
		Outputs    uint64 `json:"outputs"`
		Violations uint64 `json:"violations"`
		Stopped    bool   `json:"stopped"`
	}
	if err := json.Unmarshal(out, &j); err != nil {
		return r, &protocol.InfraError{Device: name, Op: "playback", LastWords: string(out),
			Err: fmt.Errorf("result not understood: %w", err)}
	}
	r = PlaybackResult{
		Cycles: j.Cycles, Wall: time.Duration(j.WallNs), Inputs: j.Inputs, Outputs: j.Outputs, Violations: j.Violations,
		Stopped: j.Stopped,
	}
	if r.Digest, err = strconv.ParseUint(j.Digest, 16, 64); err != nil {
		return r, &protocol.InfraError{Device: name, Op: "playback", LastWords: string(out), Err: err}
	}
	return r, nil
}
