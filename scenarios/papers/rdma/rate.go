package rdma

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/scenarios/papers/study"
)

// Rate measures small requests from as many machines as the highest rate needs.
var Rate = study.Experiment{
	Group: "path", Name: "rate", Title: "Rate of small requests", Figures: "OP Fig. 4, section 3 and 4",
	Pictures: ratePictures,
	Claims: []string{
		"offpath.p1.tput_write", "offpath.p1.tput_send", "offpath.p2.tput_vs_p1", "offpath.abs.p2_vs_p1_peak",
		"offpath.p2.write_vs_rnic",
		"offpath.p2.partial_nic_cores", "offpath.p3.bottleneck_small", "offpath.c12.read_gain",
		"offpath.c12.write_gain",
	},
	Inputs: inputs(
		study.Input{Name: "machines", Value: 11, Unit: "machines", Source: "offpath.cfg.requesters",
			Anchors: []string{"offpath.cfg.requesters"}},
		study.Input{Name: "host.echo", Value: 276, Unit: "ns",
			Source: "bf2.host_mpps: 24 cores answer 87 M messages/s"},
		study.Input{Name: "arm.echo", Value: 276, Unit: "ns",
			Source: "OP Advice 4: posting; seeing the message takes the Arm nothing: assumption"},
	),
	Run: rate,
	Reasons: map[string]string{
		"offpath.p1.tput_write": "from 16 to 128 B contexts decide, which a WRITE of path 1 holds for half as long " +
			"again as one of the plain NIC; at 256 B the network is full with that one",
	},
	Arithmetic: []string{"offpath.p2.partial_nic_cores"},
}

// rateSizes are the sizes in bytes that claims are about; figureSizes are those in the figure.
var rateSizes = []int{16, 64, 128, 256}

var figureSizes = []int{16, 64, 128, 256, 512}

// mix describes threads that post on one or more paths at once.
type mix struct {
	target  string
	clients int
	paths   []string
	x       transport
	size    int
	judged  bool // a claim stands on it
	adapt   func(path string, w *work)
	label   string   // completes the name of the run, if others of the experiment differ in nothing else
	changes []change // applied to the target
	altered []change // applied to the clients
}

// outcome holds the measurements of a mix.
type outcome struct {
	study.Estimate
	run   string             // name of the run
	mps   float64            // millions of requests a second
	share map[string]float64 // by path: millions of its requests a second
	bed   *bed
}

// measure runs a mix until its rate is known. The threads of a client take the paths to the target in turn.
func (m *mix) measure(s *study.Session, roundTrips int) (outcome, error) {
	b, err := newBedOf(s, m.target, m.clients, m.changes, m.altered)
	if err != nil {
		return outcome{}, err
	}
	l := b.newLoad(nil)
	echo := &echoes{s: s, x: m.x, size: m.size, cores: map[*end][]*echoCore{}, shared: map[*echoCore]*server{}}
	add := func(path string, client int) {
		from, to := b.ends(path, client)
		w := works(s, from, m.x.op, m.size)
		if m.adapt != nil {
			m.adapt(path, &w)
		}
		var t *thread
		if m.x.op == rnicspec.Send {
			if w.signal = 1; m.clients > 0 {
				w.window = sendWindow
			}
			t = l.ask(from, echo.at(to), w)
		} else {
			t = l.start(from, to, w)
		}
		t.path = path
	}
	for c := range m.clients {
		for i := range int(s.Input("client.threads")) {
			if near := m.near(); len(near) > 0 {
				add(near[i%len(near)], c)
			}
		}
	}
	for _, p := range m.paths {
		if from := map[string]string{s2h: "arm.threads", h2s: "host.threads"}[p]; from != "" {
			for range int(s.Input(from)) {
				add(p, 0)
			}
		}
	}
	outstanding := 0
	for _, t := range l.threads {
		outstanding += t.w.window / t.w.signal
	}
	l.meter = s.NewMeterAfter(2*outstanding, roundTrips)
	if m.judged {
		l.meter.Doubling(1)
	}
	if err := l.run(); err != nil {
		return outcome{}, fmt.Errorf("%s: %w", m.name(), err)
	}
	return m.result(s, l), nil
}

// echoes creates the servers that answer SENDs; it assigns them to the cores of an end in turn.
type echoes struct {
	s      *study.Session
	x      transport
	size   int
	cores  map[*end][]*echoCore
	shared map[*echoCore]*server // for UD: one queue pair for all clients of a core
	turn   int
}

// at returns the server for the next client of an end.
func (e *echoes) at(to *end) *server {
	if e.cores[to] == nil {
		for range int(e.s.Input(threadsOf(to))) {
			e.cores[to] = append(e.cores[to], to.m.bed.newCore(echoOf(e.s, to)))
		}
	}
	k := e.cores[to][e.turn%len(e.cores[to])]
	e.turn++
	if e.x.typ != rnicspec.UD {
		return to.serve(e.x.typ, e.size, k)
	}
	if e.shared[k] == nil {
		e.shared[k] = to.serve(e.x.typ, e.size, k)
	}
	return e.shared[k]
}

// near returns the paths of the mix that begin at a client.
func (m *mix) near() (list []string) {
	for _, p := range m.paths {
		if p != s2h && p != h2s {
			list = append(list, p)
		}
	}
	return list
}

// name names the mix's run.
func (m *mix) name() string {
	name := fmt.Sprintf("%s %s of %d B, %d clients", strings.Join(m.paths, " and "), m.x.name, m.size, m.clients)
	if m.label != "" {
		name += ", " + m.label
	}
	return name
}

func (m *mix) result(s *study.Session, l *load) outcome {
	e := l.meter.Estimate()
	const perMicro = 1e6
	o := outcome{Estimate: e, run: m.name(), mps: e.Rate * perMicro, share: map[string]float64{}, bed: l.bed}
	total, by := 0.0, map[string]float64{}
	for _, t := range l.threads {
		by[t.path] += float64(t.counted)
		total += float64(t.counted)
	}
	for p, n := range by {
		o.share[p] = o.mps * n / total
	}
	s.Ran(o.run, e, 1)
	s.Outcome.SimPs += int64(l.bed.engine.Now())
	return o
}

// sendWindow is the number of messages that a client thread has in flight: so few that the target never runs out of
// receive entries.
const sendWindow = 2

func threadsOf(e *end) string {
	if e.ep == nicspec.EndpointArm {
		return "arm.threads"
	}
	return "host.threads"
}

// point returns an outcome as a point of a series.
func (o *outcome) point(system string, at ...float64) study.Point {
	return study.Point{System: system, At: at, Value: o.mps, Half: o.Relative() * o.mps, RoundTrips: o.RoundTrips}
}

// addShares adds the rate of each of the paths that ran side by side.
func (o *outcome) addShares(x *study.Series, system string, at ...float64) {
	for _, p := range parts(system) {
		if p != system {
			x.Add(system+": "+p, o.share[p], at...)
		}
	}
}

func rate(s *study.Session) error {
	got := rateTable{}
	machines := int(s.Input("machines"))
	for _, x := range transports {
		series := study.NewSeries("rate_"+x.name, fmt.Sprintf("Rate of %s, %d machines", x.name, machines), "requests",
			"M/s", study.Axis{Name: "payload", Unit: "B", Log: true})
		for _, p := range []string{path0, path1, path2, both, s2h, h2s} {
			for _, n := range sizesOf(s, x, p) {
				o, err := onPath(s, x, p, n, machines)
				if err != nil {
					return err
				}
				series.Points = append(series.Points, o.point(p, float64(n)))
				o.addShares(series, p, float64(n))
				got[fmt.Sprint(p, x.name, n)] = ratePoint{o.mps, o.run}
			}
		}
		s.Record(series)
	}
	for _, p := range []string{s2h, h2s} {
		o, err := onPath(s, transports[0], p, longRequest, machines)
		if err != nil {
			return err
		}
		got[fmt.Sprint(p, transports[0].name, longRequest)] = ratePoint{o.mps, o.run}
	}
	rateClaims(s, got)
	bottleneck(s, got)
	return nil
}

// sizesOf returns the sizes at which a path is measured: those of the figure or, if Session.Few reports true, those
// that claims are about.
func sizesOf(s *study.Session, x transport, path string) []int {
	switch third := path == s2h || path == h2s; {
	case !s.Few():
		return figureSizes
	case x.op == rnicspec.Read, x.op == rnicspec.Write && !third,
		x.typ == rnicspec.UD && (path == path0 || path == path1):
		return rateSizes
	}
	return study.Points(s, rateSizes)
}

// longRequest is a size at which the links bound requests of path 3, not the software that posts them.
const longRequest = 4096

// ratePoint is a rate, in millions of requests a second, and the name of its run.
type ratePoint struct {
	mps float64
	run string
}

// rateTable has the rates by path, operation and size.
type rateTable map[string]ratePoint

func (t rateTable) at(path, op string, n int) float64 { return t[fmt.Sprint(path, op, n)].mps }

// lower returns the rate of the slower of paths 1 and 2.
func (t rateTable) lower(op string) func(int) float64 {
	return func(n int) float64 { return min(t.at(path1, op, n), t.at(path2, op, n)) }
}

func (t rateTable) of(path, op string) func(int) float64 {
	return func(n int) float64 { return t.at(path, op, n) }
}

// runs names the runs of some operations on some paths, at all sizes of small requests.
func (t rateTable) runs(ops []string, paths ...string) (all []string) {
	for _, op := range ops {
		for _, p := range paths {
			for _, n := range rateSizes {
				all = append(all, t[fmt.Sprint(p, op, n)].run)
			}
		}
	}
	return all
}

// onPath returns the rate of requests on a path. Some names stand for two paths that run side by side (see parts).
func onPath(s *study.Session, x transport, path string, size, machines int) (outcome, error) {
	return onPathFor(s, x, path, size, machines, 1000)
}

// onPathFor is onPath with a minimum number of completed requests.
func onPathFor(s *study.Session, x transport, path string, size, machines, trips int) (outcome, error) {
	m := mix{target: targetOf(path), clients: machines, paths: parts(path), x: x, size: size}
	echoed := x.typ == rnicspec.UD && (path == path0 || path == path1) // the only SENDs that a claim is about
	m.judged = trips > study.MinRoundTrips && size <= rateSizes[len(rateSizes)-1] && (x.op != rnicspec.Send || echoed)
	if path == s2h || path == h2s {
		m.clients = 0
	}
	return m.measure(s, trips)
}

func rateClaims(s *study.Session, got rateTable) {
	over := func(a, b func(n int) float64) (low, high float64) {
		var all []float64
		for _, n := range rateSizes {
			all = append(all, a(n)/b(n))
		}
		return slices.Min(all), slices.Max(all)
	}
	const how = "16 to 256 B, 11 machines of 24 threads"
	one, two := []string{"WRITE"}, []string{"READ", "WRITE"}
	low, high := over(got.of(path1, "WRITE"), got.of(path0, "WRITE"))
	s.Values("offpath.p1.tput_write", how, 1-high, 1-low).On(got.runs(one, path0, path1)...)
	low, high = over(got.of(path1, "SEND UD"), got.of(path0, "SEND UD"))
	s.Holds("offpath.p1.tput_send", study.Above(1, high), fmt.Sprintf("%.3f to %.3f of the plain NIC", low, high),
		how+", UD, echo: a drop at every size").On(got.runs([]string{"SEND UD"}, path0, path1)...)
	r1, r2 := over(got.of(path2, "READ"), got.of(path1, "READ"))
	w1, w2 := over(got.of(path2, "WRITE"), got.of(path1, "WRITE"))
	s.ValuesAnd("offpath.p2.tput_vs_p1", how+": READ and WRITE",
		map[bool]string{false: "it is not above 1 at every size"}[study.Above(min(r1, w1), 1)], min(r1, w1),
		max(r2, w2)).On(got.runs(two, path1, path2)...)
	s.Value("offpath.abs.p2_vs_p1_peak", max(r2, w2), how+": READ and WRITE").On(got.runs(two, path1, path2)...)
	low, high = over(got.of(path2, "WRITE"), got.of(path0, "WRITE"))
	s.Holds("offpath.p2.write_vs_rnic", study.Above(1, high), fmt.Sprintf("%.3f to %.3f of the plain NIC", low, high),
		how).On(got.runs(one, path0, path2)...)
	k, sum := s.Input("nic.alone"), s.Input("nic.packets")
	s.Holds("offpath.p2.partial_nic_cores", k < sum, fmt.Sprintf("contexts of the Arm's endpoint for %.0f M/s, the "+
		"NIC's packet cap is %.0f", k, sum), "inputs; path/zero measures both").Counted()
	low, high = over(got.of(both, "READ"), got.lower("READ"))
	broken := ""
	if study.Above(1, low) {
		broken = fmt.Sprintf("at one size both paths get %.3f of one alone", low)
	}
	s.ValueAnd("offpath.c12.read_gain", high, how+": best over payloads", broken).On(
		got.runs([]string{"READ"}, path1, path2, both)...)
	_, high = over(got.of(both, "WRITE"), got.lower("WRITE"))
	s.Value("offpath.c12.write_gain", high, how+": best over payloads").On(got.runs(one, path1, path2, both)...)
}

// bottleneck judges what bounds requests of path 3: the software that posts them if they are small, else not.
func bottleneck(s *study.Session, got rateTable) {
	arm := s.Input("arm.threads") * 1e3 / (s.Input("arm.poll") + s.Input("arm.build") + s.Input("arm.mmio"))
	host := s.Input("host.threads") * 1e3 / (s.Input("host.poll") + s.Input("host.build") + s.Input("host.mmio"))
	const full = 0.95 // share of the software's own rate that counts as bound by it
	least, most := 1.0, 0.0
	on := got.runs([]string{"READ"}, s2h, h2s)
	for _, n := range rateSizes {
		least = min(least, got.at(s2h, "READ", n)/arm, got.at(h2s, "READ", n)/host)
	}
	for _, p := range []string{s2h, h2s} {
		x := got[fmt.Sprint(p, "READ", longRequest)]
		most, on = max(most, x.mps/map[string]float64{s2h: arm, h2s: host}[p]), append(on, x.run)
	}
	s.Holds("offpath.p3.bottleneck_small", least > full && most < full, fmt.Sprintf("READ of 16 to 256 B: at least "+
		"%.2f of what cores can post, on the Arm and on the host; of 4 KB at most %.2f", least, most),
		"measured rate over threads ÷ time of a post").On(on...)
}
