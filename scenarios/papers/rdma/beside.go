package rdma

import (
	"fmt"

	"nictwin/scenarios/papers/study"
)

// Beside measures path 1 (client to host memory) beside either direction of path 3 (between host and Arm), by
// operation. The claims about it belong to experiment path/together.
var Beside = study.Experiment{
	Group: "path", Name: "beside", Title: "Path 1 beside path 3, by operation", Figures: "OP section 4, Fig. 4",
	Pictures: besidePictures,
	Inputs: inputs(
		study.Input{Name: "machines", Value: 5, Unit: "machines", Source: "offpath.c13.read_drop, its condition"},
		study.Input{Name: "host.echo", Value: 276, Unit: "ns",
			Source: "bf2.host_mpps: 24 cores answer 87 M messages/s"},
		study.Input{Name: "arm.echo", Value: 276, Unit: "ns",
			Source: "OP Advice 4: posting; seeing the message takes the Arm nothing: assumption"},
	),
	Run: besides,
}

var besideSizes = []int{16, 64, 256}

func besides(s *study.Session) error {
	for _, x := range transports {
		series := study.NewSeries("beside_"+x.name, x.name+" of path 1 beside path 3", "requests", "M/s",
			study.Axis{Name: "payload", Unit: "B", Log: true})
		for _, n := range study.Points(s, besideSizes) {
			m := mix{target: snic, clients: int(s.Input("machines")), paths: []string{path1}, x: x, size: n}
			alone, err := m.measure(s, study.MinRoundTrips)
			if err != nil {
				return err
			}
			series.Points = append(series.Points, alone.point(oneAlone, float64(n)))
			for _, third := range []string{h2s, s2h} {
				m.paths = []string{path1, third}
				o, err := m.measure(s, study.MinRoundTrips)
				if err != nil {
					return err
				}
				series.Points = append(series.Points, o.point(fmt.Sprintf("path 1 and %s", third), float64(n)))
				for _, p := range m.paths {
					series.Add(fmt.Sprintf("path 1 and %s: %s", third, p), o.share[p], float64(n))
				}
			}
		}
		s.Record(series)
	}
	return nil
}
