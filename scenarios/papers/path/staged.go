package path

import (
	"fmt"
	"math"

	"nictwin/models/board"
	"nictwin/models/fabric/nicswitch"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/requester"
	"nictwin/scenarios/papers/study"
)

// Staged measures transmission and reception by way of the Arm's memory over the links of a BlueField-3 card.
var Staged = study.Experiment{
	Group: "path", Name: "staged", Title: "Payload by way of the Arm: who shares which link",
	Figures:  "FN, SN section 2.3 C1, C2 and 3.3",
	Pictures: stagedPictures,
	Claims:   []string{"smartns.naive.link_contention"},
	Inputs: []study.Input{
		{Name: "endpoint", Value: 400, Unit: "Gbps", Source: "smartns.naive.endpoint_bw: payload of a direction " +
			"(card reading 5)", Anchors: []string{"smartns.naive.endpoint_bw"}},
		{Name: "endpoint.raw", Value: 504, Unit: "Gbps", Source: "bf3.pcie: PCIe 5.0 x16 after coding; sensitivity"},
		{Name: "link", Value: 400, Unit: "Gbps", Source: "bf3.link"},
		{Name: "net.mtu", Value: 2048, Unit: "B", Source: "fs.echo: 2 KB packets, one a frame"},
		{Name: "net.header", Value: 0, Unit: "B", Source: "card reading 5: rates are payload"},
		{Name: "host.mps", Value: 512, Unit: "B", Source: "bf2.mtu_host; BlueField-3 alike: assumption"},
		{Name: "arm.mps", Value: 256, Unit: "B", Source: "card, pcielink: assumption"},
		{Name: "nic.mrrs", Value: 512, Unit: "B", Source: "card reading 2"},
		{Name: "nic.tags", Value: 256, Unit: "reads", Source: "PCIe: extended tags"},
		{Name: "nic.buffer", Value: 512 << 10, Unit: "B", Source: "assumption: more than the windows"},
		{Name: "packet", Value: 2048, Unit: "B", Source: "fs.echo: 2 KB packets"},
		{Name: "window", Value: 64, Unit: "packets", Source: "assumption: 128 KB, more than bandwidth × time over " +
			"all legs"},
		{Name: "echo.window", Value: 128, Unit: "packets", Source: "assumption: likewise over four legs; as many " +
			"as the smallest transmit ring has"},
		{Name: "tlp.header", Value: 24, Unit: "B", Source: "PCIe: 16 B and 8 B of framing a request"},
		{Name: "nic.credits", Value: 192, Unit: "TLPs", Source: "assumption: cover a round trip of the NIC's link " +
			"and no more, so that TLPs wait in the NIC, where copies and frames are told apart"},
		{Name: "kept", Value: 0.99, Unit: "fraction", Source: "assumption: what counts as all of its rate"},
		{Name: "scale", Value: 16, Unit: "times", Source: "cache and rings of the echo are cut by this factor"},
		{Name: "arm.llc", Value: 16 << 20, Unit: "B", Source: "bf3.arm_llc", Anchors: []string{"smartns.rx.arm_llc"}},
		{Name: "rx.ring", Value: 32 << 20, Unit: "B", Source: "fs.working_set_naive: 512 × 16 × 4 KB",
			Anchors: []string{"smartns.rx.desc_per_queue"}},
		{Name: "tx.ring", Value: 64 * 8 * 2048, Unit: "B a core", Source: "fs.echo: depth 64 × 8 connections × 2 KB"},
	},
	Run: naive,
}

// stagedDesign describes how payload travels between host and network: through Arm memory or past it, and over which
// links.
type stagedDesign struct {
	name   string
	shared bool    // copies loop through the NIC's channel while no frame waits; false: an engine beside the NIC copies
	direct bool    // payload goes from host memory straight to the network, without passing Arm memory
	gbps   float64 // rate of an endpoint's link, counted in wire bytes
}

// stagedSpec returns the spec of a BlueField-3 card as the inputs describe it, with memories that answer at once.
func stagedSpec(s *study.Session, d stagedDesign) rigSpec {
	n := requester.Default()
	n.MPS = [...]int{nicspec.EndpointArm: int(s.Input("arm.mps")), nicspec.EndpointHost: int(s.Input("host.mps"))}
	n.MRRS, n.Tags, n.Buffer = int(s.Input("nic.mrrs")), int(s.Input("nic.tags")), int(s.Input("nic.buffer"))
	if n.Copies = requester.InTurn; d.shared {
		n.Copies = requester.Yield
	}
	n.Network = requester.Network{Rate: simcore.Gbps(int64(s.Input("link"))), Payload: int(s.Input("net.mtu")),
		Header: int(s.Input("net.header"))}
	gbps := int64(math.Ceil(d.gbps))
	return rigSpec{preset: "bf3", nic: n, adapt: func(c *board.CardSpec) {
		c.Switch.Arm.PCIe.Gbps, c.PCIe.Credits = gbps, int(s.Input("nic.credits"))
		if d.shared {
			c.Switch.NICLink, c.Switch.NICRate = nicswitch.Shared, simcore.Gbps(gbps)
		}
	}}
}

// Offsets and slots of the packet rings in Arm and host memory.
const (
	rxRing   = 0
	txRing   = 1 << 28
	fewSlots = 1024 // few suffice, 2 MB a ring: they stay in the cache after the first lap
)

func wireRegion() region                         { return region{Place: net} }
func armRegion(offset uint64, slots int) region  { return region{arm(offset), slots} }
func hostRegion(offset uint64, slots int) region { return region{host(offset), slots} }

// transmit returns the chain from the host's memory to the network.
func (d stagedDesign) transmit(s *study.Session) *chain {
	c := &chain{name: "TX", size: int(s.Input("packet")), window: int(s.Input("window")), warm: fewSlots}
	c.every = paced(c.size, s.Input("link"))
	from, by := hostRegion(txRing, fewSlots), armRegion(txRing, fewSlots)
	if c.legs = []leg{{from, by}, {by, wireRegion()}}; d.direct {
		c.legs = []leg{{from, wireRegion()}}
	}
	return c
}

// receive returns the chain from the network into the Arm's memory, where packets are consumed.
func receive(s *study.Session, gbps float64) *chain {
	c := &chain{name: "RX", size: int(s.Input("packet")), window: int(s.Input("window"))}
	c.every = paced(c.size, gbps)
	c.legs = []leg{{wireRegion(), armRegion(rxRing, fewSlots)}}
	return c
}

// paced returns the interval between packets of this size at a rate.
func paced(bytes int, gbps float64) simcore.Ps { return simcore.Ps(float64(bytes) * 8e3 / gbps) }

func naive(s *study.Session) error {
	if err := contention(s); err != nil {
		return err
	}
	return cardEcho(s)
}

// rxOffered are the rates offered to reception beside staged transmission, in Gbps.
var rxOffered = []float64{0, 20, 40, 80, 160, 240, 320, 400}

// contention offers 400 Gbps to transmission, and an increasing rate to reception.
func contention(s *study.Session) error {
	mps := s.Input("arm.mps")
	// the payload rate as wire bytes, in TLPs of the Arm's MPS
	payload := s.Input("endpoint") * (mps + s.Input("tlp.header")) / mps
	raw := s.Input("endpoint.raw")
	axis := study.Axis{Name: "received, offered", Unit: "Gbps"}
	tx := study.NewSeries("staged_tx", "Transmission by way of the Arm beside reception", "payload transmitted", "Gbps",
		axis)
	rx := study.NewSeries("staged_rx", "Reception into Arm memory beside that transmission", "payload received", "Gbps",
		axis)
	for _, d := range []stagedDesign{
		{name: "DMA, endpoints of 400 Gbps of payload", gbps: payload},
		{name: "DMA, endpoints of 504 Gbps raw", gbps: raw},
		{name: "RDMA loopback, 504 Gbps raw", shared: true, gbps: raw},
		{name: "not staged, 504 Gbps raw", direct: true, gbps: raw},
	} {
		var kept [][2]float64
		var runs []string
		for _, offered := range study.Points(s, rxOffered) {
			list := []*chain{d.transmit(s)}
			if offered > 0 {
				list = append(list, receive(s, offered))
			}
			run := fmt.Sprintf("%s, RX %.0f Gbps", d.name, offered)
			runs = append(runs, run)
			spec := stagedSpec(s, d)
			spec.timed = true
			e, r, err := chains(s, run, spec, study.MinRoundTrips, 1, list...)
			if err != nil {
				return err
			}
			got := 0.0
			if offered > 0 {
				got = e.Gbps() * float64(list[1].counted) / float64(list[0].counted)
			}
			tx.AddEstimate(d.name, e, offered)
			rx.Add(d.name, got, offered)
			kept = append(kept, [2]float64{e.Gbps(), got})
			if offered == 0 || offered == 400 {
				s.Book(r.ledger(fmt.Sprintf("%s, RX %.0f", d.name, offered), r.nic.Moved()))
			}
		}
		if d.gbps == payload {
			left := leftFor(kept, s.Input("kept"))
			s.Value("smartns.naive.link_contention", left, fmt.Sprintf("the most that is received while TX keeps "+
				"%.0f%% of the %.0f Gbps that it has alone, with caches and DRAM; series have raw 504 and loopback",
				100*s.Input("kept"), kept[0][0])).On(runs...)
		}
	}
	s.Record(tx, rx)
	return nil
}

// leftFor returns the highest rate of the second flow at which the first keeps the given fraction of the rate that
// it has without the second. rates holds the rates of both flows, sorted by the rate offered to the second.
func leftFor(rates [][2]float64, kept float64) float64 {
	floor := kept * rates[0][0]
	for i := 1; i < len(rates); i++ {
		a, b := rates[i-1], rates[i]
		if b[0] < floor {
			return a[1] + (b[1]-a[1])*(a[0]-floor)/(a[0]-b[0])
		}
	}
	return rates[len(rates)-1][1]
}

// allocationOff names the echo without device allocation in series.
const allocationOff = "device allocation off"

// cardEcho measures the naive echo over the whole card: packets are received into Arm memory, copied to the host,
// copied back and sent. Cache and rings are scaled down, rates are not.
func cardEcho(s *study.Session) error {
	axis := study.Axis{Name: "transmit ring", Unit: "MB"}
	x := study.NewSeries("card_echo", "Naive echo over the card: receive, copy to the host, copy back, send",
		"payload each way", "Gbps", axis)
	b := study.NewSeries("card_echo_passes", "DRAM traffic of the Arm in that echo",
		"DRAM bytes per payload byte", "B/B", axis)
	for _, allocate := range []bool{false, true} {
		system := map[bool]string{false: allocationOff, true: "device allocation on"}[allocate]
		for _, cores := range study.Points(s, []int{4, 8, 12}) {
			e, reads, writes, err := echoOnce(s, system, cores, allocate)
			if err != nil {
				return err
			}
			mb := s.Input("tx.ring") * float64(cores) / (1 << 20)
			x.AddEstimate(system, e, mb)
			b.Add(system+", reads", reads, mb)
			b.Add(system+", writes", writes, mb)
		}
	}
	s.Record(x, b)
	return nil
}

func echoOnce(s *study.Session, system string, cores int, allocate bool) (e study.Estimate, reads, writes float64,
	err error) {
	scale := s.Input("scale")
	spec := stagedSpec(s, stagedDesign{gbps: s.Input("endpoint.raw")})
	spec.timed = true
	adapt := spec.adapt
	spec.adapt = func(c *board.CardSpec) {
		adapt(c)
		llc := *c.Switch.Arm.Cache
		way := int64(llc.Ways) * mem.LineBytes
		llc.SizeBytes = int64(s.Input("arm.llc")/scale) / way * way
		if llc.DeviceWays = core.FirstWays(llc.Ways); !allocate {
			llc.DeviceWays = 0
		}
		c.Switch.Arm.Cache = &llc
		c.Switch.Host.MemorySpec = board.MemorySpec{} // the host's memory is not under test
	}
	size := int(s.Input("packet"))
	slots := func(name string, n int) int { return int(s.Input(name)/scale) * n / size }
	rx, tx := armRegion(rxRing, slots("rx.ring", 1)), armRegion(txRing, slots("tx.ring", cores))
	app := hostRegion(rxRing, fewSlots)
	c := &chain{name: "echo", size: size, window: int(s.Input("echo.window")), every: paced(size, s.Input("link")),
		warm: 2 * rx.slots}
	c.legs = []leg{{wireRegion(), rx}, {rx, app}, {app, tx}, {tx, wireRegion()}}
	name := fmt.Sprintf("naive echo, %s, transmit ring of %d cores", system, cores)
	e, r, err := chains(s, name, spec, 1000, scale, c)
	if err != nil {
		return e, 0, 0, err
	}
	d := r.card.Memory.DRAM(nicspec.EndpointArm).Counters()
	payload := c.moved * uint64(size)
	if cores == 4 || cores == 12 {
		s.Book(r.ledger(name, payload))
	}
	return e, float64(d.ReadBytes) / float64(payload), float64(d.WrittenBytes) / float64(payload), nil
}
