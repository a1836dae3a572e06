package ceio

import (
	"fmt"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/point"
	"nictwin/scenarios/papers/study"
)

// Controllers compares the two controllers of CEIO: accounts of the NIC, and a core of the card, as in the paper.
var Controllers = study.Experiment{
	Group: "ceio", Name: "controllers", Title: "Credits counted by the NIC, and by a core of the card", Figures: "–",
	Inputs: inputs(), Run: controllers,
	Notes: []string{"nobody has published this comparison: overshoot are packets that came to the fast path without " +
		"a " +
		"credit"},
}

// armPeriods are the periods in which the core of the card reads the hits of all rules, in nanoseconds; 0: the NIC
// counts.
var armPeriods = []int{0, 1000, 2000, 4000, 8000}

func controllerScene(s *study.Session, period int) *point.Scene {
	const flows = 8
	name, more := "nic", timers(s)
	if period > 0 {
		name = fmt.Sprintf("arm, every %d ns", period)
		more += fmt.Sprintf(", controller: arm, arm_period: %dns", period)
	}
	return &point.Scene{Name: name, Board: testbed(s, flows), Stacks: withCEIO.stacks(s, flows, putBytes, more),
		Workloads: []string{store(s, "store", from(1, flows)...)}, Warm: point.WarmUp(s, milli), Window: milli,
		Counters: armBusy}
}

// armBusy returns the time for which the card's first core was busy.
func armBusy(rack *board.Rack) []uint64 {
	c, err := rack.Cards()[0].Memory.Host(nicspec.EndpointArm).Core(0, 0)
	if err != nil {
		return []uint64{0}
	}
	return []uint64{uint64(c.Stats().Busy)}
}

func controllers(s *study.Session) error {
	var scenes []*point.Scene
	periods := study.Points(s, armPeriods)
	for _, n := range periods {
		scenes = append(scenes, controllerScene(s, n))
	}
	all, err := point.Play(s, scenes...)
	if err != nil {
		return err
	}
	period := study.Axis{Name: "period; 0: the NIC", Unit: "ns"}
	series := []*study.Series{
		study.NewSeries("controller_rate", "Eight CPU-involved flows, by controller", "requests", "M/s", period),
		study.NewSeries("controller_packets", "Packets beyond the credits, and slow "+
			"ones", "share of packets", "", period),
		study.NewSeries("controller_arm", "Time of the card's core", "busy", "", period),
	}
	for i, p := range all {
		at := float64(periods[i])
		rate, _ := mpps(s, p, "store")
		series[0].Add("CEIO", rate, at)
		c := &p.Stats.Credits[0]
		sum := float64(c.Fast + c.Slow)
		series[1].Add("overshoot", float64(c.Overshoot)/sum, at)
		series[1].Add("slow", float64(c.Slow)/sum, at)
		series[2].Add("core", p.PerSecond(0)/float64(simcore.Second), at)
	}
	s.Record(series...)
	return nil
}
