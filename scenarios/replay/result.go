package replay

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"nictwin/golden"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	judging "nictwin/scenarios/bed/judge"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/traffic/capture"
)

// Result is the outcome of a replay.
type Result struct {
	Pass       bool
	Seed       uint64
	Digest     string // digest over every crossing, with its cycle
	Build      string // hash of the RTL build; empty for the model
	Checked    uint64 // number of the referee's comparisons
	Mismatches uint64
	Findings   []result.Finding // the most telling first
	Cycles     int64            // cycles up to the last crossing, which do not depend on the quantum
	Sim        simcore.Ps       // Cycles as simulated time
	Period     simcore.Ps       // period of the NIC's clock
	Wall       time.Duration
	Shares     *Shares // division of the wall time; nil for the model, which has no bridge

	DeviceCycles int64 // cycles that the device ran, in whole quanta

	Patience simcore.Ps // longest time that the run would have waited for progress
	Waited   simcore.Ps // longest wait for progress that ended with progress
	Offered  Offered    // up to the referee's first mismatch; without one, in the whole run

	Frames, NotPlayable, LeftOut int // frames of the captures: played, not playable, left out
	// frames whose end was not captured; they are played all the same
	Truncated       int
	SkippedSections int               // in pcapng files: sections of an unsupported version
	CutOff          []*capture.CutOff // captures that end in the middle of a packet
	// captures not read to the end because Limit was reached: LeftOut lacks their remaining packets
	NotRead   []string
	Shortened int // number of gaps shortened to MaxGap
	Rx        *RxResult
	Tx        *TxResult
	Artifacts string
	Cut       []judging.Cut // artifacts that are incomplete
	Latency   []judging.Latency

	Report *golden.Report // the referee's; nil if the run was aborted
}

// RxResult is the receive side.
type RxResult struct {
	In, Delivered int
	Bytes         int64
	Drops         []Drop
	PerQueue      []int
	PerPort       []PortResult
}

// PortResult is the receive side of a port.
type PortResult struct{ In, Delivered int }

// Drop is a drop cause with its count.
type Drop struct {
	Cause string
	Count uint64
}

// TxResult is the transmit side.
type TxResult struct {
	Posted, Out, Refused int
	Bytes                int64
	Pieces               [4]int // entries by number of pieces
}

// stopwatch measures wall time for the report; no result depends on it.
func stopwatch() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}

// result completes the result of the run; playErr is the error that aborted it, or nil.
func (r *Run) result(wall time.Duration, playErr error) (*Result, error) {
	res := &Result{
		Seed: r.opts.Seed, Build: r.dev.Build(), Cycles: r.judge.Cycles(), Period: r.dev.Period(),
		DeviceCycles: r.dev.Cycles(),
		Sim:          simcore.Ps(r.judge.Cycles()) * r.dev.Period(), Wall: wall,
		Frames: r.supply.Frames, NotPlayable: r.supply.Empty, LeftOut: r.supply.LeftOut, Truncated: r.supply.Truncated,
		SkippedSections: r.supply.Skipped, CutOff: r.supply.CutOff, NotRead: r.supply.NotRead,
		Shortened: r.ports.shortened(), Artifacts: r.opts.Out,
		Patience: r.limits.patience, Waited: r.waited, Offered: r.judge.offered,
	}
	if res.Offered.Sent == nil {
		res.Offered = r.soFar()
	}
	rep := r.judge.finish(playErr)
	if r.judge.log != nil {
		res.Cut, res.Latency = r.judge.log.Cuts(), r.judge.Latencies()
	}
	if rep != nil {
		res.Report, res.Digest, res.Checked, res.Mismatches = rep, rep.Digest, rep.Checked, rep.Mismatches
		for _, m := range rep.List {
			res.Findings = append(res.Findings, r.finding(m))
		}
		switch {
		case rep.Result == golden.Infrastructure && playErr == nil:
			playErr = errors.Join(playErr, fmt.Errorf("replay: the run cannot be judged: %s", rep.Reason))
		case len(rep.List) == 0 && !rep.Passed():
			res.Findings = append(res.Findings, result.Finding{Domain: result.Run, Text: rep.Reason})
		}
	}
	res.Shares = shares(r.dev.Wall(), r.before, wall, r.judge.Took())
	if n := r.bed.Memory.Stray(); n > 0 {
		res.Findings = append(res.Findings, result.Finding{
			Rule: "C2", Domain: result.Device, Field: "writes that hit no memory", Expected: "0", Got: fmt.Sprint(n),
			Text: fmt.Sprintf("%d writes of the NIC hit no memory", n),
		})
	}
	if playErr != nil {
		res.Findings = append(res.Findings, result.OfError(playErr))
	}
	if err := r.dev.Check(); err != nil {
		res.Findings = append(res.Findings, result.OfError(err))
	}
	if r.rx != nil {
		res.Rx = r.rxResult(playErr == nil)
		res.Findings = append(res.Findings, r.rx.first...)
	}
	if r.tx != nil {
		if playErr == nil {
			r.tx.check()
		}
		t := r.tx
		res.Tx = &TxResult{Posted: t.next, Out: t.out, Refused: t.bad, Bytes: t.bytes, Pieces: t.pieces}
		res.Findings = append(res.Findings, t.first...)
	}
	if err := r.lookUp(res.Findings); err != nil {
		res.Findings = append(res.Findings, result.OfError(fmt.Errorf("where frames were captured: %w", err)))
	}
	res.Pass = len(res.Findings) == 0
	return res, playErr
}

func (r *Run) rxResult(whole bool) *RxResult {
	x := &RxResult{In: r.ports.sent(), Delivered: r.rx.got, Bytes: r.rx.bytes, PerQueue: r.rx.perQueue}
	for p, play := range r.ports {
		x.PerPort = append(x.PerPort, PortResult{In: play.Sent(), Delivered: r.rx.delivered[p]})
	}
	if r.counters == nil {
		return x
	}
	sum := uint64(x.Delivered)
	for _, c := range nicspec.DropCounters {
		n := uint64(0)
		for p := range r.ports {
			n += r.counters[c.Index(p)]
		}
		if n > 0 {
			x.Drops = append(x.Drops, Drop{c.String(), n})
			sum += n
		}
	}
	if whole && sum != uint64(x.In) {
		r.rx.add(result.Finding{Rule: "C1", Domain: result.Rx, Field: "frames delivered and dropped",
			Expected: fmt.Sprint(x.In), Got: fmt.Sprint(sum)},
			"%d frames in, but %d delivered and dropped", x.In, sum)
	}
	return x
}

// String formats the result as text.
func (r *Result) String() string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	if x := r.Rx; x != nil {
		line("receive   %8d frames in, %d delivered%s", x.In, x.Delivered, rates(x.Delivered, x.Bytes, r.Sim))
		for p, y := range x.PerPort {
			if len(x.PerPort) > 1 {
				line("          %8d in on port %d, %d delivered", y.In, p, y.Delivered)
			}
		}
		for _, d := range x.Drops {
			line("          %8d %s", d.Count, d.Cause)
		}
	}
	if t := r.Tx; t != nil {
		line("transmit  %8d frames posted, %d sent%s", t.Posted, t.Out, rates(t.Out, t.Bytes, r.Sim))
		if t.Refused > 0 {
			line("          %8d refused: longer than a frame may be", t.Refused)
		}
	}
	if r.NotPlayable > 0 {
		line("          %8d packets without a byte, not playable", r.NotPlayable)
	}
	if r.LeftOut > 0 {
		line("          %8d packets left out by --limit", r.LeftOut)
	}
	for _, path := range r.NotRead {
		line("          %8s packets more may be in %s, which was not read to its end", "", path)
	}
	for _, c := range r.CutOff {
		line("cut off   %v", c)
	}
	if r.Truncated > 0 {
		line("          %8d packets cut short when they were captured, played as they are", r.Truncated)
	}
	if r.SkippedSections > 0 {
		line("          %8d pcapng sections of an unknown version, skipped", r.SkippedSections)
	}
	if r.Shortened > 0 {
		line("          %8d gaps shortened to --max-gap", r.Shortened)
	}
	line("checked   %8d outputs and counters, %d mismatches", r.Checked, r.Mismatches)
	line("time      %8d cycles, %.1f us simulated, %.2f s wall", r.Cycles, float64(r.Sim)/1e6, r.Wall.Seconds())
	if s := r.Shares; s != nil {
		line("wall time %v", s)
	}
	if r.Digest != "" {
		line("digest    %s", r.Digest)
	}
	return b.String()
}

func rates(frames int, bytes int64, sim simcore.Ps) string {
	if sim <= 0 || frames == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.1f Gbps, %.2f Mpps)", float64(bytes)*8000/float64(sim), float64(frames)*1e6/float64(sim))
}
