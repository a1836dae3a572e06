package ceio

import (
	"fmt"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Perftest measures RDMA WRITEs as perftest has them, by the size of messages.
var Perftest = study.Experiment{
	Group: "ceio", Name: "perftest", Title: "One flow of RDMA WRITEs", Figures: "CE Fig. 11",
	Pictures: map[string]study.Picture{"perftest": {Figure: "CE Fig. 11"}},
	Inputs: inputs(rdmaModel, study.Input{Name: "writes", Value: 128, Unit: "WRITEs", Source: "under way at a time: " +
		"perftest's default"}, study.Input{Name: "signalled", Value: 4, Unit: "WRITEs", Source: "one of so many has " +
		"a completion: assumption. Of perftest's 100, a window would have too few"}),
	Run: perftest,
	Notes: []string{"beside ceio/single, which has CEIO's two paths; the RDMA NIC is a model in Go only",
		"no core of the server takes part; clients are as fast as the server"},
}

func perftestScene(s *study.Session, n int) *point.Scene {
	return &point.Scene{Name: fmt.Sprintf("%s, %d B", rdmaWrite, n), Board: plainPair(s), Stacks: "{kind: rnic}",
		Devices: fmt.Sprintf("{kind: rnic, model: %s}", s.Text("rnic")),
		Workloads: []string{fmt.Sprintf("kind: write, payload: reused, mtu: 4096, sizes: [%d], depth: %g, "+
			"signal_every: %g, from: 1, to: 0", n, s.Input("writes"), s.Input("signalled"))},
		Warm: point.WarmUp(s, milli/10), Window: milli}
}

func perftest(s *study.Session) error {
	sizes := study.Points(s, append([]int{64}, messages...))
	var scenes []*point.Scene
	for _, n := range sizes {
		scenes = append(scenes, perftestScene(s, n))
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("perftest", "One flow of RDMA WRITEs", "payload", "Gbps",
		study.Axis{Name: "message", Unit: "B", Log: true})
	for i, p := range all {
		point.Add(x, rdmaWrite, &p.Rate, float64(sizes[i]))
	}
	s.Record(x)
	return nil
}
