package ring

import (
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// shared are the inputs that every experiment of this package uses.
var shared = []study.Input{
	{Name: "testbed", Text: "connectx5-cores-pair", Source: "rb.nic beside rb.cpu: board preset; the switch " +
		"(rb.switch) is cut-through, 90 ns"},
	{Name: "net.mtu", Value: 1024, Unit: "B", Source: "assumption: InfiniBand PMTU of the testbed, declared; " +
		"headers are InfiniBand's"},
	{Name: "net.cable", Value: 10, Unit: "ns",
		Source: "assumption: two cables and a switch, as in the off-path testbed"},
	{Name: "nic.latency", Value: 50, Unit: "ns", Source: "offpath.bg.rdma_latency: what requester and responder " +
		"of a ConnectX-6 add, here of a ConnectX-5: assumption"},
	{Name: "host.build", Value: 76, Unit: "ns", Source: "assumption: building up to 64 B of an entry, as in the " +
		"off-path testbed"},
	{Name: "host.take", Value: 8, Unit: "ns", Source: "assumption: taking up to 64 B of a completion entry"},
	{Name: "host.look", Value: 25, Unit: "ns", Source: "fs.sq_loop_2000: a look at one ring that has nothing"},
	{Name: "host.mmio", Value: 120, Unit: "ns", Source: "assumption: a register write, as in the off-path testbed",
		Anchors: []string{"offpath.db.mmio_dominates"}},
	{Name: "ring.work", Value: 10, Unit: "ns", Source: "assumption: pointers and branches of WRITEMSG and READMSG"},
	{Name: "ring.slots", Value: 128, Unit: "slots", Source: "rb.slots", Anchors: []string{"rb2.cfg.ring"}},
	{Name: "alpha", Value: 32, Unit: "messages", Source: "rb.alpha", Anchors: []string{"rb2.cfg.alpha"}},
	{Name: "beta", Value: 16, Unit: "messages", Source: "rb.beta", Anchors: []string{"rb2.cfg.beta"}},
	{Name: "gamma", Value: 32, Unit: "messages", Source: "rb.gamma; the comparators', too: assumption",
		Anchors: []string{"rb2.cfg.gamma"}},
	{Name: "recv", Text: "posted one by one", Source: "RB2 section 4-A: one is replenished for each message, " +
		"here by a doorbell of its own; with lists of 16 Push+CQ would take 191 ns a message, not 328"},
	{Name: "words", Text: "each has a completion", Source: "assumption: a word or tail that is written has a " +
		"completion in every design, as RB2's have"},
	{Name: "sd.window", Value: 10, Unit: "messages", Source: "rb.sd_inflight",
		Anchors: []string{"rb2.cfg.sd_inflight"}},
}

// inputs returns the given inputs, followed by the shared ones.
func inputs(own ...study.Input) []study.Input { return append(own, shared...) }

func ns(v float64) simcore.Ps { return simcore.Ps(v * float64(simcore.Nanosecond)) }
