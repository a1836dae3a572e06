package rdma

import (
	"fmt"

	"nictwin/models/board"
	"nictwin/models/rnic"
	"nictwin/scenarios/papers/study"
)

// Skewed measures random requests to few addresses through the NIC. The claims about it belong to
// experiment path/skew, which accesses the memory directly, without a NIC.
var Skewed = study.Experiment{
	Group: "path", Name: "skewed", Title: "Random requests within a small range, through the NIC", Figures: "OP Fig. 7",
	Pictures: skewedPictures,
	Inputs: inputs(
		study.Input{Name: "payload", Value: 64, Unit: "B", Source: "assumption: a line; Fig. 7 does not print it"},
		study.Input{Name: "machines", Value: 5, Unit: "machines",
			Source: "assumption: more than fill the NIC's contexts (path/machines)"},
	),
	Run: skewed,
}

// skewedRanges are in units of 64 B: 1.5 to 48 KB, and 1 MB, in which consecutive requests seldom meet in a bank.
var skewedRanges = []int{24, 48, 96, 192, 384, 768, 1 << 14}

func skewed(s *study.Session) error {
	off := func(c *board.CardSpec, _ *rnic.Spec) {
		down := &c.Switch.Host
		llc := *down.Cache
		llc.DeviceWays = 0
		down.Cache = &llc
	}
	systems := []struct {
		name, path string
		changes    []change
	}{
		{"path 2, no cache", path2, nil}, {"path 1, device allocation on", path1, nil},
		{"path 1, device allocation off", path1, []change{off}},
	}
	for _, x := range transports[:2] {
		series := study.NewSeries("skewed_"+x.name, "Random 64 B "+x.name+"s through the NIC", "requests", "M/s",
			study.Axis{Name: "address range", Unit: "KB", Log: true})
		for _, sys := range systems {
			for _, lines := range study.Points(s, skewedRanges) {
				o, err := narrow(s, x, sys.path, lines, sys.changes)
				if err != nil {
					return err
				}
				const line = 64.0
				series.Points = append(series.Points, o.point(sys.name, float64(lines)*line/1024))
			}
		}
		s.Record(series)
	}
	return nil
}

// narrow returns the rate of random requests to a range of the given number of lines.
func narrow(s *study.Session, x transport, path string, lines int, changes []change) (outcome, error) {
	size := int(s.Input("payload"))
	m := mix{target: snic, clients: int(s.Input("machines")), paths: []string{path}, x: x, size: size, changes: changes,
		label: fmt.Sprintf("in %d lines, %d changes", lines, len(changes))}
	m.adapt = func(_ string, w *work) { w.span = lines * size }
	return m.measure(s, study.MinRoundTrips)
}
