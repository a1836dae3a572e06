package ceio

import (
	"fmt"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Release measures how many messages a batch may have after which credits return (lazy release).
var Release = study.Experiment{
	Group: "ceio", Name: "release", Title: "Credits that return after batches of messages", Figures: "CE section 4.1",
	Claims: []string{"ceio.lazy.batch_release"},
	Inputs: inputs(study.Input{Name: "few", Value: 64, Unit: "requests", Source: "assumption: of a CPU-involved " +
		"flow, fewer than its share of the credits, so that a core which keeps pace never runs dry"}), Run: release,
	Notes: []string{"the paper does not print its batch; all other experiments have 32. A flow's share is 375 " +
		"credits here. Flows of both kinds have fewer packets under way, 64 and 368, so that only the batch can run " +
		"them dry: 32 requests are 32 packets, 32 chunks are 1,472"},
}

// defaultBatch is the batch of all other experiments, that of stack/ceio/manager.
const defaultBatch = 32

var batches = []int{1, 8, defaultBatch, 128, 256}

// releaseScene has eight flows of one kind, and another batch.
func releaseScene(s *study.Session, kind string, batch int) *point.Scene {
	const flows = 8
	payload, workload := putBytes, fmt.Sprintf("kind: kv, transport: udp, from: %s, to: 0, depth: %g",
		list(from(1, flows)), s.Input("few"))
	if kind == bypass {
		payload, workload = 0, file(s, "file", from(1, flows)...)
	}
	return &point.Scene{Name: fmt.Sprintf("%s, batch %d", kind, batch), Board: testbed(s, flows),
		Stacks:    withCEIO.stacks(s, flows, payload, timers(s), fmt.Sprintf("batch: %d", batch)),
		Workloads: []string{workload}, Warm: point.WarmUp(s, milli/2), Window: milli / 2}
}

// slowShare returns the share of packets that took the slow path.
func slowShare(p *point.Played) float64 {
	c := &p.Stats.Credits[0]
	return float64(c.Slow) / float64(max(c.Fast+c.Slow, 1))
}

func release(s *study.Session) error {
	sizes := batches
	if s.Few() {
		sizes = []int{1, defaultBatch}
	}
	kinds := []string{involved, bypass}
	var scenes []*point.Scene
	for _, n := range sizes {
		for _, kind := range kinds {
			scenes = append(scenes, releaseScene(s, kind, n))
		}
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	batch := study.Axis{Name: "batch", Unit: "messages", Log: true}
	rate := study.NewSeries("release_rate", "Eight flows of one kind, by batch", "goodput, answers included", "Gbps",
		batch)
	slow := study.NewSeries("release_slow", "Packets on the slow path, by batch", "share of packets", "", batch)
	holds, text := false, ""
	for i, p := range all {
		kind, n := kinds[i%len(kinds)], sizes[i/len(kinds)]
		point.Add(rate, kind, &p.Rate, float64(n))
		slow.Add(kind, slowShare(p), float64(n))
	}
	s.Record(rate, slow)
	for i, n := range sizes {
		a, b := slowShare(all[i*len(kinds)]), slowShare(all[i*len(kinds)+1])
		text += fmt.Sprintf("batch %d: %.3g, %.3g  ", n, a, b)
		holds = holds || n == defaultBatch && a == 0 && b > 0
	}
	s.Holds("ceio.lazy.batch_release", holds, text, fmt.Sprintf("slow packets of CPU-involved and of CPU-bypass "+
		"flows, as shares of all; with a batch of %d want none, and some", defaultBatch)).Counted()
	return nil
}
