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
		study.Input{Name: "wqe", Value: 64, Unit: "B", Source: "SN Fig. 14a: elements of 64 B"},
		study.Input{Name: "mmio.latency", Value: 1, Unit: "us", Source: "assumption: board preset, one way"},
		study.Input{Name: "mmio.service", Value: 1, Unit: "ms", Source: "bf3.mmio_rate: below 1,000 writes a second",
			Anchors: []string{"smartns.pipe.mmio_rate"}},
		study.Input{Name: "window", Value: 512, Unit: "requests", Source: "assumption: under way when the rate is " +
			"measured, more than rate times latency of a doorbell"},
	),
	Run: notify,
	Reasons: map[string]string{
		"smartns.pipe.lat_vs_mmio": "firmware serves a write for a millisecond before it arrives here; in the paper a write " +
			"arrives at once, and only the next one waits",
		"smartns.pipe.tput_vs_doorbell": "the Arm core also sends a packet for each request, 225 ns, which hides what an " +
			"element costs; with the packet left out, 2.4 is what a fetch costs beside an element in place",
	},
}

var notifications = []string{"pipe", "doorbell_pushed", "doorbell_polled", "mmio"}

func notify(s *study.Session) error {
	var scenes []*scene
	for _, n := range notifications {
		scenes = append(scenes, notifyScene(s, n, 1), notifyScene(s, n, int(s.Input("window"))))
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("notify_rate", "Requests of one host core to one Arm core", "requests", "M/s",
		study.Axis{Name: "notification"})
	y := study.NewSeries("notify_latency", "From the post of a WRITE of 64 B to its packet on the wire", "latency", "us",
		study.Axis{Name: "notification"})
	x.LogY, y.LogY = true, true
	latency, rate, names := map[string]float64{}, map[string]float64{}, map[string][2]string{}
	for i, n := range notifications {
		one, many := all[2*i], all[2*i+1]
		label := strings.ReplaceAll(n, "_", ", ")
		latency[n], rate[n] = one.micros("wire"), many.rate.PerSecond/1e6
		names[n] = [2]string{one.name, many.name}
		y.Bar(system, label, latency[n])
		x.Bar(system, label, rate[n])
	}
	s.Record(x, y)
	s.Value("smartns.pipe.lat_vs_mmio", latency["pipe"]/latency["mmio"], fmt.Sprintf("%.3g us against %.3g, until a "+
		"packet is on the wire", latency["pipe"], latency["mmio"])).On(names["pipe"][0], names["mmio"][0])
	s.Value("smartns.pipe.tput_vs_doorbell", rate["pipe"]/rate["doorbell_pushed"], fmt.Sprintf("%.3g M/s against %.3g by "+
		"a doorbell that is pushed, %.3g by one that is polled, %.3g by MMIO", rate["pipe"], rate["doorbell_pushed"],
		rate["doorbell_polled"], rate["mmio"])).On(names["pipe"][1], names["doorbell_pushed"][1])
	return nil
}

// notifyScene returns a scene with one data core. Emulated accesses take a millisecond, so that its windows are long;
// little happens in them.
func notifyScene(s *study.Session, notification string, depth int) *scene {
	c := &scene{
		name:   fmt.Sprintf("%s, %d under way", notification, depth),
		stacks: stackOn(s, 1, "notify: "+notification+", ", "pipe: {log_lines: 10}, log_completions: 11, "),
		workloads: []string{fmt.Sprintf("kind: write, depth: %d, sizes: [%g], timeout: 16, inline: true", depth,
			s.Input("wqe")/4)},
		warm: 300 * simcore.Microsecond, window: 5 * milli, payload: "fresh",
	}
	if notification == "mmio" {
		c.warm, c.window = 100*milli, 520*milli
	}
	return c
}
