package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/steady"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/stats"
	"nictwin/scenarios/shell/files"
	"nictwin/stack/apps"
)

// StatsLevel selects the statistics of a run.
type StatsLevel string

// Levels of statistics. The empty level is StatsNone.
const (
	StatsNone    StatsLevel = "none"
	StatsSummary StatsLevel = "summary" // rates and latencies
	StatsFull    StatsLevel = "full"    // every flow with its latencies, and series by interval
)

// ParseStatsLevel checks the name of a level.
func ParseStatsLevel(name string) (StatsLevel, error) {
	switch l := StatsLevel(name); l {
	case StatsNone, StatsSummary, StatsFull:
		return l, nil
	}
	return "", fmt.Errorf("%q: want %s, %s or %s", name, StatsNone, StatsSummary, StatsFull)
}

// MeasureSpec gives the window of the rates. Without a window it is found: the messages between the first and the last
// tenth.
type MeasureSpec struct {
	WarmUp quantity.Time `yaml:"warm_up"` // from the begin of the traffic
	Window quantity.Time `yaml:"window"`
}

// FigureSpec holds the expected statistics.
type FigureSpec struct {
	P50        *LatencySpec    `yaml:"p50"`
	P90        *LatencySpec    `yaml:"p90"`
	P99        *LatencySpec    `yaml:"p99"`
	P999       *LatencySpec    `yaml:"p999"`
	Max        *LatencySpec    `yaml:"max"`
	Throughput *RateSpec       `yaml:"throughput"`             // goodput of all flows
	ArmDRAM    *quantity.Bytes `yaml:"arm_dram_payload_bytes"` // most bytes to and from the DRAM of both Arms
}

// LatencySpec bounds a latency of every kind and size.
type LatencySpec struct {
	Below quantity.Time `yaml:"below"`
	// what it leads to, as stats.Measures; empty: answer, hand_over or completion, the first that the kind has
	To string `yaml:"to"`
}

// RateSpec bounds a rate.
type RateSpec struct {
	Above quantity.Rate `yaml:"above"` // 0: no bound
	Below quantity.Rate `yaml:"below"` // 0: no bound
}

// percentile is an expected latency with the samples that it takes.
type percentile struct {
	name  string
	spec  *LatencySpec
	least int
	of    func(l *stats.Latency) *int64
}

// percentiles lists the expected latencies.
func (x *FigureSpec) percentiles() []percentile {
	all := []percentile{
		{"p50", x.P50, 1, func(l *stats.Latency) *int64 { return &l.P50 }},
		{"p90", x.P90, 1, func(l *stats.Latency) *int64 { return &l.P90 }},
		{"p99", x.P99, stats.MinTail, func(l *stats.Latency) *int64 { return l.P99 }},
		{"p999", x.P999, stats.MinTail, func(l *stats.Latency) *int64 { return l.P999 }},
		{"max", x.Max, 1, func(l *stats.Latency) *int64 { return &l.Max }},
	}
	return slices.DeleteFunc(all, func(p percentile) bool { return p.spec == nil })
}

// any reports whether any statistics are expected.
func (x *FigureSpec) any() bool { return *x != FigureSpec{} }

// leadsTo lists the stamps that messages of the workload have.
func leadsTo(w *apps.Spec) (list []string) {
	add := func(has bool, measure int) {
		if has {
			list = append(list, stats.Measures[measure])
		}
	}
	add(w.MessagesPerRequest() > 1 || w.Kind.Served(), stats.RoundTrip)
	add(w.Kind.HandedOver() && !w.Kind.Served(), stats.ToHandOver)
	add(w.Kind != apps.Ring, stats.ToCompletion)
	add(w.Packets(0) > 0, stats.ToWire)
	return list
}

// validateFigures checks the expected statistics against what the workload and the board can give.
func (s *Spec) validateFigures(bad func(ok bool, path field.Path, format string, a ...any)) {
	x, w, m := &s.Expect.FigureSpec, &s.Workload, &s.Measure
	bad(m.Window > 0 || m.WarmUp == 0, "measure.window", ": none: want the length of the window behind %v",
		field.Path("measure.warm_up"))
	if w.Validate() != nil { // reports that itself
		return
	}
	known := leadsTo(w)
	each := w.Messages() / len(w.Sizes)
	if w.Kind == apps.Atomics {
		each /= 3 // a third of them are additions
	}
	for _, p := range x.percentiles() {
		at := field.Path("expect." + p.name)
		bad(p.spec.Below > 0, at, ": no bound: want below, a time such as 12us")
		bad(p.spec.To == "" || slices.Contains(known, p.spec.To), at+".to", "%q: messages of kind %s over %s have "+
			"stamps of %s: want one of these", p.spec.To, w.Kind, w.Transport, strings.Join(known, ", "))
		bad(each >= p.least, at, ": %d messages of each size: want %d or more for a tail, by %v", each, p.least,
			field.Path("workload.count"))
	}
	if r := x.Throughput; r != nil {
		least := steady.MinRoundTrips * 10 / 8
		all := w.Messages() * w.MessagesPerRequest()
		bad(r.Above > 0 || r.Below > 0, "expect.throughput", ": none: want above or below, a rate such as 180Gbps")
		bad(r.Below == 0 || r.Below > r.Above, "expect.throughput.below", "%v: want more than above", r.Below)
		bad(all >= least, "expect.throughput", ": %d messages: want %d or more, of which the warm window has 80%%, by "+
			"%v", all, least, field.Path("workload.count"))
		bad(w.Largest() > 0, "expect.throughput", ": messages have no bytes: want %v", field.Path("workload.sizes"))
	}
	if x.ArmDRAM != nil {
		bad(slices.ContainsFunc(s.Stacks, func(k StackSpec) bool { return k.Kind == StackFlexiNS }),
			"expect.arm_dram_payload_bytes", ": no stack runs on an Arm: want one of kind %s", StackFlexiNS)
	}
}

// measured holds the statistics of a run that are being taken.
type measured struct {
	*stats.Recorder
	series *probe.Series // nil: not wanted
	phase  stats.Phase
	dram   [2]uint64 // bytes to and from the Arms' DRAM, at the begin and the end of the warm window
}

// stamps passes the events of messages to the recorder, with their times.
type stamps struct {
	engine *simcore.Engine
	spec   *apps.Spec
	to     *stats.Recorder
	m      stats.Message
}

func (s *stamps) of(m *apps.Message) (simcore.Ps, *stats.Message) {
	s.m = stats.Message{Flow: m.Flow, Answer: m.Answer, Number: m.Number, Kind: s.spec.Operation(m.Number),
		Bytes: m.Bytes}
	return s.engine.Now(), &s.m
}

func (s *stamps) Posted(m *apps.Message)     { s.to.Posted(s.of(m)) }
func (s *stamps) Completed(m *apps.Message)  { s.to.Completed(s.of(m)) }
func (s *stamps) HandedOver(m *apps.Message) { s.to.HandedOver(s.of(m)) }

var _ apps.Observer = (*stamps)(nil)

// measure begins the statistics of a run, whose traffic begins now, if any are wanted.
func (w *world) measure(run *apps.Run) {
	if (w.o.Stats == "" || w.o.Stats == StatsNone) && !w.c.Expect.any() {
		return
	}
	spec, list := &w.c.Workload, run.Flows()
	cfg := stats.Config{Messages: spec.Count * spec.MessagesPerRequest(), AtCompletion: !spec.Kind.HandedOver()}
	if m := &w.c.Measure; m.Window > 0 {
		cfg.Window = &stats.Window{From: simcore.Ps(m.WarmUp), Length: simcore.Ps(m.Window)}
	}
	for _, f := range list {
		cfg.Flows = append(cfg.Flows, stats.Flow{Client: f.Ends[0].Name, Server: f.Ends[1].Name})
	}
	r := stats.New(cfg, w.engine.Now())
	w.measured = &measured{Recorder: r}
	run.Observe(&stamps{engine: w.engine, spec: spec, to: r})
	if w.o.Stats == StatsFull {
		w.measured.series = probe.NewSeries(w.counters(r, cfg.Flows), w.engine.Now(), trafficStep)
	}
	if spec.Packets(0) == 0 {
		return
	}
	wire := probe.NewWire(w.engine, w.rack, r.OnWire)
	for _, f := range list {
		follow := func(answer bool, from, to *apps.FlowEnd) {
			wire.Follow(probe.Destination{MAC: to.MAC, QPN: to.QPN}, &probe.Sender{Flow: f.Index, Answer: answer,
				PSN: from.FirstPSN, Count: spec.Count, Packets: spec.Packets})
		}
		follow(false, &f.Ends[0], &f.Ends[1])
		if spec.MessagesPerRequest() > 1 && spec.Transport == apps.RC { // else answers may be missing, and PSNs not
			follow(true, &f.Ends[1], &f.Ends[0])
		}
	}
}

// sample reads counters at the end of a step of the traffic.
func (w *world) sample() {
	m := w.measured
	if m == nil {
		return
	}
	if m.series != nil {
		m.series.Sample(w.engine.Now())
	}
	if p := m.Phase(w.engine.Now()); p != m.phase {
		for ; m.phase < p; m.phase++ {
			m.dram[m.phase] = w.armDRAM()
		}
	}
}

// maxSeriesFlows bounds the flows that have a line in a series.
const maxSeriesFlows = 16

// counters lists what a series shows: the first flows, and the board.
func (w *world) counters(r *stats.Recorder, flows []stats.Flow) (list []probe.Counter) {
	for i, f := range flows[:min(len(flows), maxSeriesFlows)] {
		list = append(list, probe.Counter{Picture: probe.Throughput, Where: fmt.Sprintf("flow %d", i),
			What: f.Client + " to " + f.Server, Unit: probe.Bytes, Read: func() uint64 { return r.Bytes(i) }})
	}
	return append(append(list, probe.Ethernet(w.rack)...), probe.Board(w.rack)...)
}

// endSeries reads the counters of the series at the end of the traffic.
func (w *world) endSeries() {
	if m := w.measured; m != nil && m.series != nil {
		m.series.End(w.engine.Now())
	}
}

// write adds the totals of the series to the statistics, and leaves it among the artifacts.
func (m *measured) write(s *stats.Summary, dir *files.Folder) error {
	for i := range m.series.Counters {
		if c := &m.series.Counters[i]; c.Picture != probe.Throughput {
			s.Counters = append(s.Counters, stats.Counter{Where: c.Where, What: c.What, Unit: c.Unit,
				Total: m.series.Total(i)})
		}
	}
	if dir == nil {
		return nil
	}
	errs := []error{dir.Write(probe.SeriesFile, m.series.CSV())}
	for _, p := range m.series.Pictures() {
		errs = append(errs, dir.Write(p.File, p.SVG))
	}
	return errors.Join(errs...)
}

// armDRAM returns the bytes between the Arms and their DRAM.
func (w *world) armDRAM() (bytes uint64) {
	for _, c := range w.rack.Cards() {
		if h := c.Memory.Host(nicspec.EndpointArm); h != nil {
			for _, d := range h.DRAM {
				n := d.Counters()
				bytes += n.ReadBytes + n.WrittenBytes
			}
		}
	}
	return bytes
}

// RuleNotConverged names findings of expected rates that are not known well enough.
const RuleNotConverged = "not_converged"

// figures adds the statistics to the outcome of the case, and expectations that they do not meet to its findings.
func (w *world) figures(p *Played) error {
	m := w.measured
	if m == nil {
		return nil
	}
	s := m.Summary(w.o.Stats == StatsFull)
	if m.series != nil {
		if err := m.write(s, w.o.Dir); err != nil {
			return err
		}
	}
	if w.o.Stats != "" && w.o.Stats != StatsNone {
		p.Stats = s
	}
	x := &w.c.Expect.FigureSpec
	add := func(d discrepancy, rule string) {
		p.add(result.Finding{Rule: rule, Domain: result.Application, Field: d.field, Expected: d.expected, Got: d.got,
			Text: d.String()})
	}
	for _, e := range x.percentiles() {
		for _, d := range e.missed(s.Latency, leadsTo(&w.c.Workload)[0]) {
			add(d, "")
		}
	}
	if x.Throughput != nil {
		if d, rule := x.Throughput.missed(&s.Total); d != nil {
			add(*d, rule)
		}
	}
	if x.ArmDRAM == nil {
		return nil
	}
	d := discrepancy{field: "expect.arm_dram_payload_bytes", expected: fmt.Sprintf("%d at most", int64(*x.ArmDRAM)),
		why: "bytes to and from the DRAM of both Arms over the warm window"}
	if m.phase < stats.Over {
		d.got = "no warm window"
		add(d, RuleNotConverged)
	} else if n := m.dram[1] - m.dram[0]; n > uint64(*x.ArmDRAM) {
		d.got = fmt.Sprint(n)
		add(d, "")
	}
	return nil
}

// missed returns the kinds and sizes whose latencies are above the bound.
func (e *percentile) missed(list []stats.Latency, usual string) (found []discrepancy) {
	to := e.spec.To
	if to == "" {
		to = usual
	}
	seen := false
	for i := range list {
		l := &list[i]
		if l.Measure != to {
			continue
		}
		seen = true
		d := discrepancy{field: "expect." + e.name, expected: fmt.Sprintf("below %v", e.spec.Below),
			why: fmt.Sprintf("%s of %d B, from post to %s", l.Kind, l.Bytes, to)}
		if v := e.of(l); v == nil {
			d.got = fmt.Sprintf("%d messages, which have no tail", l.Count)
		} else if *v >= int64(e.spec.Below) {
			d.got = quantity.Time(*v).String()
		}
		if d.got != "" {
			found = append(found, d)
		}
	}
	if !seen {
		found = append(found, discrepancy{field: "expect." + e.name, expected: fmt.Sprintf("below %v", e.spec.Below),
			got: "no message", why: "from post to " + to})
	}
	return found
}

// missed returns the discrepancy of a rate with the bounds, and the finding's rule.
func (x *RateSpec) missed(r *stats.Rate) (*discrepancy, string) {
	var want []string
	got := quantity.Rate(r.Gbps*1e9 + 0.5)
	if x.Above > 0 {
		want = append(want, fmt.Sprintf("above %v", x.Above))
	}
	if x.Below > 0 {
		want = append(want, fmt.Sprintf("below %v", x.Below))
	}
	d := &discrepancy{field: "expect.throughput", expected: strings.Join(want, ", "),
		got: fmt.Sprintf("%.4gGbps", r.Gbps)}
	switch {
	case !r.Converged:
		d.got, d.why = d.got+", not converged", r.Why
		return d, RuleNotConverged
	case x.Above > 0 && got <= x.Above || x.Below > 0 && got >= x.Below:
		return d, ""
	}
	return nil, ""
}

// validateMeasure returns every error of the expected statistics.
func (s *Spec) validateMeasure() error {
	var errs []error
	s.validateFigures(func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	})
	return errors.Join(errs...)
}
