package rdma

import (
	"fmt"

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
	adapt   func(path string, w *work)
	changes []change // applied to the target
	altered []change // applied to the clients
}

// outcome holds the measurements of a mix.
type outcome struct {
	study.Estimate
	mps   float64            // millions of requests a second
	share map[string]float64 // by path: its part of mps, in the same unit
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
	if err := l.run(); err != nil {
		return outcome{}, fmt.Errorf("%v, %s of %d B, %d clients: %w", m.paths, m.x.name, m.size, m.clients, err)
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

func (m *mix) result(s *study.Session, l *load) outcome {
	e := l.meter.Estimate()
	const perMicro = 1e6
	o := outcome{Estimate: e, mps: e.Rate * perMicro, share: map[string]float64{}, bed: l.bed}
	total, by := 0.0, map[string]float64{}
	for _, t := range l.threads {
		by[t.path] += float64(t.counted)
		total += float64(t.counted)
	}
	for p, n := range by {
		o.share[p] = o.mps * n / total
	}
	s.Ran(fmt.Sprintf("%v %s of %d B, %d clients", m.paths, m.x.name, m.size, m.clients), e, 1)
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
	got := map[string]float64{}
	machines := int(s.Input("machines"))
	for _, x := range transports {
		series := study.NewSeries("rate_"+x.name, fmt.Sprintf("Rate of %s, %d machines", x.name, machines), "requests",
			"M/s", study.Axis{Name: "payload", Unit: "B", Log: true})
		for _, p := range []string{path0, path1, path2, both, s2h, h2s} {
			for _, n := range figureSizes {
				o, err := onPath(s, x, p, n, machines)
				if err != nil {
					return err
				}
				series.Points = append(series.Points, o.point(p, float64(n)))
				o.addShares(series, p, float64(n))
				got[fmt.Sprint(p, x.name, n)] = o.mps
			}
		}
		s.Record(series)
	}
	rateClaims(s, got)
	return nil
}

// onPath returns the rate of requests on a path. Some names stand for two paths that run side by side (see parts).
func onPath(s *study.Session, x transport, path string, size, machines int) (outcome, error) {
	return onPathFor(s, x, path, size, machines, 1000)
}

// onPathFor is onPath with a minimum number of completed requests.
func onPathFor(s *study.Session, x transport, path string, size, machines, trips int) (outcome, error) {
	m := mix{target: targetOf(path), clients: machines, paths: parts(path), x: x, size: size}
	if path == s2h || path == h2s {
		m.clients = 0
	}
	return m.measure(s, trips)
}

func rateClaims(s *study.Session, got map[string]float64) {
	at := func(path, op string, n int) float64 { return got[fmt.Sprint(path, op, n)] }
	over := func(a, b func(n int) float64) (low, high float64) {
		low, high = 1e9, -1e9
		for _, n := range rateSizes {
			r := a(n) / b(n)
			low, high = min(low, r), max(high, r)
		}
		return low, high
	}
	of := func(path, op string) func(int) float64 { return func(n int) float64 { return at(path, op, n) } }
	lower := func(op string) func(int) float64 {
		return func(n int) float64 { return min(at(path1, op, n), at(path2, op, n)) }
	}
	const how = "16 to 256 B, 11 machines of 24 threads"
	low, high := over(of(path1, "WRITE"), of(path0, "WRITE"))
	s.Values("offpath.p1.tput_write", how, 1-high, 1-low)
	low, high = over(of(path1, "SEND UD"), of(path0, "SEND UD"))
	s.Holds("offpath.p1.tput_send", high <= 1+study.Precision, fmt.Sprintf("%.3f to %.3f of the plain NIC", low, high),
		how+", UD, echo; equal within the interval of a rate counts as no more")
	r1, r2 := over(of(path2, "READ"), of(path1, "READ"))
	w1, w2 := over(of(path2, "WRITE"), of(path1, "WRITE"))
	s.Values("offpath.p2.tput_vs_p1", how+": READ and WRITE", min(r1, w1), max(r2, w2))
	s.Value("offpath.abs.p2_vs_p1_peak", max(r2, w2), how+": READ and WRITE")
	low, high = over(of(path2, "WRITE"), of(path0, "WRITE"))
	s.Holds("offpath.p2.write_vs_rnic", high < 1, fmt.Sprintf("%.3f to %.3f of the plain NIC", low, high), how)
	k, sum := s.Input("nic.alone"), s.Input("nic.packets")
	s.Holds("offpath.p2.partial_nic_cores", k < sum, fmt.Sprintf("contexts of the Arm's endpoint for %.0f M/s, the "+
		"NIC's packet cap is %.0f", k, sum), "inputs; path/zero measures both")
	arm := s.Input("arm.threads") * 1e3 / (s.Input("arm.poll") + s.Input("arm.build") + s.Input("arm.mmio"))
	host := s.Input("host.threads") * 1e3 / (s.Input("host.poll") + s.Input("host.build") + s.Input("host.mmio"))
	a, h := at(s2h, "READ", 64)/arm, at(h2s, "READ", 64)/host
	s.Holds("offpath.p3.bottleneck_small", a > 0.95 && h > 0.95,
		fmt.Sprintf("READ of 64 B: %.2f of what the Arm's cores can post, %.2f of the host's", a, h),
		"measured rate over threads ÷ time of a post")
	_, high = over(of(both, "READ"), lower("READ"))
	s.Value("offpath.c12.read_gain", high, how+": best over payloads")
	_, high = over(of(both, "WRITE"), lower("WRITE"))
	s.Value("offpath.c12.write_gain", high, how+": best over payloads")
}
