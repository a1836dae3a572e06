package run

import (
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/stats"
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

// measures reports whether the case needs statistics.
func (w *world) measures() bool { return w.o.Stats != "" && w.o.Stats != StatsNone }

// measure begins the statistics of a run, whose traffic begins now. It returns nil if there are none.
func (w *world) measure(run *apps.Run) *stats.Recorder {
	if !w.measures() {
		return nil
	}
	spec, list := &w.c.Workload, run.Flows()
	cfg := stats.Config{Messages: spec.Count * spec.MessagesPerRequest(), AtCompletion: !spec.Kind.HandedOver()}
	for _, f := range list {
		cfg.Flows = append(cfg.Flows, stats.Flow{Client: f.Ends[0].Name, Server: f.Ends[1].Name})
	}
	r := stats.New(cfg, w.engine.Now())
	run.Observe(&stamps{engine: w.engine, spec: spec, to: r})
	if spec.Packets(0) == 0 {
		return r
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
	return r
}

// summarize adds the statistics to the outcome of the case.
func (w *world) summarize(p *Played, r *stats.Recorder) {
	if r != nil {
		p.Stats = r.Summary(w.o.Stats == StatsFull)
	}
}
