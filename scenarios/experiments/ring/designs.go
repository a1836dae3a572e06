package ring

import (
	"fmt"

	"nictwin/scenarios/experiments/study"
)

// Throughput compares RB² with the other ring buffers, and with WRITEs alone (Exp#1).
var Throughput = study.Experiment{
	Group: "ring", Name: "throughput", Title: "Throughput of ring buffers by message size", Figures: "RB2 Exp#1, Fig. 5",
	Claims: []string{"rb2.small_tput_vs_drbs", "rb2.e1.large_bw", "rb2.e1.sd_small_vs_raw", "rb2.e1.sd_large_copy", "rb2.e1.l5_large"},
	Inputs: inputs(append(rawInputs, largeInput)...),
	Run:    designThroughput,
	Reasons: map[string]string{
		"rb2.e1.large_bw": "a path MTU of 1,024 leaves 97.5 Gbps of 100, and nothing in the model takes the rest",
		"rb2.e1.l5_large": "writing twice costs 8 B a message, and copying leaves 56 Gbps: only a sender that waits for each message would be so slow, and its small messages would be, too",
	},
}

// largeInput stands for the largest messages.
var largeInput = study.Input{
	Name: "large", Value: 64 << 10, Unit: "B", Source: "assumption: stands for 1 MB (rb2.e1.sweep). A ring of 8 MB is beyond what devices have of the cache (4.5 MB), as one of 128 MB is; 1 MB takes 16 times as long",
	Anchors: []string{"rb2.e1.sweep"},
}

func sizes(s *study.Session) []int { return []int{64, 512, 4096, int(s.Input("large"))} }

func designThroughput(s *study.Session) error {
	x := study.NewSeries("throughput", "Throughput of ring buffers", "throughput", "Gbps", study.Axis{Name: "message", Unit: "B", Log: true})
	all := map[string][]*rate{}
	for i, size := range sizes(s) {
		r, err := raw(s, size)
		if err != nil {
			return err
		}
		x.AddEstimate("WRITE", r.Estimate, float64(size))
		all["WRITE"] = append(all["WRITE"], r)
		for _, d := range rings(s) {
			if s.Few() && size >= long && d.name == "FaRM" {
				continue // no claim is about it
			}
			if r, err = throughput(s, d, size); err != nil {
				return err
			}
			x.AddEstimate(d.name, r.Estimate, float64(size))
			all[d.name] = append(all[d.name], r)
		}
		s.Logf("%d of %d sizes", i+1, len(sizes(s)))
	}
	s.Record(x)
	over := func(name string) float64 { return all["RB2"][0].Rate / all[name][0].Rate }
	s.Values("rb2.small_tput_vs_drbs", "RB2 over the best and over the worst comparator at 64 B; both lie in the paper's range, the first far above its end",
		min(over("SocksDirect"), over("FaRM"), over("L5")), max(over("SocksDirect"), over("FaRM"), over("L5")))
	last := len(sizes(s)) - 1
	big := func(name string) *rate { return all[name][last] }
	s.Value("rb2.e1.large_bw", big("RB2").Gbps(), "payload of large messages")
	s.Value("rb2.e1.sd_small_vs_raw", all["SocksDirect"][0].Rate/all["WRITE"][0].Rate, "SocksDirect over WRITEs at 64 B")
	const most = 0.8 // of a core's time that is spent copying
	s.Holds("rb2.e1.sd_large_copy", big("SocksDirect").copying > most && big("SocksDirect").Rate < big("RB2").Rate,
		fmt.Sprintf("copying takes %.0f%% of the sender's core: %.1f Gbps, RB2 %.1f", 100*big("SocksDirect").copying, big("SocksDirect").Gbps(), big("RB2").Gbps()), "large messages: bytes over the core's rate of copying")
	const share = 0.3
	s.Holds("rb2.e1.l5_large", big("L5").Rate <= share*big("RB2").Rate, fmt.Sprintf("L5 %.1f Gbps, RB2 %.1f", big("L5").Gbps(), big("RB2").Gbps()), "large messages: L5 at most 0.3 of RB2")
	return nil
}

// Latency is of one message at a time, there and back (Exp#2).
var Latency = study.Experiment{
	Group: "ring", Name: "round-trips", Title: "Round trips of one message at a time, unbatched", Figures: "RB2 Exp#2, Fig. 6",
	Claims:  []string{"rb2.e2.small_avg", "rb2.e2.l5_64B"},
	Inputs:  inputs(),
	Run:     designLatency,
	Reasons: map[string]string{"rb2.e2.l5_64B": "L5 writes a message and its tail as RB2 does; what lets it be faster is not in the paper"},
}

var latencySizes = []int{16, 64, 512, 4096}

func designLatency(s *study.Session) error {
	x := study.NewSeries("mean", "Mean round trip of ring buffers", "round trip", "us", study.Axis{Name: "message", Unit: "B", Log: true})
	y := study.NewSeries("p99", "99% of round trips of ring buffers", "round trip", "us", study.Axis{Name: "message", Unit: "B", Log: true})
	at := map[string]trip{}
	for _, size := range latencySizes {
		for _, d := range rings(s) {
			if d.spec.Window == 0 {
				d = d.unbatched()
			}
			t, _, err := exchange{d: d, request: size, bulk: size, window: 1, rounds: rounds}.measure(s)
			if err != nil {
				return err
			}
			x.Add(d.name, t.mean, float64(size))
			y.Add(d.name, t.p99, float64(size))
			if size == 64 {
				at[d.name] = t
			}
		}
	}
	s.Record(x, y)
	const near = 0.15
	sd := at["SocksDirect"].mean
	if r := at["RB2"].mean; r < sd*(1-near) || r > sd*(1+near) {
		s.Logf("RB2 and SocksDirect are further apart than 15%%: %.2f and %.2f us", r, sd)
	}
	s.Value("rb2.e2.small_avg", at["RB2"].mean, fmt.Sprintf("mean round trip of 64 B; SocksDirect %.2f us", sd))
	s.Value("rb2.e2.l5_64B", at["L5"].mean, "mean round trip of 64 B")
	return nil
}
