package flexins

import (
	"fmt"
	"math"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Receive measures WRITEs of 8 KB over twelve connections by the size of the receive rings.
var Receive = study.Experiment{
	Group: "flexins", Name: "receive", Title: "Reception: in-cache and naive, by the size of the receive rings",
	Figures:  "FN Fig. 14, SN Fig. 13",
	Pictures: receivePictures,
	Claims:   []string{"smartns.rxe.flat_linerate", "smartns.rxe.armmem", "smartns.rxe.naive_knee"},
	Inputs: inputs(
		study.Input{Name: "payload", Value: 8192, Unit: "B", Source: "SN Fig. 13: elements of 8 KB; a packet each, " +
			"so that the MTU is 8,192"},
		study.Input{Name: "element", Value: 8320, Unit: "B", Source: "assumption: 128 B more for headers that the " +
			"NIC does not know"},
		study.Input{Name: "connections", Value: 12, Unit: "connections", Source: "SN Fig. 13: one a core"},
		study.Input{Name: "arm.llc", Value: 16, Unit: "MB", Source: "bf3.arm_llc"},
		study.Input{Name: "flat", Value: 0.03, Unit: "of the rate", Source: "smartns.rxe.flat_linerate: +-3%"},
		study.Input{Name: "knee.below", Value: 1, Unit: "GB/s", Source: "assumption: what counts as near zero, a " +
			"little more than the 0.8 GB/s that are printed for in-cache reception"},
		study.Input{Name: "knee.beyond", Value: 10, Unit: "GB/s", Source: "assumption: what counts as bound by DRAM, " +
			"ten times as much; the model's DRAM carries up to 60"},
	),
	Run:   receive,
	Notes: []string{"the stack has one naive design; the paper has naive reception by RDMA and by DMA"},
	Settled: map[string]string{"smartns.rxe.flat_linerate": "rings of 32 elements a core and more: 16, fewer than " +
		"the packets under way, get 349 Gbps"},
	Reasons: map[string]string{"smartns.rxe.naive_knee": "beyond the cache the NIC's receive buffer of 64 KB a port " +
		"overflows, as Arm DRAM is slower than the cables. Connections that lose a packet of a retransmission stall " +
		"until their timers end, 2.1 ms; two or three are left, whose rings fit the cache. Cables back to back mark " +
		"nothing, so that DCQCN has nothing to react to"},
}

// ringLogs has log2 of the elements of a core's receive ring. Fewer would hold up senders with 64 packets under way.
var ringLogs = []int{5, 6, 7, 8, 9}

func receive(s *study.Session) error {
	logs := ringLogs
	if s.Few() {
		logs = []int{5, 9}
	}
	designs := []string{"in_cache", "naive"}
	var scenes []*scene
	for _, d := range designs {
		for _, log := range logs {
			scenes = append(scenes, receiveScene(s, d, log))
		}
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	ring := study.Axis{Name: "receive rings", Unit: "MB", Log: true}
	x := study.NewSeries("receive", "WRITEs of 8 KB, by the size of the receive rings", "payload", "Gbps", ring)
	mem := study.NewSeries("receive_memory", "Arm DRAM of the receiver", "bandwidth", "GB/s", ring)
	mb := func(i int) float64 {
		return float64(int(s.Input("connections"))<<logs[i]) * s.Input("element") / (1 << 20)
	}
	for i, p := range all {
		name := map[string]string{"in_cache": inCache, "naive": naive}[designs[i/len(logs)]]
		point.Add(x, name, &p.Rate, mb(i%len(logs)))
		mem.Add(name, p.arm[1], mb(i%len(logs)))
	}
	s.Record(x, mem)
	judgeReceive(s, all[:len(logs)], all[len(logs):], mb)
	return nil
}

// Designs of reception, as series name them.
const (
	inCache = "in-cache"
	naive   = "naive"
)

func judgeReceive(s *study.Session, own, other []*played, mb func(int) float64) {
	full, least, most, high := goodput(s, bothGbps, s.Input("payload")), math.Inf(1), 0.0, 0.0
	var runs, theirs []string
	for _, p := range own {
		least, most, high = min(least, p.Rate.Gbps), max(most, p.Rate.Gbps), max(high, p.arm[1])
		runs = append(runs, p.Name)
	}
	near := s.Input("flat")
	s.Holds("smartns.rxe.flat_linerate", least >= (1-near)*full && most <= (1+near)*full, fmt.Sprintf("%.4g to %.4g "+
		"of %.4g Gbps, rings to %.3g MB", least, most, full, mb(len(own)-1)), "within 3% of the line rate").On(runs...)
	s.Value("smartns.rxe.armmem", high, "most at all sizes of the rings").On(runs...)
	// The knee: little below half the cache, much beyond the whole.
	little, much := s.Input("knee.below"), s.Input("knee.beyond")
	below, beyond, from := 0.0, math.Inf(1), 0.0
	for i, p := range other {
		theirs = append(theirs, p.Name)
		switch size := mb(i); {
		case size <= s.Input("arm.llc")/2:
			below, from = max(below, p.arm[1]), size
		case size > s.Input("arm.llc"):
			beyond = min(beyond, p.arm[1])
		}
	}
	s.Holds("smartns.rxe.naive_knee", below <= little && beyond >= much, fmt.Sprintf("at most %.3g GB/s up to %.3g "+
		"MB, at least %.3g beyond 16 MB", below, from, beyond), "near zero is 1 GB/s, and bound by DRAM more than "+
		"10").On(theirs...)
}

// receiveScene returns a scene with rings of 2^log elements.
func receiveScene(s *study.Session, design string, log int) *scene {
	data := fmt.Sprintf("receive: %s, log_receive: %d, every: %d, payload_bytes: %g, ", design, log, max(1<<log/16, 1),
		s.Input("element"))
	c := &scene{
		name:   fmt.Sprintf("%s, rings of 2^%d elements", design, log),
		stacks: stack(s, "mtu: 8192, ", data),
		workloads: []string{fmt.Sprintf("kind: write, processes: %g, ports: 2, depth: %g, sizes: [%g], mtu: 8192",
			s.Input("connections"), s.Input("depth"), s.Input("payload"))},
		warm: point.WarmUp(s, 3*milli/2), window: 2 * milli,
	}
	if design == "naive" && log > 6 {
		c.window = 6 * milli // rates swing when packets are lost
	}
	return c
}
