package rdma

import (
	"fmt"
	"slices"

	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Latency measures one request at a time.
var Latency = study.Experiment{
	Group: "path", Name: "latency", Title: "Latency of one request at a time", Figures: "OP Fig. 4, section 3 and 4",
	Pictures: latencyPictures,
	Claims: []string{
		"offpath.p1.lat_read", "offpath.p1.lat_send", "offpath.p1.abs_write", "offpath.p1.read_gt_write",
		"offpath.p2.lat_read_vs_p1",
		"offpath.p2.lat_read_vs_rnic", "offpath.p3.s2h_latency", "offpath.p3.h2s_vs_p2",
		"offpath.prior.read_soc_shorter",
		"offpath.c12.latency_average",
	},
	Inputs: inputs(
		study.Input{Name: "host.echo", Value: 276, Unit: "ns",
			Source: "bf2.host_mpps: 24 cores answer 87 M messages/s"},
		study.Input{Name: "arm.echo", Value: 276, Unit: "ns",
			Source: "OP Advice 4: posting; seeing the message takes the Arm nothing: assumption"},
	),
	Run: latency,
}

// Names of paths.
const (
	path0 = "RNIC path 1"
	path1 = "SNIC path 1"
	path2 = "SNIC path 2"
	s2h   = "SNIC path 3 S2H"
	h2s   = "SNIC path 3 H2S"
	both  = "SNIC path 1+2"
	with3 = "SNIC path 1+3 H2S" // the only combination with path 3 that the study reports
)

// parts returns the paths that run side by side under a combined name.
func parts(path string) []string {
	switch path {
	case both:
		return []string{path1, path2}
	case with3:
		return []string{path1, h2s}
	}
	return []string{path}
}

// ends returns the requester and the responder of a path. On path 3, both belong to the target.
func (b *bed) ends(path string, client int) (from, to *end) {
	arm, host := b.target.ends[nicspec.EndpointArm], b.target.ends[nicspec.EndpointHost]
	switch path {
	case s2h:
		return arm, host
	case h2s:
		return host, arm
	case path2:
		return b.clients[client].ends[nicspec.EndpointHost], arm
	}
	return b.clients[client].ends[nicspec.EndpointHost], host
}

// targetOf returns the target of a path.
func targetOf(path string) string {
	if path == path0 {
		return plain
	}
	return snic
}

// latencySizes has the sizes that claims are about first, then those that only the figure shows.
var latencySizes = []int{16, 32, 64, 256, 128, 512, 1024, 2048, 4096, 16384}

// transport is an operation over a type of queue pair.
type transport struct {
	name string
	typ  rnicspec.QPType
	op   rnicspec.Opcode
}

var transports = []transport{
	{"READ", rnicspec.RC, rnicspec.Read}, {"WRITE", rnicspec.RC, rnicspec.Write},
	{"SEND RC", rnicspec.RC, rnicspec.Send}, {"SEND UD", rnicspec.UD, rnicspec.Send},
}

func latency(s *study.Session) error {
	got := map[string]float64{}
	for _, x := range transports {
		series := study.NewSeries("latency_"+x.name, "Latency of "+x.name, "latency", "us",
			study.Axis{Name: "payload", Unit: "B", Log: true})
		for _, p := range []string{path0, path1, path2, s2h, h2s, both, with3} {
			for _, n := range slices.Sorted(slices.Values(latencySizes)) {
				if x.typ == rnicspec.UD && n > int(s.Input("net.mtu")) { // a datagram is one packet
					continue
				}
				us, each, err := latencyBy(s, x, p, n)
				if err != nil {
					return fmt.Errorf("%s, %s of %d B: %w", p, x.name, n, err)
				}
				series.Points = append(series.Points, study.Point{System: p, At: []float64{float64(n)}, Value: us,
					RoundTrips: study.MinRoundTrips})
				for i, own := range each {
					series.Add(p+": "+parts(p)[i], own, float64(n))
				}
				got[fmt.Sprint(p, x.name, n)] = us
			}
		}
		s.Record(series)
	}
	latencyClaims(s, got)
	return nil
}

// latencyOf returns the mean latency of a path, as latencyBy measures it.
func latencyOf(s *study.Session, x transport, path string, n int) (float64, error) {
	us, _, err := latencyBy(s, x, path, n)
	return us, err
}

// latencyBy returns the mean latency of a path, from the start of a post to its completion entry or, for a SEND, to the
// answer. For paths side by side, whose requests are in flight at once, it returns the mean over all, and the mean of
// each path.
func latencyBy(s *study.Session, x transport, path string, n int) (mean float64, each []float64, err error) {
	b, err := newBed(s, targetOf(path), 1)
	if err != nil {
		return 0, nil, err
	}
	l := b.newLoad(nil)
	paths := parts(path)
	sums := make([]simcore.Ps, len(paths))
	trips := s.Scale(study.MinRoundTrips, study.MinRoundTrips) / len(paths)
	for i, p := range paths {
		from, to := b.ends(p, 0)
		w := works(s, from, x.op, n)
		w.window, w.signal = 1, 1
		var t *thread
		if x.op == rnicspec.Send {
			t = l.ask(from, to.serve(x.typ, n, b.newCore(echoOf(s, to))), w)
		} else {
			t = l.start(from, to, w)
		}
		left := trips
		t.free = true
		t.each = func(now simcore.Ps) {
			sums[i] += now - t.began
			if left--; left == 0 {
				t.w.window = 0
			}
		}
	}
	if err := l.run(); err != nil {
		return 0, nil, err
	}
	s.Outcome.SimPs += int64(b.engine.Now())
	for _, sum := range sums {
		us := float64(sum) / float64(trips) / float64(simcore.Microsecond)
		mean += us / float64(len(paths))
		if len(paths) > 1 {
			each = append(each, us)
		}
	}
	return mean, each, b.err
}

func echoOf(s *study.Session, e *end) simcore.Ps {
	if e.ep == nicspec.EndpointArm {
		return ns(s.Input("arm.echo"))
	}
	return ns(s.Input("host.echo"))
}

func latencyClaims(s *study.Session, got map[string]float64) {
	at := func(path, op string, n int) float64 { return got[fmt.Sprint(path, op, n)] }
	small := latencySizes[:4]
	more := func(a, b, op string, small []int) (low, high float64) {
		low, high = 1e9, -1e9
		for _, n := range small {
			r := at(a, op, n)/at(b, op, n) - 1
			low, high = min(low, r), max(high, r)
		}
		return low, high
	}
	const how = "mean of 500 requests or more, one at a time, 16 to 256 B"
	low, high := more(path1, path0, "READ", small)
	s.Values("offpath.p1.lat_read", how, low, high)
	low, high = more(path1, path0, "SEND UD", latencySizes[:2])
	s.Values("offpath.p1.lat_send", "mean of 500 echoes or more over UD, one at a time, of 16 and 32 B, which go "+
		"inline; the series has longer ones, whose answers the NIC reads from memory", low, high)
	s.Value("offpath.p1.abs_write", at(path1, "WRITE", 64)-at(path0, "WRITE", 64), how+": at 64 B")
	r, w := at(path1, "READ", 64)-at(path0, "READ", 64), at(path1, "WRITE", 64)-at(path0, "WRITE", 64)
	s.Holds("offpath.p1.read_gt_write", r > w, fmt.Sprintf("READ %.3f us more, WRITE %.3f us", r, w), how)
	low, _ = more(path2, path1, "READ", small)
	s.Value("offpath.p2.lat_read_vs_p1", -low, how+": largest decrease")
	low, high = more(path2, path0, "READ", small)
	s.Values("offpath.p2.lat_read_vs_rnic", how, low, high)
	worst := func(op string) float64 { return at(s2h, op, 64) / at(h2s, op, 64) }
	s.Holds("offpath.p3.s2h_latency", at(s2h, "READ", 64) > at(h2s, "READ", 64) &&
		at(s2h, "READ", 64) > at(path2, "READ", 64) && worst("READ") > worst("WRITE"),
		fmt.Sprintf("READ of 64 B: S2H %.2f us, H2S %.2f, path 2 %.2f; S2H over H2S: READ %.2f, WRITE %.2f",
			at(s2h, "READ", 64), at(h2s, "READ", 64), at(path2, "READ", 64), worst("READ"), worst("WRITE")), how)
	low, high = more(h2s, path2, "READ", small)
	s.Values("offpath.p3.h2s_vs_p2", how, low, high)
	s.Holds("offpath.prior.read_soc_shorter", at(path2, "READ", 64) < at(path1, "READ", 64),
		fmt.Sprintf("%.2f us, %.2f on path 1", at(path2, "READ", 64), at(path1, "READ", 64)), how)
	mean := (at(path1, "READ", 64) + at(path2, "READ", 64)) / 2
	off := at(both, "READ", 64)/mean - 1
	s.Holds("offpath.c12.latency_average", off < 0.1 && off > -0.1,
		fmt.Sprintf("%.3f of the average of both paths", 1+off), how+": READ of 64 B")
}
