package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"nictwin/scenarios/bed/boards"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/pair"
	"nictwin/scenarios/traffic"
)

// Pair holds the settings of the pair command: two servers that exchange frames.
type Pair struct {
	Common
	pair.Options
	Out      string // folder for artifacts; empty: none
	Board    string
	Captures []string
	Limited  int // maximum number of frames from the captures; 0: all
	Pad      bool
}

// NewPair returns the default settings.
func NewPair() *Pair {
	p := &Pair{Options: pair.DefaultOptions(), Board: "bf3-pair"}
	p.Seed = DefaultSeed
	return p
}

// PairEnded is the outcome of the pair command.
type PairEnded struct {
	Ended
	Result *pair.Result // nil: the run did not finish
}

// String formats the result as text.
func (e *PairEnded) String() string {
	r := e.Result
	if r == nil {
		return ""
	}
	var b strings.Builder
	for _, s := range r.Servers {
		fmt.Fprintf(&b,
			"%-9s %8d frames sent, %d received, %d checked, %d mismatches, %d cycles\n          digest %s\n", s.Name,
			s.Sent, s.Received, s.Checked, s.Mismatches, s.Cycles, s.Digest)
	}
	fmt.Fprintf(&b, "time      %d quanta of %.1f ns, %.2f s wall in %s\n", r.Quanta, float64(r.Quantum)/1000,
		r.Wall.Seconds(),
		[...]string{1: "one process", 2: "two processes"}[r.Processes])
	return b.String()
}

// Run plays the traffic of the pair and judges it. Canceling the context interrupts it.
func (p *Pair) Run(ctx context.Context) *PairEnded {
	ctx, stop := p.start(ctx)
	defer stop()
	e := &PairEnded{Ended: Ended{Object: result.Object{Command: "pair", Seed: p.Seed}}}
	begin := time.Now()
	e.do(ctx, &p.Common, work{
		jobs:    p.Processes,
		prepare: func() (string, error) { return p.Out, p.prepare(ctx) },
		play: func() (err error) {
			p.Beat = p.Heartbeat
			e.Result, err = pair.Run(ctx, p.Options)
			return err
		},
		differs: func(error) bool { return e.Result != nil && !e.Result.Pass() },
		describe: func(o *result.Object) {
			o.WallS = time.Since(begin).Seconds() // of a run that did not finish
			p.describe(o, e)
		},
	})
	return e
}

// describe copies the result into the result object.
func (p *Pair) describe(o *result.Object, e *PairEnded) {
	if e.Outcome != result.Usage {
		o.Captures, o.NIC = p.Captures, device.Model
	}
	r := e.Result
	if r == nil {
		return
	}
	digest := sha256.New()
	for _, s := range r.Servers {
		o.Servers = append(o.Servers, s.ServerPlayed)
		o.Checked, o.Mismatches = o.Checked+s.Checked, o.Mismatches+s.Mismatches
		o.Cycles, o.SimPs = max(o.Cycles, s.Cycles), max(o.SimPs, int64(s.SimPs))
		_, _ = digest.Write([]byte(s.Digest)) // a hash never fails
	}
	o.Digest, o.WallS, o.Findings = fmt.Sprintf("%x", digest.Sum(nil)), r.Wall.Seconds(), r.Findings
}

// prepare completes the options.
func (p *Pair) prepare(ctx context.Context) error {
	rack, err := boards.Load(p.Board)
	if err != nil {
		return &UsageError{fmt.Errorf("--board: %w", err)}
	}
	p.Rack = rack
	if p.Frames, err = p.frames(ctx); err != nil {
		return &UsageError{err}
	}
	if p.Count == 0 {
		p.Count = len(p.Frames)
	}
	if err := p.Validate(); err != nil {
		return &UsageError{err}
	}
	return nil
}

// frames reads the frames of the captures.
func (p *Pair) frames(ctx context.Context) (frames [][]byte, err error) {
	supply, err := traffic.NewSupply(ctx, traffic.SupplySpec{Captures: p.Captures, Ports: 1, Loop: 1, Limit: p.Limited,
		Pad: p.Pad})
	defer func() { err = errors.Join(err, supply.Close()) }()
	if err != nil {
		return nil, err
	}
	list := supply.Playlists()[0]
	for range list.Total() {
		f, err := list.Next()
		if err != nil {
			return nil, err
		}
		frames = append(frames, append([]byte(nil), f.Data...))
	}
	return frames, nil
}
