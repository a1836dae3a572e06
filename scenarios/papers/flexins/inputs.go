package flexins

import (
	"fmt"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// anchor is the claim that calibrates the Arm loops: line rate with more than 5 connections of 2 KB, one a core.
const anchor = "smartns.net.multi_linerate_conns"

// shared are the inputs that every experiment of this package uses.
var shared = []study.Input{
	{Name: "testbed", Text: "bf3-cores-pair", Source: "host.nic: board preset, two servers back to back by two " +
		"cables of 200 Gbps; caches and DRAM as there"},
	{Name: "rnic", Text: "connectx7", Source: "host.mot_nic: model of the NIC with a transport of its own; in the " +
		"slot of the BlueField-3 card, with one of its ports, unless more than 200 Gbps are wanted"},
	core("parse", 150), core("build", 120), core("element", 40), core("touch", 20),
	{Name: "data.cores", Value: 12, Unit: "cores", Source: "FN section 5.4: 12 Arm cores"},
	{Name: "depth", Value: 64, Unit: "requests", Source: "FN section 5: TX depth 64"},
	{Name: "headers", Value: 82, Unit: "B", Source: "RoCEv2 over IPv4: preamble and gap 20, Ethernet 14 and FCS 4, " +
		"IPv4 20, UDP 8, BTH 12, ICRC 4; a WRITE's first packet has 16 more"},
}

// factor scales the stack's own cycle costs, so that a packet of 2 KB of one connection takes a core 225 ns.
const factor = 0.63

// core returns the input of a cycle cost of the Arm loops.
func core(what string, cycles float64) study.Input {
	return study.Input{Name: "arm." + what, Value: factor * cycles, Unit: "cycles", Source: "one factor for parse, " +
		"build, element and touch so that a connection sends a packet of 2 KB every 225 ns: line rate over 5 to 6 " +
		"connections, SN Fig. 10a", Anchors: []string{anchor},
		Instead: &study.Instead{Value: cycles, Source: "the stack's default: assumption"}}
}

// inputs returns the given inputs, followed by the shared ones.
func inputs(own ...study.Input) []study.Input { return append(own, shared...) }

// stack returns a stack of kind flexins. data has further options of its data cores, each with a comma behind it.
func stack(s *study.Session, options, data string) string {
	return stackOn(s, int(s.Input("data.cores")), options, data)
}

// stackOn is stack with a number of data cores.
func stackOn(s *study.Session, cores int, options, data string) string {
	return stackOf(cores, options, data, func(what string) float64 { return s.Input("arm." + what) })
}

// stackOf is stackOn with the cycle costs that cost returns.
func stackOf(cores int, options, data string, cost func(what string) float64) string {
	return fmt.Sprintf("{kind: flexins, flexins: {data_cores: %d, %sdata: {%sparse_cycles: %.0f, build_cycles: %.0f, "+
		"element_cycles: %.0f, touch_cycles: %.0f}}}", cores, options, data, cost("parse"), cost("build"),
		cost("element"), cost("touch"))
}

// rnic returns the stack of a server with an RDMA NIC, and the device in its slot.
func rnic(s *study.Session) (stack, device string) {
	return "{kind: rnic}", "{kind: rnic, model: " + s.Text("rnic") + "}"
}

// Line rates of the testbed: of a port, and of both.
const (
	portGbps = 200
	bothGbps = 400
)

// goodput returns the payload rate of a line that carries WRITEs or SENDs in packets of n bytes of payload.
func goodput(s *study.Session, line, n float64) float64 { return line * n / (n + s.Input("headers")) }

const milli = simcore.Millisecond

// noSnap is a note on figures that have Snap's curve in the paper.
const noSnap = "Snap is not modelled"
