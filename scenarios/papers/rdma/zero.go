package rdma

import (
	"fmt"

	"nictwin/scenarios/papers/study"
)

// Zero measures READs of no bytes, which occupy contexts and nothing else.
var Zero = study.Experiment{
	Group: "path", Name: "zero", Title: "READs of no bytes: contexts alone", Figures: "OP Fig. 11, section 4",
	Pictures: zeroPictures,
	Claims: []string{"offpath.c12.sum_alone", "offpath.c12.concurrent", "offpath.c12.gain_vs_p1",
		"offpath.c12.gain_vs_p2", "offpath.c12.zero_byte_saturation"},
	Inputs: inputs(study.Input{
		Name: "machines", Value: 11, Unit: "machines", Source: "offpath.cfg.requesters",
		Anchors: []string{"offpath.cfg.requesters"},
	}),
	Run: zero,
	Notes: []string{"The paper has 1+2 and 2+1. Here half of the clients' threads are on each path, and there is one " +
		"order of them: both gains are drawn and judged against it."},
	Arithmetic: []string{"offpath.c12.gain_vs_p1", "offpath.c12.gain_vs_p2"},
}

// saturated is the fraction of the highest rate that counts as saturation.
const saturated = 0.98

func zero(s *study.Session) error {
	series := study.NewSeries("zero", "READs of no bytes", "requests", "M/s", study.Axis{Name: "machines"})
	most, full, runs := map[string]float64{}, map[string]int{}, map[string]string{}
	last := int(s.Input("machines"))
	for _, p := range []string{path0, path1, path2, both} {
		rates := map[int]float64{}
		for _, n := range []int{1, 2, 3, 4, 5, 6, 8, last} {
			o, err := onPath(s, transports[0], p, 0, n)
			if err != nil {
				return err
			}
			series.Points = append(series.Points, o.point(p, float64(n)))
			if rates[n] = o.mps; o.mps > most[p] {
				most[p], runs[p] = o.mps, o.run
			}
		}
		for n := last; n > 0; n-- {
			if r, ok := rates[n]; ok && r >= saturated*most[p] {
				full[p] = n
			}
		}
	}
	writes := study.NewSeries("zero_WRITE", "WRITEs of no bytes", "requests", "M/s", study.Axis{Name: "machines"})
	for _, p := range []string{path0, path1, path2, both} {
		for _, n := range study.Points(s, []int{1, 3, 5, last}) {
			o, err := onPath(s, transports[1], p, 0, n)
			if err != nil {
				return err
			}
			writes.Points = append(writes.Points, o.point(p, float64(n)))
		}
	}
	s.Record(series, writes)
	const how = "READ of 0 B, the highest of 1 to 11 machines of 24 threads"
	s.Value("offpath.c12.sum_alone", most[path1]+most[path2], how).On(runs[path1], runs[path2])
	s.Value("offpath.c12.concurrent", most[both], how).On(runs[both])
	g1, g2 := most[both]/most[path1]-1, most[both]/most[path2]-1
	const follows = how + "; follows from the two anchors, nic.reserve over nic.alone"
	s.Values("offpath.c12.gain_vs_p1", follows, g1, g1).On(runs[path1], runs[both])
	s.Values("offpath.c12.gain_vs_p2", follows, g2, g2).On(runs[path2], runs[both])
	s.Value("offpath.c12.zero_byte_saturation", float64(full[path1]),
		fmt.Sprintf("machines that reach %g of the highest rate on path 1; %d on path 2", saturated,
			full[path2])).On(runs[path1])
	return nil
}
