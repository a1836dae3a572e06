package ring

import (
	"fmt"

	"nictwin/scenarios/papers/study"
	"nictwin/stack/rb2"
)

// Synchronization compares the ways in which sender and receiver announce their pointers (RB² section 4-A).
var Synchronization = study.Experiment{
	Group: "ring", Name: "synchronization", Title: "Heads pushed or pulled, tails by completions or written twice",
	Figures:  "RB2 section 4-A, Fig. 3",
	Pictures: syncPictures,
	Claims:   []string{"rb2.mb.push_gain_64B", "rb2.mb.choice", "rb2.mb.cq_receiver_cost"},
	Inputs: inputs(
		study.Input{Name: "batch", Value: 16, Unit: "messages",
			Source: "rb.mb_threshold: of sending and of pushing the head; who pulls it does so when the ring looks " +
				"full: assumption"},
	),
	Run: synchronize,
	Reasons: map[string]string{
		"rb2.mb.push_gain_64B": "with tails by completions the receiver is what bounds the rate, and pushing is " +
			"its work, pulling the sender's",
	},
}

var syncSizes = []int{64, 512, 4096}

// designs returns the four combinations of head and tail synchronization.
func designs(s *study.Session) []design {
	var all []design
	batch := int(s.Input("batch"))
	for _, head := range []rb2.HeadSync{rb2.HeadPush, rb2.HeadPull} {
		for _, tail := range []rb2.TailSync{rb2.TailImm, rb2.TailWrite} {
			d := full(s)
			d.name = map[rb2.HeadSync]string{rb2.HeadPush: "Push", rb2.HeadPull: "Pull"}[head] +
				map[rb2.TailSync]string{rb2.TailImm: "+CQ", rb2.TailWrite: "+WT"}[tail]
			d.spec.Alpha, d.spec.Beta, d.spec.Gamma, d.spec.Elastic, d.spec.Head, d.spec.Tail = batch, batch, batch,
				false, head, tail
			all = append(all, d)
		}
	}
	return all
}

func synchronize(s *study.Session) error {
	x := study.NewSeries("throughput", "Throughput of the ways to synchronize", "throughput", "Gbps",
		study.Axis{Name: "message", Unit: "B", Log: true})
	y := study.NewSeries("p999", "99.9% of round trips of the ways to synchronize, unbatched", "round trip", "us",
		study.Axis{Name: "message", Unit: "B", Log: true})
	rates, tails, cqes := map[string][]float64{}, map[string][]float64{}, map[string]float64{}
	var on []string              // all runs
	small := map[string]string{} // runs of the smallest messages
	for _, d := range designs(s) {
		for _, size := range syncSizes {
			r, err := throughput(s, d, size)
			if err != nil {
				return err
			}
			x.AddEstimate(d.name, r.Estimate, float64(size))
			t, _, err := exchange{d: d.unbatched(), request: size, bulk: size, window: 1, rounds: tailRounds}.measure(s)
			if err != nil {
				return err
			}
			y.Points = append(y.Points, point(d.name, t.tail, t.tailHalf, size, tailRounds))
			rates[d.name], tails[d.name] = append(rates[d.name], r.Rate), append(tails[d.name], t.tail)
			on = append(on, r.name, t.runs[1])
			if size == syncSizes[0] {
				small[d.name] = r.name
				cqes[d.name] = float64(r.f.recv.Stats().Receives) / float64(r.f.got)
			}
		}
	}
	s.Record(x, y)
	gain := func(tail string) float64 { return rates["Push"+tail][0]/rates["Pull"+tail][0] - 1 }
	s.Values("rb2.mb.push_gain_64B", "throughput at 64 B, pushed over pulled, less 1: with tails by completions, "+
		"and written "+
		"twice", gain("+CQ"), gain("+WT")).On(small["Push+CQ"], small["Pull+CQ"],
		small["Push+WT"], small["Pull+WT"])
	best := 0
	for i := range syncSizes {
		is := true
		for _, d := range designs(s) {
			is = is && !study.Above(rates[d.name][i], rates["Push+WT"][i]) &&
				!study.Above(tails["Push+WT"][i], tails[d.name][i])
		}
		if is {
			best++
		}
	}
	s.Holds("rb2.mb.choice", best == len(syncSizes), fmt.Sprintf("Push+WT is best in throughput and in 99.9%% of "+
		"round trips, to 1%%, at %d of %d sizes", best, len(syncSizes)),
		"throughput and 99.9% of round trips of all four").On(on...)
	s.Holds("rb2.mb.cq_receiver_cost", cqes["Push+CQ"] >= 1 && cqes["Push+WT"] == 0,
		fmt.Sprintf("%.2f completions and receive requests a message; written twice %.0f", cqes["Push+CQ"],
			cqes["Push+WT"]),
		"completions of the receiver over messages read").Counted()
	return nil
}

// tailRounds is the number of round trips over which a tail is measured: fewer would not contain the interval of 99.9%.
const tailRounds = 5000
