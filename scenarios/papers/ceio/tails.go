package ceio

import (
	"fmt"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run/stats"
)

// requests returns the rate of requests of so many bytes, each with an answer of so many, from that of both.
func requests(p *point.Played, request, answer int) *stats.Rate {
	r, share := p.Rate, float64(request)/float64(request+answer)
	r.Gbps *= share
	if r.Half != nil {
		r.Half = new(*r.Half * share)
	}
	return &r
}

// half returns the rate of requests whose answers are as long as they are.
func half(p *point.Played) *stats.Rate { return requests(p, 1, 1) }

// tails returns the latencies of requests, to their answers, that 99 and 99.9% are below, in microseconds; 0: too few.
func tails(p *point.Played) (p99, p999 float64) {
	for i := range p.Times {
		l := &p.Times[i]
		if l.Measure != "answer" {
			continue
		}
		if l.P99 != nil {
			p99 = max(p99, float64(*l.P99)/float64(simcore.Microsecond))
		}
		if l.P999 != nil {
			p999 = max(p999, float64(*l.P999)/float64(simcore.Microsecond))
		}
	}
	return p99, p999
}

// tailClaims are the claims of Table 2 about columns that are built.
var tailClaims = []string{
	"ceio.t2.baseline.erpc_dpdk.p99", "ceio.t2.baseline.linefs.p99", "ceio.t2.baseline.linefs.p999",
	"ceio.t2.hostcc.erpc_dpdk.p99", "ceio.t2.hostcc.erpc_dpdk.p99.factor", "ceio.t2.hostcc.erpc_dpdk.p999",
	"ceio.t2.hostcc.linefs.p99", "ceio.t2.hostcc.linefs.p99.factor", "ceio.t2.hostcc.linefs.p999",
	"ceio.t2.shring.erpc_dpdk.p99.factor", "ceio.t2.shring.erpc_dpdk.p999", "ceio.t2.shring.erpc_dpdk.p999.factor",
	"ceio.t2.shring.linefs.p999", "ceio.t2.ceio.erpc_dpdk.p99", "ceio.t2.ceio.erpc_dpdk.p99.factor",
	"ceio.t2.ceio.erpc_dpdk.p999", "ceio.t2.ceio.linefs.p99", "ceio.t2.ceio.linefs.p99.factor",
	"ceio.t2.ceio.linefs.p999",
}

// tailNames are the systems' names in claims of Table 2.
var tailNames = map[string]system{"baseline": baseline, "hostcc": hostCC, "shring": shRing, "ceio": withCEIO}

// disorder returns what contradicts that baseline, HostCC, ShRing and CEIO have latencies in this order, the longest
// one first, as claims of Table 2 say beside their numbers.
func disorder(values []float64) string {
	for i, v := range values[1:] {
		if !study.Above(values[i], v) {
			return fmt.Sprintf("%s has %.4g us, %s %.4g us", allSystems[i], values[i], allSystems[i+1], v)
		}
	}
	return ""
}

// latencies judges the claims of Table 2: packets of 512 B.
func (t *staticTable) latencies() {
	const size = 512
	of := func(x system, kind, tail string) (float64, string) {
		p := t.at[staticKey{x, kind, size}]
		p99, p999 := tails(p)
		if tail == "p999" {
			return p999, p.Name
		}
		return p99, p.Name
	}
	for _, kind := range staticKinds {
		x := study.NewSeries("tails_"+kind, "Latencies of requests of 512 B, "+kind, "latency", "us",
			study.Axis{Name: "percentile"})
		for _, sys := range allSystems {
			p99, p999 := tails(t.at[staticKey{sys, kind, size}])
			x.Bar(string(sys), "99%", p99)
			x.Bar(string(sys), "99.9%", p999)
		}
		t.s.Record(x)
	}
	for _, claim := range tailClaims {
		parts := strings.Split(strings.TrimPrefix(claim, "ceio.t2."), ".")
		v, run := of(tailNames[parts[0]], parts[1], parts[2])
		const factor = 4
		if len(parts) < factor {
			var values []float64
			var runs []string
			for _, x := range allSystems {
				each, run := of(x, parts[1], parts[2])
				values, runs = append(values, each), append(runs, run)
			}
			t.s.ValueAnd(claim, v, "of all requests that are answered in the window", disorder(values)).On(runs...)
			continue
		}
		base, other := of(baseline, parts[1], parts[2])
		t.s.Value(claim, base/v, fmt.Sprintf("%.4g against %.4g us", base, v)).On(run, other)
	}
	low, high := 1e9, 0.0
	var runs []string
	for _, kind := range staticKinds {
		for _, tail := range []string{"p99", "p999"} {
			a, run := of(withCEIO, kind, tail)
			b, other := of(shRing, kind, tail)
			low, high, runs = min(low, b/a), max(high, b/a), append(runs, run, other)
		}
	}
	t.s.Values("ceio.intro.lat_range", "ShRing over CEIO: the least and the most of both tails and kinds", low, high).
		On(runs...)
}
