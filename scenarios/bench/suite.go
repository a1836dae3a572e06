package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"nictwin/models/sim/field"
	"nictwin/rtlbridge/build"

	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/papers"
	"nictwin/scenarios/replay"
)

// Options select the measurements and their length.
type Options struct {
	Names   []string // figures, or groups of them such as nic; empty: all
	DUT     string   // manifest of the NIC
	Seed    uint64
	Repeats int       // runs of each side that a comparison by wall time makes
	Percent int       // percentage of the usual amount of work
	Log     io.Writer // progress; nil: it is not shown

	Program string // path of nictwin, for figure cli/start
	Against string // earlier build with which figure cli/start compares Program; empty: none

	LeaveOneOut bool // run experiments again without each input that a claim calibrated
	Seeds       int  // run experiments with so many seeds, Seed and those above it
}

// DefaultOptions returns options that measure everything in a few minutes; a million packets on a whole card take one
// of these minutes.
func DefaultOptions() Options { return Options{Seed: 1, Seeds: 1, Repeats: 5, Percent: 100} }

const (
	maxPercent = 10_000
	mostSeeds  = 100
)

// Validate returns all errors of the options.
func (o *Options) Validate() error {
	var errs []error
	for _, n := range o.Names {
		if !slices.ContainsFunc(Names(), func(name string) bool { return matches(name, n) }) {
			errs = append(errs, fmt.Errorf("no figure %q: want %s, or the part before a slash", n,
				strings.Join(Names(), ", ")))
		}
	}
	if o.Repeats < 1 || o.Repeats > 1000 {
		errs = append(errs, field.Errorf("repeats", "%d: want 1 to 1000", o.Repeats))
	}
	if o.Seeds < 1 || o.Seeds > mostSeeds {
		errs = append(errs, field.Errorf("seeds", "%d: want 1 to %d", o.Seeds, mostSeeds))
	}
	if o.LeaveOneOut && !o.HasExperiments() {
		errs = append(errs, field.Errorf("leave_one_out", ": none of the figures is an experiment: want %s among them",
			papers.AnyGroup()))
	}
	if o.Against != "" {
		if _, err := exec.LookPath(o.Against); err != nil {
			errs = append(errs, field.Errorf("against", "%q: want a build of nictwin: %w", o.Against, err))
		}
	}
	if o.Percent < 1 || o.Percent > maxPercent {
		errs = append(errs, field.Errorf("percent", "%d: want 1 to %d", o.Percent, maxPercent))
	}
	return errors.Join(errs...)
}

// MismatchError reports a measured run in which the referee or the end-to-end check found a fault, or whose results did
// not repeat.
type MismatchError struct {
	What     string
	Findings []result.Finding
}

// differs reports that a repeated run had a different result.
func differs(what, got, before string) error {
	return &MismatchError{what, []result.Finding{{
		Domain: result.Run, Field: "cycles and digest", Expected: before, Got: got,
		Text: got + ", the run before had " + before,
	}}}
}

func (e *MismatchError) Error() string {
	return e.What + ": " + strings.Join(result.Texts(e.Findings), "; ")
}

// need is the part of the device that a measurement needs.
type need int

const (
	none need = iota
	sources
	built
)

// measurement measures one or more figures.
type measurement struct {
	names []string
	needs need
	take  func(s *session) ([]Result, error)
}

var measurements = []measurement{
	{[]string{"engine/event_speedup_100"}, none, eventSpeed},
	{[]string{"engine/tlp_two_hops_speedup"}, none, hopSpeed},
	{[]string{"engine/link_switch_link_speedup"}, none, switchSpeed},
	{[]string{"model/packets_per_s"}, none, modelSpeed},
	{[]string{"card/packets_per_s", "card/tlp_over_akita_hops"}, none, cardSpeed},
	{[]string{"card/allocs_per_tlp"}, none, cardAllocations},
	{[]string{"card/cost_1e3_to_1e6_packets"}, none, cardLong},
	{[]string{"card/cost_1_to_256_queues"}, none, cardQueues},
	{[]string{"rnic/cost_1_to_1024_qps"}, none, verbsQueues},
	{[]string{"card/bytes_per_packet"}, none, packetMemory},
	{[]string{"card/two_processes"}, none, pairSpeed},
	{[]string{"card/refereed_rtl_over_replay"}, built, boardRTL},
	{[]string{"stack/packets_per_s", "stack/one_card_packets_per_s", "stack/tlp_over_card"}, none, stackSpeed},
	{[]string{"stack/rtl_over_replay"}, built, stackOnRTL},
	{[]string{"stack/queue_pairs"}, none, stackQueues},
	{[]string{"stack/stats_summary", "stack/stats_small"}, none, stackStats},
	{[]string{"stack/rack_8"}, none, stackRack},
	{[]string{"stack/ceio"}, none, stackCEIO},
	{[]string{"stack/arm_payload_bytes"}, none, stackPayload},
	{[]string{"run/jobs_2"}, sources, jobsSpeed},
	{[]string{startName}, none, startTime},
	{[]string{"bridge/idle_skip"}, built, idleSkip},
	{[]string{"build/cold_s", "build/warm_s"}, sources, buildTime},
	{[]string{
		"bridge/refereed_over_raw", "bridge/rx_frames_per_s", "bridge/tx_frames_per_s", "bridge/wall_share_rtl",
		"bridge/wall_share_bridge", "bridge/wall_share_models", "bridge/wall_share_referee", "rtl/raw_cycles_per_s",
	}, built, bridgeSpeed},
	{[]string{
		"tuned/raw_cycles_per_s", "tuned/over_speed_build", "tuned/refereed_over_raw", "tuned/rx_frames_per_s",
		"tuned/tx_frames_per_s",
	}, built, tunedSpeed},
	{[]string{"nic/rx_line_rate_1500"}, built, receiveRate("nic/rx_line_rate_1500", 1500, usual, 1)},
	{[]string{"nic/rx_line_rate_512"}, built, receiveRate("nic/rx_line_rate_512", 512, usual, 1)},
	{[]string{"nic/rx_line_rate_256"}, built,
		receiveRate("nic/rx_line_rate_256", 256, layout{queues: 32, log: 6, whole: true}, 1)},
	{[]string{"nic/rx_split_line_rate_256"}, built, receiveRate("nic/rx_split_line_rate_256", 256, usual, 0)},
	{[]string{"nic/mpps_64"}, built, smallFrames},
	{[]string{"nic/tx_line_rate_1500", "nic/tx_bubbles_1500"}, built, transmitRate("nic/tx", 1500, usual)},
	{[]string{"nic/tx_line_rate_512", "nic/tx_bubbles_512"}, built, transmitRate("nic/tx", 512, usual)},
	{[]string{"nic/tx_line_rate_256", "nic/tx_bubbles_256"}, built, transmitRate("nic/tx", 256, usual)},
	{[]string{"nic/two_block_tx_512"}, built, twoBlockRate},
	{[]string{"nic/append_reads", "nic/append_cycles"}, built, appendGain},
	{[]string{"nic/far_tx_line_rate_1500", "nic/far_tx_bubbles_1500"}, built,
		transmitRate("nic/far_tx", 1500, distant)},
	{[]string{"nic/duplex_rx_line_rate_1500", "nic/duplex_tx_line_rate_1500"}, built, duplexRate},
	{[]string{"nic/ports2_rx_line_rate_512", "nic/ports2_rx_line_rate_1500"}, built,
		twoPorts("nic/ports2", "rx", wholeFrames, 512, 1500)},
	{[]string{"nic/ports2_tx_line_rate_512", "nic/ports2_tx_line_rate_1500"}, built,
		twoPorts("nic/ports2", "tx", wholeFrames, 512, 1500)},
	{[]string{"nic/ports2_duplex_rx_line_rate_1500", "nic/ports2_duplex_tx_line_rate_1500"}, built,
		twoPorts("nic/ports2", "both", wholeFrames, 1500)},
	{[]string{"nic/ports2x256_rx_line_rate_512", "nic/ports2x256_rx_line_rate_1500"}, built,
		twoPorts("nic/ports2x256", "rx", narrowPorts, 512, 1500)},
	{[]string{"nic/ports2x256_tx_line_rate_512", "nic/ports2x256_tx_line_rate_1500"}, built,
		twoPorts("nic/ports2x256", "tx", narrowPorts, 512, 1500)},
	{[]string{
		"nic/ports2x256_duplex_rx_line_rate_512", "nic/ports2x256_duplex_tx_line_rate_512",
		"nic/ports2x256_duplex_rx_line_rate_1500", "nic/ports2x256_duplex_tx_line_rate_1500",
	}, built, twoPorts("nic/ports2x256", "both", narrowPorts, 512, 1500)},
	{experimentFigures(), none, runExperiments},
}

// Names returns all figures, in the order in which they are measured.
func Names() []string {
	var all []string
	for _, m := range measurements {
		all = append(all, m.names...)
	}
	return all
}

// matches reports whether a word selects a figure: by its name or its group.
func matches(name, word string) bool {
	return name == word || strings.HasPrefix(name, strings.TrimSuffix(word, "/")+"/")
}

// session is the state of one run of the suite.
type session struct {
	Options
	ctx    context.Context
	device *build.Device
	report Report
	last   uint64 // digest of the previous run through the bridge, if one was requested
}

// Run takes the selected figures. After an error, the report has the figures taken so far; it is never nil. Errors:
// *MismatchError, and those of replay.
func Run(ctx context.Context, o Options) (*Report, error) {
	begin := time.Now()
	s := &session{Options: o, ctx: ctx, report: Report{Seed: o.Seed}}
	err := o.Validate()
	if err != nil {
		return &s.report, &replay.UsageError{Err: err}
	}
	runtime.LockOSThread() // some measurements read clocks of this thread
	defer runtime.UnlockOSThread()
	for _, m := range measurements {
		if err == nil && o.wants(m.names...) {
			err = s.take(&m)
		}
	}
	s.report.Wall = time.Since(begin)
	return &s.report, err
}

// wants reports whether any of the figures is selected.
func (o *Options) wants(names ...string) bool {
	return len(o.Names) == 0 || slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(o.Names, func(word string) bool { return matches(name, word) })
	})
}

// HasExperiments reports whether any experiment is selected.
func (o *Options) HasExperiments() bool {
	return o.wants(experimentFigures()...)
}

// HasStart reports whether starts of the program are measured.
func (o *Options) HasStart() bool { return o.wants(startName) }

// NeedsDUT reports whether any selected figure uses the manifest.
func (o *Options) NeedsDUT() bool {
	return slices.ContainsFunc(measurements, func(m measurement) bool { return m.needs != none && o.wants(m.names...) })
}

func (s *session) take(m *measurement) error {
	if err := s.ctx.Err(); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if m.needs == built {
		if err := s.build(); err != nil {
			return err
		}
	}
	first := s.first(m)
	s.logf("measuring %s", first)
	results, err := m.take(s)
	if err != nil {
		return fmt.Errorf("bench %s: %w", first, err)
	}
	for _, r := range results {
		if noNumber(r.Value) {
			return fmt.Errorf("bench %s: %v is no measurement: raise --percent", r.Name, r.Value)
		}
		if s.wants(r.Name) || r.Of != "" && s.wants(r.group+"/"+r.Of) {
			s.report.Results = append(s.report.Results, r)
		}
	}
	return nil
}

// first returns the first selected figure of a measurement. The log calls the measurement by this name.
func (s *session) first(m *measurement) string {
	return m.names[max(slices.IndexFunc(m.names, func(name string) bool { return s.wants(name) }), 0)]
}

func (s *session) logf(format string, a ...any) {
	if s.Log != nil {
		fmt.Fprintf(s.Log, "bench: "+format+"\n", a...)
	}
}

// frames returns n scaled by Options.Percent, but at least 64.
func (s *session) frames(n int) int { return max(n*s.Percent/100, 64) }

// play plays one replay and adds its checks and cycles to the report.
func (s *session) play(o replay.Options, m *meter) (res *replay.Result, err error) {
	if m != nil {
		o.Observe = m.Observe
	}
	run, err := replay.New(s.ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	if m != nil {
		m.run = run
	}
	begin := time.Now()
	res, err = run.Play()
	if err != nil {
		return nil, err
	}
	res.Wall = time.Since(begin) // includes the time of the verdict
	if o.Digest {
		s.report.Digest, s.last = res.Digest, run.BridgeDigest()
	}
	s.report.Checked += res.Checked
	s.report.Mismatches += res.Mismatches
	s.report.Cycles += res.Cycles
	s.report.SimPs += int64(res.Sim)
	if !res.Pass {
		return nil, &MismatchError{"the NIC did something wrong", res.Findings}
	}
	return res, nil
}

var _ error = (*MismatchError)(nil)
