package ring

import (
	"fmt"

	"nictwin/scenarios/papers/study"
)

// Latency measures the round trip of one message at a time (Exp#2).
var Latency = study.Experiment{
	Group: "ring", Name: "round-trips", Title: "Round trips of one message at a time, unbatched",
	Figures:  "RB2 Exp#2, Fig. 6",
	Pictures: roundTripPictures,
	Claims:   []string{"rb2.e2.small_avg", "rb2.e2.l5_64B"},
	Inputs:   inputs(),
	Run:      designLatency,
	Reasons: map[string]string{"rb2.e2.l5_64B": "L5 writes a message and its tail as RB2 does; what lets it be " +
		"faster is not in the paper"},
}

var latencySizes = []int{16, 64, 512, 4096}

func designLatency(s *study.Session) error {
	x := study.NewSeries("mean", "Mean round trip of ring buffers", "round trip", "us",
		study.Axis{Name: "message", Unit: "B", Log: true})
	y := study.NewSeries("p999", "99.9% of round trips of ring buffers", "round trip", "us",
		study.Axis{Name: "message", Unit: "B", Log: true})
	at := map[string]trip{}
	for _, size := range latencySizes {
		for _, d := range rings(s) {
			if d.spec.Window == 0 {
				d = d.unbatched()
			}
			t, _, err := exchange{d: d, request: size, bulk: size, window: 1, rounds: tailRounds}.measure(s)
			if err != nil {
				return err
			}
			x.Points = append(x.Points, point(d.name, t.mean, t.meanHalf, size, tailRounds))
			y.Points = append(y.Points, point(d.name, t.tail, t.tailHalf, size, tailRounds))
			if size == 64 {
				at[d.name] = t
			}
		}
	}
	s.Record(x, y)
	const near = 0.15
	sd, broken := at["SocksDirect"].mean, ""
	if r := at["RB2"].mean; r < sd*(1-near) || r > sd*(1+near) {
		broken = fmt.Sprintf("it is further than 15%% from SocksDirect's %.2f us", sd)
	}
	s.ValueAnd("rb2.e2.small_avg", at["RB2"].mean, fmt.Sprintf("mean round trip of 64 B; SocksDirect %.2f us", sd),
		broken).On(at["RB2"].runs[0], at["SocksDirect"].runs[0])
	broken = ""
	for _, d := range rings(s) {
		if d.name != "L5" && !study.Above(at[d.name].mean, at["L5"].mean) {
			broken = fmt.Sprintf("it is not below that of %s, %.2f us", d.name, at[d.name].mean)
		}
	}
	s.ValueAnd("rb2.e2.l5_64B", at["L5"].mean, "mean round trip of 64 B", broken).On(at["L5"].runs[0],
		at["RB2"].runs[0], at["SocksDirect"].runs[0], at["FaRM"].runs[0])
	return nil
}
