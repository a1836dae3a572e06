package ceio

import (
	"fmt"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Index compares last-level caches with plain set bits and with a hashed index.
var Index = study.Experiment{
	Group: "ceio", Name: "index", Title: "CPU-involved flows with two kinds of cache index", Figures: "–",
	Inputs: inputs(), Run: indexes,
	Notes: []string{"with plain set bits a buffer of 2 KB takes its place in the cache however short its packet is, " +
		"as C_total assumes; hashed, the ways of devices hold the packets of 144 B of all rings"},
}

var indexKinds = []string{"plain", "hashed"}

// indexScene has eight CPU-involved flows on a server whose cache has an index of a kind.
func indexScene(s *study.Session, x system, index string) *point.Scene {
	const flows = 8
	return &point.Scene{Name: fmt.Sprintf("%s, %s index", x, index),
		Board:  testbedWith(s, flows, index, ""),
		Stacks: x.stacks(s, flows, putBytes), Workloads: []string{store(s, "store", from(1, flows)...)},
		Warm: point.WarmUp(s, milli), Window: milli, Counters: lookups}
}

func indexes(s *study.Session) error {
	systems := []system{baseline, withCEIO}
	var scenes []*point.Scene
	for _, index := range indexKinds {
		for _, x := range systems {
			scenes = append(scenes, indexScene(s, x, index))
		}
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	axis := study.Axis{Name: "index"}
	rate := study.NewSeries("index_rate", "Eight CPU-involved flows, by index", "requests", "M/s", axis)
	miss := study.NewSeries("index_misses", "Eight CPU-involved flows, by index", missAxis, "", axis)
	for i, p := range all {
		x, index := systems[i%len(systems)], indexKinds[i/len(systems)]
		r, _ := mpps(s, p, "store")
		rate.Bar(string(x), index, r)
		miss.Bar(string(x), index, misses(p))
	}
	s.Record(rate, miss)
	return nil
}
