package board

import (
	"cmp"
	"fmt"
	"math/bits"

	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/armcache"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memlink"
	"nictwin/models/server/host"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// readTime is an upper bound on the duration of a read on a card: by the NIC, or by software of a
// register, from the request to the last completion, queued behind all other traffic that can be in
// flight. The parts of the path work concurrently, but their times are added up, so that the bound
// errs on the long side.
type readTime struct {
	longest simcore.Ps
	part    field.Path // path of the spec's field that contributes most
	share   simcore.Ps
}

// never is the longest time that is computed: longer ones are capped at it, so that sums cannot overflow.
const never = simcore.MaxPs / 16

// Bounds that the read time is computed with.
const (
	nicTags      = 256  // NIC's reads in flight [P2]
	linkMessages = 1024 // messages in flight on a link without credits: the ports at its ends hold no more
	cplBytes     = 28   // bytes of a completion's header and framing, at most 20 + 8
	reqBytes     = 32   // bytes of a request's header and framing, at most 24 + 8
	nicCycles    = 1024 // cycles in which the NIC processes a TLP (assumption)
	beatBytes    = 64   // bytes per beat of the narrowest TLP stream [B2]
)

// load counts the traffic in flight: TLPs, their bytes with headers, and the memory accesses that
// one read makes in sequence.
type load struct{ tlps, bytes, serial int64 }

// readTime returns the upper bound on the duration of a read on the card, with the given load.
func (s *CardSpec) readTime(l load) readTime {
	var t readTime
	period := s.period()
	t.add("period_ps", sum(nicCycles*period, times(l.tlps+l.bytes/beatBytes, period, 1)))
	if s.Direct == nil {
		t.link("pcie", &s.PCIe, l)
	}
	switch sw := s.Switch; {
	case sw != nil:
		held := min(sw.Queue.Posted, sw.Queue.NonPosted, sw.Queue.Completion)
		t.add("switch.latency_ps", sum(2*sw.Latency, times(l.tlps, sw.Latency, int64(held))))
		t.add("switch.nic_rate", paced(l.bytes, sw.NICRate))
		t.slower(sw.Arm.readTime("switch.arm", l), sw.Host.readTime("switch.host", l))
	case s.Direct != nil:
		t.slower(s.Direct.readTime("direct", l), readTime{})
	default:
		t.add("endpoint.latency_ps", s.Endpoint.Latency)
	}
	d := &s.Endpoint.Delay
	t.add("endpoint.delay", times(l.serial+1, d.Latency+d.Jitter, 1))
	return t
}

// period returns the period of the NIC's clock; the default if the card does not set one.
func (s *CardSpec) period() simcore.Ps { return cmp.Or(s.Period, simcore.DefaultPeriodPs) }

// load returns the traffic that the devices and the links can have in flight.
func (s *CardSpec) load() load {
	limits := &s.Endpoint.Limits
	piece := limits.RCB
	if s.Endpoint.Split == tlp.CplLongest {
		piece = max(min(limits.MPS, limits.MRRS), limits.RCB)
	}
	cpls := int64(limits.MRRS/piece) + 1
	writes := window(&s.PCIe)
	if sw := s.Switch; sw != nil {
		writes += 2 * int64(sw.Queue.Posted)
		for _, d := range [...]*Downlink{&sw.Arm, &sw.Host} {
			writes += d.writes()
		}
	}
	l := load{tlps: nicTags*(1+cpls) + writes, serial: cpls}
	l.bytes = nicTags*(reqBytes+int64(limits.MRRS)+cpls*cplBytes) + writes*(int64(limits.MPS)+reqBytes)
	if a := int64(s.Endpoint.Ahead); a != 0 {
		l.serial = (cpls + a - 1) / a
	}
	if s.Second != nil { // it may have as much in flight as the NIC
		l.tlps, l.bytes = 2*l.tlps, 2*l.bytes
	}
	return l
}

// writes returns the number of posted requests that the transmitter of a downlink can hold.
func (d *Downlink) writes() int64 {
	if d.PCIe == nil {
		return 0
	}
	return int64(d.PCIe.Buffer.Posted)
}

// readTime bounds the time spent behind the switch: link, root and memory of one endpoint.
func (d *Downlink) readTime(at field.Path, l load) (t readTime) {
	if d.PCIe != nil {
		t.pcie(at+".pcie", d.PCIe, l)
	} else if d.Fabric != nil {
		t.link(at+".fabric", d.Fabric, l)
	}
	t.add(at+".read_latency_ps", d.ReadLatency)
	t.memory(at, &d.MemorySpec, l)
	return t
}

// memory adds the time of the memory behind a root.
func (t *readTime) memory(at field.Path, m *MemorySpec, l load) {
	switch {
	case m.Host != nil:
		t.machine(at+".host", m.Host, m.Loads, l)
	case m.Cache != nil || m.DRAM != nil:
		below := t.dram(at+".dram", m.DRAM, lines(m.Loads), l)
		t.cache(at+".cache", m.Cache, below, l)
	}
	for i := range m.GPUs {
		g := &m.GPUs[i]
		t.memlink(field.Path(fmt.Sprintf("%s.gpus[%d].link", at, i)), &g.Link, l)
		t.add(field.Path(fmt.Sprintf("%s.gpus[%d].latency_ps", at, i)), times(l.serial, g.Latency, 1))
	}
}

// machine adds the time of a server's sockets, of the link between them, and of the IIO buffer in front of them.
func (t *readTime) machine(at field.Path, h *host.Spec, loads []LoadSpec, l load) {
	busy := lines(loads)
	if d := h.DSA; d != nil {
		busy += int64(h.Sockets) * int64(d.Engines) * int64(d.Ahead) * int64(d.Chunk/mem.LineBytes+2)
	}
	below := t.dram(at+".dram", &h.DRAM, busy, l)
	if h.LLC != nil {
		t.cache(at+".llc", h.LLC, below, l)
		below = sum(below, h.LLC.HitLatency)
	}
	if h.Sockets > 1 {
		t.memlink(at+".link", &h.Link, l)
		below = sum(below, 2*h.Link.Latency)
	}
	t.add(at+".iio.bytes", times(l.bytes, below, int64(h.IIO.Bytes)))
}

// lines returns the largest number of memory lines that background loads have in flight.
func lines(loads []LoadSpec) (n int64) {
	for i := range loads {
		n += int64(loads[i].InFlight) * int64(loads[i].Bytes/mem.LineBytes+2)
	}
	return n
}

// dram adds the time of a memory controller. It returns the time of a single access that waits for nothing but
// the `busy` lines that background loads and copy engines have in flight.
func (t *readTime) dram(at field.Path, d *dram.Spec, busy int64, l load) simcore.Ps {
	if d == nil {
		return 0
	}
	const busyBanks = 8 // banks of a channel that work at the same time, at least (assumption)
	x := d.Timing()
	burst := x.WriteCost + x.Turnaround/simcore.Ps(d.Batch) + x.BankWrite/simcore.Ps(min(d.Banks, busyBanks))
	one := x.Latency + x.WriteCost + x.Turnaround + x.BankWrite
	one = sum(one, times(busy, x.WriteCost+x.Turnaround/simcore.Ps(d.Batch)+x.BankWrite, 1))
	t.add(at, sum(times(l.serial, one, 1), times(l.lines(), burst, int64(d.Channels))))
	return one
}

// cache adds the time of a cache. below is the time that the memory behind it takes to fetch a line.
func (t *readTime) cache(at field.Path, c *armcache.Spec, below simcore.Ps, l load) {
	if c == nil {
		return
	}
	misses := times(l.lines(), below, int64(min(c.Fetches, c.WriteBacks)))
	t.add(at, sum(times(l.serial, c.HitLatency, 1), sum(misses, paced(l.lines()*mem.LineBytes, c.Rate))))
}

// link adds the time of a simcore link that carries TLPs.
func (t *readTime) link(at field.Path, s *simcore.LinkSpec, l load) {
	t.add(at+".latency_ps", 2*s.Latency)
	t.add(at+".credits", times(l.tlps, s.Latency+s.CreditLatency, window(s)))
	t.add(at+".rate", paced(l.bytes+l.tlps*int64(s.OverheadBytes), s.Rate))
}

// pcie adds the time of a PCIe link.
func (t *readTime) pcie(at field.Path, s *pcielink.Spec, l load) {
	headers, data := int64(linkMessages), int64(linkMessages*tlp.PageBytes)
	for i := range s.Credits {
		c := &s.Credits[i]
		for _, n := range [...]int{c.PostedHeaders, c.NonPostedHeaders, c.CompletionHeaders} {
			headers = tighter(headers, int64(n))
		}
		for _, n := range [...]int{c.PostedData, c.CompletionData} {
			const unit = 16 // bytes of a data credit (PCIe 2.6.1)
			data = tighter(data, unit*int64(n))
		}
	}
	t.add(at+".latency_ps", 2*s.Latency)
	t.add(at+".credits", sum(times(l.tlps, 2*s.Latency, headers), times(l.bytes, 2*s.Latency, data)))
	t.add(at, paced(l.bytes+l.tlps*int64(s.Framing+2*s.DLLP.Bytes), s.Rate()))
}

// memlink adds the time of a memory link, which requests cross in one direction and responses in the other.
func (t *readTime) memlink(at field.Path, s *memlink.Spec, l load) {
	t.add(at+".latency_ps", times(l.serial, 2*s.Latency, 1))
	t.add(at+".rate", paced(l.bytes+l.lines()*int64(s.HeaderBytes), s.Rate))
}

// lines returns the largest number of memory lines that the bytes can touch.
func (l *load) lines() int64 { return l.bytes/mem.LineBytes + l.tlps }

// window returns the number of messages that a link can have in flight in the direction with fewer credits.
func window(s *simcore.LinkSpec) int64 {
	return tighter(tighter(linkMessages, int64(s.Credits)), int64(s.ReverseCredits))
}

// tighter returns the smaller of two bounds; b may be 0, which means no bound.
func tighter(a, b int64) int64 {
	if b == 0 {
		return a
	}
	return min(a, b)
}

// add adds the time of one part of the read's path, and remembers the slowest part.
func (t *readTime) add(part field.Path, d simcore.Ps) {
	t.longest = sum(t.longest, d)
	if d > t.share {
		t.part, t.share = part, d
	}
}

// slower adds the slower of two alternative paths.
func (t *readTime) slower(a, b readTime) {
	if b.longest > a.longest {
		a = b
	}
	t.longest = sum(t.longest, a.longest)
	if a.share > t.share {
		t.part, t.share = a.part, a.share
	}
}

// sum returns a+b, at most the constant `never`.
func sum(a, b simcore.Ps) simcore.Ps { return min(a+b, never) }

// times returns n*d/by, rounded up, at most the constant `never`.
func times(n int64, d simcore.Ps, by int64) simcore.Ps {
	hi, lo := bits.Mul64(uint64(n), uint64(d))
	if hi >= uint64(by) {
		return never
	}
	q, rest := bits.Div64(hi, lo, uint64(by))
	if rest != 0 {
		q++
	}
	return simcore.Ps(min(q, uint64(never)))
}

// paced returns the time that bytes take at a rate.
func paced(bytes int64, r simcore.Rate) simcore.Ps {
	if r.Bytes == 0 {
		return 0
	}
	return times(bytes, r.Ps, r.Bytes)
}
