package rdma

import (
	"fmt"

	"nictwin/models/board"
	"nictwin/models/rnic"
	"nictwin/scenarios/papers/study"
)

// Framing measures the effect of longer headers: the paper measured InfiniBand only; we run the models with RoCEv2 too.
var Framing = study.Experiment{
	Group: "path", Name: "framing", Title: "Sensitivity to RoCEv2: 82 B a packet instead of 26",
	Figures: "beside OP Fig. 4, 5 and 8",
	Inputs: inputs(
		study.Input{Name: "machines", Value: 5, Unit: "machines",
			Source: "assumption: more than fill the NIC's contexts (path/machines)"},
	),
	Run: framing,
}

var framingSizes = []int{64, 256, 512, 4096}

// framings has the names of framings in series.
var framings = map[rnic.Framing]string{rnic.InfiniBand: "InfiniBand", rnic.RoCEv2: "RoCEv2"}

func framing(s *study.Session) error {
	for _, x := range transports[:2] {
		axis := study.Axis{Name: "payload", Unit: "B", Log: true}
		rates := study.NewSeries("framing_"+x.name, "Rate of "+x.name+" by the wire's headers", "requests", "M/s", axis)
		bw := study.NewSeries("framing_bandwidth_"+x.name, "Bandwidth of "+x.name+" by the wire's headers", "payload",
			"Gbps", axis)
		for _, p := range []string{path0, path1, path2} {
			for _, f := range []rnic.Framing{rnic.InfiniBand, rnic.RoCEv2} {
				for _, n := range study.Points(s, framingSizes) {
					o, err := framed(s, x, p, n, f)
					if err != nil {
						return err
					}
					const bits = 8e-3
					system := fmt.Sprintf("%s, %s", p, framings[f])
					rates.Points = append(rates.Points, o.point(system, float64(n)))
					bw.Add(system, o.mps*float64(n)*bits, float64(n))
				}
			}
		}
		s.Record(rates, bw)
	}
	return nil
}

// framed returns the rate of a path with a framing on all wires.
func framed(s *study.Session, x transport, path string, size int, f rnic.Framing) (outcome, error) {
	as := []change{func(_ *board.CardSpec, n *rnic.Spec) { n.Frame = f }}
	m := mix{target: targetOf(path), clients: int(s.Input("machines")), paths: []string{path}, x: x, size: size,
		changes: as, altered: as, label: string(f)}
	return m.measure(s, study.MinRoundTrips)
}
