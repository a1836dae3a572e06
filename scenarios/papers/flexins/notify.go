package flexins

import (
	"fmt"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Notify measures requests of one host core to one Arm core, by the way in which the card is notified.
var Notify = study.Experiment{
	Group: "flexins", Name: "notify", Title: "Notification of the card: pipe, doorbells, entries by MMIO",
	Figures:  "FN Fig. 15a, SN Fig. 14a",
	Pictures: notifyPictures,
	Claims:   []string{"smartns.pipe.lat_vs_mmio", "smartns.pipe.tput_vs_doorbell"},
	Inputs: inputs(
		study.Input{Name: "mmio.latency", Value: 1, Unit: "us", Source: "assumption: board preset, one way; as long " +
			"as what the pipe takes", Anchors: []string{"smartns.pipe.lat_vs_mmio"}},
		study.Input{Name: "mmio.service", Value: 1, Unit: "ms", Source: "bf3.mmio_rate: below 1,000 writes a second",
			Anchors: []string{"smartns.pipe.mmio_rate"}},
		study.Input{Name: "window", Value: 512, Unit: "requests", Source: "assumption: under way when the rate is " +
			"measured, more than rate times latency of a doorbell"},
		study.Input{Name: "signal", Value: 64, Unit: "requests", Source: "assumption: requests for a completion; the " +
			"paper's end with their receipt, so few have one here"},
	),
	Run: notify,
	Settled: map[string]string{"smartns.pipe.lat_vs_mmio": "requests that find none before them, and emulated writes " +
		"that arrive after their latency, not after the service time",
		"smartns.pipe.tput_vs_doorbell": "NOPs; WRITEs, for each of which the Arm core sends a packet, got 1.19"},
	Reasons: map[string]string{
		"smartns.pipe.tput_vs_doorbell": "the host core limits both: 76 ns to post a request, and for the pipe a DMA " +
			"for 8 elements; one doorbell announces all elements of a turn here, and one DMA fetches those that " +
			"wait, where the paper's doorbell seems to cost each request a round trip",
	},
	Notes: []string{"requests are NOPs, elements of 64 B that a core of the card takes and completes; a latency ends " +
		"when it takes the element"},
}

var notifications = []string{"pipe", "doorbell_pushed", "doorbell_polled", "mmio"}

func notify(s *study.Session) error {
	var scenes []*scene
	rounds := s.Scale(loneRounds, 1)
	for _, n := range notifications {
		scenes = append(scenes, notifyScene(s, n))
		for i := range rounds {
			scenes = append(scenes, loneScene(s, n, i))
		}
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("notify_rate", "Requests of one host core to one Arm core", "requests", "M/s",
		study.Axis{Name: "notification"})
	y := study.NewSeries("notify_latency", "From the post of a request to its receipt by the card", "latency", "us",
		study.Axis{Name: "notification"})
	x.LogY = true
	latency, rate, names := map[string]float64{}, map[string]float64{}, map[string][2]string{}
	for i, n := range notifications {
		of := all[i*(rounds+1):][:rounds+1]
		many := of[0]
		label := strings.NewReplacer("_", ", ", "mmio", "MMIO").Replace(n)
		latency[n], rate[n] = lone(s, n, of[1:]), many.Rate.PerSecond/1e6
		names[n] = [2]string{n + ", lone requests, mean", many.Name}
		y.Bar(system, label, latency[n])
		if rate[n] > 0 {
			x.Bar(system, label, rate[n])
		}
	}
	s.Record(x, y)
	s.Value("smartns.pipe.lat_vs_mmio", latency["pipe"]/latency["mmio"], fmt.Sprintf("%.3g us against %.3g, until "+
		"the card has it", latency["pipe"], latency["mmio"])).On(names["pipe"][0], names["mmio"][0])
	s.Value("smartns.pipe.tput_vs_doorbell", rate["pipe"]/rate["doorbell_pushed"], fmt.Sprintf("%.3g M/s against "+
		"%.3g by a doorbell that is pushed, %.3g by one that is polled, %.3g by "+
		"MMIO", rate["pipe"], rate["doorbell_pushed"],
		rate["doorbell_polled"], rate["mmio"])).On(names["pipe"][1], names["doorbell_pushed"][1])
	return nil
}

// loneScene returns a scene of requests that find nothing before them: each from an application of its own.
func loneScene(s *study.Session, notification string, round int) *scene {
	c := &scene{name: fmt.Sprintf("%s, lone requests, %d", notification, round), payload: "fresh",
		stacks: stackOn(s, 1, "notify: "+notification+", ", ""), warm: 100 * simcore.Microsecond, window: milli}
	const applications, apart = 16, 1300 * simcore.Microsecond // longer than firmware is busy with one
	for i := range simcore.Ps(applications) {
		c.passing = append(c.passing, fmt.Sprintf("count: 1, kind: nop, sizes: [0], begin: %dps",
			i*apart+s.Phase(fmt.Sprint(notification, round, i), simcore.Microsecond)))
	}
	return c
}

// loneRounds is the number of scenes of lone requests: the claim about their means is an anchor, for which 2% will do.
const loneRounds = 20

// lone returns the mean time from the post of a lone request to its receipt by the card, in microseconds.
func lone(s *study.Session, notification string, rounds []*played) float64 {
	var times []simcore.Ps
	for _, p := range rounds {
		for i := range p.Times {
			if l := &p.Times[i]; l.Measure == "take" {
				times = append(times, simcore.Ps(l.Mean))
			}
		}
	}
	e := study.MeanOf(times)
	s.Ran(notification+", lone requests, mean", e, 1)
	return 1 / e.Rate / float64(simcore.Microsecond)
}

// notifyScene returns a scene with one data core and long pipes. Emulated accesses take a millisecond, so that its
// windows are long; little happens in them.
func notifyScene(s *study.Session, notification string) *scene {
	depth := int(s.Input("window"))
	c := &scene{
		name:   fmt.Sprintf("%s, %d under way", notification, depth),
		stacks: stackOn(s, 1, "notify: "+notification+", ", "pipe: {log_lines: 10}, log_completions: 11, "),
		workloads: []string{fmt.Sprintf("kind: nop, sizes: [0], depth: %d, signal_every: %g", depth,
			s.Input("signal"))},
		payload: "fresh", count: 1 << 20, warm: 300 * simcore.Microsecond, window: 50 * milli,
	}
	if notification == "mmio" {
		c.warm, c.window = 100*milli, 520*milli
	}
	return c
}
