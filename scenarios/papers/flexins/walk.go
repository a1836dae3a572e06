package flexins

import (
	"errors"
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Walk measures walks through lists in the server's memory, by a handler on its card and by a READ for each hop.
var Walk = study.Experiment{
	Group: "flexins", Name: "walk", Title: "Lists walked on the card, and by READs",
	Figures:  "FN Fig. 16a, SN Fig. 15a",
	Pictures: walkPictures,
	Claims:   []string{"smartns.eng.list_latency", "smartns.eng.list_stability"},
	Inputs: inputs(study.Input{Name: "element", Value: 64, Unit: "B", Source: "SN section 5.6: keys of 8 B, values " +
		"of 64",
		Anchors: []string{"smartns.eng.list_element"}}),
	Run: walk,
	Reasons: map[string]string{"smartns.eng.list_stability": "nothing disturbs a READ here: the RDMA NIC's latency " +
		"does not vary, and there is no other traffic; a handler waits for polls of its core"},
}

// byReads names walks by READs in series.
const byReads = rnicName + ", a READ a hop"

var walkHops = []int{1, 2, 4, 8, 16, 32}

func walk(s *study.Session) error {
	kind, device := rnic(s)
	own := stackOn(s, int(s.Input("data.cores")), "", "")
	var scenes []*scene
	for _, h := range walkHops {
		load := fmt.Sprintf("kind: list_walk, depth: 1, sizes: [%g], hops: [%d]", s.Input("element"), h)
		window := 10*milli + simcore.Ps(h)*2*milli // 500 walks and more
		scenes = append(scenes,
			&scene{name: fmt.Sprintf("%d hops on the card", h), stacks: own, workloads: []string{load},
				warm: 100 * simcore.Microsecond, window: window, payload: "fresh"},
			&scene{name: fmt.Sprintf("%d hops by READs", h), stacks: kind, devices: device,
				workloads: []string{load + ", by: reads"}, warm: 100 * simcore.Microsecond, window: window,
				payload: "fresh"})
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	hops := study.Axis{Name: "hops"}
	y := study.NewSeries("walk", "Walks through lists, one at a time", "latency", "us", hops)
	z := study.NewSeries("walk_spread", "Jitter of walks: the 90th percentile less the median", "latency", "us", hops)
	t := walkTable{}
	for i, h := range walkHops {
		card, reads := all[2*i], all[2*i+1]
		a, err1 := card.end()
		b, err2 := reads.end()
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		y.Add(system, a.mean, float64(h))
		y.Add(byReads, b.mean, float64(h))
		z.Add(system, a.spread, float64(h))
		z.Add(byReads, b.spread, float64(h))
		t.card, t.reads = append(t.card, a), append(t.reads, b)
		t.runs = append(t.runs, card.Name, reads.Name)
	}
	s.Record(y, z)
	t.judge(s)
	return nil
}

// walkTable holds the latencies of walks, by hops.
type walkTable struct {
	card, reads []ended
	runs        []string
}

func (t *walkTable) judge(s *study.Session) {
	last, broken := len(walkHops)-1, ""
	for i := range last {
		if a, b := t.reads[i].mean/t.card[i].mean, t.reads[i+1].mean/t.card[i+1].mean; study.Above(a, b) {
			broken = fmt.Sprintf("the ratio falls from %.3g to %.3g at %d hops", a, b, walkHops[i+1])
		}
	}
	s.ValueAnd("smartns.eng.list_latency", t.reads[last].mean/t.card[last].mean, fmt.Sprintf("%d hops: %.3g us by "+
		"READs, %.3g on the card", walkHops[last], t.reads[last].mean, t.card[last].mean), broken).On(t.runs...)
	calm, worst, other := true, 0.0, 0.0
	for i := range walkHops {
		calm = calm && t.card[i].spread < t.reads[i].spread
		worst, other = max(worst, t.card[i].spread), max(other, t.reads[i].spread)
	}
	s.Holds("smartns.eng.list_stability", calm, fmt.Sprintf("up to %.3g us on the card, %.3g by READs", worst, other),
		"90% less the median, at each number of hops").On(t.runs...)
}
