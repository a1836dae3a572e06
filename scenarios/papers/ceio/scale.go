package ceio

import (
	"fmt"
	"strings"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Scale measures sixteen active flows among many connections, and in slots of time of other flows each.
var Scale = study.Experiment{
	Group: "ceio", Name: "scale", Title: "Sixteen active flows among many", Figures: "CE Fig. 12",
	Pictures: map[string]study.Picture{"scale_connections": {Figure: "CE Fig. 12"},
		"scale_slots": {Figure: "CE Fig. 12"}},
	Inputs: inputs(
		study.Input{Name: "active", Value: active, Unit: "flows", Source: "ceio.f12.concurrent"},
		study.Input{Name: "idle.every", Value: 1, Unit: "ms", Source: "assumption: from one request of a further " +
			"connection to the next"},
		study.Input{Name: "idle.bytes", Value: putBytes, Unit: "B", Source: "of their requests, as ce.kv"}),
	Run: scale,
	Notes: []string{"a NIC of the contract has 64 accounts. So further connections share a slow ring, and the flows " +
		"of slots are no more; the baseline has a queue for each connection, so that 64 are its limit",
		"slots are as long as in the paper (ce.scal), each once; its timer of a second is longer than all of them"},
}

// active is the number of flows that are active at a time.
const active = 16

var (
	// connections beside the active ones, a multiple of idleClients
	furtherFlows = []int{0, 42, 245, 1036}
	slotLengths  = []simcore.Ps{milli, 500 * micro, 100 * micro} // of ce.scal
)

const (
	activeClients = 8
	idleClients   = 7
	slots         = 4
)

// wide returns the build of NICs with queues and rules for many connections.
func wide() string {
	const most = 256
	b := nicspec.DefaultBuild()
	return fmt.Sprintf("build: {ports: %d, num_rxq: %d, num_txq: %d, num_keys: %d, num_rules: %d, parts: %d, "+
		"eth_bits: %d, tlp_bits: %d}, ", b.Ports, most, b.NumTxq, b.NumKeys, most, b.Parts, b.EthBits, b.TLPBits)
}

// connectionScene has active flows with an account each, and further connections.
func connectionScene(s *study.Session, x system, further int) *point.Scene {
	const ringLog, behind = 4, 30 * micro
	scene := &point.Scene{Name: fmt.Sprintf("%s, %d connections", x, active+further), Board: testbed(s, activeClients),
		Stacks: x.stacks(s, activeClients, putBytes, timers(s), fmt.Sprintf("flows: %d", active)),
		Warm:   point.WarmUp(s, milli), Window: milli}
	end := scene.Warm + scene.Span(s) + behind
	scene.Passing = []string{activeFlows(s, "active", fmt.Sprintf("end: %dps", end))}
	if further == 0 {
		return scene
	}
	scene.Board = testbedWith(s, activeClients+idleClients, s.Text("index"), wide())
	scene.Stacks += strings.Repeat(fmt.Sprintf(", {kind: udp, hostnet: {log_receive: %d}}", ringLog), idleClients)
	scene.Passing = append(scene.Passing, fmt.Sprintf("name: idle, kind: echo, transport: udp, from: %s, to: 0, "+
		"queue_pairs: %d, sizes: [%g], depth: 1, every: %gms, count: %d, end: %dps",
		list(from(1+activeClients, idleClients)), further/idleClients, s.Input("idle.bytes"), s.Input("idle.every"),
		1+end/milli, end))
	return scene
}

// activeFlows returns the fields of active flows. They have more messages than fit before the end of the workload.
func activeFlows(s *study.Session, name, phase string) string {
	const count = 50_000
	return fmt.Sprintf("name: %s, count: %d, %s, kind: kv, transport: udp, from: %s, to: 0, queue_pairs: %d, depth: %g",
		name, count, phase, list(from(1, activeClients)), active/activeClients, s.Input("depth"))
}

// slotScene has flows with an account each; other ones are active in each slot.
func slotScene(s *study.Session, x system, length simcore.Ps) *point.Scene {
	const behind = 30 * micro
	scene := &point.Scene{Name: fmt.Sprintf("%s, %d flows, slots of %d us", x, slots*active, length/micro),
		Board: testbedWith(s, activeClients, s.Text("index"), wide()), Whole: true, Warm: length / 4,
		Window: slots*length - length/4,
		Stacks: x.stacks(s, activeClients, putBytes, fmt.Sprintf("flows: %d", slots*active))}
	for i := range simcore.Ps(slots) {
		phase := fmt.Sprintf("begin: %dps, end: %dps", i*length, (i+1)*length)
		switch i {
		case 0:
			phase = fmt.Sprintf("end: %dps", length)
		case slots - 1:
			phase = fmt.Sprintf("begin: %dps, end: %dps", i*length, (i+1)*length+behind)
		}
		scene.Passing = append(scene.Passing, activeFlows(s, fmt.Sprintf("slot%d", i), phase))
	}
	return scene
}

// span returns the length of a slot at the session's percentage.
func span(s *study.Session, length simcore.Ps) simcore.Ps {
	const least = 50 * micro
	return max(length*simcore.Ps(s.Percent)/100, least)
}

func scale(s *study.Session) error {
	systems := []system{baseline, withCEIO}
	further := map[system][]int{withCEIO: study.Points(s, furtherFlows), baseline: furtherFlows[:2]}
	lengths := slotLengths
	if s.Few() {
		lengths = lengths[len(lengths)-1:]
	}
	var scenes []*point.Scene
	for _, x := range systems {
		for _, n := range further[x] {
			scenes = append(scenes, connectionScene(s, x, n))
		}
		for _, t := range lengths {
			scenes = append(scenes, slotScene(s, x, span(s, t)))
		}
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	connections := study.NewSeries("scale_connections", "Sixteen active flows among many", "requests of active "+
		"flows",
		"M/s", study.Axis{Name: "connections", Log: true})
	turns := study.NewSeries("scale_slots", fmt.Sprintf("%d flows, sixteen active in each slot", slots*active),
		"requests", "M/s", study.Axis{Name: "slot", Unit: "us", Log: true})
	for _, x := range systems {
		for _, n := range further[x] {
			rate, _ := mpps(s, all[0], "active")
			connections.Add(string(x), rate, float64(active+n))
			all = all[1:]
		}
		for _, t := range lengths {
			const perRequest = 2 // a request, and its answer
			turns.Add(string(x), all[0].Rate.PerSecond/perRequest/1e6, float64(t/micro))
			all = all[1:]
		}
	}
	s.Record(connections, turns)
	return nil
}
