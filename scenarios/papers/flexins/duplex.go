package flexins

import (
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Duplex measures WRITEs of 2 KB over eight connections before, while and after another flow is received.
var Duplex = study.Experiment{
	Group: "flexins", Name: "timeline", Title: "Transmission beside a flow that is received, and comes and goes",
	Figures:  "FN Fig. 13, SN Fig. 12",
	Pictures: duplexPictures,
	Claims:   []string{"smartns.tx.duplex_header_only", "smartns.tx.duplex_timeline"},
	Inputs: inputs(append(transmitInputs[:2:2],
		study.Input{Name: "payload", Value: 2048, Unit: "B", Source: "SN Fig. 12"},
		study.Input{Name: "connections", Value: 8, Unit: "connections", Source: "SN Fig. 12"},
		study.Input{Name: "rx.connections", Value: 4, Unit: "connections", Source: "SN Fig. 12: on other cores; as " +
			"many as are left of 12"},
		study.Input{Name: "rx.payload", Value: 4096, Unit: "B", Source: "assumption: 4 cores carry 400 Gbps in " +
			"packets of 4 KB, not of 2 KB"},
	)...),
	Run:     duplex,
	Reasons: map[string]string{"smartns.tx.duplex_header_only": delivered, "smartns.tx.duplex_timeline": delivered},
	Notes: []string{"1 s and 5 s of the paper are milliseconds here: rings and caches reach their steady state " +
		"within " +
		"two", "RDMA-assisted transmission is missing, as in flexins/transmit"},
}

const delivered = "the flow that is received is copied on to the host here, where the paper's ends on Arm cores: " +
	"requests take longer beside these copies, and 64 a connection no longer cover their latency; with 128 the " +
	"sender " +
	"loses nothing, but the flow gets 279 Gbps"

// Phases of the flow that is received.
const (
	before = "before"
	during = "during"
	after  = "after"
)

func duplex(s *study.Session) error {
	designs, phases := []string{headerOnly, staged, stagedSmall}, []string{before, during, after}
	var scenes []*scene
	for _, d := range designs {
		for _, p := range phases {
			scenes = append(scenes, duplexScene(s, d, p))
		}
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("timeline", "Payload sent, by phases of the flow that is received", "payload", "Gbps",
		study.Axis{Name: "phase"})
	rx := study.NewSeries("timeline_received", "Payload received "+
		"meanwhile", "payload", "Gbps", study.Axis{Name: "phase"})
	tx := map[string]float64{}
	var runs []string
	for i, p := range all {
		d, phase := designs[i/len(phases)], phases[i%len(phases)]
		r := p.of(s, "tx")
		bar(x, d, phase, &r)
		tx[d+phase] = r.Gbps
		runs = append(runs, p.name+", tx")
		if phase == during {
			in := p.of(s, "rx")
			bar(rx, d, phase, &in)
		}
	}
	s.Record(x, rx)
	loss := func(d, phase string) float64 { return 1 - tx[d+phase]/tx[d+before] }
	s.Value("smartns.tx.duplex_header_only", loss(headerOnly, during), fmt.Sprintf("%.4g Gbps alone, %.4g beside",
		tx[headerOnly+before], tx[headerOnly+during])).On(runs[:2]...)
	const step, flat = 0.1, 0.03
	holds := loss(staged, during) > step && loss(staged, after) < flat && loss(headerOnly, during) <= flat &&
		loss(headerOnly, after) <= flat
	s.Holds("smartns.tx.duplex_timeline", holds, fmt.Sprintf("staged falls by %.1f%%, header-only by %.1f%%; "+
		"afterwards "+
		"%.1f%% and %.1f%%", 100*loss(staged, during), 100*loss(headerOnly, during), 100*loss(staged, after),
		100*loss(headerOnly, after)), "of the DMA-staged design; a step is 10%, flat is 3%").On(runs[:6]...)
	return nil
}

// duplexScene returns a scene with a window before, while or after another flow is received.
func duplexScene(s *study.Session, d, phase string) *scene {
	warm := warmUp(s, 300*simcore.Microsecond)
	if d == staged {
		warm = warmUp(s, 2*milli)
	}
	c := &scene{
		name: d + ", " + phase, stacks: stack(s, "", design(s, d)), warm: warm, window: 2 * milli,
		workloads: []string{fmt.Sprintf("name: tx, kind: write, processes: %g, ports: 2, depth: %g, sizes: [%g], "+
			"mtu: 2048", s.Input("connections"), s.Input("depth"), s.Input("payload"))},
	}
	rx := fmt.Sprintf("name: rx, from: 1, to: 0, kind: write, processes: %g, ports: 2, depth: %g, sizes: "+
		"[%g], mtu: 4096", s.Input("rx.connections"), s.Input("depth"), s.Input("rx.payload"))
	switch phase {
	case during:
		c.workloads = append(c.workloads, rx)
		c.warm += warmUp(s, 300*simcore.Microsecond)
	case after:
		c.passing = append(c.passing, fmt.Sprintf("count: %d, end: %dps, %s", endless, c.warm, rx))
		c.warm += warmUp(s, 300*simcore.Microsecond)
	}
	return c
}
