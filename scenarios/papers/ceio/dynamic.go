package ceio

import (
	"fmt"
	"slices"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Dynamic measures flows that change from phase to phase, on all four systems.
var Dynamic = study.Experiment{
	Group: "ceio", Name: "dynamic", Title: "CPU-involved flows that become CPU-bypass, and bursts of further flows",
	Figures: "CE Fig. 4, 10", Pictures: dynamicPictures,
	Settled: settled(dynamicClaims), Claims: dynamicClaims,
	Inputs: inputs(phaseInput, hostLines), Run: dynamic,
	Notes: []string{"expected: CPU-involved flows times the rate of ShRing's core with one flow, whose cache is " +
		"large enough (ceio.mot.expected_def)"},
}

// dynamicClaims are the claims of Fig. 4 and 10.
var dynamicClaims = []string{"ceio.abs.tput", "ceio.e2e.burst", "ceio.intro.s6_tput", "ceio.bg.sota_degradation",
	"ceio.mot.hostcc_gain", "ceio.mot.hostcc_missrate", "ceio.mot.shring_rate", "ceio.mot.burst_worse",
	"ceio.table1.qualitative"}

// hostLines is the threshold of HostCC.
var hostLines = study.Input{Name: "hostcc.lines", Value: 10, Unit: "lines", Source: "assumption: of the IIO buffer. " +
	"The threshold of the published implementation, 70, is 1.08 times the occupancy of 65 that public descriptions " +
	"have for a full link of 100 Gbps; here a line takes 25 ns, and a full link of 200 Gbps makes 9.8 lines: 10.6, " +
	"rounded down. With 11, HostCC would leave echoes of 512 B that fill the link as they are",
}

// changes has the results of one of the two scenarios.
type changes struct {
	*phases
	at   map[system]*point.Played
	mpps map[system][]float64
	runs map[system][]string
	core *point.Played // one flow, which the cache is large enough for
}

// coreScene has one flow on ShRing.
func coreScene(s *study.Session) *point.Scene {
	return &point.Scene{Name: "ShRing, one flow", Board: testbed(s, 1), Stacks: shRing.stacks(s, 1, putBytes),
		Workloads: []string{store(s, "store", 1)}, Warm: point.WarmUp(s, milli), Window: milli}
}

func dynamic(s *study.Session) error {
	all := []*changes{{phases: changing(s)}, {phases: growing(s)}}
	var scenes []*point.Scene
	for _, c := range all {
		for _, x := range allSystems {
			scenes = append(scenes, c.scene(s, x))
		}
	}
	played, err := point.Play(s, append(scenes, coreScene(s))...)
	if err != nil {
		return err
	}
	for i, c := range all {
		c.core = played[len(scenes)]
		c.take(s, played[i*len(allSystems):][:len(allSystems)])
	}
	timeline(s, all[1])
	judgeDynamic(s, all[0], all[1])
	return nil
}

// take records the rates by phase.
func (c *changes) take(s *study.Session, played []*point.Played) {
	c.at, c.mpps, c.runs = map[system]*point.Played{}, map[system][]float64{}, map[system][]string{}
	x := study.NewSeries(c.name, "CPU-involved flows by phase", "requests", "M/s", study.Axis{Name: "phase"})
	for i, k := range allSystems {
		c.at[k] = played[i]
		for n := range c.involved {
			r, run := c.rate(s, played[i], n)
			c.mpps[k], c.runs[k] = append(c.mpps[k], r), append(c.runs[k], run)
			x.Bar(string(k), c.label(n), r)
		}
	}
	for n := range c.involved {
		x.Bar("expected", c.label(n), c.expected(n))
	}
	s.Record(x)
}

func (c *changes) label(n int) string {
	if c.bypass[n] == 0 {
		return fmt.Sprint(c.involved[n])
	}
	return fmt.Sprintf("%d:%d", c.involved[n], c.bypass[n])
}

// expected returns the rate that the paper calls expected.
func (c *changes) expected(n int) float64 {
	const perRequest = 2 // a request, and its answer
	return c.core.Rate.PerSecond / perRequest / 1e6 * float64(c.involved[n])
}

// all returns the names of the runs of some systems.
func (c *changes) all(systems ...system) (names []string) {
	for _, x := range systems {
		names = append(names, c.runs[x]...)
	}
	return names
}

// most returns the largest ratio of the rates of two systems over all phases.
func (c *changes) most(a, b system) (most float64) {
	for n := range c.involved {
		most = max(most, c.mpps[a][n]/c.mpps[b][n])
	}
	return most
}

// degradation returns the largest ratio of the expected rate to that of a system.
func (c *changes) degradation(x system) (most float64) {
	for n := range c.involved {
		most = max(most, c.expected(n)/c.mpps[x][n])
	}
	return most
}

func judgeDynamic(s *study.Session, d, b *changes) {
	burst := max(b.most(withCEIO, hostCC), b.most(withCEIO, shRing))
	text := fmt.Sprintf("over HostCC %.3g, over ShRing %.3g", b.most(withCEIO, hostCC), b.most(withCEIO, shRing))
	for _, claim := range []string{"ceio.abs.tput", "ceio.e2e.burst"} {
		s.Value(claim, burst, "burst, the most of all phases: "+text).On(b.all(withCEIO, hostCC, shRing)...)
	}
	both := max(d.most(withCEIO, hostCC), d.most(withCEIO, shRing))
	s.Value("ceio.intro.s6_tput", both, "changing flows, the most of all phases").On(d.all(withCEIO, hostCC, shRing)...)
	s.Value("ceio.bg.sota_degradation", max(d.degradation(hostCC), d.degradation(shRing)), fmt.Sprintf("HostCC %.3g, "+
		"ShRing %.3g", d.degradation(hostCC), d.degradation(shRing))).On(append(d.all(hostCC, shRing), d.core.Name)...)
	s.Value("ceio.mot.hostcc_gain", d.most(hostCC, baseline), "the most of all phases").On(d.all(hostCC, baseline)...)
	miss := 0.0
	for n := range d.involved {
		miss = max(miss, d.missed(d.at[hostCC], n))
	}
	s.Value("ceio.mot.hostcc_missrate", miss, "lookups of cores, the most of all phases").On(d.all(hostCC)...)
	each := func(n int) float64 { return d.mpps[shRing][n] / float64(d.involved[n]) }
	falls := 0.0
	for n := range d.involved {
		falls = max(falls, each(0)/each(n))
	}
	s.Value("ceio.mot.shring_rate", falls, "rate of a CPU-involved flow in the first phase over that in the worst one").
		On(d.all(shRing)...)
	worse := study.Above(b.degradation(hostCC), d.degradation(hostCC)) &&
		study.Above(b.degradation(shRing), d.degradation(shRing))
	s.Holds("ceio.mot.burst_worse", worse, fmt.Sprintf("HostCC %.3g, %.3g; ShRing %.3g, %.3g", b.degradation(hostCC),
		d.degradation(hostCC), b.degradation(shRing), d.degradation(shRing)), "degradation in a burst, and with "+
		"changing flows").On(slices.Concat(b.all(hostCC, shRing), d.all(hostCC, shRing), []string{d.core.Name})...)
	missed, dropped := d.missed(d.at[hostCC], 0), uint64(0)
	for _, x := range d.at[shRing].Stats.Drops {
		dropped += x.Descriptor
	}
	s.Holds("ceio.table1.qualitative", missed > 0.1 && dropped > 0 && d.missed(d.at[withCEIO], 0) < 0.03,
		fmt.Sprintf("HostCC misses %.3g of the lookups, CEIO %.3g; ShRing dropped %d frames", missed,
			d.missed(d.at[withCEIO], 0), dropped), "first phase; drops of the whole run").
		On(d.runs[hostCC][0], d.runs[withCEIO][0])
}
