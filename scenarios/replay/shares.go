package replay

import (
	"fmt"
	"time"

	"nictwin/rtlbridge"
)

// Shares divides the wall time of Play among what this program did, one thing at a time: RTL, Bridge, Referee and
// Models add up to 1.
type Shares struct {
	RTL     float64 // waiting for the device to finish a quantum
	Bridge  float64 // encoding and sending the device's inputs
	Referee float64 // judging crossings
	Models  float64 // everything else: Go models, players, decoding the device's outputs, writing artifacts

	// Busy is the share of wall time in which the device simulated. The device runs in parallel with this program, so
	// Busy is not part of the sum.
	Busy float64
}

// shares divides the wall time of a run. `now` and `before` are the wall times that the bridge has added up at the end
// and the start of the run: starting the device took time, too. Without a bridge it returns nil.
func shares(now, before rtlbridge.Wall, wall, referee time.Duration) *Shares {
	if now.Cycles == 0 || wall <= 0 {
		return nil
	}
	wait, bridge := now.Wait-before.Wait, now.Encode-before.Encode
	// The clocks are read one after the other, so the sum of the times may slightly exceed `wall`.
	whole := max(wall, wait+bridge+referee)
	of := func(d time.Duration) float64 { return d.Seconds() / whole.Seconds() }
	s := &Shares{RTL: of(wait), Bridge: of(bridge), Referee: of(referee), Busy: min(1, of(now.RTL-before.RTL))}
	s.Models = max(0, 1-s.RTL-s.Bridge-s.Referee)
	return s
}

// String formats the shares in whole percent that add up to 100.
func (s *Shares) String() string {
	p := percents(s.RTL, s.Bridge, s.Models, s.Referee)
	return fmt.Sprintf("%8d%% waiting for the RTL, %d%% bridge, %d%% models, %d%% referee; beside them the RTL ran "+
		"for %.0f%% of it",
		p[0], p[1], p[2], p[3], 100*s.Busy)
}

// percents converts shares that add up to 1 into percentages that add up to 100: those with the largest remainders are
// rounded up.
func percents(parts ...float64) []int {
	list, lost := make([]int, len(parts)), make([]float64, len(parts))
	left := 100
	for i, p := range parts {
		list[i] = int(100 * p)
		lost[i] = 100*p - float64(list[i])
		left -= list[i]
	}
	for ; left > 0; left-- {
		most := 0
		for i := range lost {
			if lost[i] > lost[most] {
				most = i
			}
		}
		list[most]++
		lost[most]--
	}
	return list
}
