package ceio

import (
	"fmt"
	"math"
	"strings"

	"nictwin/models/sim/simcore"
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
	fields   []string // workloads, with counts and ends
	length   simcore.Ps
	ended    map[string]int // names of key-value stores by the phase before which they ended
}

// phase returns the length of a phase.
func phase(s *study.Session) simcore.Ps {
	const least = 100 * micro
	return max(simcore.Ps(s.Input("phase"))*milli*simcore.Ps(s.Percent)/100, least)
}

// phaseInput is the length of a phase; timers are divided by the same factor.
var phaseInput = study.Input{Name: "phase", Value: 2, Unit: "ms", Source: "ceio.mot.phase_s: 10 s, divided by 5,000, " +
	"as " +
	"are timers. 500 round trips of 4 us"}

// changing returns the phases of Fig. 4a: in each one two more of eight CPU-involved flows become CPU-bypass.
func changing(s *study.Session) *phases {
	p := &phases{name: "dynamic", clients: 8, flows: 8 + 6, length: phase(s), ended: map[string]int{},
		involved: []int{8, 6, 4, 2}, bypass: []int{0, 2, 4, 6}}
	last := simcore.Ps(len(p.involved))
	p.add(0, last, store(s, "store", 1, 2))
	for i := simcore.Ps(1); i < last; i++ {
		pair, name := from(int(2*i+1), 2), fmt.Sprintf("store%d", i)
		p.ended[name] = int(i)
		p.add(0, i, store(s, name, pair...))
		p.add(i, last, file(s, fmt.Sprintf("file%d", i), pair...))
	}
	return p
}

// growing returns the phases of Fig. 4b: eight CPU-involved flows, and two more in each phase.
func growing(s *study.Session) *phases {
	p := &phases{name: "burst", clients: 12, flows: 12, length: phase(s),
		involved: []int{8, 10, 12}, bypass: []int{0, 0, 0}}
	last := simcore.Ps(len(p.involved))
	p.add(0, last, store(s, "store", from(1, 8)...))
	for i := simcore.Ps(1); i < last; i++ {
		p.add(i, last, store(s, fmt.Sprintf("store%d", i), from(int(7+2*i), 2)...))
	}
	return p
}

// add adds a workload between the begins of two phases.
func (p *phases) add(first, end simcore.Ps, fields string) {
	const behind = 30 * micro // the last one goes on behind the window
	at := end * p.length
	if int(end) == len(p.involved) {
		at += behind
	}
	begin := ""
	if first > 0 {
		begin = fmt.Sprintf(", begin: %dps", first*p.length)
	}
	p.fields = append(p.fields, fmt.Sprintf("count: %d, end: %dps%s, %s", point.Endless, at, begin, fields))
}

func (p *phases) scene(s *study.Session, x system) *point.Scene {
	t := simcore.Ps(float64(simcore.Second) * float64(p.length) / float64(10*simcore.Second))
	var more []string
	if x == withCEIO {
		more = []string{fmt.Sprintf("flows: %d, inactive: %dps, reactivate: %dps", p.flows, t, t)}
	}
	total := p.length * simcore.Ps(len(p.involved))
	return &point.Scene{Name: fmt.Sprintf("%s, %s", x, p.name), Board: testbed(s, p.clients),
		Stacks: x.stacks(s, p.clients, putBytes, more...), Passing: p.fields, Warm: p.length / 4,
		Window: total - p.length/4, Whole: true, Series: true}
}

// judged returns the part of a phase in which it is measured, without its first quarter: windows of DCTCP open and
// close in the time that they take, which is next to nothing of 10 s.
func (p *phases) judged(phase int) (from, to simcore.Ps) {
	begin := p.length * simcore.Ps(phase)
	return begin + p.length/4, begin + p.length
}

// level is a mean over a phase, with the half width of its interval.
type level struct{ mean, half float64 }

// mean returns the mean in a phase of the sum of some counters of a point, and its 95% interval from the values of
// intervals, merged to 20 batches.
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

// levelOf merges values into batches of neighbours, since neighbours depend on each other. Fewer values than batches
// have no interval.
func levelOf(values []float64) level {
	const batches, student = 20, 2.09 // 19 degrees of freedom, 95%
	n := len(values)
	mean := meanOfAll(values)
	if n < batches {
		return level{mean, math.Inf(1)}
	}
	square := 0.0
	for i := range batches {
		d := meanOfAll(values[i*n/batches:(i+1)*n/batches]) - mean
		square += d * d
	}
	return level{mean, student * math.Sqrt(square/(batches-1)/batches)}
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
func (p *phases) rate(s *study.Session, x *point.Played, phase int) (mpps float64, run string) {
	const perRequest = (22+86)/2 + 66 // bytes of requests and answers: as many gets as puts
	l := p.mean(x, phase, func(where, what string) bool { return p.involves(phase, where, what) })
	run = fmt.Sprintf("%s, phase %d", x.Name, phase+1)
	s.Outcome.Runs = append(s.Outcome.Runs, study.Run{Name: run, RoundTrips: int(l.mean * 1e9 / 8 / perRequest *
		float64(p.length) / float64(simcore.Second)), Relative: min(l.half/max(l.mean, 1e-9), 1),
		Converged: l.half <= study.Precision*l.mean, SimPs: int64(p.length), Scale: float64(10*simcore.Second) /
			float64(p.length)})
	return l.mean * 1e3 / 8 / perRequest, run
}

// missed returns the share of the lookups of cores in a phase that missed the last-level cache.
func (p *phases) missed(x *point.Played, phase int) float64 {
	of := func(what string) float64 {
		return p.mean(x, phase, func(where, w string) bool { return where == "Server" && w == what }).mean
	}
	hits, misses := of("host socket 0 LLC core read hits"), of("host socket 0 LLC core read misses")
	return misses / max(hits+misses, 1e-9)
}
