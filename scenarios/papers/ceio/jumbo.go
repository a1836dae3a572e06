package ceio

import (
	"fmt"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Jumbo measures the longest frames, where CEIO cannot gain.
var Jumbo = study.Experiment{
	Group: "ceio", Name: "jumbo", Title: "Echoes in frames of 9,000 B", Figures: "CE section 6.3",
	Pictures: map[string]study.Picture{"jumbo": {Figure: "CE section 6.3"}},
	Inputs: inputs(
		study.Input{Name: "frame", Value: 9000, Unit: "B", Source: "ce.mtu: jumbo frames"},
		study.Input{Name: "jumbo.buffer", Value: 9216, Unit: "B", Source: "assumption: of a receive buffer, 9 KiB"},
		study.Input{Name: "jumbo.credits", Value: 651, Unit: "packets", Source: "6 MB (ce.ddio) in such buffers, as " +
			"ce.ctotal has it for 2 KB"},
		study.Input{Name: "jumbo.depth", Value: 256, Unit: "requests", Source: "assumption: of a flow, as many as " +
			"its ring has buffers, so that the rings of eight flows (18.9 MB) exceed the cache"}),
	Run: jumbo,
}

func jumboScene(s *study.Session, x system) *point.Scene {
	const flows, headers = 8, 58
	host := fmt.Sprintf("hostnet: {buffer_bytes: %g, log_receive: 8, rx_cycles: %g, tx_cycles: %g}",
		s.Input("jumbo.buffer"), s.Input("rx_cycles"), s.Input("tx_cycles"))
	own := fmt.Sprintf("{kind: ddio, %s}", host)
	if x == withCEIO {
		own = fmt.Sprintf("{kind: ceio, ceio: {credits: %g, slow_slots: 256, landing: 64, %s}, %s}",
			s.Input("jumbo.credits"), timers(s), host)
	}
	for range flows {
		own += fmt.Sprintf(", {kind: udp, %s}", host)
	}
	return &point.Scene{Name: fmt.Sprintf("%s, jumbo frames", x), Board: testbed(s, flows), Stacks: own,
		Workloads: []string{fmt.Sprintf("kind: echo, transport: udp, from: %s, to: 0, sizes: [%g], depth: %g",
			list(from(1, flows)), s.Input("frame")-headers, s.Input("jumbo.depth"))},
		Warm: point.WarmUp(s, milli), Window: milli, Counters: lookups}
}

func jumbo(s *study.Session) error {
	systems := []system{baseline, withCEIO}
	var scenes []*point.Scene
	for _, x := range systems {
		scenes = append(scenes, jumboScene(s, x))
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	rate := study.NewSeries("jumbo", "Echoes in frames of 9,000 B", "payload", "Gbps", study.Axis{Name: "system"})
	miss := study.NewSeries("jumbo_misses", "Echoes in frames of 9,000 B", missAxis, "",
		study.Axis{Name: "system"})
	for i, x := range systems {
		point.Bar(rate, string(x), "server", half(all[i]))
		miss.Bar(string(x), "server", misses(all[i]))
	}
	s.Record(rate, miss)
	return nil
}
