package rdma

import (
	"fmt"

	"nictwin/scenarios/papers/study"
)

// Machines measures small requests from an increasing number of machines, to show where one bound ends and the next
// begins.
var Machines = study.Experiment{
	Group: "path", Name: "machines", Title: "Rate of small requests by the number of machines",
	Figures: "beside OP Fig. 4, section 3",
	Inputs: inputs(
		study.Input{Name: "payload", Value: 64, Unit: "B", Source: "assumption: of the sizes below 512 B"},
		study.Input{Name: "host.echo", Value: 276, Unit: "ns",
			Source: "bf2.host_mpps: 24 cores answer 87 M messages/s"},
		study.Input{Name: "arm.echo", Value: 276, Unit: "ns",
			Source: "OP Advice 4: posting; seeing the message takes the Arm nothing: assumption"},
	),
	Run: machines,
}

var machineCounts = []int{1, 2, 3, 5, 11}

func machines(s *study.Session) error {
	for _, x := range []transport{transports[0], transports[1], transports[3]} {
		series := study.NewSeries("rate_by_machines_"+x.name,
			fmt.Sprintf("Rate of %s of %.0f B", x.name, s.Input("payload")), "requests", "M/s",
			study.Axis{Name: "machines"})
		for _, p := range []string{path0, path1, path2, both, with3} {
			for _, n := range study.Points(s, machineCounts) {
				o, err := onPathFor(s, x, p, int(s.Input("payload")), n, study.MinRoundTrips)
				if err != nil {
					return err
				}
				series.Points = append(series.Points, o.point(p, float64(n)))
				o.addShares(series, p, float64(n))
			}
		}
		s.Record(series)
	}
	return nil
}
