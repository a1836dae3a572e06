package point

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/stats"
)

// Scene is a point of a figure: a scenario with a window in which it is measured.
type Scene struct {
	Name      string // of the run
	Board     string // as the scenario has it
	Devices   string // likewise; empty: those of the board
	Stacks    string
	Workloads []string   // fields of each, without count and end, and without begin if Begin is not 0
	Passing   []string   // all fields of workloads with a count and an end of their own
	Payload   string     // of all workloads; empty: that of their kind
	Count     int        // messages of each flow that none reaches; 0: 100,000
	More      string     // further fields of the scenario, a line each
	Begin     simcore.Ps // each of Workloads begins before, at a time that the seed draws; 0: at once
	Warm      simcore.Ps // from the begin of the traffic to that of the window
	Window    simcore.Ps
	Whole     bool // the session's percentage does not scale the window
	Latency   bool // latencies count in the window alone, as rates do
	Batches   int  // of the interval of rates; 0: 20

	// Series makes the result have a series of all counters, with intervals of a microsecond or more.
	Series  bool
	Samples int // of the series at most; 0: the usual number

	// Unrated scenes have no steady rate in their window: they are not recorded as runs whose rate is known, or not.
	Unrated bool

	// Counters are read when the window begins and when it ends; nil: none.
	Counters func(rack *board.Rack) []uint64
}

// Behind is the time for which the traffic goes on behind the window.
const Behind = 20 * simcore.Microsecond

// Endless is a number of messages that no flow reaches.
const Endless = 100_000

// LeastWindow is the shortest window of any percentage of the usual one.
const LeastWindow = 50 * simcore.Microsecond

// WarmUp returns the length of a warm-up. Where no claim can be judged (study.Session.Few), rings need no whole lap.
func WarmUp(s *study.Session, t simcore.Ps) simcore.Ps {
	if s.Few() {
		return min(t, LeastWindow)
	}
	return t
}

// Span returns the length of the window that is measured: the session's percentage of the usual one.
func (c *Scene) Span(s *study.Session) simcore.Ps {
	if c.Whole {
		return c.Window
	}
	return max(c.Window*simcore.Ps(s.Percent)/100, min(LeastWindow, c.Window))
}

// Text returns the scenario.
func (c *Scene) Text(s *study.Session) string {
	window := c.Span(s)
	count := c.Count
	if count == 0 {
		count = Endless
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: point\ndescription: %q\nboard: %s\nstacks: [%s]\n", c.Name, c.Board, c.Stacks)
	if c.Devices != "" {
		fmt.Fprintf(&b, "devices: [%s]\n", c.Devices)
	}
	b.WriteString("workloads:\n")
	all := slices.Clone(c.Passing)
	for i, w := range c.Workloads {
		begin := ""
		if c.Begin > 0 {
			begin = fmt.Sprintf("begin: %dps, ", s.Phase(fmt.Sprint(c.Name, i), c.Begin))
		}
		all = append(all, fmt.Sprintf("count: %d, %send: %dps, %s", count, begin, c.Warm+window+Behind, w))
	}
	payload := ""
	if c.Payload != "" {
		payload = fmt.Sprintf("payload: %s, ", c.Payload)
	}
	for _, w := range all {
		fmt.Fprintf(&b, "- {%sseed: %d, %s}\n", payload, s.Seed, w)
	}
	latency := ""
	if c.Latency {
		latency = ", latency: true"
	}
	if c.Batches > 0 {
		latency += fmt.Sprintf(", batches: %d", c.Batches)
	}
	fmt.Fprintf(&b, "measure: {warm_up: %dps, window: %dps%s}\n%s", c.Warm, window, latency, c.More)
	return b.String()
}

// Played holds the measurements of a point.
type Played struct {
	Name   string
	Rate   stats.Rate // of all flows
	Flows  []stats.FlowRate
	Times  []stats.Latency
	Stats  *stats.Summary
	Series *probe.Series // nil: not wanted
	Sim    simcore.Ps
	Span   simcore.Ps // of the window
	Grown  []uint64   // growth of Scene.Counters in the window
}

// PerSecond returns the rate in the window of a counter.
func (p *Played) PerSecond(counter int) float64 {
	return float64(p.Grown[counter]) * float64(simcore.Second) / float64(p.Span)
}

// Play plays scenes, several at a time, and records their runs in order.
func Play(s *study.Session, scenes ...*Scene) ([]*Played, error) {
	all, errs := make([]*Played, len(scenes)), make([]error, len(scenes))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(scenes)) {
		wg.Go(func() {
			for i := range next {
				all[i], errs[i] = scenes[i].play(s)
			}
		})
	}
	for i := range scenes {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i, p := range all {
		s.Logf("%s: %.4g Gbps", p.Name, p.Rate.Gbps)
		if s.Outcome.SimPs += int64(p.Sim); !scenes[i].Unrated {
			p.record(s)
		}
	}
	return all, s.Err()
}

// play plays the scene.
func (c *Scene) play(s *study.Session) (*Played, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	list, err := run.Parse(c.Name, []byte(c.Text(s)))
	if err != nil {
		return nil, err
	}
	spec, level := &list[0].Spec, run.StatsSummary
	if c.Series {
		level = run.StatsFull
	}
	w := &window{from: simcore.Ps(spec.Measure.WarmUp), to: simcore.Ps(spec.Measure.WarmUp + spec.Measure.Window),
		read: c.Counters}
	p, err := list[0].Play(s.Context, run.Options{NIC: "", Unjudged: true, Stats: level, Samples: c.Samples,
		Traffic: w.traffic, Step: w.step})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	for i := range p.Findings {
		err = errors.Join(err, fmt.Errorf("%s: %s", c.Name, p.Findings[i].Text))
	}
	if err != nil {
		return nil, err
	}
	if !w.whole {
		return nil, fmt.Errorf("%s: the traffic ended before the window: want a longer one", c.Name)
	}
	if p.Series != nil {
		for i := range p.Series.Counters {
			p.Series.Counters[i].Read = nil // it would keep the memory of all servers
		}
	}
	return &Played{Name: c.Name, Rate: p.Stats.Total, Flows: p.Stats.Flows, Times: p.Stats.Latency, Stats: p.Stats,
		Series: p.Series, Sim: p.Sim, Span: w.to - w.from, Grown: w.grown()}, nil
}

// step of the traffic: run.Options.Step is called after each.
const step = simcore.Microsecond

// window reads counters when a window begins and when it ends.
type window struct {
	from, to simcore.Ps
	read     func(*board.Rack) []uint64
	rack     *board.Rack
	at       simcore.Ps
	counts   [2][]uint64
	began    bool
	whole    bool
}

func (w *window) traffic(rack *board.Rack, settled bool) {
	if !settled {
		w.rack = rack
	}
}

func (w *window) step(int) {
	w.at += step
	if !w.began && w.at >= w.from {
		w.began = true
		w.count(0)
	}
	if !w.whole && w.at >= w.to {
		w.whole = true
		w.count(1)
	}
}

func (w *window) count(end int) {
	if w.read != nil {
		w.counts[end] = w.read(w.rack)
	}
}

func (w *window) grown() []uint64 {
	grown := slices.Clone(w.counts[1])
	for i := range grown {
		grown[i] -= w.counts[0][i]
	}
	return grown
}
