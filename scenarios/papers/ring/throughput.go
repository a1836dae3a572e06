package ring

import (
	"fmt"

	"nictwin/scenarios/papers/study"
)

// Throughput compares RB² with other ring buffers, and with plain WRITEs (Exp#1).
var Throughput = study.Experiment{
	Group: "ring", Name: "throughput", Title: "Throughput of ring buffers by message size",
	Figures:  "RB2 Exp#1, Fig. 5",
	Pictures: throughputPictures,
	Claims: []string{"rb2.small_tput_vs_drbs", "rb2.e1.large_bw", "rb2.e1.sd_small_vs_raw", "rb2.e1.sd_large_copy",
		"rb2.e1.l5_large"},
	Inputs: inputs(append(rawInputs, largeInputs...)...),
	Run:    designThroughput,
	Reasons: map[string]string{
		"rb2.e1.large_bw": "a path MTU of 1,024 leaves 97.5 Gbps of 100, and nothing in the model takes the rest",
		"rb2.small_tput_vs_drbs": "SocksDirect posts a request, and takes a completion, for each message (304 ns), " +
			"RB2 three requests for 32",
		"rb2.e1.l5_large": "writing twice costs 8 B a message, and copying at 7 GB/s leaves half of the line: " +
			"only a sender that waits for each message would be so slow, and its small messages would be, too",
	},
}

// largeInputs are the inputs of measurements in which shorter messages stand for the largest ones.
var largeInputs = []study.Input{
	{
		Name: "large", Value: 64 << 10, Unit: "B", Source: "stands for 1 MB (rb2.e1.sweep), with caches divided as " +
			"it is", Anchors: []string{"rb2.e1.sweep"},
	},
	{Name: "large.scale", Value: 16, Unit: "x", Source: "1 MB over large: caches of sockets and cores are " +
		"divided by it, so that rings are to caches as theirs are"},
}

func sizes(s *study.Session) []int { return []int{64, 512, 4096, int(s.Input("large"))} }

func designThroughput(s *study.Session) error {
	x := study.NewSeries("throughput", "Throughput of ring buffers", "throughput", "Gbps",
		study.Axis{Name: "message", Unit: "B", Log: true})
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
				continue // no claim is about this design and size
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
	on := func(name string, size int) string { return all[name][size].name }
	over := func(name string) float64 { return all["RB2"][0].Rate / all[name][0].Rate }
	s.Values("rb2.small_tput_vs_drbs", "RB2 over the best and over the worst comparator at 64 B",
		min(over("SocksDirect"), over("FaRM"), over("L5")), max(over("SocksDirect"), over("FaRM"), over("L5"))).On(
		on("RB2", 0),
		on("SocksDirect", 0), on("FaRM", 0), on("L5", 0))
	last := len(sizes(s)) - 1
	big := func(name string) *rate { return all[name][last] }
	s.Value("rb2.e1.large_bw", big("RB2").Gbps(), "payload of large messages").On(on("RB2", last))
	s.Value("rb2.e1.sd_small_vs_raw", all["SocksDirect"][0].Rate/all["WRITE"][0].Rate,
		"SocksDirect over WRITEs at 64 B").On(on("SocksDirect", 0), on("WRITE", 0))
	const least = 0.8 // minimum share of a message's time that is spent copying
	copying := 1 - big("SocksDirect").millions()/all["SocksDirect"][0].millions()
	s.Holds("rb2.e1.sd_large_copy", copying > least && study.Above(big("RB2").Rate, big("SocksDirect").Rate),
		fmt.Sprintf("copying takes %.0f%% of a message's time: %.1f Gbps, RB2 %.1f", 100*copying,
			big("SocksDirect").Gbps(), big("RB2").Gbps()), "time of a large message, less that of one of 64 B, "+
			"which has all but the copying").On(on("SocksDirect", 0), on("SocksDirect", last), on("RB2", last))
	const share = 0.3
	s.Holds("rb2.e1.l5_large", big("L5").Rate <= share*big("RB2").Rate,
		fmt.Sprintf("L5 %.1f Gbps, RB2 %.1f", big("L5").Gbps(), big("RB2").Gbps()),
		"large messages: L5 at most 0.3 of RB2").On(on("L5", last), on("RB2", last))
	return nil
}
