package ring

import (
	"nictwin/models/simcore"
	"nictwin/scenarios/experiments/study"
	"nictwin/stack/rb2"
)

// shared are the inputs of every experiment here.
var shared = []study.Input{
	{Name: "testbed", Text: "connectx5-cores-pair", Source: "rb.nic beside rb.cpu: board preset; the switch (rb.switch) is cut-through, 90 ns"},
	{Name: "net.mtu", Value: 1024, Unit: "B", Source: "assumption: InfiniBand PMTU of the testbed, declared; headers are InfiniBand's"},
	{Name: "net.cable", Value: 10, Unit: "ns", Source: "assumption: two cables and a switch, as in the off-path testbed"},
	{Name: "nic.latency", Value: 50, Unit: "ns", Source: "offpath.bg.rdma_latency: what requester and responder of a ConnectX-6 add, here of a ConnectX-5: assumption"},
	{Name: "host.build", Value: 76, Unit: "ns", Source: "assumption: building up to 64 B of an entry, as in the off-path testbed"},
	{Name: "host.take", Value: 8, Unit: "ns", Source: "assumption: taking up to 64 B of a completion entry"},
	{Name: "host.look", Value: 25, Unit: "ns", Source: "fs.sq_loop_2000: a look at one ring that has nothing"},
	{Name: "host.mmio", Value: 120, Unit: "ns", Source: "assumption: a register write, as in the off-path testbed"},
	{Name: "ring.work", Value: 10, Unit: "ns", Source: "assumption: pointers and branches of WRITEMSG and READMSG"},
	{Name: "ring.slots", Value: 128, Unit: "slots", Source: "rb.slots", Anchors: []string{"rb2.cfg.ring"}},
	{Name: "alpha", Value: 32, Unit: "messages", Source: "rb.alpha", Anchors: []string{"rb2.cfg.alpha"}},
	{Name: "beta", Value: 16, Unit: "messages", Source: "rb.beta", Anchors: []string{"rb2.cfg.beta"}},
	{Name: "gamma", Value: 32, Unit: "messages", Source: "rb.gamma; the comparators', too: assumption", Anchors: []string{"rb2.cfg.gamma"}},
	{Name: "sd.window", Value: 10, Unit: "messages", Source: "rb.sd_inflight", Anchors: []string{"rb2.cfg.sd_inflight"}},
}

// inputs are those of an experiment of its own, and the shared ones.
func inputs(own ...study.Input) []study.Input { return append(own, shared...) }

func ns(v float64) simcore.Ps { return simcore.Ps(v * float64(simcore.Nanosecond)) }

// design is a ring buffer, and how its software goes about messages.
type design struct {
	name   string
	spec   rb2.Spec
	copies bool // messages are copied into slots, and out of them; else software works in the slots
	small  bool // pages of 4 KB, of cores and NIC, instead of 2 MB
	far    bool // the ring lies in the memory of the socket that the core and the NIC are not at
}

// full is RB² with all that it has.
func full(s *study.Session) design {
	return design{name: "RB2", spec: rb2.Spec{
		Alpha: int(s.Input("alpha")), Beta: int(s.Input("beta")), Gamma: int(s.Input("gamma")),
		Head: rb2.HeadPush, Tail: rb2.TailWrite, Elastic: true, Aligned: true, Slots: int(s.Input("ring.slots")),
	}}
}

// unbatched is a design whose messages leave one by one.
func (d design) unbatched() design {
	d.spec.Alpha, d.spec.Beta, d.spec.Elastic = 1, 1, false
	return d
}

// The comparators (Table I of the paper): all lay messages back to back and copy them. SocksDirect tells by the completion of a
// WRITE_WITH_IMM, batches what waits for fewer than sd.window messages to be under way; FaRM, as the paper changed it, writes each
// message and then a word that its reader polls; L5 writes each message and then the tail. FaRM has huge pages.
func farm(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.spec.Aligned, d.spec.Tail = "FaRM", true, false, rb2.TailWord
	return d
}

func l5(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.small, d.spec.Aligned = "L5", true, true, false
	return d
}

func socksDirect(s *study.Session) design {
	d := full(s).unbatched()
	d.name, d.copies, d.small, d.spec.Aligned, d.spec.Tail, d.spec.Window = "SocksDirect", true, true, false, rb2.TailImm, int(s.Input("sd.window"))
	return d
}

// rings are RB² and the comparators.
func rings(s *study.Session) []design { return []design{full(s), socksDirect(s), farm(s), l5(s)} }
