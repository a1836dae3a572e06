package ceio

import (
	"fmt"
	"math"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Single measures one flow that keeps to one of CEIO's two paths, by the size of its messages.
var Single = study.Experiment{
	Group: "ceio", Name: "single", Title: "One flow on the fast or the slow path", Figures: "CE Fig. 11",
	Pictures: singlePictures, Claims: []string{"ceio.f11.slow_gap"}, Settled: settled([]string{"ceio.f11.slow_gap"}),
	Inputs: inputs(study.Input{Name: "slow.credits", Value: 0, Unit: "packets", Source: "of the slow path: as in the " +
		"paper"}),
	Run:   single,
	Notes: []string{"the RDMA WRITEs of perftest in the same figure are not measured: flows are over UDP"},
}

// messages are the sizes of messages: below 4 KB, 4 KB and above.
var messages = []int{512, 1024, 4096, 16_384, 65_536}

func singleScene(s *study.Session, fast bool, n int) *point.Scene {
	const segment = 1400
	held := int(s.Input("landing")) / 2 // as many as the server may hold
	packets := (n + segment - 1) / segment
	depth := min(1<<int(math.Log2(float64(held/packets))), 64)
	name, credits := "slow", s.Input("slow.credits")
	if fast {
		name, credits = "fast", s.Input("credits")
	}
	return &point.Scene{Name: fmt.Sprintf("%s path, %d B", name, n), Board: testbed(s, 1),
		Stacks: fmt.Sprintf("{kind: ceio, ceio: {credits: %g, landing: %g}, hostnet: {rx_cycles: %g, tx_cycles: %g}}, "+
			"{kind: udp}", credits, s.Input("landing"), s.Input("rx_cycles"), s.Input("tx_cycles")),
		Workloads: []string{fmt.Sprintf("kind: chunks, transport: udp, from: 1, to: 0, sizes: [%d], depth: %d, "+
			"chunks: {copy: false, file: 128}", n, depth)},
		Warm: point.WarmUp(s, milli/2), Window: 4 * milli}
}

func single(s *study.Session) error {
	sizes := study.Points(s, messages)
	var scenes []*point.Scene
	for _, n := range sizes {
		scenes = append(scenes, singleScene(s, true, n), singleScene(s, false, n))
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	x := study.NewSeries("single", "One flow on the fast or the slow path", "payload", "Gbps",
		study.Axis{Name: "message", Unit: "B", Log: true})
	shares := map[int]float64{} // of the fast path's rate, by size
	var runs []string
	for i, n := range sizes {
		fast, slow := all[2*i], all[2*i+1]
		point.Add(x, "fast path", &fast.Rate, float64(n))
		point.Add(x, "slow path", &slow.Rate, float64(n))
		shares[n], runs = slow.Rate.Gbps/fast.Rate.Gbps, append(runs, fast.Name, slow.Name)
	}
	s.Record(x)
	gap, broken := slowGap(shares)
	s.ValueAnd("ceio.f11.slow_gap", gap, "the largest gap of messages above 4 KB", broken).On(runs...)
	return nil
}

// slowGap returns the largest gap of messages above 4 KB, and what contradicts that gaps of shorter ones are larger,
// given the shares of the fast path's rate that the slow path has.
func slowGap(shares map[int]float64) (gap float64, broken string) {
	const small = 4096
	long, short := 1e9, 0.0
	for n, x := range shares {
		if n > small {
			long = min(long, x)
		} else if n < small {
			short = max(short, x)
		}
	}
	if !study.Above(long, short) {
		broken = fmt.Sprintf("a gap of %.3g below 4 KB", 1-short)
	}
	return 1 - long, broken
}
