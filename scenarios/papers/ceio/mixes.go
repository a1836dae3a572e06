package ceio

import (
	"fmt"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Mixes measures CPU-involved flows beside CPU-bypass flows, in three shares of eight flows.
var Mixes = study.Experiment{
	Group: "ceio", Name: "mixes", Title: "CPU-involved flows beside CPU-bypass flows, in three shares",
	Figures: "CE Table 4", Pictures: mixPictures,
	Settled: settled(mixClaims), Claims: mixClaims,
	Arithmetic: []string{"ceio.t4.ceio.3_1.speedup"}, // both rates are anchors
	Inputs:     inputs(), Run: mixes, Reasons: map[string]string{
		"ceio.t4.ceio.1_1.speedup": displaced, "ceio.t4.ceio.1_3.speedup": displaced,
	},
	Notes: []string{"without optimization: equal shares of the credits for good, an entry for each packet in place " +
		"of the software ring (64 B, assumption), and copies of those slow packets only that a receive call waits " +
		"for",
		"without optimization windows are five whole cycles of the windows of DCTCP, a batch each, of 6.5 ms, which " +
			"runs show. CEIO is measured when the windows of DCTCP have come to rest: after 15 ms at 1:1, 36 at 1:3"},
}

// displaced tells why packets of the store miss beside chunks, in spite of credits.
const displaced = "cores that copy chunks into files displace packets of the store: lines of theirs take half of the " +
	"ways that devices fill"

// mixClaims are the claims of Table 4.
var mixClaims = []string{
	"ceio.t4.base.3_1", "ceio.t4.ceio_wo.3_1", "ceio.t4.ceio.3_1", "ceio.t4.ceio_wo.3_1.speedup",
	"ceio.t4.ceio.3_1.speedup", "ceio.t4.ceio_wo.1_1", "ceio.t4.ceio.1_1", "ceio.t4.ceio_wo.1_1.speedup",
	"ceio.t4.ceio.1_1.speedup", "ceio.t4.base.1_3", "ceio.t4.ceio_wo.1_3", "ceio.t4.ceio.1_3.speedup",
	"ceio.t4.gain_high_involved", "ceio.t4.gain_high_bypass", "ceio.t4.speedup_trend",
}

// mix is a number of flows of either kind.
type mix struct {
	name             string // as the claims have it
	involved, bypass int
}

func (m mix) label() string { return fmt.Sprintf("%d:%d", m.involved, m.bypass) }

// Shares of eight flows.
var allMixes = []mix{{"3_1", 6, 2}, {"1_1", 4, 4}, {"1_3", 2, 6}}

var mixSystems = []system{baseline, without, withCEIO}

func mixScene(s *study.Session, x system, m mix) *point.Scene {
	const chunks, most, ofAll = 10_000, 1_000_000, 4_120_000 // messages of a flow, and of a run: as many as may be
	n := m.involved + m.bypass
	c := &point.Scene{Name: fmt.Sprintf("%s, %s", x, m.label()), Board: testbed(s, n),
		Stacks: x.stacks(s, n, putBytes), Workloads: []string{store(s, "store", from(1, m.involved)...)},
		Count: min(most, ofAll/m.involved), Warm: 4 * milli, Window: 10 * milli}
	// Windows of DCTCP grow by a packet a round trip until a flow has used up its credits, then they are cut, or until
	// it has as many requests under way as it may.
	switch cycle := 6500 * micro; {
	case x == without:
		c.Warm, c.Window, c.Batches = cycle, 5*cycle, 5
	case x == withCEIO && m.involved == m.bypass:
		c.Warm, c.Window = 15*milli, 24*milli
	case x == withCEIO && m.involved < m.bypass:
		c.Warm = 36 * milli
	}
	c.Warm = point.WarmUp(s, c.Warm)
	c.Passing = []string{fmt.Sprintf("count: %d, end: %dps, %s", chunks, c.Warm+c.Span(s)+point.Behind,
		file(s, "file", from(1+m.involved, m.bypass)...))}
	return c
}

// mpps returns the rate of the requests of flows whose names begin so, in millions a second, and the name of its run.
func mpps(s *study.Session, p *point.Played, flows string) (rate float64, run string) {
	r := p.Of(s, flows)
	const perRequest = 2 // a request, and its answer
	return r.PerSecond / perRequest / 1e6, p.Name + ", " + flows
}

func mixes(s *study.Session) error {
	var scenes []*point.Scene
	for _, m := range allMixes {
		for _, x := range mixSystems {
			scenes = append(scenes, mixScene(s, x, m))
		}
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("mixes", "CPU-involved flows beside CPU-bypass flows", "requests", "M/s",
		study.Axis{Name: "involved : bypass"})
	t := mixTable{rates: map[string]map[system]float64{}, runs: map[string]map[system]string{}}
	for i, p := range all {
		m, kind := allMixes[i/len(mixSystems)], mixSystems[i%len(mixSystems)]
		rate, run := mpps(s, p, "store")
		x.Bar(string(kind), m.label(), rate)
		if t.rates[m.name] == nil {
			t.rates[m.name], t.runs[m.name] = map[system]float64{}, map[system]string{}
		}
		t.rates[m.name][kind], t.runs[m.name][kind] = rate, run
	}
	s.Record(x)
	t.judge(s)
	return nil
}

// mixTable has rates in millions of requests a second, by mix and system, with the names of their runs.
type mixTable struct {
	rates map[string]map[system]float64
	runs  map[string]map[system]string
}

func (t *mixTable) rate(s *study.Session, claim, m string, x system) {
	s.Value(claim, t.rates[m][x], "requests of all CPU-involved flows").On(t.runs[m][x])
}

func (t *mixTable) speedup(m string, x system) float64 { return t.rates[m][x] / t.rates[m][baseline] }

func (t *mixTable) judge(s *study.Session) {
	t.rate(s, "ceio.t4.base.3_1", "3_1", baseline)
	t.rate(s, "ceio.t4.base.1_3", "1_3", baseline)
	for _, m := range allMixes {
		t.rate(s, "ceio.t4.ceio_wo."+m.name, m.name, without)
		if m.name != "1_3" {
			t.rate(s, "ceio.t4.ceio."+m.name, m.name, withCEIO)
			s.Value("ceio.t4.ceio_wo."+m.name+".speedup", t.speedup(m.name, without), "over the baseline").
				On(t.runs[m.name][without], t.runs[m.name][baseline])
		}
		s.Value("ceio.t4.ceio."+m.name+".speedup", t.speedup(m.name, withCEIO), "over the baseline").
			On(t.runs[m.name][withCEIO], t.runs[m.name][baseline])
	}
	gain := func(claim, m string) {
		a, b := t.rates[m][without], t.rates[m][withCEIO]
		s.Holds(claim, study.Above(b, a), fmt.Sprintf("%.4g without, %.4g with optimizations", a, b),
			"requests of all CPU-involved flows").On(t.runs[m][without], t.runs[m][withCEIO])
	}
	gain("ceio.t4.gain_high_involved", "3_1")
	gain("ceio.t4.gain_high_bypass", "1_3")
	falls := true
	var text string
	var runs []string
	for i, m := range allMixes {
		text += fmt.Sprintf("%s %.3g  ", m.label(), t.speedup(m.name, withCEIO))
		falls = falls && (i == 0 || !study.Above(t.speedup(m.name, withCEIO), t.speedup(allMixes[i-1].name, withCEIO)))
		runs = append(runs, t.runs[m.name][withCEIO], t.runs[m.name][baseline])
	}
	s.Holds("ceio.t4.speedup_trend", falls, text, "speed-up over the baseline").On(runs...)
}
