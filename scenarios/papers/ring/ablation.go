package ring

import (
	"fmt"
	"math"
	"slices"

	"nictwin/scenarios/papers/study"
)

// Ablation measures the ring buffer RB², complete and without each of its parts in turn (Exp#4 of its paper).
var Ablation = study.Experiment{
	Group: "ring", Name: "ablation", Title: "RB2 without each of its parts", Figures: "RB2 Exp#4, Table II",
	Pictures: ablationPictures,
	Claims: []string{"rb2.e4.m2_no_batching", "rb2.e4.m4_largest", "rb2.e4.m6_zero_copy", "rb2.e4.m7_cache_large",
		"rb2.e4.m8_hugepage"},
	Inputs: inputs(
		study.Input{Name: "small", Value: 512, Unit: "B", Source: "RB2 section 5-B, Exp#4"}, largeInputs[0],
		largeInputs[1],
		study.Input{Name: "M3, M5", Text: "no transmission ahead of the tail; head told of at each message",
			Source: "assumption: the paper names M4 alone (rb2_m_labels)"},
	),
	Run: ablate,
	Reasons: map[string]string{
		"rb2.e4.m2_no_batching": "posting a request takes 196 ns here, and a message has two without batching",
		"rb2.e4.m4_largest": "a tail that is left out is told of alpha messages later (rb2_elastic_liveness), " +
			"and a ring of 128 slots is full before that: here the threshold costs more than the WRITEs that it saves",
		"rb2.e4.m7_cache_large": "slots begin 16 B behind a line: a WRITE of 16 slots touches one line more of " +
			"hundreds, and software, which reads the number that a message begins with, none; pointers have " +
			"lines of their own in any case",
	},
}

// parts returns the complete RB² and, for each of its parts, a design that lacks only this part.
func parts(s *study.Session) []design {
	var all []design
	add := func(name string, change func(*design)) {
		d := full(s)
		change(&d)
		d.name = name
		all = append(all, d)
	}
	add("M1", func(*design) {})
	add("M2", func(d *design) { *d = d.unbatched() })
	add("M3", func(d *design) { d.spec.Beta = d.spec.Alpha })
	add("M4", func(d *design) { d.spec.Elastic = false })
	add("M5", func(d *design) { d.spec.Gamma = 1 })
	add("M6", func(d *design) { d.copies = true })
	add("M7", func(d *design) { d.spec.Aligned = false })
	add("M8", func(d *design) { d.small = true })
	add("M9", func(d *design) { d.far = true })
	return all
}

// Names in the picture: those of the two sizes of messages, and of designs that claims are about.
const (
	smallMessages   = "small messages"
	largeMessages   = "large messages"
	complete        = "M1: complete"
	withoutBatching = "M2: no batching"
	unaligned       = "M7: not aligned"
)

var labels = map[string]string{
	"M1": complete, "M2": withoutBatching, "M3": "M3: nothing sent ahead", "M4": "M4: not elastic",
	"M5": "M5: no lazy push", "M6": "M6: copies", "M7": unaligned, "M8": "M8: small pages", "M9": "M9: far socket",
}

func ablate(s *study.Session) error {
	x := study.NewSeries("throughput", "Throughput of RB2 without each of its parts", "throughput", "Gbps",
		study.Axis{Name: "design"})
	small, big, runs := map[string]float64{}, map[string]float64{}, map[int][]string{}
	for _, d := range parts(s) {
		for _, size := range []int{int(s.Input("small")), int(s.Input("large"))} {
			if s.Few() && size >= long && !slices.Contains([]string{"M1", "M6", "M7"}, d.name) {
				continue // no claim is about this design and size
			}
			r, err := throughput(s, d, size)
			if err != nil {
				return err
			}
			runs[size] = append(runs[size], r.name)
			if size == int(s.Input("small")) {
				x.BarEstimate(smallMessages, labels[d.name], r.Estimate)
				small[d.name] = r.Rate
			} else {
				x.BarEstimate(largeMessages, labels[d.name], r.Estimate)
				big[d.name] = r.Rate
			}
		}
		s.Logf("%s", d.name)
	}
	s.Record(x)
	kept := func(of map[string]float64, name string) float64 { return of[name] / of["M1"] }
	drop := func(of map[string]float64, name string) float64 { return 1 - kept(of, name) }
	few, most := runs[int(s.Input("small"))], runs[int(s.Input("large"))]
	all := append(slices.Clone(few), most...)
	s.Value("rb2.e4.m2_no_batching", drop(small, "M2"), "loss of throughput of small messages").On(few...)
	s.Holds("rb2.e4.m4_largest", study.Above(min(small["M3"], small["M5"]), small["M4"]),
		fmt.Sprintf("small messages lose %.1f%% without the elastic threshold, %.1f%% without transmission ahead, "+
			"%.1f%% without lazy push", 100*drop(small, "M4"), 100*drop(small, "M3"), 100*drop(small, "M5")),
		"loss of throughput of small messages").On(few...)
	s.Holds("rb2.e4.m6_zero_copy", study.Above(kept(small, "M6"), kept(big, "M6")),
		fmt.Sprintf("large messages lose %.1f%%, small ones %.1f%%", 100*drop(big, "M6"), 100*drop(small, "M6")),
		"loss with copies").On(all...)
	const low, high = 0.29 / 2, 0.29 * 2
	lost := drop(big, "M7")
	s.Holds("rb2.e4.m7_cache_large", study.Above(kept(small, "M7"), kept(big, "M7")) && lost >= low && lost <= high,
		fmt.Sprintf("large messages lose %.1f%%, small ones %.1f%%", 100*lost, 100*drop(small, "M7")),
		"loss without alignment: larger for large messages, and 0.29 within a factor of 2").On(all...)
	change := math.Abs(drop(small, "M8"))
	if !s.Few() {
		change = max(change, math.Abs(drop(big, "M8")))
	}
	s.Value("rb2.e4.m8_hugepage", change,
		"change with pages of 4 KB, the larger of small and large messages").On(all...)
	return nil
}
