package flexins

import (
	"fmt"
	"math"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Batch measures READs of 64 B over one connection, in batches that a handler on the card serves, and one by one.
var Batch = study.Experiment{
	Group: "flexins", Name: "batch", Title: "Many READs over one connection, by the card and one by one",
	Figures:  "FN Fig. 16b, SN Fig. 15b",
	Pictures: batchPictures,
	Claims:   []string{"smartns.eng.batched_read", "smartns.eng.rnic_read_cap"},
	Inputs: inputs(
		study.Input{Name: "read", Value: 64, Unit: "B", Source: "SN Fig. 15b"},
		study.Input{Name: "batches", Value: 32, Unit: "requests", Source: "assumption: batches under way, four for " +
			"each engine core"},
		study.Input{Name: "engine.cores", Value: 8, Unit: "cores", Source: "half of the Arm cores, beside 7 for data " +
			"and one for control; the paper has several, and the ratio decides how many",
			Anchors: []string{"smartns.eng.batched_read"}},
		study.Input{Name: "rnic.reads", Value: 16, Unit: "READs", Source: "RDMA NICs: outstanding READs of a queue " +
			"pair; model of the rnic"},
		study.Input{Name: "flat", Value: 0.1, Unit: "of the rate", Source: "assumption: growth from 4 READs at a " +
			"time to 64 that counts as none"},
		study.Input{Name: "batch.data.cores", Value: 7, Unit: "cores", Source: "of 16 Arm cores, those without " +
			"engine and control"},
	),
	Arithmetic: []string{"smartns.eng.rnic_read_cap"}, // more READs are posted than may be under way
	Run:        batch,
}

var (
	batchSizes = []int{1, 4, 16, 32, 64}
	fewCores   = []int{1, 4} // engine cores, besides those of input engine.cores
)

func batch(s *study.Session) error {
	kind, device := rnic(s)
	engineCores := append(fewCores[:2:2], int(s.Input("engine.cores")))
	var scenes []*scene
	for _, n := range batchSizes {
		load := fmt.Sprintf("kind: batched_read, depth: %g, sizes: [%g], mtu: 4096", s.Input("batches"),
			s.Input("read")*float64(n))
		window := 2*milli + simcore.Ps(n)*milli/4
		for _, cores := range engineCores {
			scenes = append(scenes, &scene{name: fmt.Sprintf("batches of %d, %d engine cores", n, cores),
				stacks:    stackOn(s, int(s.Input("batch.data.cores")), fmt.Sprintf("engine_cores: %d, ", cores), ""),
				workloads: []string{load}, warm: 200 * simcore.Microsecond, window: window, payload: "fresh"})
		}
		scenes = append(scenes, &scene{name: fmt.Sprintf("%d READs at a time", n), stacks: kind, devices: device,
			workloads: []string{load + ", by: reads"}, warm: 200 * simcore.Microsecond, window: window,
			payload: "fresh"})
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("batch", "READs of 64 B over one connection", "payload", "Gbps",
		study.Axis{Name: "READs at a time", Unit: "", Log: true})
	per := len(engineCores) + 1
	low, high, runs := math.Inf(1), 0.0, []string{}
	for i, n := range batchSizes {
		for k, cores := range engineCores {
			point.Add(x, fmt.Sprintf("%s, %d engine cores", system, cores), &all[per*i+k].Rate, float64(n))
		}
		r := all[per*i+per-1]
		point.Add(x, rnicName, &r.Rate, float64(n))
		if n >= batchSizes[1] { // one at a time, posting limits the rate
			low, high, runs = min(low, r.Rate.Gbps), max(high, r.Rate.Gbps), append(runs, r.Name)
		}
	}
	s.Record(x)
	best, r := all[len(all)-2], all[len(all)-1]
	s.Value("smartns.eng.batched_read", best.Rate.Gbps/r.Rate.Gbps, fmt.Sprintf("batches of %d: %.3g Gbps with %d "+
		"engine cores, %.3g by READs, %g of which are outstanding", batchSizes[len(batchSizes)-1], best.Rate.Gbps,
		engineCores[len(engineCores)-1], r.Rate.Gbps, s.Input("rnic.reads"))).On(best.Name, r.Name)
	flat := s.Input("flat")
	last := all[len(all)-1].Rate.Gbps
	s.Holds("smartns.eng.rnic_read_cap", last <= (1+flat)*all[2*per-1].Rate.Gbps, fmt.Sprintf("%.3g to %.3g "+
		"Gbps", low, high),
		"64 at a time get no more than 10% above 4 at a time").On(runs...)
	return nil
}
