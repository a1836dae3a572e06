package ceio

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Verbs measures eight flows of echoes over RDMA, and the gain over UDP beside that over RDMA.
var Verbs = study.Experiment{
	Group: "ceio", Name: "verbs", Title: "Eight CPU-involved flows over RDMA", Figures: "CE Fig. 9, Table 2",
	Pictures: verbsPictures,
	Claims:   append([]string{"ceio.e2e.dpdk_eq_rdma"}, verbsTails...),
	Inputs: inputs(rdmaModel, hostLines, echoAck,
		study.Input{Name: "shring.entries", Value: 4096, Unit: "entries", Source: "ce.shring: receive requests of " +
			"ShRing, of all cores together"},
		study.Input{Name: "burst", Value: 32, Unit: "completions", Source: "assumption: that a core takes before it " +
			"answers their requests, as many as packets over UDP; building and taking entries costs loads and stores " +
			"alone there, too"},
		study.Input{Name: "posts", Value: repost, Unit: "entries", Source: "assumption: most requests, answers or " +
			"receive requests that one doorbell announces, as many as buffers are posted at a time over UDP; one of " +
			"so many answers has a completion"},
		study.Input{Name: "receives", Value: ring, Unit: "requests", Source: "receive requests of a flow, as many as " +
			"its ring has buffers over UDP"},
		study.Input{Name: "rdma.depth", Value: (ring - repost) / 2, Unit: "requests", Source: "assumption: as " +
			"echo.depth, as many as the receive requests of a flow take at any time, which are posted 32 at a time. " +
			"Answers are sent from the request's buffer, which is free when the core sees that they were " +
			"acknowledged. While cores stand still, a new request may come for each answer"},
		study.Input{Name: "buffer", Value: 1984, Unit: "B", Source: "a buffer of these, which takes 2 KB of the " +
			"cache (ce.buf) with the guard of 64 B behind it"},
		study.Input{Name: "head", Value: 128, Unit: "B", Source: "of a request, which a core reads before the rest: " +
			"eRPC finds session and handler by the header of a packet. The pair of lines that cores fetch at once, " +
			"as over UDP"},
		study.Input{Name: "mark_at", Value: 65, Unit: "packets", Source: "assumption: waiting slow packets of a flow " +
			"from which on CEIO marks, the threshold of DCTCP's switches"},
		pause),
	Run:     verbs,
	Settled: settledVerbs(),
	Reasons: map[string]string{
		"ceio.e2e.dpdk_eq_rdma": "at 128 B the RDMA NIC's contexts limit both systems over RDMA, those of a " +
			"ConnectX-6, before cores miss",
		"ceio.t2.baseline.erpc_rdma.p999":      waiting + "160 us at the 25 M/s of cores that miss. " + oneQueue,
		"ceio.t2.hostcc.erpc_rdma.p99":         idle,
		"ceio.t2.hostcc.erpc_rdma.p99.factor":  idle,
		"ceio.t2.hostcc.erpc_rdma.p999.factor": idle,
		"ceio.t2.ceio.erpc_rdma.p999":          linkFull + ". " + idle,
		"ceio.t2.ceio.erpc_rdma.p99.factor":    linkFull,
		"ceio.t2.ceio.erpc_rdma.p999.factor":   linkFull,
		"ceio.t2.shring.erpc_rdma.p999.factor": oneQueue,
	},
	Notes: []string{"the RDMA NIC is a model in Go only, and counts credits itself (docs/ceio.md)",
		"ShRing is a shared receive queue to which all cores post under a lock (docs/rivals.md)",
		"at 512 B CEIO is measured when the windows of DCTCP have come to rest, after 40 ms: by then all flows have " +
			"as many requests under way as they may",
		"HostCC has its control loop on a core of its own, and marks by a register of the NIC (docs/rivals.md), as " +
			"packets pass no software; ShRing and HostCC are measured at 512 B alone",
		"latencies are those of all requests that are answered in the window"},
}

// Reasons of the misses.
const (
	waiting  = "3,968 requests under way take "
	linkFull = waiting + "90 us on a link that brings 44 M/s, however soon they are served"
	idle     = "behind the pause HostCC's rings are full, too: at 25 M/s the IIO buffer holds fewer lines than its " +
		"threshold, so that HostCC marks nothing"
	oneQueue = "ShRing's are longer: answers leave from the request's buffer, which is free when its core sees that, " +
		"behind the completions of other requests. So the queue is empty at times, and requests that find none wait " +
		"for a timer of the sender (RNR NAK), which does not shrink its window as a lost packet does over UDP"
)

// settledVerbs returns how the claims were settled.
func settledVerbs() map[string]string {
	all := settled(append([]string{"ceio.e2e.dpdk_eq_rdma"}, verbsTails...))
	for c := range all {
		all[c] += "; over RDMA a doorbell announces up to 32 entries, and receive buffers are those of a ring over " +
			"UDP: each entry had a doorbell, and a flow 4,096 packed buffers, until the claims had been seen. The " +
			"server's cores pause once, and latencies are those behind it, as in static: until then they were of " +
			"whole runs. A flow has 496 requests under way, so that none waits for a receive request: it had 736, " +
			"and after the pause senders waited for timers until rings were short. Cores read the header of a " +
			"request first, as over UDP, and answer by 64 B (ceio.cfg.echo_ack): they had fetched all of it at once, " +
			"and sent all of it back. Slow packets are copied ahead within a flow's share: all were, as they came. " +
			"ShRing was a queue for each core, with an eighth of the entries, until one could be shared by all, and " +
			"the NIC read 16 of its entries ahead"
	}
	return all
}

// column is the name in claims of Table 2 of echoes over RDMA.
const column = "erpc_rdma"

// verbsTails are the claims of Table 2 about echoes over RDMA.
var verbsTails = []string{"ceio.t2.baseline.erpc_rdma.p999", "ceio.t2.hostcc.erpc_rdma.p99",
	"ceio.t2.hostcc.erpc_rdma.p99.factor", "ceio.t2.hostcc.erpc_rdma.p999.factor",
	"ceio.t2.shring.erpc_rdma.p999.factor", "ceio.t2.ceio.erpc_rdma.p99.factor", "ceio.t2.ceio.erpc_rdma.p999",
	"ceio.t2.ceio.erpc_rdma.p999.factor"}

var verbsSizes = []int{128, 512, 1024}

// tailSize is the length of the requests of Table 2.
const tailSize = 512

func verbsScene(s *study.Session, x system, n int) *point.Scene {
	common := fmt.Sprintf("cc: {kind: dctcp}, burst: %g, core: {build_cycles: 0, take_cycles: 0}", s.Input("burst"))
	options, receives := common, fmt.Sprintf("receives: %g", s.Input("receives"))
	posts := fmt.Sprintf("batch: %[1]g, receive_batch: %[1]g, signal_every: %[1]g", s.Input("posts"))
	window := simcore.Ps(milli)
	switch x {
	case withCEIO:
		options += fmt.Sprintf(", accounts: {flows: %d, credits: %g, mark_at: %g}", staticFlows, s.Input("credits"),
			s.Input("mark_at"))
	case hostCC:
		options += fmt.Sprintf(", hostcc: {occupancy_lines: %g}", s.Input("hostcc.lines"))
	case shRing:
		receives = fmt.Sprintf("shared_receive: true, shared_receive_by: server, receives: %g",
			s.Input("shring.entries")/staticFlows)
		window *= 3 // rates are less regular
	}
	clients := strings.Repeat(fmt.Sprintf(", {kind: rnic, rnic: {%s}}", common), staticFlows)
	warm, count := 4*milli, 50_000 // in 1 ms, flows do not get their shares back that others took in the pause
	if x == withCEIO && n == tailSize {
		warm, count = 40*milli, 300_000 // windows grow by a packet of a flow in a round trip
	}
	warm = point.WarmUp(s, warm)
	return &point.Scene{Name: fmt.Sprintf("%s, %s, %d B", x, column, n), Board: testbed(s, staticFlows),
		Devices: fmt.Sprintf("{kind: rnic, model: %s}", s.Text("rnic")),
		Stacks:  fmt.Sprintf("{kind: rnic, rnic: {%s}}%s", options, clients),
		Workloads: []string{fmt.Sprintf("kind: reflector, from: %s, to: 0, sizes: [%d], depth: %g, mtu: 1024, %s, "+
			"receive_bytes: %g, answer: %g, head: %g, %s", list(from(1, staticFlows)), n, s.Input("rdma.depth"),
			receives, s.Input("buffer"), s.Input("answer"), s.Input("head"), posts)},
		Count: count, More: x.pause(s, warm), Warm: warm, Window: window, Counters: lookups, Latency: true}
}

// verbsTable has the points of the experiment: over RDMA, and over UDP those that gains are compared with.
type verbsTable struct {
	s      *study.Session
	sizes  []int
	answer int // bytes of an answer
	at     map[staticKey]*point.Played
}

func verbs(s *study.Session) error {
	t := verbsTable{s: s, sizes: verbsSizes, answer: int(s.Input("answer")), at: map[staticKey]*point.Played{}}
	if s.Few() {
		t.sizes = []int{tailSize}
	}
	var scenes []*point.Scene
	var keys []staticKey
	for _, n := range t.sizes {
		for _, x := range allSystems {
			if (x == shRing || x == hostCC) && n != tailSize {
				continue
			}
			keys, scenes = append(keys, staticKey{x, column, n}), append(scenes, verbsScene(s, x, n))
		}
		for _, x := range []system{baseline, withCEIO} {
			keys = append(keys, staticKey{x, involved, n})
			scenes = append(scenes, staticScene(s, x, involved, n, t.answer))
		}
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	size := study.Axis{Name: "packet", Unit: "B", Log: true}
	rate := study.NewSeries("verbs", "Eight flows over RDMA", "payload", "Gbps", size)
	miss := study.NewSeries("verbs_misses", "Eight flows over RDMA", missAxis, "", size)
	for i, k := range keys {
		if t.at[k] = all[i]; k.kind == involved {
			continue
		}
		point.Add(rate, string(k.x), requests(all[i], k.n, t.answer), float64(k.n))
		miss.Add(string(k.x), misses(all[i]), float64(k.n))
	}
	s.Record(rate, miss)
	t.gains()
	t.tails()
	return nil
}

// gains judges whether CEIO gains as much over RDMA as over UDP.
func (t *verbsTable) gains() {
	const near = 0.15
	holds, text := true, ""
	var runs []string
	for _, n := range t.sizes {
		var gain []float64
		for _, kind := range []string{involved, column} {
			a, b := t.at[staticKey{withCEIO, kind, n}], t.at[staticKey{baseline, kind, n}]
			gain, runs = append(gain, a.Rate.Gbps/b.Rate.Gbps), append(runs, a.Name, b.Name)
		}
		holds = holds && max(gain[0], gain[1]) <= (1+near)*min(gain[0], gain[1])
		text += fmt.Sprintf("%d B: %.3g, %.3g  ", n, gain[0], gain[1])
	}
	t.s.Holds("ceio.e2e.dpdk_eq_rdma", holds, text, "CEIO over the baseline, over UDP and over RDMA").On(runs...)
}

// tails judges the claims of Table 2.
func (t *verbsTable) tails() {
	x := study.NewSeries("verbs_tails", "Latencies of requests of 512 B over RDMA", "latency", "us",
		study.Axis{Name: "percentile"})
	values, runs, all := map[string][]float64{}, map[system]string{}, []string{}
	for _, k := range allSystems {
		p := t.at[staticKey{k, column, tailSize}]
		p99, p999 := tails(p)
		x.Bar(string(k), "99%", p99)
		x.Bar(string(k), "99.9%", p999)
		values["p99"], values["p999"] = append(values["p99"], p99), append(values["p999"], p999)
		runs[k], all = p.Name, append(all, p.Name)
	}
	t.s.Record(x)
	of := func(k system, tail string) float64 { return values[tail][slices.Index(allSystems, k)] }
	for _, claim := range verbsTails {
		parts := strings.Split(strings.TrimPrefix(claim, "ceio.t2."), ".")
		k, tail := tailNames[parts[0]], parts[2]
		const factor = 4
		if len(parts) < factor {
			t.s.ValueAnd(claim, of(k, tail), "of all requests that are answered in the window", disorder(values[tail])).
				On(all...)
			continue
		}
		base, v := of(baseline, tail), of(k, tail)
		t.s.Value(claim, base/v, fmt.Sprintf("%.4g against %.4g us", base, v)).On(runs[k], runs[baseline])
	}
}

var verbsPictures = map[string]study.Picture{
	"verbs": {Figure: "CE Fig. 9"}, "verbs_misses": {Figure: "CE Fig. 9"},
	"verbs_tails": {Figure: "CE Table 2", Printed: []study.Printed{
		{Claim: "ceio.t2.baseline.erpc_rdma.p999", System: string(baseline), Label: "99.9%"},
		{Claim: "ceio.t2.hostcc.erpc_rdma.p99", System: string(hostCC), Label: "99%"},
		{Claim: "ceio.t2.ceio.erpc_rdma.p999", System: string(withCEIO), Label: "99.9%"},
	}},
}
