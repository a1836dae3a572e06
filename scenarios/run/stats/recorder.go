package stats

import (
	"cmp"
	"fmt"

	"nictwin/models/sim/quantity"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/steady"
)

// Message identifies a message, and has its kind and length.
type Message struct {
	Flow   int    // index among the flows
	Answer bool   // from the flow's server to its client
	Number int    // among the requests, or the answers, of the flow
	Kind   string // such as send or fetch_add
	Bytes  int
}

// Config describes a run whose messages are stamped.
type Config struct {
	Workloads []Workload // their flows are numbered consecutively
	EachFlow  bool       // the latencies of each flow are wanted, too
	Window    *Window    // nil: the warm window is found
	Within    bool       // latencies are of stamps in Window alone
	// Turned is called when the warm window that was found begins, at its first message, and when it ends, at the first
	// message after it; nil: nobody wants to know.
	Turned func()
}

// Workload describes flows whose messages are alike.
type Workload struct {
	Name     string // empty: it is the only one
	Flows    []Flow
	Messages int // number of messages of each flow, answers included
	// Requests is the number of requests of each flow if they must last until Config.Window ends; 0: they need not.
	// CountField names the field of the scenario that gives it, and Every is the time from one request to the next.
	Requests   int
	CountField string
	Every      simcore.Ps
	// messages are counted where they end, since nobody hands them over: WRITEs, READs and atomics
	AtCompletion bool
	Handlers     bool // handlers answer, without a post
	Empty        bool // no message has bytes
	// Late reports whether answers of a flow, by its number in the workload, may be posted behind later ones by now;
	// nil: they never are.
	Late func(flow int) bool
}

// Flow names the ends of a flow.
type Flow struct{ Client, Server string }

// Window is the time over which rates are taken, from the begin of the traffic on.
type Window struct {
	From, Length simcore.Ps
	Batches      int // of the interval of rates; 0: steady.WindowBatches
}

// has reports whether a time is in the window.
func (w *Window) has(t simcore.Ps) bool { return t >= w.From && t-w.From < w.Length }

// Recorder takes the stamps of a run's messages. Times are absolute; those of one message never decrease.
type Recorder struct {
	cfg    Config
	begin  simcore.Ps
	flows  []flow
	sets   sets // distributions of all flows together; unused with Config.EachFlow
	total  gauge
	turned int // calls of Config.Turned
	wrong  int // impossible stamps
	first  string
}

// shape groups the messages that share a distribution.
type shape struct {
	workload string
	kind     string
	answer   bool
	bytes    int
}

// Measures of a message, each from its post on. RoundTrip ends with the hand-over of the answer.
const (
	ToTake = iota
	ToWire
	ToCompletion
	ToHandOver
	RoundTrip
	measures
)

// set holds the distributions of messages of a shape.
type set struct {
	shape
	dists [measures]Dist
}

// sets holds a set of distributions for each shape, in the order in which the first messages of the shapes were posted.
type sets struct {
	by    map[shape]*set
	order []*set
}

// of returns the set of a shape.
func (s *sets) of(x shape) *set {
	if s.by[x] == nil {
		if s.by == nil {
			s.by = map[shape]*set{}
		}
		s.by[x] = &set{shape: x}
		s.order = append(s.order, s.by[x])
	}
	return s.by[x]
}

// flow holds the stamps and statistics of a flow.
type flow struct {
	of     *Workload
	ends   Flow
	posted [2][]simcore.Ps // by direction and message: time of the post
	shapes [2][]*set       // by direction and message: the distributions in which it counts
	last   *set
	sets   sets // distributions of this flow, if Config.EachFlow is set
	gauge
	number int // in the workload
}

// late reports whether an answer may be posted behind later ones.
func (f *flow) late() bool { return f.of.Late != nil && f.of.Late(f.number) }

// New returns a recorder for messages whose traffic begins at a time.
func New(c Config, begin simcore.Ps) *Recorder {
	r := &Recorder{cfg: c, begin: begin}
	messages, empty := 0, true
	for i := range c.Workloads {
		w := &c.Workloads[i]
		messages += w.Messages * len(w.Flows)
		empty = empty && w.Empty
		for k, ends := range w.Flows {
			g := newGauge(w.Messages, w.Empty, c.Window)
			r.flows = append(r.flows, flow{of: w, ends: ends, gauge: g, number: k})
		}
	}
	r.total = newGauge(messages, empty, c.Window)
	return r
}

func way(answer bool) int {
	if answer {
		return 1
	}
	return 0
}

// Posted stamps a message whose request was posted. Messages of a direction are posted in the order of their numbers,
// but for answers that Workload.Late allows; some may be missing, such as answers to messages that were lost.
func (r *Recorder) Posted(at simcore.Ps, m *Message) {
	f, w := &r.flows[m.Flow], way(m.Answer)
	switch late := m.Number < len(f.posted[w]); {
	case late && f.shapes[w][m.Number] != nil && m.Answer && f.late():
		r.doubt(at, m.Flow, m.Answer, m.Number, "post", "a post of it came before: want each message posted once")
		return
	case late && !(m.Answer && f.late()):
		r.doubt(at, m.Flow, m.Answer, m.Number, "post",
			"a post of it or of a later one came before: want the posts of a flow's messages in order, each once")
		return
	}
	for len(f.posted[w]) <= m.Number {
		f.posted[w], f.shapes[w] = append(f.posted[w], 0), append(f.shapes[w], nil)
	}
	f.posted[w][m.Number] = at
	f.shapes[w][m.Number] = r.set(f, shape{f.of.Name, m.Kind, m.Answer, m.Bytes})
	if !m.Answer && m.Number+1 == f.of.Requests {
		r.runOut(at-r.begin, m.Flow)
	}
}

// runOut notes that a flow has posted its last request at a time, if the window is open when another would be due.
func (r *Recorder) runOut(t simcore.Ps, flow int) {
	w, f := r.cfg.Window, &r.flows[flow]
	if w == nil || t+f.of.Every-w.From >= w.Length {
		return
	}
	f.ranOut = fmt.Sprintf("flow %d posted the last of its %d requests after %v, before the window ends after %v: "+
		"want a higher %s", flow, f.of.Requests, quantity.Time(t), quantity.Time(w.From+w.Length), f.of.CountField)
	r.total.ranOut = cmp.Or(r.total.ranOut, f.ranOut)
}

// set returns the distributions of a flow's messages of a shape.
func (r *Recorder) set(f *flow, s shape) *set {
	if f.last == nil || f.last.shape != s {
		to := &r.sets
		if r.cfg.EachFlow {
			to = &f.sets
		}
		f.last = to.of(s)
	}
	return f.last
}

// add adds the time from the post of a message until `at` to a distribution. It reports false, and counts an impossible
// stamp, if the message had not been posted by then.
func (r *Recorder) add(at simcore.Ps, flow int, answer bool, number, measure int) bool {
	f, w := &r.flows[flow], way(answer)
	if number < 0 || number >= len(f.posted[w]) || f.shapes[w][number] == nil {
		r.doubt(at, flow, answer, number, Measures[measure], "it has not been posted: want its post before")
		return false
	}
	if at < f.posted[w][number] {
		r.doubt(at, flow, answer, number, Measures[measure],
			fmt.Sprintf("it was posted at %v: want that time or a later one", quantity.Time(f.posted[w][number])))
		return false
	}
	if !r.cfg.Within || r.cfg.Window.has(at-r.begin) {
		f.shapes[w][number].dists[measure].Add(at - f.posted[w][number])
	}
	return true
}

// doubt counts an impossible stamp, and describes the first: stamp names it, and why says what would be right.
func (r *Recorder) doubt(at simcore.Ps, flow int, answer bool, number int, stamp, why string) {
	if r.wrong++; r.wrong == 1 {
		what := "message"
		if answer {
			what = "answer"
		}
		r.first = fmt.Sprintf("%s of %s %d of flow %d at %v: %s", stamp, what, number, flow, quantity.Time(at), why)
	}
}

// Wrong returns the number of impossible stamps, such as those of messages that were not posted, and which the first
// was, and what would have been right. They are not part of the statistics.
func (r *Recorder) Wrong() (n int, first string) { return r.wrong, r.first }

// Taken stamps a request that the client's card took.
func (r *Recorder) Taken(at simcore.Ps, flow, number int) { r.add(at, flow, false, number, ToTake) }

// OnWire stamps the first packet of a message.
func (r *Recorder) OnWire(at simcore.Ps, flow int, answer bool, number int) {
	r.add(at, flow, answer, number, ToWire)
}

// Completed stamps a message whose request is known to have ended.
func (r *Recorder) Completed(at simcore.Ps, m *Message) {
	if r.add(at, m.Flow, m.Answer, m.Number, ToCompletion) && r.flows[m.Flow].of.AtCompletion {
		r.count(at, m)
	}
}

// HandedOver stamps a message that its application has taken. An answer ends a round trip.
func (r *Recorder) HandedOver(at simcore.Ps, m *Message) {
	if !m.Answer || !r.flows[m.Flow].of.Handlers {
		r.add(at, m.Flow, m.Answer, m.Number, ToHandOver)
	}
	if m.Answer {
		r.add(at, m.Flow, false, m.Number, RoundTrip)
	}
	r.count(at, m)
}

// Bytes returns the bytes of a flow's messages that arrived so far.
func (r *Recorder) Bytes(flow int) uint64 { return r.flows[flow].bytes }

// count counts a message that arrived.
func (r *Recorder) count(at simcore.Ps, m *Message) {
	t := at - r.begin
	r.flows[m.Flow].count(t, m.Bytes)
	r.total.count(t, m.Bytes)
	for r.turned < r.total.turns() {
		if r.turned++; r.cfg.Turned != nil {
			r.cfg.Turned()
		}
	}
}

// Unusable says why counters over the warm window of all flows are of no use; empty: they can be used.
func (r *Recorder) Unusable() string {
	g := &r.total
	e := g.estimate()
	if why := g.few(&e); why != "" {
		return why
	}
	if g.window == nil && !g.meter.Over() {
		return fmt.Sprintf("the warm window had %d batches of whole bursts when the traffic ended: want %d", e.Batches,
			gaugeBatches)
	}
	return ""
}

// gauge counts messages that arrived, and estimates their rate over the warm window, the steady part of the traffic.
type gauge struct {
	want     int // messages that the run will have
	messages int
	bytes    uint64
	empty    bool       // no message has bytes: the rate is that of messages
	last     simcore.Ps // time of the latest message
	meter    *steady.Meter
	window   *steady.Window // warm window by Config.Window; nil: `meter` finds it
	ranOut   string         // which flow had no requests left before `window` ended; empty: none
}

// The warm window leaves out the first tenth of a run's messages, which fill queues and caches, and the last tenth, in
// which flows end and queues run empty.
const (
	warmShare    = 10
	countedShare = 8
	gaugeBatches = 20
)

func newGauge(messages int, empty bool, w *Window) gauge {
	if w != nil {
		return gauge{want: messages, empty: empty,
			window: steady.NewWindow(w.From, w.Length, cmp.Or(w.Batches, steady.WindowBatches))}
	}
	return gauge{want: messages, empty: empty, meter: steady.New(messages/warmShare+1,
		messages*countedShare/warmShare/gaugeBatches, gaugeBatches, gaugeBatches)}
}

// turns returns 0 before the warm window that `meter` finds, 1 in it and 2 after it; always 0 for a given window.
func (g *gauge) turns() int {
	switch {
	case g.window != nil || !g.meter.Warm():
		return 0
	case !g.meter.Over():
		return 1
	}
	return 2
}

func (g *gauge) count(t simcore.Ps, bytes int) {
	g.messages++
	g.bytes += uint64(bytes)
	g.last = t
	if g.empty {
		bytes = 1 // the unit of the rate is a message
	}
	if g.window != nil {
		g.window.Done(t, bytes)
		return
	}
	g.meter.Done(t, bytes)
}
