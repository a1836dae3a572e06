package ceio

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nictwin/models/sim/simcore"
	"nictwin/models/sim/steady"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// phases is a scenario whose flows change from phase to phase.
type phases struct {
	name     string
	clients  int
	flows    int   // connections, those of all phases
	involved []int // flows in each phase
	bypass   []int
	parts    []part         // workloads
	ended    map[string]int // names of key-value stores by the phase before which they ended

	length   simcore.Ps // of a phase
	longer   simcore.Ps // by which the last one is
	settling simcore.Ps // the begin of a phase, which is not measured
}

// part is a workload between the begins of two phases.
type part struct {
	first, end simcore.Ps // phases
	fields     string
	asks       bool // requests, not chunks
}

// phaseInputs are the lengths of phases. Timers are divided by the same factor.
var phaseInputs = []study.Input{
	{Name: "phase", Value: 4, Unit: "ms", Source: "ceio.mot.phase_s: 10 s, divided by 2,500, as are timers. 20 round " +
		"trips of 200 us. The first quarter is not measured: windows of DCTCP open and close in the time that " +
		"they take, which is next to nothing of 10 s"},
	{Name: "baseline.phase", Value: 8, Unit: "ms", Source: "as phase, of the baseline with changing flows, whose " +
		"first quarter is not measured: beside CPU-bypass flows its rates are known to 2.7% in 3 ms"},
	{Name: "hostcc.phase", Value: 10, Unit: "ms", Source: "as phase, of HostCC, whose first 4 ms are not measured: " +
		"six CPU-involved flows beside two CPU-bypass flows have 4% more after 2 ms"},
	{Name: "baseline.last", Value: 40, Unit: "ms", Source: "as baseline.phase, of the last phase: the rate of two " +
		"CPU-involved flows is known to 1.9% in 6 ms"},
	{Name: "hostcc.last", Value: 30, Unit: "ms", Source: "as hostcc.phase, of the last phase with changing flows, " +
		"for the same reason"},
}

// of returns the phases as a system has them.
func (p *phases) of(s *study.Session, x system) *phases {
	length := func(input string) simcore.Ps {
		const least = 100 * micro
		return max(simcore.Ps(s.Input(input))*milli*simcore.Ps(s.Percent)/100, least)
	}
	own := *p
	switch {
	case x == hostCC:
		own.length = length("hostcc.phase")
		own.settling = min(4*milli, own.length*2/5)
		if p.changes() {
			own.longer = length("hostcc.last") - own.length
		}
		return &own
	case x == baseline && p.changes():
		own.length = length("baseline.phase")
		own.longer = length("baseline.last") - own.length
	default:
		own.length = length("phase")
	}
	own.settling = own.length / 4
	return &own
}

// changes reports whether CPU-involved flows become CPU-bypass.
func (p *phases) changes() bool { return slices.Max(p.bypass) > 0 }

// changing returns the phases of Fig. 4a: in each one two more of eight CPU-involved flows become CPU-bypass.
func changing(s *study.Session) *phases {
	p := &phases{name: "dynamic", clients: 8, flows: 8 + 6, ended: map[string]int{},
		involved: []int{8, 6, 4, 2}, bypass: []int{0, 2, 4, 6}}
	last := simcore.Ps(len(p.involved))
	p.store(s, "store", 0, last, 1, 2)
	for i := simcore.Ps(1); i < last; i++ {
		pair, name := from(int(2*i+1), 2), fmt.Sprintf("store%d", i)
		p.ended[name] = int(i)
		p.store(s, name, 0, i, pair...)
		p.parts = append(p.parts, part{first: i, end: last, fields: file(s, fmt.Sprintf("file%d", i), pair...)})
	}
	return p
}

// growing returns the phases of Fig. 4b: eight CPU-involved flows, and two more in each phase.
func growing(s *study.Session) *phases {
	p := &phases{name: "burst", clients: 12, flows: 12, involved: []int{8, 10, 12},
		bypass: []int{0, 0, 0}}
	last := simcore.Ps(len(p.involved))
	p.store(s, "store", 0, last, from(1, 8)...)
	for i := simcore.Ps(1); i < last; i++ {
		p.store(s, fmt.Sprintf("store%d", i), i, last, from(int(7+2*i), 2)...)
	}
	return p
}

// store adds a key-value store between the begins of two phases.
func (p *phases) store(s *study.Session, name string, first, end simcore.Ps, clients ...int) {
	p.parts = append(p.parts, part{first: first, end: end, fields: store(s, name, clients...), asks: true})
}

// fields returns the workloads. Flows have more requests than cores take, 12 a microsecond.
func (p *phases) fields() (all []string) {
	const behind = 30 * micro // the last ones go on behind the window
	const chunks = 10_000
	for _, x := range p.parts {
		count, at, begin := simcore.Ps(chunks), x.end*p.length, ""
		last := int(x.end) == len(p.involved)
		if last {
			at += p.longer
		}
		if x.asks {
			count = 12 * (at - x.first*p.length) / micro
		}
		if last {
			at += behind
		}
		if x.first > 0 {
			begin = fmt.Sprintf(", begin: %dps", x.first*p.length)
		}
		all = append(all, fmt.Sprintf("count: %d, end: %dps%s, %s", count, at, begin, x.fields))
	}
	return all
}

func (p *phases) scene(s *study.Session, x system) *point.Scene {
	p = p.of(s, x)
	t := simcore.Ps(s.Input("timer") * float64(simcore.Second) * float64(p.length) / float64(10*simcore.Second))
	var more []string
	if x == withCEIO {
		more = []string{fmt.Sprintf("flows: %d, inactive: %dps, reactivate: %dps", p.flows, t, t)}
	}
	_, total := p.judged(len(p.involved) - 1)
	return &point.Scene{Name: fmt.Sprintf("%s, %s", x, p.name), Board: testbed(s, p.clients),
		Stacks: x.stacks(s, p.clients, putBytes, more...), Passing: p.fields(), Warm: p.settling,
		Window: total - p.settling, Whole: true, Series: true, Samples: samples}
}

// samples is the most samples of a run, so that a phase has many.
const samples = 2048

// judged returns the part of a phase in which it is measured.
func (p *phases) judged(phase int) (from, to simcore.Ps) {
	begin := p.length * simcore.Ps(phase)
	if from, to = begin+p.settling, begin+p.length; phase == len(p.involved)-1 {
		to += p.longer
	}
	return from, to
}

// level is a mean over a phase, with the half width of its interval.
type level struct{ mean, half float64 }

// mean returns the mean in a phase of the sum of some counters of a point, and its 95% interval from the values of
// the series, merged to 20 batches.
func (p *phases) mean(x *point.Played, phase int, counter func(where, what string) bool) level {
	from, to := p.judged(phase)
	var values []float64
	for i := range x.Series.Intervals() {
		a, b := x.Series.Interval(i)
		if a < from || b > to {
			continue
		}
		sum := 0.0
		for k := range x.Series.Counters {
			if c := &x.Series.Counters[k]; counter(c.Where, c.What) {
				sum += x.Series.Value(i, k)
			}
		}
		values = append(values, sum)
	}
	return levelOf(values)
}

// levelOf merges values into batches of neighbours, whose correlation widens the interval. Fewer values than batches
// have no interval.
func levelOf(values []float64) level {
	const batches = 20
	n, mean := len(values), meanOfAll(values)
	if n < batches {
		return level{mean, math.Inf(1)}
	}
	var merged []float64
	for i := range batches {
		merged = append(merged, meanOfAll(values[i*n/batches:(i+1)*n/batches]))
	}
	return level{mean, steady.Mean(merged).Widened().Half}
}

func meanOfAll(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

// involves reports whether a counter is that of a CPU-involved flow of a phase. Flows that have ended do not count,
// though the server still has requests of theirs.
func (p *phases) involves(phase int, where, what string) bool {
	name, _, _ := strings.Cut(where, ":")
	end, ends := p.ended[name]
	return strings.HasPrefix(name, "store") && strings.HasSuffix(what, "to Server") && (!ends || phase < end)
}

// rate returns the requests of all CPU-involved flows in a phase, in millions a second, and records the run.
func (p *phases) rate(s *study.Session, x *point.Played, phase int) study.Rate {
	const perRequest = (22+86)/2 + 66 // bytes of requests and answers: as many gets as puts
	l := p.mean(x, phase, func(where, what string) bool { return p.involves(phase, where, what) })
	run := fmt.Sprintf("%s, phase %d", x.Name, phase+1)
	from, to := p.judged(phase)
	requests := l.mean * 1e9 / 8 / perRequest * float64(to-from) / float64(simcore.Second)
	s.Outcome.Runs = append(s.Outcome.Runs, study.Run{Name: run, RoundTrips: int(requests),
		Relative: min(l.half/max(l.mean, 1e-9), 1), Converged: l.mean > 0 && l.half <= study.Precision*l.mean,
		SimPs: int64(to - from + p.settling), Scale: float64(10*simcore.Second) / float64(to-from+p.settling)})
	return study.Rate{Value: l.mean * 1e3 / 8 / perRequest, Run: run}
}

// Counters of the lookups of I/O buffers by the server's cores in its last-level cache.
const (
	bufferHits   = "host socket 0 LLC core I/O buffers read hits"
	bufferMisses = "host socket 0 LLC core I/O buffers read misses"
)

// missed returns the share of the lookups of I/O buffers by cores in a phase that missed the last-level cache.
func (p *phases) missed(x *point.Played, phase int) float64 {
	of := func(what string) float64 {
		return p.mean(x, phase, func(where, w string) bool { return where == "Server" && w == what }).mean
	}
	hits, misses := of(bufferHits), of(bufferMisses)
	return misses / max(hits+misses, 1e-9)
}
