package rdma

import "nictwin/scenarios/papers/study"

// Together measures path 1 (client to host memory) beside path 3 (between host and Arm).
var Together = study.Experiment{
	Group: "path", Name: "together", Title: "Path 1 beside path 3", Figures: "OP section 4, Fig. 4",
	Claims: []string{"offpath.c13.read_drop"},
	Settled: map[string]string{
		"offpath.c13.read_drop": "judged with 8 and with 16 requests a thread, since READs that wait for " +
			"contexts are among the responder resources of their queue pair; with 16 it had missed (0.025 to 0.038)",
	},
	Inputs: inputs(study.Input{
		Name: "machines", Value: 5, Unit: "machines", Source: "offpath.c13.read_drop, its condition",
	}),
	Pictures: togetherPictures,
	Run:      together,
}

func together(s *study.Session) error {
	low, high := 1e9, -1e9
	var runs []string
	read := study.NewSeries("together_READ", "READs of path 1 beside READs of path 3 H2S", "requests", "M/s",
		study.Axis{Name: "payload", Unit: "B", Log: true})
	for _, n := range rateSizes {
		alone, beside, err := beside(s, transports[0], n, h2s)
		if err != nil {
			return err
		}
		read.Points = append(read.Points, alone.point(oneAlone, float64(n)))
		read.Add("path 1 beside path 3", beside.share[path1], float64(n))
		read.Add("path 3 H2S beside path 1", beside.share[h2s], float64(n))
		more, err := besideMore(s, n)
		if err != nil {
			return err
		}
		read.Add("path 1 beside path 3, 16 requests a thread", more.share[path1], float64(n))
		read.Add("path 3 H2S beside path 1, 16 requests a thread", more.share[h2s], float64(n))
		runs = append(runs, alone.run, beside.run, more.run)
		for _, o := range []outcome{beside, more} {
			drop := 1 - o.share[path1]/alone.mps
			low, high = min(low, drop), max(high, drop)
		}
	}
	s.Values("offpath.c13.read_drop", "16 to 256 B, 5 machines of 24 threads, and 24 threads of the host, with 8 "+
		"and with 16 requests a thread (series): contexts serve READs in order of arrival, so that path 3 gets "+
		"the share of those under way", low, high).On(runs...)
	wide := study.NewSeries("together_wide", "READ of 4 KB on path 1 beside READ of 4 KB on path 3", "payload", "Gbps",
		study.Axis{Name: "path 3"})
	for _, p := range []string{s2h, h2s} {
		alone, beside, err := beside(s, transports[0], wideBytes, p)
		if err != nil {
			return err
		}
		const bits = 8e-3
		wide.Bar(oneAlone, p, alone.mps*wideBytes*bits)
		wide.Bar("path 1", p, beside.share[path1]*wideBytes*bits)
		wide.Bar("path 3", p, beside.share[p]*wideBytes*bits)
	}
	s.Record(read, wide)
	return nil
}

const (
	wideBytes = 4096
	trips     = 2000
)

// beside measures path 1 alone, and path 1 beside the given variant of path 3.
func beside(s *study.Session, x transport, size int, third string) (alone, both outcome, err error) {
	m := mix{target: snic, clients: int(s.Input("machines")), paths: []string{path1}, x: x, size: size,
		judged: true}
	if alone, err = m.measure(s, trips); err != nil {
		return alone, both, err
	}
	m.paths = []string{path1, third}
	both, err = m.measure(s, trips)
	return alone, both, err
}

// besideMore measures path 1 and path 3 side by side, each with twice as many requests in flight as in beside.
func besideMore(s *study.Session, size int) (outcome, error) {
	m := mix{target: snic, clients: int(s.Input("machines")), paths: []string{path1, h2s}, x: transports[0], size: size,
		label: "twice as many in flight", judged: true}
	m.adapt = func(_ string, w *work) { w.window *= 2 }
	return m.measure(s, trips)
}
