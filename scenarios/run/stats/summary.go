package stats

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"nictwin/models/sim/simcore"
	"nictwin/models/sim/steady"
)

// Summary is the statistics of a run, as JSON has them.
type Summary struct {
	Total        Rate         `json:"total"`
	Flows        []FlowRate   `json:"flows"`
	FlowsLeftOut int          `json:"flows_left_out,omitempty"` // further flows, listed with --stats full
	Latency      []Latency    `json:"latency"`                  // of all flows, by kind and size
	Loads        []Load       `json:"loads,omitempty"`          // of memories, beside the traffic
	Background   []Background `json:"background,omitempty"`     // captures beside the traffic
	Credits      []Credits    `json:"ceio,omitempty"`           // servers with credits for receive buffers
	Drops        []Drops      `json:"drops,omitempty"`          // by the NICs of stacks over UDP
	Counters     []Counter    `json:"counters,omitempty"`       // with --stats full
	Levels       []Level      `json:"levels,omitempty"`         // likewise
	Links        []LinkBytes  `json:"links,omitempty"`          // likewise
	ShRing       []SharedRing `json:"shring,omitempty"`         // servers whose flows share a ring
	HostCC       []HostCC     `json:"hostcc,omitempty"`         // servers that watch their IIO buffer
}

// Level is a level of the board, such as the length of a queue, at the ends of the intervals of the series.
type Level struct {
	Where   string `json:"where"` // server or cable
	What    string `json:"what"`
	Unit    string `json:"unit"` // entries, lines, B
	Highest uint64 `json:"highest"`
}

// LinkBytes holds the bytes of a direction of a link, from the begin of the traffic on until everything has settled.
type LinkBytes struct {
	Where   string            `json:"where"` // server, card or cable
	What    string            `json:"what"`
	Total   uint64            `json:"total"`
	Classes map[string]uint64 `json:"classes"` // add up to Total; those without bytes are left out
}

// Counter holds the growth of a counter of the board, from the begin of the traffic to its end.
type Counter struct {
	Where string `json:"where"` // server or cable
	What  string `json:"what"`
	Unit  string `json:"unit"` // B, or ps of busy time
	Total uint64 `json:"total"`
}

// Rate is a rate of messages and of their bytes.
type Rate struct {
	Messages  int      `json:"messages"`                  // in the window
	Bytes     uint64   `json:"bytes"`                     // of these messages
	From      int64    `json:"from_ps"`                   // start of the window, counted from that of the traffic
	To        int64    `json:"to_ps"`                     // end of the window
	Gbps      float64  `json:"goodput_gbps"`              // of the messages' bytes
	PerSecond float64  `json:"messages_per_s"`            // messages
	Half      *float64 `json:"half_width_gbps,omitempty"` // nil: no interval

	HalfMessages *float64 `json:"half_width_messages_per_s,omitempty"` // in place of Half, if no message has bytes

	Converged bool   `json:"converged"`
	Why       string `json:"not_converged,omitempty"` // why not
}

// FlowRate is the rate of a flow, and with --stats full its latencies.
type FlowRate struct {
	Flow     int    `json:"flow"` // index over all workloads
	Workload string `json:"workload,omitempty"`
	Client   string `json:"client"`
	Server   string `json:"server"`
	Rate
	Latency []Latency `json:"latency,omitempty"`

	gauge *gauge // nil: not of a recorder
}

// RateOf returns the rate of all messages of some of the flows in the window that Config.Window gave. The interval is
// that of their sum: flows that share a bottleneck take from each other, those that stall together do not. Without such
// a window, and without flows, it returns a zero Rate, which has no interval.
func (s *Summary) RateOf(flow func(f *FlowRate) bool) Rate {
	var flows []*gauge
	sum := gauge{empty: true}
	for i := range s.Flows {
		if f := &s.Flows[i]; f.gauge != nil && f.gauge.window != nil && flow(f) {
			flows = append(flows, f.gauge)
			sum.empty = sum.empty && f.gauge.empty
			sum.last = max(sum.last, f.gauge.last)
			sum.ranOut = cmp.Or(sum.ranOut, f.gauge.ranOut)
			sum.window = f.gauge.window.Empty()
		}
	}
	if len(flows) == 0 {
		return Rate{}
	}
	for _, g := range flows {
		if g.empty && !sum.empty {
			sum.window.AddTrips(g.window) // its unit is a message
		} else {
			sum.window.Add(g.window)
		}
	}
	return sum.rate()
}

// Latency is a distribution of times. P99 and P999 are nil for fewer than MinTail samples.
type Latency struct {
	Workload string  `json:"workload,omitempty"` // one of several
	Kind     string  `json:"kind"`
	Bytes    int     `json:"size"`
	Measure  string  `json:"to"` // see Measures
	Count    int64   `json:"count"`
	Mean     float64 `json:"mean_ps"`
	P50      int64   `json:"p50_ps"`
	P90      int64   `json:"p90_ps"`
	P99      *int64  `json:"p99_ps,omitempty"`
	P999     *int64  `json:"p999_ps,omitempty"`
	Max      int64   `json:"max_ps"`
}

// Measures names the events at which the times of a Latency end. Each time begins with the post of the message.
var Measures = [measures]string{"take", "wire", "completion", "hand_over", "answer"}

// maxFlows bounds the flows that a summary lists.
const maxFlows = 64

// Summary returns the statistics so far. With Config.EachFlow, it lists every flow, with its latencies.
func (r *Recorder) Summary() *Summary {
	s := &Summary{Total: r.total.rate(), Flows: []FlowRate{}, Latency: latencies(r.all())}
	for i := range r.flows {
		if !r.cfg.EachFlow && i == maxFlows {
			s.FlowsLeftOut = len(r.flows) - maxFlows
			break
		}
		f := &r.flows[i]
		x := FlowRate{Flow: i, Workload: f.of.Name, Client: f.ends.Client, Server: f.ends.Server, Rate: f.rate(),
			gauge: &f.gauge}
		if r.cfg.EachFlow {
			x.Latency = latencies(f.sets.order)
		}
		s.Flows = append(s.Flows, x)
	}
	return s
}

// all returns the distributions of all flows.
func (r *Recorder) all() []*set {
	if !r.cfg.EachFlow {
		return r.sets.order
	}
	var all sets
	for i := range r.flows {
		for _, s := range r.flows[i].sets.order {
			to := all.of(s.shape)
			for k := range s.dists {
				to.dists[k].Merge(&s.dists[k])
			}
		}
	}
	return all.order
}

// latencies lists distributions by kind, size and measure.
func latencies(sets []*set) []Latency {
	sets = slices.SortedStableFunc(slices.Values(sets), func(a, b *set) int {
		return cmp.Or(cmp.Compare(a.workload, b.workload),
			way(a.answer)-way(b.answer), cmp.Compare(a.kind, b.kind), a.bytes-b.bytes)
	})
	list := []Latency{}
	for _, s := range sets {
		for k := range s.dists {
			if d := &s.dists[k]; d.Count() > 0 {
				list = append(list, d.latency(s, k))
			}
		}
	}
	return list
}

func (d *Dist) latency(s *set, measure int) Latency {
	l := Latency{Workload: s.workload, Kind: s.kind, Bytes: s.bytes, Measure: Measures[measure], Count: d.n,
		Mean: d.Mean(), Max: int64(d.max)}
	if s.answer {
		l.Kind += " answer"
	}
	at := func(p float64) *int64 {
		if t, ok := d.Percentile(p); ok {
			return new(int64(t))
		}
		return nil
	}
	l.P50, l.P90, l.P99, l.P999 = *at(50), *at(90), at(99), at(99.9)
	return l
}

// estimate returns the estimate of the rate over the warm window.
func (g *gauge) estimate() steady.Estimate {
	if g.window != nil {
		return g.window.Estimate().Widened()
	}
	return g.meter.Estimate().Widened()
}

// few says why the warm window has too few messages for rates and counters, or why they are not those of all flows to
// its end; empty: it has enough.
func (g *gauge) few(e *steady.Estimate) string {
	switch few := e.RoundTrips < steady.MinRoundTrips; {
	case g.window != nil && !g.window.Whole():
		return fmt.Sprintf("the traffic ended after %v, before the window", time.Duration(g.last/simcore.Nanosecond))
	case g.ranOut != "":
		return g.ranOut
	case g.window != nil && few:
		return fmt.Sprintf("%d messages in the window: want %d or more", e.RoundTrips, steady.MinRoundTrips)
	case few:
		return fmt.Sprintf("the warm window has %d of %d messages, in %d batches of whole bursts: want %d or more",
			e.RoundTrips, g.messages, e.Batches, steady.MinRoundTrips)
	}
	return ""
}

// rounding is the relative error of a computed rate: an interval whose half width is smaller gets width 0.
const rounding = 1e-9

// rate returns the rate over the warm window. If Config.Window gives none and the window that was found has too few
// messages, it returns the rate over the whole traffic.
func (g *gauge) rate() Rate {
	e := g.estimate()
	few := g.few(&e)
	if g.window == nil && few != "" {
		r := Rate{Messages: g.messages, Bytes: g.bytes, To: int64(g.last), Why: few}
		r.divide()
		return r
	}
	r := Rate{Messages: e.RoundTrips, Bytes: e.Bytes, From: int64(e.From), To: int64(e.From + e.Span),
		Converged: e.Converged && few == "", Why: few}
	if g.empty {
		r.Bytes = 0
	}
	r.divide()
	if (g.window != nil || e.Batches >= steady.MinBatches) && e.Bytes > 0 {
		half := e.Half
		if e.Relative() < rounding {
			half = 0
		}
		if g.empty {
			r.HalfMessages = new(half * float64(simcore.Second))
		} else {
			r.Half = new(steady.Estimate{Half: half}.HalfGbps())
		}
	}
	switch {
	case r.Converged || few != "":
	case r.Bytes == 0 && !g.empty:
		r.Why = "the messages have no bytes"
	case r.Half == nil && r.HalfMessages == nil:
		r.Why = fmt.Sprintf("messages came in %d bursts: want %d or more", e.Batches, steady.MinBatches)
	default:
		r.Why = fmt.Sprintf("interval of the batch means of ±%.2g%%: want ±%g%%", 100*e.Relative(),
			100*steady.Precision)
	}
	return r
}

// divide computes the rates from messages, bytes and window.
func (r *Rate) divide() {
	r.Gbps = gbps(r.Bytes, r.From, r.To)
	if span := float64(r.To - r.From); span > 0 {
		r.PerSecond = float64(simcore.Second) * float64(r.Messages) / span
	}
}

// gbps returns the rate of bytes in Gbit/s between two times in picoseconds; 0 between equal times.
func gbps(bytes uint64, from, to int64) float64 {
	const bit = 8
	if to <= from {
		return 0
	}
	return bit * float64(simcore.Nanosecond) * float64(bytes) / float64(to-from)
}
