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
	Settled: settledDynamic(), Claims: dynamicClaims,
	Inputs: inputs(append(phaseInputs, hostLines)...), Run: dynamic, Reasons: dynamicReasons,
	Notes: []string{"expected: CPU-involved flows times the rate of ShRing's core with one flow, whose cache is " +
		"large enough (ceio.mot.expected_def)",
		"windows of DCTCP have not come to rest in a phase: beside CPU-bypass flows CEIO has a little more here than " +
			"in ceio/mixes", missNote},
}

// dynamicClaims are the claims of Fig. 4 and 10.
var dynamicClaims = []string{"ceio.abs.tput", "ceio.e2e.burst", "ceio.intro.s6_tput", "ceio.bg.sota_degradation",
	"ceio.mot.hostcc_gain", "ceio.mot.hostcc_missrate", "ceio.mot.shring_rate", "ceio.mot.burst_worse",
	"ceio.table1.qualitative"}

// settledDynamic returns how the claims were settled: that about ShRing by another reading, too.
func settledDynamic() map[string]string {
	all := settled(dynamicClaims)
	all["ceio.mot.shring_rate"] += ". Read as the rate of a flow in the first phase over that in the worst one until " +
		"then, which is 0.92; Fig. 4 compares with the expected rates. The worst phase is the first one, without " +
		"CPU-bypass flows: beside them ShRing loses nothing here"
	for _, c := range []string{"ceio.mot.hostcc_missrate", "ceio.table1.qualitative"} {
		all[c] += settledMisses
	}
	return all
}

// dynamicReasons explains the misses.
var dynamicReasons = map[string]string{
	"ceio.mot.hostcc_gain": "requests of 80 B leave the IIO buffer below HostCC's threshold, so that it does what " +
		"the baseline does",
}

// hostLines is the threshold of HostCC.
var hostLines = study.Input{Name: "hostcc.lines", Value: 10, Unit: "lines", Source: "assumption: of the IIO buffer. " +
	"The threshold of the published implementation, 70, is 1.08 times the occupancy of 65 that public descriptions " +
	"have for a full link of 100 Gbps; here a line takes 25 ns, and a full link of 200 Gbps makes 9.8 lines: 10.6, " +
	"rounded down. With 11, HostCC would leave echoes of 512 B that fill the link as they are",
}

// changes has the results of one of the two scenarios.
type changes struct {
	*phases
	own   map[system]*phases
	at    map[system]*point.Played
	rates map[system][]study.Rate // by phase, in millions of requests a second
	core  *point.Played           // one flow, which the cache is large enough for
}

// coreScene has one flow on ShRing.
func coreScene(s *study.Session) *point.Scene {
	return &point.Scene{Name: "ShRing, one flow", Board: testbed(s, 1), Stacks: shRing.stacks(s, 1, putBytes),
		Workloads: []string{store(s, "store", 1)}, Warm: point.WarmUp(s, 4*milli), Window: 3 * milli}
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
	c.own, c.at, c.rates = map[system]*phases{}, map[system]*point.Played{}, map[system][]study.Rate{}
	x := study.NewSeries(c.name, "CPU-involved flows by phase", "requests", "M/s", study.Axis{Name: "phase"})
	for i, k := range allSystems {
		c.own[k], c.at[k] = c.of(s, k), played[i]
		for n := range c.involved {
			r := c.own[k].rate(s, played[i], n)
			c.rates[k] = append(c.rates[k], r)
			x.Bar(string(k), c.label(n), r.Value)
			bar, run := &x.Points[len(x.Points)-1], s.Outcome.Runs[len(s.Outcome.Runs)-1]
			bar.RoundTrips = run.RoundTrips
			if run.Relative < 1 { // else it has no interval
				bar.Half = r.Value * run.Relative
			}
		}
	}
	for n := range c.involved {
		x.Bar("expected", c.label(n), c.expected(n).Value)
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
func (c *changes) expected(n int) study.Rate {
	const perRequest = 2 // a request, and its answer
	return study.Rate{Value: c.core.Rate.PerSecond / perRequest / 1e6 * float64(c.involved[n]), Run: c.core.Name}
}

// missed returns the share of a system's lookups in a phase that missed the last-level cache.
func (c *changes) missed(x system, phase int) float64 { return c.own[x].missed(c.at[x], phase) }

// over returns the ratios of the rates of a system to those of others, of all phases.
func (c *changes) over(a system, others ...system) (all []study.Ratio) {
	for _, b := range others {
		for n := range c.involved {
			all = append(all, study.Ratio{Of: c.rates[a][n], To: c.rates[b][n]})
		}
	}
	return all
}

// degradation returns the ratios of the expected rates to those of some systems, of all phases.
func (c *changes) degradation(systems ...system) (all []study.Ratio) {
	for _, x := range systems {
		for n := range c.involved {
			all = append(all, study.Ratio{Of: c.expected(n), To: c.rates[x][n]})
		}
	}
	return all
}

// most records the largest ratio for a claim.
func most(s *study.Session, claim, how string, ratios []study.Ratio) {
	value, runs := s.Most(ratios...)
	s.Value(claim, value, how).On(runs...)
}

func judgeDynamic(s *study.Session, d, b *changes) {
	rivals := []system{hostCC, shRing}
	each := func(ratios func(x system) []study.Ratio) string {
		host, _ := s.Most(ratios(hostCC)...)
		ring, _ := s.Most(ratios(shRing)...)
		return fmt.Sprintf("the most of all phases: HostCC %.3g, ShRing %.3g", host, ring)
	}
	how := "CEIO in a burst, over both rivals; " + each(func(x system) []study.Ratio { return b.over(withCEIO, x) })
	most(s, "ceio.abs.tput", how, b.over(withCEIO, rivals...))
	most(s, "ceio.e2e.burst", how, b.over(withCEIO, rivals...))
	how = "CEIO, changing flows; " + each(func(x system) []study.Ratio { return d.over(withCEIO, x) })
	most(s, "ceio.intro.s6_tput", how, d.over(withCEIO, rivals...))
	how = each(func(x system) []study.Ratio { return d.degradation(x) })
	most(s, "ceio.bg.sota_degradation", how, d.degradation(rivals...))
	most(s, "ceio.mot.hostcc_gain", "the most of all phases", d.over(hostCC, baseline))
	most(s, "ceio.mot.shring_rate", "expected rate over ShRing's, the most of all phases", d.degradation(shRing))
	miss, worst := 0.0, ""
	for n, r := range d.rates[hostCC] {
		if m := d.missed(hostCC, n); m > miss {
			miss, worst = m, r.Run
		}
	}
	s.Value("ceio.mot.hostcc_missrate", miss, "of lookups of I/O buffers, the most of all phases").On(worst)
	worse, text := true, ""
	var runs []string
	for _, x := range rivals {
		burst, of := s.Most(b.degradation(x)...)
		change, with := s.Most(d.degradation(x)...)
		worse, runs = worse && study.Above(burst, change), slices.Concat(runs, of, with)
		text += fmt.Sprintf("%s %.3g, %.3g  ", x, burst, change)
	}
	s.Holds("ceio.mot.burst_worse", worse, text, "degradation in a burst, and with changing flows").On(runs...)
	missed, dropped := d.missed(hostCC, 0), uint64(0)
	for _, x := range d.at[shRing].Stats.Drops {
		dropped += x.Descriptor
	}
	s.Holds("ceio.table1.qualitative", missed > 0.1 && dropped > 0 && d.missed(withCEIO, 0) < 0.03,
		fmt.Sprintf("HostCC misses %.3g of the lookups of I/O buffers, CEIO %.3g; ShRing dropped %d frames", missed,
			d.missed(withCEIO, 0), dropped), "first phase; drops of the whole run").
		On(d.rates[hostCC][0].Run, d.rates[withCEIO][0].Run)
}
