package run

import (
	"cmp"
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/run/hostnet"
	"nictwin/scenarios/run/probe"
	"nictwin/scenarios/run/probe/classes"
	"nictwin/scenarios/run/probe/output"
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

// measured holds the statistics of a run that are being taken.
type measured struct {
	*stats.Recorder
	series *probe.Series   // nil: not wanted
	links  []*classes.Link // if `series` is set: bytes by class of packets
	turns  []simcore.Ps    // times to come at which the user's window begins and ends; nil: not wanted
	dram   []uint64        // counts of bytes to and from the Arms' DRAM: at the start and at the end of the warm window
}

// stamps passes the events of messages to the recorder, with their times.
type stamps struct {
	engine *simcore.Engine
	spec   *apps.Spec
	first  int // index of the workload's first flow
	to     *stats.Recorder
	m      stats.Message
}

func (s *stamps) of(m *apps.Message) (simcore.Ps, *stats.Message) {
	s.m = stats.Message{Flow: s.first + m.Flow, Answer: m.Answer, Number: m.Number, Kind: s.spec.Operation(m.Number),
		Bytes: m.Bytes}
	return s.engine.Now(), &s.m
}

func (s *stamps) Posted(m *apps.Message)     { s.to.Posted(s.of(m)) }
func (s *stamps) Completed(m *apps.Message)  { s.to.Completed(s.of(m)) }
func (s *stamps) HandedOver(m *apps.Message) { s.to.HandedOver(s.of(m)) }

var _ apps.Observer = (*stamps)(nil)

// measure begins the statistics of the workloads, whose traffic begins now, if any are wanted.
func (w *world) measure() {
	if (w.o.Stats == "" || w.o.Stats == StatsNone) && !w.c.Expect.any() {
		return
	}
	cfg := stats.Config{EachFlow: w.o.Stats == StatsFull}
	var turns []simcore.Ps
	if m := w.c.Measure; m != nil {
		cfg.Window = &stats.Window{From: simcore.Ps(m.WarmUp), Length: simcore.Ps(m.Window), Batches: m.Batches}
		cfg.Within = m.Latency
		turns = []simcore.Ps{w.engine.Now() + cfg.Window.From, w.engine.Now() + cfg.Window.From + cfg.Window.Length}
	}
	if w.c.Expect.ArmDRAM != nil {
		cfg.Turned = w.turned
	} else {
		turns = nil
	}
	for i, run := range w.apps.Runs {
		spec := &w.workloads[i].Spec
		load := stats.Workload{Name: w.workloads.Label(i), Messages: spec.Count * spec.MessagesPerRequest(),
			AtCompletion: !spec.HandedOver(), Handlers: spec.Served(),
			Empty: spec.Largest() == 0}
		if m := w.c.Measure; m != nil && !w.workloads[i].EndsBefore(m.WarmUp+m.Window) {
			load.Requests, load.CountField = spec.Count, string(w.c.workloadPath(i))+".count"
			load.Every = simcore.Ps(spec.Every)
		}
		if r, ok := run.(*hostnet.Run); ok {
			load.Late = r.Late
		}
		for _, f := range run.Flows() {
			load.Flows = append(load.Flows, stats.Flow{Client: f.Ends[0].Name, Server: f.Ends[1].Name})
		}
		cfg.Workloads = append(cfg.Workloads, load)
	}
	r := stats.New(cfg, w.engine.Now())
	w.measured = &measured{Recorder: r, turns: turns}
	if w.o.Stats == StatsFull {
		w.watching.Begin()
		w.measured.links = w.watching.Links
		w.measured.series = probe.NewSeries(w.counters(r, cfg.Workloads), w.engine.Now(), trafficStep,
			cmp.Or(w.o.Samples, probe.Samples))
	}
	w.followTakes(r)
	var wire *probe.Wire
	first := 0
	for i, run := range w.apps.Runs {
		spec := &w.workloads[i].Spec
		run.Observe(&stamps{engine: w.engine, spec: spec, first: first, to: r})
		flows := run.Flows()
		if onWire(spec) {
			if wire == nil {
				wire = probe.NewWire(w.engine, w.cables(), r.OnWire)
			}
			if r, ok := run.(*hostnet.Run); ok {
				followDatagrams(wire, r, spec, first)
			} else {
				follow(wire, spec, flows, first)
			}
		}
		first += len(flows)
	}
}

// follow follows the messages of a workload on the wire. first is the index of its first flow.
func follow(wire *probe.Wire, spec *apps.Spec, flows []apps.Flow, first int) {
	for _, f := range flows {
		follow := func(answer bool, from, to *apps.FlowEnd) {
			s := probe.Sender{Flow: first + f.Index, Answer: answer, Count: spec.Count}
			d := probe.Destination{MAC: to.MAC, QPN: to.QPN}
			switch {
			case spec.Transport == apps.Raw:
				wire.FollowFrames(apps.RawHeader(to.MAC, from.MAC), s)
			case spec.Kind == apps.Ring:
				slots, bytes := spec.Slots()
				wire.FollowRing(d, s, from.FirstPSN, probe.Ring{Base: to.Slots, Slots: slots, SlotBytes: bytes})
			default:
				count := packets(spec)
				if answer {
					count = spec.AnswerPackets // followed over RC alone
				}
				wire.Follow(d, s, from.FirstPSN, count)
			}
		}
		follow(false, &f.Ends[0], &f.Ends[1])
		if spec.MessagesPerRequest() > 1 && followsAnswers(spec) {
			follow(true, &f.Ends[1], &f.Ends[0])
		}
	}
}

// followDatagrams follows the messages of a workload over UDP on the wire. first is the index of its first flow.
func followDatagrams(wire *probe.Wire, r *hostnet.Run, spec *apps.Spec, first int) {
	for _, f := range r.Flows() {
		for from := range spec.MessagesPerRequest() {
			s, e := probe.Sender{Flow: first + f.Index, Answer: from == 1, Count: spec.Count}, &f.Ends
			d := probe.Datagrams{MAC: e[1-from].MAC, From: e[from].Port, To: e[1-from].Port}
			wire.FollowDatagrams(d, s, r.First(from == 1))
		}
	}
}

// cables returns the observer of the cables.
func (w *world) cables() *probe.Cables {
	if w.observed == nil {
		w.observed = probe.NewCables(w.rack)
	}
	return w.observed
}

// turned reads the counters that are compared over the warm window, at its begin or its end.
func (w *world) turned() { w.measured.dram = append(w.measured.dram, w.armDRAM()) }

// advance runs until a time. On the way it reads the counters just before the begin and the end of the window that the
// user gave: a message at its begin belongs to it, one at its end does not. It also stops where a workload begins or
// ends.
func (w *world) advance(to simcore.Ps) error {
	for {
		turn, isTurn := w.nextTurn()
		at, ok := w.nextPhase()
		if isTurn && (!ok || turn <= at) {
			at, ok = turn, true
		} else {
			isTurn = false
		}
		if !ok || at > to {
			return w.engine.RunUntil(to)
		}
		if err := w.engine.RunUntil(at); err != nil {
			return err
		}
		if isTurn {
			w.measured.turns = w.measured.turns[1:]
			w.turned()
		} else if err := w.apps.EnterPhase(); err != nil {
			return stackError(err)
		}
	}
}

// nextTurn returns the time just before the given window begins or ends, and false once the window is over.
func (w *world) nextTurn() (at simcore.Ps, ok bool) {
	if m := w.measured; m != nil && len(m.turns) > 0 {
		return m.turns[0] - 1, true
	}
	return 0, false
}

// nextPhase returns the time at which the next workload begins or ends, and false if none does.
func (w *world) nextPhase() (at simcore.Ps, ok bool) {
	if w.apps == nil {
		return 0, false
	}
	return w.apps.NextPhase()
}

// sample reads the counters of the series at the end of a step of the traffic.
func (w *world) sample() {
	if m := w.measured; m != nil && m.series != nil {
		m.series.Sample(w.engine.Now())
	}
}

// maxSeriesFlows bounds the flows that have a line in a series.
const maxSeriesFlows = 16

// counters lists what a series shows: the first flows, and the board.
func (w *world) counters(r *stats.Recorder, loads []stats.Workload) (list []probe.Counter) {
	for _, l := range loads {
		for _, f := range l.Flows {
			i := len(list)
			if i == maxSeriesFlows {
				break
			}
			where := fmt.Sprintf("flow %d", i)
			if l.Name != "" {
				where = l.Name + ": " + where
			}
			list = append(list, probe.Counter{Picture: probe.Throughput, Where: where,
				What: f.Client + " to " + f.Server, Unit: probe.Bytes, Read: func() uint64 { return r.Bytes(i) }})
		}
	}
	for _, c := range w.c.Background.Counters(w.rack) {
		list = append(list, probe.Counter{Picture: probe.Links, Where: c.Server, Unit: probe.Bytes, Read: c.Bytes,
			What: fmt.Sprintf("captures into Ethernet port %d", c.Port)})
	}
	return append(list, w.watching.Counters(w.rack)...)
}

// describe tells caches and statistics what the memory of a server's stack and applications is for, and the statistics
// how long its queues are; depths may be nil.
func (w *world) describe(server int, m classes.Memory, depths func() []probe.Depth) {
	for _, p := range w.c.placesOf(server) {
		r := placed(&w.spec.Servers[server]).Of(p)
		m.Payload = append(m.Payload, classes.Range{From: r.Base, Bytes: r.Bytes})
	}
	w.setMemory(server, m)
	if w.watching != nil {
		w.watching.Depths[server] = depths
	}
}

// setMemory tells the caches of a server, and the statistics, what its memory is for.
func (w *world) setMemory(server int, m classes.Memory) {
	probe.CountBuffers(w.rack.Servers[server], &m)
	if w.watching != nil {
		*w.watching.Memory[server] = m
	}
}

// endSeries reads the counters of the series at the end of the traffic.
func (w *world) endSeries() {
	if m := w.measured; m != nil && m.series != nil {
		m.series.End(w.engine.Now())
	}
}

// write adds the totals of the series and the bytes by class to the statistics, and leaves the series among the
// artifacts.
func (m *measured) write(s *stats.Summary, dir *files.Folder) error {
	for _, l := range m.links {
		x := stats.LinkBytes{Where: l.Where, What: l.What, Total: l.Total(), Classes: map[string]uint64{}}
		for _, c := range classes.All() {
			if n := l.Bytes(c); n > 0 {
				x.Classes[c.String()] = n
			}
		}
		s.Links = append(s.Links, x)
	}
	for i := range m.series.Counters {
		switch c := &m.series.Counters[i]; {
		case c.Picture == probe.Throughput || c.Sparse && !m.series.Moved(i):
		case c.Level:
			s.Levels = append(s.Levels, stats.Level{Where: c.Where, What: c.What, Unit: c.Unit,
				Highest: m.series.Highest(i)})
		default:
			s.Counters = append(s.Counters, stats.Counter{Where: c.Where, What: c.What, Unit: c.Unit,
				Total: m.series.Total(i)})
		}
	}
	if dir == nil {
		return nil
	}
	errs := []error{dir.Write(output.Series, m.series.CSV())}
	for _, p := range m.series.Pictures() {
		errs = append(errs, dir.Write(p.File, p.SVG))
	}
	return errors.Join(errs...)
}

// armDRAM returns the bytes between the Arms and their DRAM, background loads excepted.
func (w *world) armDRAM() (bytes uint64) {
	for _, c := range w.rack.Cards() {
		if h := c.Memory.Host(nicspec.EndpointArm); h != nil {
			for _, d := range h.DRAM {
				n := d.Counters()
				bytes += n.ReadBytes + n.WrittenBytes - n.LoadRead - n.LoadWritten
			}
		}
	}
	return bytes
}

// figures adds the statistics to the outcome of the case, and expectations that they do not meet to its findings.
func (w *world) figures(p *Played) error {
	m := w.measured
	if m == nil {
		return nil
	}
	if n, first := m.Wrong(); n > 0 {
		text := "statistics: an impossible stamp: " + first
		if n > 1 {
			text = fmt.Sprintf("statistics: %d impossible stamps, the first: %s", n, first)
		}
		p.add(result.Finding{Domain: result.Run, Field: "impossible stamps", Expected: "0", Got: fmt.Sprint(n),
			Text: text})
	}
	s := m.Summary()
	s.AddLoads(w.loads.Rows())
	s.AddBackground(w.background.Rows())
	s.Credits, s.HostCC = w.creditRows(), w.hostControls()
	if w.net != nil {
		s.Credits, s.ShRing, s.HostCC = w.net.Credits(), w.net.SharedRings(), w.net.HostControls()
	}
	if m.series != nil {
		if err := m.write(s, w.o.Dir); err != nil {
			return err
		}
		for _, l := range m.links {
			if err := l.Check(); err != nil {
				p.add(result.Finding{Domain: result.Run, Field: "bytes by class", Text: "statistics: " + err.Error()})
			}
		}
	}
	if w.o.Stats != "" && w.o.Stats != StatsNone {
		p.Stats, p.Series = s, m.series
	}
	x := &w.c.Expect.FigureSpec
	add := func(d discrepancy, rule string) {
		p.add(result.Finding{Rule: rule, Domain: result.Application, Field: d.field, Expected: d.expected, Got: d.got,
			Text: d.String()})
	}
	for _, e := range x.percentiles() {
		for i, l := range w.workloads {
			for _, d := range e.missed(s.Latency, w.workloads.Label(i), &l.Spec) {
				add(d, "")
			}
		}
	}
	if x.Throughput != nil {
		if d, rule := x.Throughput.missed(&s.Total); d != nil {
			add(*d, rule)
		}
	}
	if x.ArmDRAM != nil {
		if d, rule := m.missedArmDRAM(uint64(*x.ArmDRAM)); d != nil {
			add(*d, rule)
		}
	}
	return nil
}
