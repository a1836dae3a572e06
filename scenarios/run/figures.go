package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nictwin/models/sim/field"
	"nictwin/models/sim/quantity"
	"nictwin/models/sim/steady"
	"nictwin/scenarios/run/stats"
	"nictwin/stack/apps"
)

// MeasureSpec gives the window of the rates. Without it, the window leaves out the first and the last tenth of the
// messages.
type MeasureSpec struct {
	WarmUp quantity.Time `yaml:"warm_up"` // from the begin of the traffic
	Window quantity.Time `yaml:"window"`
	// latencies are of stamps in the window alone
	Latency bool `yaml:"latency"`
	// batches of the interval of rates; 0: 20. Fewer ones are longer, for rates that go in cycles
	Batches int `yaml:"batches"`
}

// FigureSpec holds the expected statistics.
type FigureSpec struct {
	P50        *LatencySpec    `yaml:"p50"`
	P90        *LatencySpec    `yaml:"p90"`
	P99        *LatencySpec    `yaml:"p99"`
	P999       *LatencySpec    `yaml:"p999"`
	Max        *LatencySpec    `yaml:"max"`
	Throughput *RateSpec       `yaml:"throughput"`     // goodput of all flows
	ArmDRAM    *quantity.Bytes `yaml:"arm_dram_bytes"` // maximum number of bytes to and from the DRAM of all Arms
}

// LatencySpec bounds a latency of messages of every kind and size.
type LatencySpec struct {
	Below quantity.Time `yaml:"below"`
	// event at which the latency ends, one of stats.Measures; empty: answer, hand_over or completion, the first that
	// messages of the kind have
	To string `yaml:"to"`
}

// RateSpec bounds a rate.
type RateSpec struct {
	Above quantity.Rate `yaml:"above"` // 0: no bound
	Below quantity.Rate `yaml:"below"` // 0: no bound
}

// percentile is an expected latency with the number of samples that it needs.
type percentile struct {
	name  string
	spec  *LatencySpec
	least int
	of    func(l *stats.Latency) *int64
}

// percentiles lists the expected latencies.
func (x *FigureSpec) percentiles() []percentile {
	all := []percentile{
		{"p50", x.P50, 1, func(l *stats.Latency) *int64 { return &l.P50 }},
		{"p90", x.P90, 1, func(l *stats.Latency) *int64 { return &l.P90 }},
		{"p99", x.P99, stats.MinTail, func(l *stats.Latency) *int64 { return l.P99 }},
		{"p999", x.P999, stats.MinTail, func(l *stats.Latency) *int64 { return l.P999 }},
		{"max", x.Max, 1, func(l *stats.Latency) *int64 { return &l.Max }},
	}
	return slices.DeleteFunc(all, func(p percentile) bool { return p.spec == nil })
}

// any reports whether any statistics are expected.
func (x *FigureSpec) any() bool { return *x != FigureSpec{} }

// leadsTo lists the stamps that messages of the workload have.
func leadsTo(w *apps.Spec) (list []string) {
	add := func(has bool, measure int) {
		if has {
			list = append(list, stats.Measures[measure])
		}
	}
	add(w.MessagesPerRequest() > 1 || w.Served(), stats.RoundTrip)
	add(w.HandedOver() && !w.Served(), stats.ToHandOver)
	add(w.Kind != apps.Ring && w.Transport != apps.UDP, stats.ToCompletion)
	add(onWire(w), stats.ToWire)
	add(w.Kind == apps.Nop, stats.ToTake)
	return list
}

// onWire reports whether messages of the workload are followed on the wire.
func onWire(w *apps.Spec) bool {
	return packets(w)(0) > 0 || w.Transport == apps.Raw || w.Transport == apps.UDP || w.Kind == apps.Ring
}

// packets returns the function that tells how many PSNs a message takes.
func packets(w *apps.Spec) func(message int) int {
	return func(m int) int { return w.Packets(m, offloaded{}.Lengths) }
}

// followsAnswers reports whether messages of the workload are followed on the wire in both directions. Over UC and UD
// answers may be missing, so that PSNs do not tell which message a packet belongs to.
func followsAnswers(w *apps.Spec) bool {
	return w.MessagesPerRequest() == 1 || w.Transport == apps.RC || w.Transport == apps.UDP
}

// validateFigures checks the expected statistics against what the workload and the board can give. If a sweep sets
// something that they depend on, the check is made for each of its cases instead.
func (s *Spec) validateFigures(bad func(ok bool, path field.Path, format string, a ...any)) {
	if m := s.Measure; m != nil {
		bad(m.Window > 0, "measure.window", ": none: want the length of the window behind %v",
			field.Path("measure.warm_up"))
		bad(m.Batches == 0 || m.Batches >= steady.LeastBatches && m.Batches <= steady.WindowBatches, "measure.batches",
			"%d: want %d to %d, or none for %[3]d", m.Batches, steady.LeastBatches, steady.WindowBatches)
	}
	sweeps := slices.ContainsFunc([]field.Path{"expect", "measure", "stacks"}, s.Sweep.axes.Sets)
	if sweeps || s.sweepsWorkload("") || s.validateWorkloads() != nil { // the workloads' own checks report their errors
		return
	}
	for _, p := range s.Expect.percentiles() {
		s.validateLatency(&p, bad)
	}
	s.validateRates(bad)
}

// validateLatency checks an expected latency: at least one workload must have its stamp, and each workload that has it
// must send enough messages.
func (s *Spec) validateLatency(p *percentile, bad func(ok bool, path field.Path, format string, a ...any)) {
	at, to := field.Path("expect."+p.name), p.spec.To
	bad(p.spec.Below > 0, at, ": no bound: want below, a time such as 12us")
	var have []string
	given := 0
	for i, l := range s.AllWorkloads() {
		w, path := &l.Spec, s.workloadPath(i)
		known := leadsTo(w)
		if to != "" && !slices.Contains(known, to) {
			have = append(have, fmt.Sprintf("messages of kind %s over %s have stamps of %s", w.Kind, w.Transport,
				strings.Join(known, ", ")))
			continue
		}
		given++
		bad(to != stats.Measures[stats.ToWire] || followsAnswers(w), at+".to", "%q: answers over %s are not "+
			"followed on the wire: want %s, or %v %s", to, w.Transport, known[0], path+".transport", apps.RC)
		each := l.Messages() / len(w.Sizes)
		if w.Kind == apps.Atomics {
			each /= 3 // a third of the messages are additions
		}
		bad(each >= p.least, at, ": %d messages of each size: want %d or more for a tail, by %v", each, p.least,
			path+".count")
	}
	bad(given > 0, at+".to", "%q: %s: want one of these", to, strings.Join(have, "; "))
}

// validateRates checks the fields of section `expect` whose figures are taken over the warm window.
func (s *Spec) validateRates(bad func(ok bool, path field.Path, format string, a ...any)) {
	x, list := &s.Expect.FigureSpec, s.AllWorkloads()
	all, largest := list.Messages(), 0
	for _, w := range list {
		largest = max(largest, w.Largest())
	}
	least, where := steady.MinRoundTrips, "in the window"
	if s.Measure == nil {
		least, where = least*10/8, "of which the warm window has 80%"
	}
	enough := func(path field.Path) {
		bad(all >= least, path, ": %d messages: want %d or more, %s, by %v", all, least, where,
			s.workloadPath(0)+".count")
	}
	if r := x.Throughput; r != nil {
		bad(r.Above > 0 || r.Below > 0, "expect.throughput", ": none: want above or below, a rate such as 180Gbps")
		bad(r.Below == 0 || r.Below > r.Above, "expect.throughput.below", "%v: want more than above", r.Below)
		enough("expect.throughput")
		bad(largest > 0, "expect.throughput", ": messages have no bytes: want %v", s.workloadPath(0)+".sizes")
	}
	if x.ArmDRAM != nil {
		bad(slices.ContainsFunc(s.Stacks, func(k StackSpec) bool { return k.Kind == StackFlexiNS }),
			"expect.arm_dram_bytes", ": no stack runs on an Arm: want one of kind %s", StackFlexiNS)
		enough("expect.arm_dram_bytes")
	}
}

// validateWindow checks that the given window ends before the time limit of the traffic.
func (c *Case) validateWindow() error {
	m, most := c.Measure, quantity.Time(c.limits().traffic)
	const want = "%v: want it to end before the traffic must, after %v (%v)"
	switch limit := field.Path("limits.traffic"); {
	case m == nil:
	case m.WarmUp >= most:
		return field.Errorf("measure.warm_up", want, m.WarmUp, most, limit)
	case m.Window > most-m.WarmUp:
		return field.Errorf("measure.window", want, m.Window, most, limit)
	}
	return nil
}

// validateMeasure returns every error of the expected statistics.
func (s *Spec) validateMeasure() error {
	var errs []error
	s.validateFigures(func(ok bool, path field.Path, format string, a ...any) {
		if !ok {
			errs = append(errs, field.Errorf(path, format, a...))
		}
	})
	return errors.Join(errs...)
}

// RuleNotConverged names findings of expected rates that are not known well enough.
const RuleNotConverged = "not_converged"

// missed returns the kinds and sizes of a workload whose latencies are above the bound. label is the workload's name
// among several.
func (e *percentile) missed(list []stats.Latency, label string, w *apps.Spec) (found []discrepancy) {
	known, to := leadsTo(w), e.spec.To
	if to == "" {
		to = known[0]
	}
	if !slices.Contains(known, to) {
		return nil
	}
	of := ""
	if label != "" {
		of = "workload " + label + ": "
	}
	seen := false
	for i := range list {
		l := &list[i]
		if l.Measure != to || l.Workload != label {
			continue
		}
		seen = true
		d := discrepancy{field: "expect." + e.name, expected: fmt.Sprintf("below %v", e.spec.Below),
			why: fmt.Sprintf("%s%s of %d B, from post to %s", of, l.Kind, l.Bytes, to)}
		if v := e.of(l); v == nil {
			d.got = fmt.Sprintf("%d messages, which have no tail", l.Count)
		} else if *v >= int64(e.spec.Below) {
			d.got = quantity.Time(*v).String()
		}
		if d.got != "" {
			found = append(found, d)
		}
	}
	if !seen {
		found = append(found, discrepancy{field: "expect." + e.name, expected: fmt.Sprintf("below %v", e.spec.Below),
			got: "no message", why: of + "from post to " + to})
	}
	return found
}

// rateText returns a rate with four digits, in the largest unit in which it is 1 or more.
func rateText(gbps float64) string {
	v, units := gbps*1e9, []string{"bps", "Kbps", "Mbps", "Gbps"}
	i := 0
	for ; v >= 1000 && i < len(units)-1; i++ {
		v /= 1000
	}
	return fmt.Sprintf("%.4g%s", v, units[i])
}

// missed returns the discrepancy of a rate with the bounds, and the finding's rule.
func (x *RateSpec) missed(r *stats.Rate) (*discrepancy, string) {
	var want []string
	got := quantity.Rate(r.Gbps*1e9 + 0.5)
	if x.Above > 0 {
		want = append(want, fmt.Sprintf("above %v", x.Above))
	}
	if x.Below > 0 {
		want = append(want, fmt.Sprintf("below %v", x.Below))
	}
	d := &discrepancy{field: "expect.throughput", expected: strings.Join(want, ", "),
		got: rateText(r.Gbps)}
	switch {
	case !r.Converged:
		d.got, d.why = d.got+", not converged", r.Why
		return d, RuleNotConverged
	case x.Above > 0 && got <= x.Above || x.Below > 0 && got >= x.Below:
		return d, ""
	}
	return nil, ""
}

// missedArmDRAM returns the discrepancy of the bytes to and from the Arms' DRAM with their bound, and the finding's
// rule.
func (m *measured) missedArmDRAM(most uint64) (*discrepancy, string) {
	d := &discrepancy{field: "expect.arm_dram_bytes", expected: fmt.Sprintf("%d at most", most),
		why: "bytes to and from the DRAM of all Arms over the warm window"}
	if why := m.Unusable(); why != "" || len(m.dram) < 2 {
		d.got, d.why = "no warm window", why
		return d, RuleNotConverged
	}
	n := m.dram[1] - m.dram[0]
	d.got = fmt.Sprint(n)
	if n <= most {
		return nil, ""
	}
	return d, ""
}
