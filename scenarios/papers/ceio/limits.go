package ceio

import (
	"fmt"
	"math"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Limits measures the shortest frames, where CEIO cannot gain.
var Limits = study.Experiment{
	Group: "ceio", Name: "limits", Title: "VXLAN in frames of 64 B", Figures: "CE section 6.3", Pictures: limitPictures,
	Claims: []string{"ceio.lim.vxlan", "ceio.lim.vxlan_miss"},
	Settled: map[string]string{"ceio.lim.vxlan_miss": settled([]string{"ceio.lim.vxlan_miss"})["ceio.lim.vxlan_miss"] +
		settledMisses},
	Inputs: inputs(study.Input{Name: "frames", Value: 89, Unit: "M/s", Source: "ceio.lim.vxlan: offered by eight " +
		"flows. Nothing answers them, so that a higher rate is lost", Anchors: []string{"ceio.lim.vxlan"},
		Instead: &study.Instead{Value: 284, Source: "200 Gbps of frames of 64 B, with 24 B around each"}}),
	Notes: []string{"both systems bear the paper's rate, so that they are equal by what is offered: no prediction",
		missNote},
	Run: limits,
}

func limitScene(s *study.Session, x system) *point.Scene {
	const flows, ns = 8, 1e3
	return &point.Scene{Name: string(x) + ", VXLAN", Board: testbed(s, flows), Stacks: x.stacks(s, flows, putBytes),
		Workloads: []string{fmt.Sprintf("kind: vxlan, transport: udp, from: %s, to: 0, every: %.0fps",
			list(from(1, flows)), flows*ns*ns/s.Input("frames"))},
		More: "expect: {lost: {at_most: 1000000}}\n", Warm: point.WarmUp(s, milli/2), Window: milli, Counters: lookups}
}

func limits(s *study.Session) error {
	all, err := point.Play(s, limitScene(s, baseline), limitScene(s, withCEIO))
	if err != nil {
		return err
	}
	x := study.NewSeries("vxlan", "VXLAN in frames of 64 B", "frames", "M/s", study.Axis{Name: "system"})
	rate := func(p *point.Played) float64 { return p.Rate.PerSecond / 1e6 }
	x.Bar("server", string(baseline), rate(all[0]))
	x.Bar("server", string(withCEIO), rate(all[1]))
	s.Record(x)
	a, b := rate(all[0]), rate(all[1])
	const same = 0.02
	s.Holds("ceio.lim.vxlan", math.Abs(a-b) <= same*a, fmt.Sprintf("baseline %.4g, CEIO %.4g M/s", a, b),
		"frames that applications got").On(all[0].Name, all[1].Name)
	s.Value("ceio.lim.vxlan_miss", max(misses(all[0]), misses(all[1])), "of lookups of I/O buffers; the more of both").
		On(all[0].Name, all[1].Name)
	return nil
}
