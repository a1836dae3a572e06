package boardtest

import (
	"math/rand/v2"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
)

// slowness draws random numbers that decide which parts are slow, and by how much.
type slowness struct{ *rand.Rand }

// Card returns the preset of a random card (BlueField-2 or BlueField-3). About a quarter of its
// rates, latencies, credit counts and clocks are replaced by random values, some of them extremely
// slow.
func Card(seed uint64) (board.CardSpec, error) {
	s := slowness{rand.New(rand.NewPCG(seed, 0))}
	c, err := board.CardPreset(board.SwitchPresetNames[s.IntN(len(board.SwitchPresetNames))])
	if err != nil {
		return c, err
	}
	const links = 10 * simcore.Millisecond
	if s.often() {
		const least = 100
		c.Period = least + s.upTo(simcore.Microsecond-least)
	}
	s.link(&c.PCIe, links)
	s.link(&c.Eth, links)
	if s.often() {
		c.Switch.Latency = s.upTo(simcore.Millisecond)
	}
	if s.often() {
		c.Switch.NICRate = s.rate(10 * simcore.Microsecond)
	}
	if s.often() {
		c.Endpoint.Delay.Latency, c.Endpoint.Delay.Jitter = s.upTo(links), s.upTo(simcore.Millisecond)
	}
	if s.often() {
		c.Endpoint.Ahead, c.Endpoint.Split = s.IntN(3), tlp.CplPolicy(s.IntN(3))
	}
	s.downlink(&c.Switch.Arm)
	s.downlink(&c.Switch.Host)
	return c, nil
}

// File returns a board file with one server that contains the card.
func File(c *board.CardSpec) ([]byte, error) {
	r := board.DefaultRackSpec()
	r.Servers = []board.ServerSpec{{Name: "Server", Cards: []board.CardSpec{*c}}}
	return specfile.Marshal(&r)
}

// often returns true with a probability of 1/4.
func (s slowness) often() bool { return s.IntN(4) == 0 }

// upTo draws a duration of at most limit. Its order of magnitude (power of two) is drawn first, so
// short durations are as frequent as long ones.
func (s slowness) upTo(limit simcore.Ps) simcore.Ps {
	const doublings = 41
	d := simcore.Ps(1)
	for n := s.IntN(doublings); n > 0 && d < limit; n-- {
		d *= 2
	}
	return min(d+simcore.Ps(s.Int64N(int64(d))), limit)
}

// rate draws a rate: 1 to 64 bytes per a duration of at most slowest.
func (s slowness) rate(slowest simcore.Ps) simcore.Rate {
	return simcore.Rate{Bytes: 1 + s.Int64N(64), Ps: s.upTo(slowest)}
}

func (s slowness) link(l *simcore.LinkSpec, longest simcore.Ps) {
	if s.often() {
		l.Latency = s.upTo(longest)
	}
	if s.often() {
		l.CreditLatency, l.Credits = s.upTo(longest), 1+s.IntN(32)
	}
	if s.often() {
		l.Rate = s.rate(10 * simcore.Microsecond)
	}
}

// downlink slows down a root's link and its memory. It copies each part before changing it, because
// specs share parts by pointer.
func (s slowness) downlink(d *board.Downlink) {
	if d.PCIe != nil {
		p := *d.PCIe
		if s.often() {
			p.Latency = s.upTo(simcore.Millisecond)
		}
		if s.often() {
			p.Generation, p.Width, p.Gbps = 3, 1, 1+s.Int64N(4)
		}
		d.PCIe = &p
	} else {
		f := *d.Fabric
		s.link(&f, simcore.Millisecond)
		d.Fabric = &f
	}
	if s.often() {
		d.ReadLatency = s.upTo(20 * simcore.Millisecond)
	}
	if d.DRAM != nil && s.often() {
		m := *d.DRAM
		m.Peak, m.Mixed, m.Write = int64(s.upTo(1000)), 0, 0
		m.Latency = s.upTo(simcore.Millisecond)
		d.DRAM = &m
	}
	if d.Cache != nil && s.often() {
		m := *d.Cache
		m.Rate, m.HitLatency = s.rate(simcore.Microsecond), s.upTo(simcore.Millisecond)
		m.Fetches, m.WriteBacks = 1+s.IntN(8), 1+s.IntN(8)
		d.Cache = &m
	}
}
