package rdma

import (
	"fmt"
	"math"
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
	Reasons: map[string]string{
		"offpath.p1.lat_send": "from 64 B on the NIC reads the answer from memory, once more across the card, so " +
			"that a SEND gains more than a READ; shorter ones go inline",
		"offpath.p1.read_gt_write": "the NIC acknowledges a WRITE when its TLPs were accepted, and that notice " +
			"takes as long as the second crossing of a READ",
		"offpath.p3.s2h_latency": "a WRITE of up to 32 B goes inline: the Arm's slower MMIO is all that differs, " +
			"as in a READ",
	},
	Settled: map[string]string{
		"offpath.p3.s2h_latency": "READ the most: by S2H over H2S, not by the latency itself",
	},
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

// latencySizes are the sizes of the figure, smallSizes those of small requests, which most claims are about.
var (
	smallSizes   = []int{16, 32, 64, 128, 256}
	latencySizes = append(slices.Clone(smallSizes), 512, 1024, 2048, 4096, 16384)
)

// latencySizesOf returns the sizes at which a path is measured: those of the figure or, if Session.Few reports true,
// those that claims are about.
func latencySizesOf(s *study.Session, x transport, path string) []int {
	switch bare := path == path0 || path == path1; {
	case !s.Few(), x.op == rnicspec.Read && bare:
		return latencySizes
	case x.op != rnicspec.Send && path != with3, x.typ == rnicspec.UD && bare:
		return smallSizes
	}
	return study.Points(s, smallSizes)
}

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
	got := latencyTable{}
	for _, x := range transports {
		series := study.NewSeries("latency_"+x.name, "Latency of "+x.name, "latency", "us",
			study.Axis{Name: "payload", Unit: "B", Log: true})
		for _, p := range []string{path0, path1, path2, s2h, h2s, both, with3} {
			for _, n := range latencySizesOf(s, x, p) {
				if x.typ == rnicspec.UD && n > int(s.Input("net.mtu")) { // a datagram is one packet
					continue
				}
				us, each, err := latencyBy(s, x, p, n)
				if err != nil {
					return fmt.Errorf("%s, %s of %d B: %w", p, x.name, n, err)
				}
				series.Points = append(series.Points, us.point(p, n))
				for i, own := range each {
					series.Points = append(series.Points, own.point(p+": "+parts(p)[i], n))
				}
				got[fmt.Sprint(p, x.name, n)] = us.mean
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
	return us.mean, err
}

// meanTime is a mean latency and the half width of its 95% confidence interval, in microseconds, over some requests.
type meanTime struct {
	mean, half float64
	requests   int
}

func meanOf(e study.Estimate) meanTime {
	us := 1 / e.Rate / float64(simcore.Microsecond)
	return meanTime{us, e.Relative() * us, e.RoundTrips}
}

// point returns the latency as a point of a series.
func (t meanTime) point(system string, size int) study.Point {
	return study.Point{System: system, At: []float64{float64(size)}, Value: t.mean, Half: t.half,
		RoundTrips: t.requests}
}

// latencyRun names the run that measures a path's latency.
func latencyRun(x transport, path string, n int) string {
	return fmt.Sprintf("%s of %d B, %s", x.name, n, path)
}

// latencyBy returns the mean latency of a path, from the start of a post to its completion entry or, for a SEND, to the
// answer. For paths side by side, whose requests are in flight at once, it returns the mean over all, and the mean of
// each path.
func latencyBy(s *study.Session, x transport, path string, n int) (mean meanTime, each []meanTime, err error) {
	b, err := newBed(s, targetOf(path), 1)
	if err != nil {
		return mean, nil, err
	}
	l := b.newLoad(nil)
	paths := parts(path)
	times := make([][]simcore.Ps, len(paths))
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
			times[i] = append(times[i], now-t.began)
			if left--; left == 0 {
				t.w.window = 0
			}
		}
	}
	if err := l.run(); err != nil {
		return mean, nil, err
	}
	s.Outcome.SimPs += int64(b.engine.Now())
	for _, own := range times {
		e := study.MeanOf(own)
		s.Ran(latencyRun(x, path, n), e, 1)
		us := meanOf(e)
		mean.mean, mean.half = mean.mean+us.mean/float64(len(paths)), max(mean.half, us.half)
		mean.requests += us.requests
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

// latencyTable has the mean latencies, in microseconds, by path, operation and size.
type latencyTable map[string]float64

func (t latencyTable) at(path, op string, n int) float64 { return t[fmt.Sprint(path, op, n)] }

// more returns by how much path a is above path b, as a fraction, for each of the sizes.
func (t latencyTable) more(a, b, op string, sizes []int) (all []float64) {
	for _, n := range sizes {
		all = append(all, t.at(a, op, n)/t.at(b, op, n)-1)
	}
	return all
}

// latencyRuns names the runs of an operation on some paths, at each of the sizes.
func latencyRuns(x transport, sizes []int, paths ...string) (all []string) {
	for _, p := range paths {
		for _, n := range sizes {
			all = append(all, latencyRun(x, p, n))
		}
	}
	return all
}

func latencyClaims(s *study.Session, got latencyTable) {
	read, write, send := transports[0], transports[1], transports[3]
	const how = "mean of 500 requests or more, one at a time, 16 to 256 B"
	firstPath(s, got)
	up := got.more(path1, path0, send.name, smallSizes)
	least := slices.Min(slices.Concat(got.more(path1, path0, read.name, smallSizes),
		got.more(path1, path0, write.name, smallSizes)))
	below := study.Above(1+least, 1+slices.Max(up))
	s.ValuesAnd("offpath.p1.lat_send", "mean of 500 echoes or more over UD, one at a time, 16 to 256 B",
		map[bool]string{false: "it is not below the increases of READ and WRITE"}[below], slices.Min(up),
		slices.Max(up)).On(slices.Concat(latencyRuns(send, smallSizes, path0, path1),
		latencyRuns(read, smallSizes, path0, path1), latencyRuns(write, smallSizes, path0, path1))...)
	down := got.more(path2, path1, read.name, smallSizes)
	shorter := study.Above(1, 1+slices.Max(down))
	s.ValueAnd("offpath.p2.lat_read_vs_p1", -slices.Min(down), how+": largest decrease",
		map[bool]string{false: "it does not decrease at every size"}[shorter]).On(
		latencyRuns(read, smallSizes, path1, path2)...)
	up = got.more(path2, path0, read.name, smallSizes)
	s.Values("offpath.p2.lat_read_vs_rnic", how, slices.Min(up), slices.Max(up)).On(
		latencyRuns(read, smallSizes, path0, path2)...)
	thirdPath(s, got)
	s.Holds("offpath.prior.read_soc_shorter", shorter, fmt.Sprintf("%.2f us, %.2f on path 1, at 64 B; %.1f%% less "+
		"at least", got.at(path2, read.name, 64), got.at(path1, read.name, 64), -100*slices.Max(down)), how).On(
		latencyRuns(read, smallSizes, path1, path2)...)
	worst := 0.0
	for _, x := range []transport{read, write} {
		for _, n := range smallSizes {
			mean := (got.at(path1, x.name, n) + got.at(path2, x.name, n)) / 2
			worst = max(worst, math.Abs(got.at(both, x.name, n)/mean-1))
		}
	}
	s.Holds("offpath.c12.latency_average", worst < 0.1, fmt.Sprintf("at most %.1f%% from the average of both paths",
		100*worst), how+": READ and WRITE").On(append(latencyRuns(read, smallSizes, path1, path2, both),
		latencyRuns(write, smallSizes, path1, path2, both)...)...)
}

// firstPath judges the claims about one-sided requests on path 1.
func firstPath(s *study.Session, got latencyTable) {
	read, write := transports[0], transports[1]
	small := got.more(path1, path0, read.name, smallSizes)
	all := got.more(path1, path0, read.name, latencySizes)
	falls := study.Above(1+all[0], 1+all[len(all)-1])
	for i := 1; i < len(all); i++ {
		falls = falls && !study.Above(1+all[i], 1+all[i-1])
	}
	s.ValuesAnd("offpath.p1.lat_read", fmt.Sprintf("mean of 500 requests or more, one at a time, 16 to 256 B; at "+
		"%d B it is %.3f", latencySizes[len(latencySizes)-1], all[len(all)-1]),
		map[bool]string{false: "it does not decrease with the payload"}[falls], slices.Min(small),
		slices.Max(small)).On(latencyRuns(read, latencySizes, path0, path1)...)
	const how = "mean of 500 requests or more, one at a time: at 64 B"
	us := func(x transport, n int) float64 { return got.at(path1, x.name, n) - got.at(path0, x.name, n) }
	s.Value("offpath.p1.abs_write", us(write, 64), how).On(latencyRuns(write, []int{64}, path0, path1)...)
	holds := true
	for _, n := range smallSizes {
		at := func(path string, x transport) float64 { return got.at(path, x.name, n) }
		holds = holds && study.Above(at(path1, read)+at(path0, write), at(path1, write)+at(path0, read))
	}
	s.Holds("offpath.p1.read_gt_write", holds, fmt.Sprintf("at 64 B READ %.3f us more, WRITE %.3f", us(read, 64),
		us(write, 64)), "mean of 500 requests or more, one at a time: at each of 16 to 256 B").On(append(
		latencyRuns(read, smallSizes, path0, path1), latencyRuns(write, smallSizes, path0, path1)...)...)
}

// thirdPath judges the claims about path 3.
func thirdPath(s *study.Session, got latencyTable) {
	read, write := transports[0], transports[1]
	const how = "mean of 500 requests or more, one at a time, 16 to 256 B"
	slower := func(x transport, n int) float64 { return got.at(s2h, x.name, n) / got.at(h2s, x.name, n) }
	holds := true
	for _, n := range smallSizes {
		holds = holds && study.Above(got.at(s2h, read.name, n), got.at(h2s, read.name, n)) &&
			study.Above(got.at(s2h, read.name, n), got.at(path2, read.name, n)) &&
			study.Above(slower(read, n), slower(write, n))
	}
	text := fmt.Sprintf("READ of 64 B: S2H %.2f us, H2S %.2f, path 2 %.2f; S2H over H2S: READ %.3f, WRITE %.3f; "+
		"of 16 B READ %.3f, WRITE "+
		"%.3f", got.at(s2h, read.name, 64), got.at(h2s, read.name, 64), got.at(path2, read.name, 64),
		slower(read, 64), slower(write, 64), slower(read, 16), slower(write, 16))
	s.Holds("offpath.p3.s2h_latency", holds, text, how+": at each size").On(append(
		latencyRuns(read, smallSizes, s2h, h2s, path2), latencyRuns(write, smallSizes, s2h, h2s)...)...)
	up := got.more(h2s, path2, read.name, smallSizes)
	s.Values("offpath.p3.h2s_vs_p2", how, slices.Min(up), slices.Max(up)).On(
		latencyRuns(read, smallSizes, h2s, path2)...)
}
