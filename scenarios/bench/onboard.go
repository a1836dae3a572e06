package bench

import (
	"fmt"
	"runtime"
	"time"

	"nictwin/models/board"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge/protocol"

	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/replay"
)

const (
	idleFrames  = 4 // at idlePace, which leaves a millisecond before each but the first
	idlePace    = "0.012"
	idlePeriod  = simcore.Ps(909)
	idleGoal    = 10
	boardPreset = "bf3"
	boardFrames = 12_000 // frames in each direction
	boardPace   = "200"  // Gbps per port: the rate of the preset's cables
	boardGoal   = 0.7
)

// turns plays two replays alternately, and returns the least wall time of each, its result, and the median share of
// missing processor time. A replay must have the same result in every turn.
func (s *session) turns(two [2]replay.Options) (least [2]time.Duration, runs [2]*replay.Result, missing float64,
	err error) {
	var lacked []float64
	for range max(s.Repeats, 2) {
		for i := range two {
			runtime.GC()
			watch := startClock()
			r, err := s.play(two[i], nil)
			if err != nil {
				return least, runs, 0, err
			}
			lacked = append(lacked, watch.delayed())
			if first := runs[i]; first != nil && (r.Digest != first.Digest || r.DeviceCycles != first.DeviceCycles) {
				return least, runs, 0, differs("repetition", outcome(r), outcome(first))
			}
			if runs[i] == nil || r.Wall < least[i] {
				least[i], runs[i] = r.Wall, r
			}
		}
	}
	return least, runs, median(lacked), nil
}

func outcome(r *replay.Result) string {
	return fmt.Sprintf("cycles %d and digest %s", r.DeviceCycles, r.Digest)
}

// idleSkip compares the wall times of a mostly idle replay, once evaluating every cycle and once skipping idle cycles.
// Both must have the same result.
func idleSkip(s *session) ([]Result, error) {
	o, err := s.options(1500, idleFrames)
	if err != nil {
		return nil, err
	}
	o.Dir, o.Speed, o.PeriodPs = "rx", idlePace, idlePeriod
	two := [2]replay.Options{o, o}
	two[0].IdleCycles, two[1].IdleCycles = protocol.IdleEvaluate, protocol.IdleSkip
	least, runs, missing, err := s.turns(two)
	if err != nil {
		return nil, err
	}
	if a, b := outcome(runs[0]), outcome(runs[1]); a != b {
		return nil, differs("skipping idle cycles", b, a)
	}
	return []Result{figure("bridge/idle_skip", ratio(least[0].Seconds(), least[1].Seconds()), "ratio", idleGoal,
		"a refereed replay of %d frames a millisecond apart at 1.1 GHz, %d cycles, of the same digest: %v with each "+
			"evaluated, %v with idle ones skipped",
		idleFrames, runs[0].DeviceCycles, least[0].Round(time.Millisecond),
		least[1].Round(time.Millisecond)).disturbed(missing)}, nil
}

// boardRTL measures the ratio of cycles per second of a refereed replay on RTL on a whole card to that on a plain
// board, at the same clock.
func boardRTL(s *session) ([]Result, error) {
	card, err := board.CardPreset(boardPreset)
	if err != nil {
		return nil, err
	}
	o, err := s.options(1500, s.frames(boardFrames))
	if err != nil {
		return nil, err
	}
	if o.Built, err = device.Build(s.ctx, s.DUT, o.Variant, device.Eth{Ports: card.Ports, Bits: card.EthBits},
		s.Log); err != nil {
		return nil, err
	}
	o.Ports, o.EthBits, o.PeriodPs = card.Ports, card.EthBits, card.Period
	o.Speed = boardPace
	two := [2]replay.Options{o, o}
	two[1].Card = &card
	least, runs, missing, err := s.turns(two)
	if err != nil {
		return nil, err
	}
	speed := func(i int) float64 { return ratio(float64(runs[i].DeviceCycles), least[i].Seconds()) }
	shares := func(i int) string {
		if x := runs[i].Shares; x != nil {
			return fmt.Sprintf("rtl %.2f, bridge %.2f, models %.2f, referee %.2f of the wall time", x.RTL, x.Bridge,
				x.Models, x.Referee)
		}
		return "no shares"
	}
	return []Result{figure("card/refereed_rtl_over_replay", ratio(speed(1), speed(0)), "ratio", boardGoal,
		"refereed duplex replay of 1,500 B on RTL at %s Gbps a port on preset %s (%.0f cycles/s; %s), against the "+
			"plain board at the same clock (%.0f cycles/s; %s)",
		boardPace, boardPreset, speed(1), shares(1), speed(0), shares(0)).disturbed(missing)}, nil
}
