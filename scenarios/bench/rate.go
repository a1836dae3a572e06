package bench

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/replay"
)

// layout describes the NIC under test, and where frames lie in memory.
type layout struct {
	queues int
	log    int  // log2 of the entries of a ring
	ports  int  // Ethernet ports of the NIC; 0 means 1
	bits   int  // width of a port's stream; 0 means 512
	whole  bool // frames in one piece at aligned addresses; else headers in Arm memory and the rest in host memory
	inline int  // bytes of a sent frame inside its work entry; the rest is one piece. 0: the frame is two pieces
	far    bool // long links and short transmit rings, as in measurements of the bridge

	trailer replay.Trailer // source of a sent frame's ICRC, if inline is set
}

var (
	usual   = layout{queues: 16, log: 4}
	distant = layout{queues: 16, log: 4, far: true}
)

func (l layout) String() string {
	if l.whole {
		return fmt.Sprintf("%d queues, frames whole", l.queues)
	}
	return fmt.Sprintf("%d queues, headers split off", l.queues)
}

const (
	bufBytes  = 2048
	skew      = 2 // bytes by which a payload begins after an aligned address, as drivers place it
	txQueues  = 16
	txRingLog = 4 // log2 of the entries of a transmit ring, enough for frames of 1,500 B
	txManyLog = 6 // log2 of the entries of a transmit ring, enough for frames of any size
	txHeader  = 54
)

func (l layout) shape() *replay.Shape {
	s := &replay.Shape{Spread: true, TxQueues: txQueues, TxLog: txRingLog, Header: txHeader}
	c := replay.RxShape{LogSize: l.log, PayHost: true, PayBytes: bufBytes, Split: nicspec.SplitModeNone}
	if !l.whole {
		c.Split, c.HdrBytes, c.PayBytes, c.PaySkew = nicspec.SplitModeHeaders, 128, bufBytes-skew, skew
	}
	if l.inline > 0 {
		s.Header, s.Inline, s.Trailer = 0, l.inline, l.trailer
	}
	for range l.queues {
		s.Rx = append(s.Rx, c)
	}
	return s
}

// beatsOf returns the cycles that a frame takes on a port's stream.
func (l layout) beatsOf(size int) int {
	n := l.bits / 8
	if n == 0 {
		n = nicspec.DefaultBuild().EthBits / 8
	}
	return (size + n - 1) / n
}

const (
	rateCycles = 150_000 // duration of the traffic, in cycles
	rateLinks  = 64      // latency of each link in cycles: 160 ns, that of a hop in the SmartNIC
)

// rates holds the results of the same traffic on both NICs.
type rates struct {
	rtl, model *meter
	period     simcore.Ps       // of the NICs' clock
	rx         *replay.RxResult // of the RTL; nil if nothing was received
}

// rate plays frames of a size on both NICs at the highest rate that the pins allow, and records their crossings.
func (s *session) rate(dir string, size int, l layout) (*rates, error) {
	ports := max(l.ports, 1)
	o, err := s.options(size, s.frames(ports*rateCycles/l.beatsOf(size)))
	if err == nil && ports > 1 {
		o.Built, err = device.Build(s.ctx, s.DUT, o.Variant, device.Eth{Ports: ports, Bits: l.bits}, s.Log)
	}
	if err != nil {
		return nil, err
	}
	o.Ports, o.EthBits = ports, l.bits
	o.LinkCycles, o.Quantum = rateLinks, rateLinks
	o.Dir, o.Speed, o.Shape = dir, "beats", l.shape()
	o.Fix.ICRC = l.trailer != replay.TrailerInPayload
	if l.far {
		o.LinkCycles = testbed.DefaultLinkCycles
	} else {
		o.Shape.TxLog = txManyLog
	}
	r := &rates{rtl: &meter{}, model: &meter{}}
	res, err := s.play(o, r.rtl)
	if err != nil {
		return nil, err
	}
	r.rx, r.period = res.Rx, res.Period
	o.NIC, o.PeriodPs = device.Model, res.Period
	_, err = s.play(o, r.model)
	return r, err
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

// receiveRate measures the ratio of the rate of delivered frames to line rate, counted in cycles.
func receiveRate(name string, size int, l layout, goal float64) func(s *session) ([]Result, error) {
	return func(s *session) ([]Result, error) {
		r, err := s.rate("rx", size, l)
		if err != nil {
			return nil, err
		}
		return []Result{receiveFigure(name, r, size, l, goal)}, nil
	}
}

func receiveFigure(name string, r *rates, size int, l layout, goal float64) Result {
	per := r.rtl.perFrame()
	return exact(figure(name, ratio(float64(l.beatsOf(size)), per), "ratio", goal,
		"a frame every %d cycles, no bubble; completions every %.2f, frames in every %.2f%s; Go model: completions "+
			"every %.2f; %v",
		l.beatsOf(size), per, r.rtl.offered(), drops(r.rx), r.model.perFrame(), l))
}

// exact passes a figure that misses its goal only by the rounding of the measured interval.
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

// smallFrames measures 64 B frames, which need many descriptors in flight.
func smallFrames(s *session) ([]Result, error) {
	l := layout{queues: 64, log: 8}
	r, err := s.rate("rx", 64, l)
	if err != nil {
		return nil, err
	}
	cyclesPerUs := float64(simcore.Microsecond) / float64(r.period)
	return []Result{figure("nic/mpps_64", ratio(cyclesPerUs, r.rtl.perFrame()), "Mpps", 100,
		"one way, 64 B frames offered every %.2f cycles, completions every %.2f%s; Go model: %.0f Mpps; %v",
		r.rtl.offered(), r.rtl.perFrame(), drops(r.rx), ratio(cyclesPerUs, r.model.perFrame()), l)}, nil
}

// transmitRate measures the share of cycles in which a beat leaves.
func transmitRate(group string, size int, l layout) func(s *session) ([]Result, error) {
	return func(s *session) ([]Result, error) {
		r, err := s.rate("tx", size, l)
		if err != nil {
			return nil, err
		}
		rate, bubbles := fmt.Sprintf("%s_line_rate_%d", group, size), fmt.Sprintf("%s_bubbles_%d", group, size)
		return []Result{transmitFigure(rate, r, size, 1), bubbleFigure(bubbles, r, size)}, nil
	}
}

func transmitFigure(name string, r *rates, size int, goal float64) Result {
	value, _ := r.rtl.sending(usual.beatsOf(size))
	model, _ := r.model.sending(usual.beatsOf(size))
	return exact(figure(name, value, "ratio", goal,
		"a frame every %d cycles, no bubble; Go model: %.3f; %d queues, headers in Arm memory, payload in host memory",
		usual.beatsOf(size), model, txQueues))
}

func bubbleFigure(name string, r *rates, size int) Result {
	_, empty := r.rtl.sending(usual.beatsOf(size))
	from, to := steady(len(r.rtl.out))
	return limit(name, float64(empty), "cycles", 0, "cycles without a beat while %d frames left", to-from)
}

// duplexRate measures both directions at once.
func duplexRate(s *session) ([]Result, error) {
	r, err := s.rate("both", 1500, usual)
	if err != nil {
		return nil, err
	}
	return []Result{
		receiveFigure("nic/duplex_rx_line_rate_1500", r, 1500, usual, 1),
		transmitFigure("nic/duplex_tx_line_rate_1500", r, 1500, 1),
	}, nil
}
