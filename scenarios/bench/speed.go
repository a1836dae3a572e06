package bench

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bench/akita"
	"nictwin/scenarios/replay"
)

func eventSpeed(*session) ([]Result, error) {
	own, theirs := akita.Events(100)
	return []Result{figure("engine/event_speedup_100", theirs/own, "ratio", 5,
		"Akita's serial engine, 100 events pending (%.0f ns against %.1f ns an event)", theirs, own)}, nil
}

func hopSpeed(*session) ([]Result, error) {
	own, theirs := akita.TwoHops()
	return []Result{figure("engine/tlp_two_hops_speedup", theirs/own, "ratio", 10,
		"Akita's engine, ports and connections, a TLP over two hops (%.0f ns against %.0f ns)", theirs, own)}, nil
}

func switchSpeed(*session) ([]Result, error) {
	own, theirs, err := akita.Switch()
	if err != nil {
		return nil, err
	}
	return []Result{figure("engine/link_switch_link_speedup", theirs/own, "ratio", 10,
		"Akita's engine, ports and connections, a TLP over PCIe link, switch and link (%.0f ns against %.0f ns)",
		theirs, own)}, nil
}

const modelFrames = 20_000 // frames in each direction

func modelSpeed(s *session) ([]Result, error) {
	o, err := s.options(1500, s.frames(modelFrames))
	if err != nil {
		return nil, err
	}
	o.NIC = device.Model
	var speeds, missing []float64
	for range s.Repeats {
		watch := startClock()
		res, err := s.play(o, nil)
		if err != nil {
			return nil, err
		}
		missing = append(missing, watch.delayed())
		speeds = append(speeds, float64(res.Rx.Delivered+res.Tx.Out)/res.Wall.Seconds())
	}
	return []Result{figure("model/packets_per_s", median(speeds), "1/s", 0,
		"replay of 1,500 B both ways on the Go NIC, referee included; median of %d",
		s.Repeats).disturbed(median(missing))}, nil
}

// buildTime measures the time to compile the device, twice, each in an empty cache.
func buildTime(s *session) ([]Result, error) {
	dir, err := os.MkdirTemp("", "nictwin-bench-")
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	defer os.RemoveAll(dir)
	m, err := manifest.Load(s.DUT)
	if err != nil {
		return nil, err
	}
	var took, used [2]time.Duration
	for i := range took {
		watch := startClock()
		d, err := build.Build(m, build.Options{CacheDir: dir, Log: s.Log, Context: s.ctx})
		if err != nil {
			return nil, err
		}
		took[i], used[i] = d.Took, watch.used()
	}
	return []Result{
		limit("build/cold_s", took[0].Seconds(), "s", 15, "wall time from an empty cache, with %.1f s of processor "+
			"time on %d processors",
			used[0].Seconds(), runtime.NumCPU()),
		limit("build/warm_s", took[1].Seconds(), "s", 1, "wall time when the cache has it"),
	}, nil
}

// build builds the device once for all measurements.
func (s *session) build() error {
	if s.device != nil {
		return nil
	}
	m, err := manifest.Load(s.DUT)
	if err != nil {
		return err
	}
	if s.device, err = build.Build(m, build.Options{Log: s.Log, Context: s.ctx}); err != nil {
		return err
	}
	s.report.Build = s.device.HashString()
	return nil
}

const distinct = 64 // different frames, played repeatedly

// options returns a replay of n frames of a size in each direction: received ones are spread over queues and
// split after their headers, transmitted ones have their headers in Arm memory and their payload in host memory.
func (s *session) options(size, n int) (replay.Options, error) {
	o := replay.DefaultOptions()
	o.Built, o.Seed = s.device, s.Seed
	o.Shape = usual.shape()
	var err error
	o.Frames, err = Frames(min(n, distinct), size, s.Seed)
	o.Loop = max(1, n/distinct)
	return o, err
}
