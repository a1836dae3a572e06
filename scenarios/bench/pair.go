package bench

import (
	"runtime"
	"time"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/pair"
)

const (
	pairPreset = "bf3-pair"
	pairFrames = 8000 // sent by each server
	pairWindow = 24   // frames in flight from each server: the maximum, nearest to line rate (docs/split.md)
	twoGoal    = 1.8
	longer     = simcore.Microsecond // added to the latency of a cable, for comparison
)

// pairSpeed measures the wall time of two boards in one process, divided by that in two processes. Runs of both kinds
// alternate, and the shortest run of each kind counts. It also reports this ratio with a longer cable, and with fewer
// frames in flight.
func pairSpeed(s *session) ([]Result, error) {
	ratio, quantum, missing, err := s.pairRatio(0, pairWindow)
	if err != nil {
		return nil, err
	}
	far, farQuantum, _, err := s.pairRatio(longer, pairWindow)
	if err != nil {
		return nil, err
	}
	less, _, _, err := s.pairRatio(0, 0)
	if err != nil {
		return nil, err
	}
	return []Result{figure("card/two_processes", ratio, "ratio", twoGoal,
		"two boards of preset %s, frames of 4 KB both ways, in one process and in two, %d of each under way, on %d "+
			"processors, an exchange every %.0f ns, as the cables' latency allows; %.2f with %.0f ns, %.2f with %d "+
			"under way; no referee",
		pairPreset, pairWindow, runtime.NumCPU(), nanoseconds(quantum), far, nanoseconds(farQuantum), less,
		pair.DefaultOptions().Window).disturbed(missing)}, nil
}

func nanoseconds(t simcore.Ps) float64 { return float64(t) / float64(simcore.Nanosecond) }

// pairRatio returns the speed of two processes relative to one, with the quantum used and the share of missing
// processor time. The argument `more` is added to the cables' latency; window is the window of frames, 0: the default.
func (s *session) pairRatio(more simcore.Ps, window int) (ratio float64, quantum simcore.Ps, missing float64,
	err error) {
	o := pair.DefaultOptions()
	if o.Rack, err = board.RackPreset(pairPreset); err != nil {
		return 0, 0, 0, err
	}
	if window > 0 {
		o.Window = window
	}
	o.Rack.Network.Latency += more
	for i := range o.Rack.Servers {
		o.Rack.Servers[i].Cards[0].Eth.CreditLatency += more / 2
	}
	if o.Frames, err = Frames(loadFlows, loadFrame, s.Seed); err != nil {
		return 0, 0, 0, err
	}
	o.Count, o.Seed, o.Unjudged = s.frames(pairFrames), s.Seed, true
	var least [2]time.Duration
	var lacked []float64
	for range max(s.Repeats, 2) {
		for i := range least {
			o.Processes = i + 1
			r, err := pair.Run(s.ctx, o)
			if err != nil {
				return 0, 0, 0, err
			}
			if !r.Pass() {
				return 0, 0, 0, &MismatchError{"two boards did something wrong", r.Findings}
			}
			quantum = r.Quantum
			lacked = append(lacked, share(r.Missing, r.Wall))
			if least[i] == 0 || r.Wall < least[i] {
				least[i] = r.Wall
			}
		}
	}
	if least[1] > 0 {
		ratio = least[0].Seconds() / least[1].Seconds()
	}
	return ratio, quantum, median(lacked), nil
}
