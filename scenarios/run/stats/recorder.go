package stats

import (
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/steady"
)

// Message identifies a message, and what it is.
type Message struct {
	Flow   int    // index among the flows
	Answer bool   // from the flow's server to its client
	Number int    // among the requests, or the answers, of the flow
	Kind   string // such as send or fetch_add
	Bytes  int
}

// Config describes a run whose messages are stamped.
type Config struct {
	Flows    []Flow
	Messages int // of each flow, answers included
	// messages are counted where they end, since nobody hands them over: WRITEs, READs and atomics
	AtCompletion bool
	Window       *Window // nil: the warm window is found
}

// Flow names the ends of a flow.
type Flow struct{ Client, Server string }

// Window is the time over which rates are taken, from the begin of the traffic on.
type Window struct{ From, Length simcore.Ps }

// Recorder takes the stamps of a run's messages. Times are absolute; those of one message never decrease.
type Recorder struct {
	cfg   Config
	begin simcore.Ps
	flows []flow
	sets  map[shape]*set // of all flows
	order []*set         // the same, in the order of their first message
	total gauge
}

// shape groups the messages that share a distribution.
type shape struct {
	kind   string
	answer bool
	bytes  int
}

// Measures of a message, each from its post on. RoundTrip ends with the hand-over of the answer.
const (
	ToWire = iota
	ToCompletion
	ToHandOver
	RoundTrip
	measures
)

// set holds the distributions of messages of a shape.
type set struct {
	shape
	dists [measures]Dist
	all   *set // that of all flows, for the set of a flow
}

// flow holds the stamps and statistics of a flow.
type flow struct {
	posted [2][]simcore.Ps // by direction, of each message
	shapes [2][]*set       // likewise, for messages of more than one shape
	last   *set
	sets   map[shape]*set
	order  []*set
	gauge
}

// New returns a recorder for messages whose traffic begins at a time.
func New(c Config, begin simcore.Ps) *Recorder {
	r := &Recorder{cfg: c, begin: begin, flows: make([]flow, len(c.Flows)), sets: map[shape]*set{},
		total: newGauge(c.Messages*len(c.Flows), c.Window)}
	for i := range r.flows {
		r.flows[i].gauge = newGauge(c.Messages, c.Window)
	}
	return r
}

func way(answer bool) int {
	if answer {
		return 1
	}
	return 0
}

// Posted stamps a message whose request was posted. Messages of a direction are posted in the order of their numbers;
// some may be missing, such as answers to messages that were lost.
func (r *Recorder) Posted(at simcore.Ps, m *Message) {
	f, w := &r.flows[m.Flow], way(m.Answer)
	for len(f.posted[w]) < m.Number {
		f.posted[w], f.shapes[w] = append(f.posted[w], 0), append(f.shapes[w], nil)
	}
	f.posted[w] = append(f.posted[w], at)
	f.shapes[w] = append(f.shapes[w], r.set(f, shape{m.Kind, m.Answer, m.Bytes}))
}

// set returns the distributions of a flow's messages of a shape.
func (r *Recorder) set(f *flow, s shape) *set {
	if f.last != nil && f.last.shape == s {
		return f.last
	}
	x := f.sets[s]
	if x == nil {
		all := r.sets[s]
		if all == nil {
			all = &set{shape: s}
			r.sets[s], r.order = all, append(r.order, all)
		}
		if f.sets == nil {
			f.sets = map[shape]*set{}
		}
		x = &set{shape: s, all: all}
		f.sets[s], f.order = x, append(f.order, x)
	}
	f.last = x
	return x
}

// add adds the time since a message's post to a distribution, and reports whether the message was posted.
func (f *flow) add(at simcore.Ps, answer bool, number, measure int) bool {
	w := way(answer)
	if number < 0 || number >= len(f.posted[w]) || f.shapes[w][number] == nil {
		return false
	}
	t, s := at-f.posted[w][number], f.shapes[w][number]
	s.dists[measure].Add(t)
	s.all.dists[measure].Add(t)
	return true
}

// OnWire stamps the first packet of a message.
func (r *Recorder) OnWire(at simcore.Ps, flow int, answer bool, number int) {
	r.flows[flow].add(at, answer, number, ToWire)
}

// Completed stamps a message whose request is known to have ended.
func (r *Recorder) Completed(at simcore.Ps, m *Message) {
	f := &r.flows[m.Flow]
	if f.add(at, m.Answer, m.Number, ToCompletion) && r.cfg.AtCompletion {
		r.count(f, at, m.Bytes)
	}
}

// HandedOver stamps a message that its application has taken. An answer ends a round trip; it need not have been posted
// by an application.
func (r *Recorder) HandedOver(at simcore.Ps, m *Message) {
	f := &r.flows[m.Flow]
	f.add(at, m.Answer, m.Number, ToHandOver)
	if m.Answer {
		f.add(at, false, m.Number, RoundTrip)
	}
	r.count(f, at, m.Bytes)
}

// Bytes returns the bytes of a flow's messages that arrived so far.
func (r *Recorder) Bytes(flow int) uint64 { return r.flows[flow].bytes }

// count counts a message that arrived.
func (r *Recorder) count(f *flow, at simcore.Ps, bytes int) {
	t := at - r.begin
	f.count(t, bytes)
	r.total.count(t, bytes)
}

// Phase is a part of a run with regard to the warm window of all flows.
type Phase int

// Phases of a run. A run that ends early has not reached the last ones.
const (
	WarmUp Phase = iota
	Counting
	Over
)

// Phase returns the phase that a time belongs to, which no stamp may precede.
func (r *Recorder) Phase(now simcore.Ps) Phase {
	g, w := &r.total, r.cfg.Window
	begun, over := false, false
	if w != nil {
		t := now - r.begin
		begun, over = t >= w.From, t >= w.From+w.Length
	} else {
		begun, over = g.meter.Warm(), g.meter.Over()
	}
	switch {
	case over:
		return Over
	case begun:
		return Counting
	}
	return WarmUp
}

// gauge counts messages that arrived, and estimates their rate over a warm window.
type gauge struct {
	want     int // messages that the run will have
	messages int
	bytes    uint64
	last     simcore.Ps // time of the latest one
	meter    *steady.Meter
	window   *steady.Window // the given one; nil: it is found
}

// The warm window leaves out the first tenth of a run's messages, which fill queues and caches, and the last tenth, in
// which flows end and queues run empty.
const (
	warmShare    = 10
	countedShare = 8
	gaugeBatches = 20
)

func newGauge(messages int, w *Window) gauge {
	if w != nil {
		return gauge{want: messages, window: steady.NewWindow(w.From, w.Length)}
	}
	return gauge{want: messages, meter: steady.New(messages/warmShare+1,
		messages*countedShare/warmShare/gaugeBatches, gaugeBatches, gaugeBatches)}
}

func (g *gauge) count(t simcore.Ps, bytes int) {
	g.messages++
	g.bytes += uint64(bytes)
	g.last = t
	if g.window != nil {
		g.window.Done(t, bytes)
		return
	}
	g.meter.Done(t, bytes)
}
