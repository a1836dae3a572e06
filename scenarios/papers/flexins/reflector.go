package flexins

import (
	"fmt"

	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Reflector measures round trips of small frames that a server sends back.
var Reflector = study.Experiment{
	Group: "flexins", Name: "reflector", Title: "Reflector of frames of 64 B",
	Figures:  "FN Fig. 15b, SN Fig. 14b",
	Pictures: reflectorPictures,
	Claims: []string{"smartns.naive.l2_latency", "smartns.naive.l2_vs_rnic", "smartns.l2.unopt_vs_rnic",
		"smartns.l2.opt_minus_rnic"},
	Inputs: inputs(study.Input{Name: "frame", Value: 64, Unit: "B", Source: "SN Fig. 14b; 46 B of message behind the " +
		"Ethernet header and in front of the check sequence"}),
	Run: reflector,
	Notes: []string{"5.5 us of the paper are four detours over the Arm (10.1 − 10.1/2.2), 1.9 us two (10.1/1.4/1.11 " +
		"− 10.1/2.2): 1.4 us and 1.0 us each",
		"low-latency queue pairs are of RC: they have headers of RoCE, and acknowledgements, where the others are " +
			"raw frames",
		"built after a first miss (16.0 and 8.1 us): completions behind payload by a fence (fence: true), whole " +
			"entries by register writes (push_blocks: 4), low-latency elements sent at once", noSnap},
}

func reflector(s *study.Session) error {
	kind, device := rnic(s)
	const raw, low = "transport: raw", "transport: rc, low_latency: true, notice: bytes"
	own, lowStack := stack(s, "", ""), stack(s, "low_latency_qps: 2, ", "")
	systems := []struct{ name, stack, device, options string }{
		{system, own, "", raw}, {lowLatency, lowStack, "", low}, {rnicName, kind, device, raw},
		{rnicName + ", RC", kind, device, "transport: rc"},
	}
	var scenes []*scene
	for _, x := range systems {
		scenes = append(scenes, reflectorScene(s, x.name+" reflector", x.stack, x.device, x.options))
	}
	all, err := play(s, scenes...)
	if err != nil {
		return err
	}
	y := study.NewSeries("reflector", "Round trip of a frame of 64 B", "latency", "us", study.Axis{Name: "system"})
	at := map[string]float64{}
	for i, p := range all {
		at[systems[i].name] = p.round(2) // a message and its answer
		y.Bar("round trip", systems[i].name, at[systems[i].name])
	}
	s.Record(y)
	plain, base, opt := all[0].Name, all[2].Name, all[1].Name
	how := fmt.Sprintf("%.3g us; RNIC %.3g us", at[system], at[rnicName])
	s.Value("smartns.naive.l2_latency", at[system], "mean round trip of raw frames, both ends over the Arm").On(plain)
	s.Value("smartns.naive.l2_vs_rnic", at[system]/at[rnicName], how).On(plain, base)
	s.Value("smartns.l2.unopt_vs_rnic", at[system]/at[rnicName], how).On(plain, base)
	s.Value("smartns.l2.opt_minus_rnic", at[lowLatency]-at[rnicName], fmt.Sprintf("%.3g us with low-latency queue "+
		"pairs; RNIC %.3g us, over RC %.3g", at[lowLatency], at[rnicName], at[rnicName+", RC"])).On(opt, base)
	return nil
}

// reflectorScene returns a scene of round trips of a frame of the session's length. Its window begins behind the
// posting of receive requests, thousands for raw frames, which holds up the first frames.
func reflectorScene(s *study.Session, name, stack, device, options string) *scene {
	const framing = 18 // Ethernet header and check sequence
	return &scene{
		name: name, stacks: stack, devices: device,
		workloads: []string{fmt.Sprintf("kind: reflector, %s, depth: 1, sizes: [%g]", options,
			s.Input("frame")-framing)},
		warm: point.WarmUp(s, 2*milli), window: 8 * milli, payload: "fresh",
	}
}

// lowLatency names the stack with low-latency queue pairs in series.
const lowLatency = "FlexiNS, low-latency QP"
