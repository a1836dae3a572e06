package bench

import (
	"fmt"

	"nictwin/models/nicspec"
	"nictwin/models/simcore"
	"nictwin/scenarios/board"
	"nictwin/scenarios/driver"
	"nictwin/scenarios/replay"
)

// shape spreads received frames over so many queues with rings of 2^log entries.
func shape(size, queues, log int) *replay.Shape {
	s := &replay.Shape{Spread: true, TxQueues: txQueues, TxLog: txRingLog, Header: txHeader}
	for range queues {
		s.Rx = append(s.Rx, driver.RxConfig{
			LogSize: log, Split: nicspec.SplitModeHeaders, HdrBytes: 128, PayBytes: size, PayHost: true, PaySkew: 2,
		})
	}
	return s
}

// beatsOf is the cycles that a frame takes on a 512-bit stream.
func beatsOf(size int) int { return (size + 63) / 64 }

const rateCycles = 150_000 // that traffic lasts

// rate plays frames of a size one way, as dense as the pins allow, and notes what crosses.
func (s *session) rate(dir string, size, queues, log int) (*meter, *replay.Result, error) {
	o, err := s.options(size, s.frames(rateCycles/beatsOf(size)))
	if err != nil {
		return nil, nil, err
	}
	o.Dir, o.Speed, o.Shape = dir, "beats", shape(size, queues, log)
	m := &meter{}
	res, err := s.play(o, m)
	return m, res, err
}

func drops(r *replay.RxResult) string {
	text := ""
	for _, d := range r.Drops {
		text += fmt.Sprintf(", %d of %d frames %s", d.Count, r.In, d.Cause)
	}
	if text == "" {
		return ", no drops"
	}
	return text
}

// receiveRate is frames delivered against frames offered back to back, in cycles.
func receiveRate(size int, goal float64) func(s *session) ([]Result, error) {
	return func(s *session) ([]Result, error) {
		m, res, err := s.rate("rx", size, rxQueues, rxRingLog)
		if err != nil {
			return nil, err
		}
		return []Result{receiveFigure(fmt.Sprintf("nic/rx_line_rate_%d", size), m, res, size, goal)}, nil
	}
}

func receiveFigure(name string, m *meter, res *replay.Result, size int, goal float64) Result {
	per := m.perFrame()
	return exact(figure(name, ratio(float64(beatsOf(size)), per), "ratio", goal,
		"a frame every %d cycles, no bubble; %.2f cycles from completion to completion, %.2f from frame to frame in%s",
		beatsOf(size), per, m.offered(), drops(res.Rx)))
}

// exact lets a rate that is off by the rounding of its window pass.
func exact(r Result) Result {
	const rounding = 1e-3
	r.OK = r.Goal == 0 || r.Value >= r.Goal-rounding
	return r
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Many small frames need many descriptors in flight.
const (
	smallQueues  = 64
	smallRingLog = 9
)

func smallFrames(s *session) ([]Result, error) {
	m, res, err := s.rate("rx", 64, smallQueues, smallRingLog)
	if err != nil {
		return nil, err
	}
	const cyclesPerUs = float64(simcore.Microsecond) / float64(board.Cycle)
	per := m.perFrame()
	return []Result{figure("nic/mpps_64", ratio(cyclesPerUs, per), "Mpps", 100,
		"one way, 64 B frames offered every %.2f cycles; %.2f cycles from completion to completion%s", m.offered(), per, drops(res.Rx))}, nil
}

// transmitRate is cycles with a beat out against all cycles.
func transmitRate(size int, goal float64) func(s *session) ([]Result, error) {
	return func(s *session) ([]Result, error) {
		m, _, err := s.rate("tx", size, 1, rxRingLog)
		if err != nil {
			return nil, err
		}
		return transmitFigures(fmt.Sprintf("nic/tx_line_rate_%d", size), fmt.Sprintf("nic/tx_bubbles_%d", size), m, size, goal), nil
	}
}

func transmitFigures(rate, bubbles string, m *meter, size int, goal float64) []Result {
	value, empty := m.sending(beatsOf(size))
	from, to := steady(len(m.out))
	list := []Result{exact(figure(rate, value, "ratio", goal, "a frame every %d cycles, no bubble", beatsOf(size)))}
	if bubbles != "" {
		list = append(list, limit(bubbles, float64(empty), "cycles", 0, "cycles without a beat while %d frames left", to-from))
	}
	return list
}

// duplexRate is both ways at once.
func duplexRate(s *session) ([]Result, error) {
	m, res, err := s.rate("both", 1500, rxQueues, rxRingLog)
	if err != nil {
		return nil, err
	}
	rx := receiveFigure("nic/duplex_rx_line_rate_1500", m, res, 1500, 1)
	return append([]Result{rx}, transmitFigures("nic/duplex_tx_line_rate_1500", "", m, 1500, 1)...), nil
}
