package bench

import (
	"fmt"
	"runtime"
	"slices"

	"nictwin/rtlbridge/build"

	"nictwin/scenarios/replay"
)

const (
	bridgeFrames  = 30_000 // frames in each direction
	bridgeQuantum = 64
)

// comparison holds the results of refereed runs through the bridge, and of runs of the bare RTL with the same inputs;
// the two alternate.
type comparison struct {
	ratios, refereed, raw []float64 // per turn; refereed and raw in cycles/s
	over                  []float64 // raw speed over that of another build, per turn
	missing               []float64 // share of each turn's wall time in which the measured process had no processor
	runs                  []*replay.Result
}

// bridgeSpeed compares duplex replays of 1,500 B frames with playbacks of their inputs to the bare device.
func bridgeSpeed(s *session) ([]Result, error) {
	c, err := s.compare(nil)
	if err != nil {
		return nil, err
	}
	return c.results(), nil
}

// compare alternates the refereed replay and its playback on the session's device; if another build is given, it also
// plays back on that.
func (s *session) compare(other *build.Device) (*comparison, error) {
	o, err := s.bridgeOptions()
	if err != nil {
		return nil, err
	}
	rec, remove, err := s.record(o)
	if err != nil {
		return nil, err
	}
	defer remove()
	if _, err := rec.play(s.ctx, s.device); err != nil {
		return nil, err
	}
	var c comparison
	for range s.Repeats {
		runtime.GC() // collect the previous run's garbage outside of the measured time
		if err := c.turn(s, &o, rec); err != nil {
			return nil, err
		}
		if other == nil {
			continue
		}
		p, err := rec.play(s.ctx, other)
		if err != nil {
			return nil, err
		}
		c.over = append(c.over, c.raw[len(c.raw)-1]/p.CyclesPerSecond())
	}
	return &c, nil
}

func (s *session) bridgeOptions() (replay.Options, error) {
	o, err := s.options(1500, s.frames(bridgeFrames))
	o.Quantum, o.Speed = bridgeQuantum, "beats"
	return o, err
}

// turn measures the refereed replay and the playback once each.
func (c *comparison) turn(s *session, o *replay.Options, rec *recording) error {
	watch := startClock()
	res, err := s.play(*o, nil)
	if err != nil {
		return err
	}
	missing := watch.delayed()
	if first := rec.run; res.Digest != first.Digest || res.DeviceCycles != first.DeviceCycles {
		return differs("repetition", fmt.Sprintf("cycles %d and digest %s", res.DeviceCycles, res.Digest),
			fmt.Sprintf("%d and %s", first.DeviceCycles, first.Digest))
	}
	watch = startClock()
	p, err := rec.play(s.ctx, s.device)
	if err != nil {
		return err
	}
	c.missing = append(c.missing, max(missing, watch.starved()))
	speed := float64(res.DeviceCycles) / res.Wall.Seconds()
	c.ratios = append(c.ratios, speed/p.CyclesPerSecond())
	c.refereed, c.raw = append(c.refereed, speed), append(c.raw, p.CyclesPerSecond())
	c.runs = append(c.runs, res)
	return nil
}

func (c *comparison) received() float64 {
	return c.perSecond(func(r *replay.Result) int { return r.Rx.Delivered })
}

func (c *comparison) sent() float64 {
	return c.perSecond(func(r *replay.Result) int { return r.Tx.Out })
}

// perSecond returns the median of a count per second of wall time.
func (c *comparison) perSecond(count func(r *replay.Result) int) float64 {
	var v []float64
	for _, r := range c.runs {
		v = append(v, float64(count(r))/r.Wall.Seconds())
	}
	return median(v)
}

func (c *comparison) results() []Result {
	n := len(c.runs)
	turns := fmt.Sprintf("median of %d turns", n)
	list := []Result{
		figure("bridge/refereed_over_raw", median(c.ratios), "ratio", 0.85,
			"duplex replay of 1,500 B with bridge and referee, quantum %d, against the bare RTL with the same "+
				"inputs; %s from %.3f to %.3f",
			bridgeQuantum, turns, slices.Min(c.ratios), slices.Max(c.ratios)),
		figure("bridge/rx_frames_per_s", c.received(), "1/s", 30_000,
			"the same, referee included; %.0f cycles/s", median(c.refereed)),
		figure("bridge/tx_frames_per_s", c.sent(), "1/s", 30_000, "the same"),
	}
	share := func(name string, of func(s *replay.Shares) float64) {
		var v []float64
		for _, r := range c.runs {
			if r.Shares != nil {
				v = append(v, of(r.Shares))
			}
		}
		list = append(list, figure("bridge/wall_share_"+name, median(v), "ratio", 0, "the wall time of the run, of "+
			"which the four are all; rtl: waiting for the device"))
	}
	share("rtl", func(s *replay.Shares) float64 { return s.RTL })
	share("bridge", func(s *replay.Shares) float64 { return s.Bridge })
	share("models", func(s *replay.Shares) float64 { return s.Models })
	share("referee", func(s *replay.Shares) float64 { return s.Referee })
	list = append(list, figure("rtl/raw_cycles_per_s", median(c.raw), "1/s", 1e6, "inputs from memory, no bridge; %s",
		turns))
	for i := range list {
		list[i] = list[i].disturbed(median(c.missing))
	}
	return list
}

// median returns the median; 0 for no values.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
