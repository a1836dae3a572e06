package ceio

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/board"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run/stats"
)

// Static measures eight flows of one kind by the size of their packets: rate, misses, and latencies at 512 B.
var Static = study.Experiment{
	Group: "ceio", Name: "static", Title: "Eight flows of one kind, by packet size", Figures: "CE Fig. 9, Table 2",
	Pictures: staticPictures,
	Settled:  settledStatic(), Claims: staticClaims,
	Inputs: inputs(hostLines, pause, echoAck),
	Run:    static, Reasons: staticReasons(),
	Notes: []string{"latencies are those of all requests that are answered in the window", missNote},
}

// echoAck is the length of the answers of echoes.
var echoAck = study.Input{Name: "answer", Value: 64, Unit: "B", Source: "ceio.cfg.echo_ack: of a CPU-involved flow, " +
	"the first bytes of its request. Taken as payload, as sizes of packets are: over UDP its frame has 158 B"}

// staticClaims are the claims of Fig. 9 and Table 2.
var staticClaims = append([]string{
	"ceio.e2e.missrate_ceio", "ceio.e2e.vs_hostcc", "ceio.e2e.hitrate_vs_hostcc", "ceio.e2e.shring_missrate",
	"ceio.e2e.vs_shring_static", "ceio.e2e.erpc_gt_linefs", "ceio.e2e.small_gain_large", "ceio.les.linefs_frac",
	"ceio.les.linefs_miss", "ceio.les.erpc_near_linerate", "ceio.intro.lat_range",
}, tailClaims...)

// settledStatic returns how the claims were settled: those about echoes by shorter answers, too.
func settledStatic() map[string]string {
	all := settled(staticClaims)
	for c := range all {
		all[c] += "; the server's cores pause once, and latencies are those behind it: they did not, and latencies " +
			"were of whole runs, until the claims had been seen"
		if strings.Contains(c, "miss") || strings.Contains(c, "hitrate") {
			all[c] += settledMisses
		}
		if !strings.Contains(c, ".linefs.") && c != "ceio.les.linefs_miss" {
			all[c] += "; echoes are answered by 64 B (ceio.cfg.echo_ack): it was as many bytes as they have, at first"
		}
	}
	all["ceio.e2e.vs_shring_static"] += ". Read until then as an order at every size; but the paper has both at line " +
		"rate with large packets (ceio.les.erpc_near_linerate, ceio.e2e.small_gain_large), as here from 512 B on"
	return all
}

// staticReasons returns the reasons of the misses of echoes.
func staticReasons() map[string]string {
	const under = "5,888 requests under way take "
	all := map[string]string{
		"ceio.les.linefs_miss": "cores read what has just been copied to the host; 32% of the baseline's lookups miss",
		"ceio.e2e.small_gain_large": "cores that miss take longer for 256 B than for 128 (273 and 232 ns), others as " +
			"long (109 and 106)",
	}
	for _, c := range tailClaims {
		if strings.Contains(c, ".linefs.") {
			all[c] = "eight chunks of a flow are under way, whatever the system, and cores take them nearly as fast " +
				"from memory as from the cache; marks of CEIO do not make them fewer"
		}
		switch {
		case !strings.Contains(c, ".erpc_dpdk."):
		case strings.Contains(c, ".baseline."):
			all[c] = under + "231 us at the 25.5 M/s of cores that miss"
		case strings.Contains(c, ".hostcc."):
			all[c] = under + "157 us at the 37 M/s that a throttled host has"
		default:
			all[c] = under + "140 us on a link that brings 42 M/s, however soon they are served"
		}
	}
	return all
}

// Kinds of flows, as the claims have them.
const (
	involved = "erpc_dpdk"
	bypass   = "linefs"
)

var (
	allSystems  = []system{baseline, hostCC, shRing, withCEIO}
	staticOnes  = append([]system{unpaused}, allSystems...)
	packetSizes = []int{128, 256, 512, 1024}
	staticKinds = []string{involved, bypass}
)

const (
	staticFlows = 8

	unpaused system = "Baseline without a pause"
)

var pause = study.Input{Name: "pause", Value: 100, Unit: "us", Source: "assumption: of all cores of the server, " +
	"once in the warm-up, as when an operating system runs something else there. It fills rings, and what a system " +
	"makes of full rings lasts. 20 us of all cores, or 150 of half of them, come to the same. Shorter than the " +
	"clients' timeout of 200 us"}

// staticScene has flows of a kind with packets of n bytes, and answers of so many bytes if they are CPU-involved.
func staticScene(s *study.Session, x system, kind string, n, answer int) *point.Scene {
	const packets = 46 // of a chunk, as in mixes
	fields := fmt.Sprintf("kind: echo, sizes: [%d], answer: %d, depth: %g", n, answer, s.Input("echo.depth"))
	payload, warm, span := n, 3*milli, 2*milli // HostCC takes 2 ms to its last state, when its memory is throttled
	count := 0                                 // the usual one
	if x == shRing && n == 256 {
		span, count = 8*milli, 200_000 // its rate swings, as no other does, for longer than a millisecond
	}
	if kind == bypass {
		payload, warm, span = 0, milli, 12*milli // of fewer messages, each counted when it is whole
		fields = fmt.Sprintf("kind: chunks, sizes: [%d], depth: %g, chunks: {segment: %d, ahead: 2, line_cycles: %g}",
			packets*n, s.Input("chunks"), n, s.Input("line_cycles"))
	}
	warm = point.WarmUp(s, warm)
	return &point.Scene{Name: fmt.Sprintf("%s, %s, %d B", x, kind, n), Board: testbed(s, staticFlows),
		Stacks: x.stacks(s, staticFlows, payload), Count: count, Counters: lookups,
		Workloads: []string{fmt.Sprintf("transport: udp, from: %s, to: 0, %s", list(from(1, staticFlows)), fields)},
		More:      x.pause(s, warm), Warm: warm, Window: span, Latency: true}
}

// pause returns the load that takes the server's cores once in a warm-up, at a tenth of it and for no longer than that.
func (x system) pause(s *study.Session, warm simcore.Ps) string {
	if x == unpaused {
		return ""
	}
	at := warm / 10
	return fmt.Sprintf("load: {server: 0, at: cores, from: %dps, until: %dps}\n", at,
		at+min(at, simcore.Ps(s.Input("pause"))*micro))
}

// lookups returns the lines of I/O buffers that the server's cores looked up in its last-level cache, and those that
// were not there.
func lookups(rack *board.Rack) []uint64 {
	n := make([]uint64, 2)
	for _, l := range rack.Cards()[0].Memory.Host(nicspec.EndpointHost).LLC {
		c := l.Counters()
		t := &c[mem.Core]
		n[0], n[1] = n[0]+t.BufferReads, n[1]+t.BufferReads-t.BufferHits
	}
	return n
}

// missAxis names the axis of misses.
const missAxis = "lookups of I/O buffers that miss"

// misses returns the share of the lookups that missed.
func misses(p *point.Played) float64 { return float64(p.Grown[1]) / float64(max(p.Grown[0], 1)) }

// staticKey names a point.
type staticKey struct {
	x    system
	kind string
	n    int
}

// staticTable has the points of the experiment.
type staticTable struct {
	s      *study.Session
	at     map[staticKey]*point.Played
	sizes  []int
	answer int // bytes of an echo's answer
}

func static(s *study.Session) error {
	t := staticTable{s: s, at: map[staticKey]*point.Played{}, sizes: packetSizes, answer: int(s.Input("answer"))}
	if s.Few() {
		t.sizes = []int{512}
	}
	var keys []staticKey
	var scenes []*point.Scene
	for _, kind := range staticKinds {
		for _, n := range t.sizes {
			for _, x := range staticOnes {
				if x == unpaused && kind != involved {
					continue
				}
				keys, scenes = append(keys, staticKey{x, kind, n}), append(scenes, staticScene(s, x, kind, n, t.answer))
			}
		}
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	for i, k := range keys {
		t.at[k] = all[i]
	}
	size := study.Axis{Name: "packet", Unit: "B", Log: true}
	for _, kind := range staticKinds {
		rate := study.NewSeries("static_"+kind, "Eight flows, "+kind, "payload", "Gbps", size)
		miss := study.NewSeries("misses_"+kind, "Eight flows, "+kind, missAxis, "", size)
		for i, k := range keys {
			if k.kind == kind {
				point.Add(rate, string(k.x), t.requests(k), float64(k.n))
				miss.Add(string(k.x), misses(all[i]), float64(k.n))
			}
		}
		s.Record(rate, miss)
	}
	t.rates()
	t.missRates()
	t.latencies()
	return nil
}

// requests returns the rate of requests, or of chunks, whose answers are so short that they count.
func (t *staticTable) requests(k staticKey) *stats.Rate {
	p := t.at[k]
	if k.kind == bypass {
		return &p.Rate
	}
	return requests(p, k.n, t.answer)
}

// gbps returns the rate of requests.
func (t *staticTable) gbps(x system, kind string, n int) float64 {
	return t.requests(staticKey{x, kind, n}).Gbps
}

func (t *staticTable) runs(kind string, sizes []int, systems ...system) (names []string) {
	for _, x := range systems {
		for _, n := range sizes {
			names = append(names, t.at[staticKey{x, kind, n}].Name)
		}
	}
	return names
}

// over returns the ratios of the rates of two systems with flows of a kind, of all sizes.
func (t *staticTable) over(kind string, a, b system) (all []study.Ratio) {
	for _, n := range t.sizes {
		all = append(all, study.Ratio{Of: t.rate(a, kind, n), To: t.rate(b, kind, n)})
	}
	return all
}

// rate returns the rate of requests with its run.
func (t *staticTable) rate(x system, kind string, n int) study.Rate {
	return study.Rate{Value: t.gbps(x, kind, n), Run: t.at[staticKey{x, kind, n}].Name}
}

func (t *staticTable) rates() {
	s := t.s
	most(s, "ceio.e2e.vs_hostcc", "the largest ratio of all sizes, CPU-involved", t.over(involved, withCEIO, hostCC))
	above, below := false, false
	var text string
	for _, n := range t.sizes {
		a, b := t.gbps(withCEIO, involved, n), t.gbps(shRing, involved, n)
		above, below = above || study.Above(a, b), below || study.Above(b, a)
		text += fmt.Sprintf("%d B: %.4g, %.4g Gbps  ", n, a, b)
	}
	s.Holds("ceio.e2e.vs_shring_static", above && !below, text,
		"CEIO and ShRing, CPU-involved: above at some size, below at none").
		On(t.runs(involved, t.sizes, withCEIO, shRing)...)
	a, of := s.Most(t.over(involved, withCEIO, baseline)...)
	b, to := s.Most(t.over(bypass, withCEIO, baseline)...)
	s.Holds("ceio.e2e.erpc_gt_linefs", study.Above(a, b), fmt.Sprintf("%.3g and %.3g", a, b),
		"largest speed-ups of all sizes").On(slices.Concat(of, to)...)
	falls, before, text := true, 0.0, ""
	for i, n := range t.sizes {
		r := t.gbps(withCEIO, involved, n) / t.gbps(baseline, involved, n)
		falls, before, text = falls && (i == 0 || !study.Above(r, before)), r, text+fmt.Sprintf("%d B: %.3g  ", n, r)
	}
	s.Holds("ceio.e2e.small_gain_large", falls && before < 1.1, text, "speed-up over the baseline").
		On(t.runs(involved, t.sizes, withCEIO, baseline)...)
	var parts []study.Ratio
	for _, n := range t.sizes {
		parts = append(parts, study.Ratio{Of: t.rate(withCEIO, bypass, n), To: t.rate(withCEIO, involved, n)})
	}
	least, runs := s.Least(parts...)
	s.Value("ceio.les.linefs_frac", least, "the smallest ratio of all sizes").On(runs...)
	const line, headers, part = 200, 20 + 4 + 14 + 20 + 8 + 16, 0.9
	last := t.sizes[len(t.sizes)-1]
	g := t.gbps(withCEIO, involved, last)
	full := line * float64(last) / float64(last+headers)
	s.Holds("ceio.les.erpc_near_linerate", g >= part*full, fmt.Sprintf("%.4g of %.4g Gbps at %d B", g, full, last),
		"payload of requests against line rate less headers").On(t.runs(involved, []int{last}, withCEIO)...)
}

func (t *staticTable) missRates() {
	s := t.s
	worst := func(x system, kind string) (most float64) {
		for _, n := range t.sizes {
			most = max(most, misses(t.at[staticKey{x, kind, n}]))
		}
		return most
	}
	const how = "of cores' lookups of I/O buffers in the last-level cache; the most of all sizes"
	own, ring, host := worst(withCEIO, involved), worst(shRing, involved), worst(hostCC, involved)
	s.Value("ceio.e2e.missrate_ceio", own, how).On(t.runs(involved, t.sizes, withCEIO)...)
	s.Holds("ceio.e2e.shring_missrate", max(own-ring, ring-own) <= 0.03, fmt.Sprintf("%.3g, ShRing %.3g", own, ring),
		how).On(t.runs(involved, t.sizes, withCEIO, shRing)...)
	s.Holds("ceio.e2e.hitrate_vs_hostcc", fewer(own, host), fmt.Sprintf("HostCC %.3g, CEIO %.3g", host, own),
		how).On(t.runs(involved, t.sizes, withCEIO, hostCC)...)
	s.Value("ceio.les.linefs_miss", worst(withCEIO, bypass), how).On(t.runs(bypass, t.sizes, withCEIO)...)
}

// fewer reports whether a system misses so much less than another one, which misses at all, as the claim has it.
func fewer(misses, other float64) bool {
	const times = 20
	return other > 0 && other >= times*misses
}
