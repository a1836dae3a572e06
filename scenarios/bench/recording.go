package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/replay"
)

// recording is a file with the inputs of a device in one run, and a digest of its outputs.
type recording struct {
	file   string
	run    *replay.Result
	digest uint64 // of the device's outputs
}

// record plays a replay once, which also warms up, and records its input stream in a file. remove deletes the file.
func (s *session) record(o replay.Options) (r *recording, remove func(), err error) {
	dir, err := os.MkdirTemp("", "nictwin-bench-")
	if err != nil {
		return nil, nil, fmt.Errorf("recording: %w", err)
	}
	remove = func() { _ = os.RemoveAll(dir) } // files that remain are removed with the system's temporary files
	r = &recording{file: filepath.Join(dir, "inputs")}
	if err := r.take(s, o); err != nil {
		remove()
		return nil, nil, err
	}
	return r, remove, nil
}

func (r *recording) take(s *session, o replay.Options) error {
	f, err := os.Create(r.file)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	o.Record, o.Digest = w, true
	r.run, err = s.play(o, nil)
	r.digest = s.last
	return errors.Join(err, w.Flush(), f.Close())
}

// play gives a device the recording and compares its outputs with the original run.
func (r *recording) play(ctx context.Context, d *build.Device) (build.PlaybackResult, error) {
	p, err := build.Playback(ctx, d, r.file)
	if err == nil && (p.Digest != r.digest || int64(p.Cycles) != r.run.DeviceCycles) {
		err = differs("playback", fmt.Sprintf("%s build: cycles %d and digest %016x", d.Variant, p.Cycles, p.Digest),
			fmt.Sprintf("%d and %016x", r.run.DeviceCycles, r.digest))
	}
	return p, err
}
