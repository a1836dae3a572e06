package flexins

import (
	"fmt"
	"slices"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
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
		study.Input{Name: "rx.cores", Value: 4, Unit: "cores", Source: "SN Fig. 12: other cores than those that " +
			"send; as many as are left of 12"},
		study.Input{Name: "rx.payload", Value: 4096, Unit: "B", Source: "assumption: the size is not printed; 4 " +
			"cores carry 400 Gbps in packets of 4 KB, not of 2 KB"},
		study.Input{Name: "rx.begin", Value: 1, Unit: "ms", Source: "SN Fig. 12: 1 s"},
		study.Input{Name: "rx.length", Value: 5, Unit: "ms", Source: "SN Fig. 12: 5 s"},
		study.Input{Name: "step", Value: 0.1, Unit: "of the rate", Source: "assumption: three times what counts as " +
			"none; the paper prints the curve alone"},
		study.Input{Name: "flat", Value: 0.03, Unit: "of the rate", Source: "the tolerance of " +
			"smartns.tx.duplex_header_only"},
	)...),
	Run: duplex,
	Settled: map[string]string{"smartns.tx.duplex_header_only": onCores, "smartns.tx.duplex_timeline": onCores +
		"; judged with the staging ring in the LLC, as the rate of the larger one swings"},
	Notes: []string{"1 s and 5 s of the paper are milliseconds here: rings and caches reach their steady state " +
		"within two. Claims are judged by phases, each in a scene of its own; over_time has a scene for each design",
		"RDMA-assisted transmission is missing, as in flexins/transmit"},
}

const onCores = "the flow goes from Arm cores to Arm cores, as SN says: packets enter the cables as a capture does, " +
	"at the rate that acknowledgements leave, and the receiving cores take them into their cache, read headers and " +
	"invalidate; WRITEs to the host delay requests by their copies, and took more than 3% of the rate"

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
	rx := study.NewSeries("timeline_received", "Bytes written to Arm memory meanwhile", "writes", "Gbps",
		study.Axis{Name: "phase"})
	tx := map[string]float64{}
	var runs []string
	for i, p := range all {
		d, phase := designs[i/len(phases)], phases[i%len(phases)]
		r := p.Of(s, "tx")
		point.Bar(x, d, phase, &r)
		tx[d+phase] = r.Gbps
		runs = append(runs, p.Name+", tx")
		rx.Bar(d, phase, p.toArm[0])
	}
	s.Record(x, rx)
	if err := overTime(s, designs); err != nil {
		return err
	}
	loss := func(d, phase string) float64 { return 1 - tx[d+phase]/tx[d+before] }
	s.Value("smartns.tx.duplex_header_only", loss(headerOnly, during), fmt.Sprintf("%.4g Gbps alone, %.4g beside",
		tx[headerOnly+before], tx[headerOnly+during])).On(runs[:2]...)
	step, flat := s.Input("step"), s.Input("flat")
	holds := loss(stagedSmall, during) > step && loss(stagedSmall, after) < flat && loss(headerOnly, during) <= flat &&
		loss(headerOnly, after) <= flat
	s.Holds("smartns.tx.duplex_timeline", holds, fmt.Sprintf("staged falls by %.1f%%, header-only by %.1f%%; "+
		"afterwards %.1f%% and %.1f%%", 100*loss(stagedSmall, during), 100*loss(headerOnly, during),
		100*loss(stagedSmall, after), 100*loss(headerOnly, after)), fmt.Sprintf("of the DMA-staged design with its "+
		"ring in the LLC, without which it does not reach the rate that the paper prints; a step is %.0f%%, flat is "+
		"%.0f%%", 100*step, 100*flat)).On(slices.Concat(runs[:3], runs[6:])...)
	return nil
}

// duplexScene returns a scene with a window before, while or after another flow is received.
func duplexScene(s *study.Session, d, phase string) *scene {
	warm := point.WarmUp(s, 300*simcore.Microsecond)
	if d == staged {
		warm = point.WarmUp(s, 2*milli)
	}
	c := &scene{
		name: d + ", " + phase, stacks: stack(s, "", design(s, d)), warm: warm, window: 2 * milli,
		workloads: []string{fmt.Sprintf("name: tx, kind: write, processes: %g, ports: 2, depth: %g, sizes: [%g], "+
			"mtu: 2048", s.Input("connections"), s.Input("depth"), s.Input("payload"))},
	}
	if d == stagedSmall && phase == during {
		c.window = 6 * milli // its rate swings beside the flow
	}
	end := c.warm
	if phase != before {
		c.warm += point.WarmUp(s, 300*simcore.Microsecond)
		c.captures = capturesOf(s)
	}
	if phase == during {
		end = c.warm + c.point(s).Span(s) + point.Behind
	}
	c.captureFields = fmt.Sprintf("server: 0, rate: %.1fGbps, until: %dps", receivedRate(s), end)
	return c
}
