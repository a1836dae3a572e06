package path

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/requester"
	"nictwin/scenarios/papers/study"
)

// linkInputs are the inputs of every experiment about the links of a BlueField-2 card.
var linkInputs = []study.Input{
	{Name: "host.mps", Value: 512, Unit: "B", Source: "offpath.hw.mtu, Table 3", Anchors: []string{"offpath.hw.mtu"}},
	{Name: "arm.mps", Value: 128, Unit: "B", Source: "offpath.hw.mtu, Table 3", Anchors: []string{"offpath.hw.mtu"}},
	{Name: "pcie.rate", Value: 256, Unit: "Gbps", Source: "offpath.hw.pcie, as the paper counts (252 coded)",
		Anchors: []string{"offpath.hw.pcie"}},
	{Name: "net.rate", Value: 200, Unit: "Gbps", Source: "offpath.hw.nic", Anchors: []string{"offpath.hw.nic"}},
	{Name: "net.mtu", Value: 1024, Unit: "B", Source: "assumption: InfiniBand PMTU of the testbed, declared"},
	{Name: "net.header", Value: 26, Unit: "B", Source: "InfiniBand specification: LRH 8, BTH 12, ICRC 4, VCRC 2"},
	{Name: "nic.mrrs", Value: 512, Unit: "B", Source: "assumption"},
	{Name: "nic.tags", Value: 256, Unit: "reads", Source: "PCIe: extended tags"},
	{Name: "nic.buffer", Value: 256 << 10, Unit: "B", Source: "assumption: several times bandwidth × round trip"},
	{Name: "window", Value: 24, Unit: "requests a direction", Source: "Fig. 5: 2 requesters of 12 threads"},
	{Name: "tlp.header", Value: 24, Unit: "B",
		Source: "PCIe: 16 B and 8 B of framing a request; a completion has 20 B"},
}

// Duplex measures what links carry in one and in both directions.
var Duplex = study.Experiment{
	Group: "path", Name: "duplex", Title: "Bandwidth of links, one and both directions",
	Figures:  "OP Fig. 5b, section 3.2 and 3.3",
	Pictures: duplexPictures,
	Claims: []string{
		"offpath.p1.unidir", "offpath.p1.bidir", "offpath.p2.bidir_limit", "offpath.p3.no_bidir_gain",
		"offpath.p1.large_bw",
		"offpath.p1.large_mpps", "offpath.p2.large_read_mpps_before",
	},
	Inputs: append([]study.Input{
		{Name: "payload", Value: 4096, Unit: "B", Source: "offpath.p1.bidir, its condition"},
		{Name: "payload.large", Value: 65536, Unit: "B", Source: "offpath: beyond 16 KB the network is full"},
	}, linkInputs...),
	Run: duplex,
	Reasons: map[string]string{
		"offpath.p2.bidir_limit": "the Arm has one channel of DRAM, 204.8 Gbps of reads and writes together; " +
			"links and network alone would carry the limit (series)",
		"offpath.p3.no_bidir_gain": "path 2 gains nothing in both directions, for the one channel of the Arm's " +
			"DRAM; by its links it would double (series)",
	},
}

// linkSpec returns a BlueField-2 card made from the inputs: timed, with its caches and DRAM; otherwise with
// memories that answer at once.
func linkSpec(s *study.Session, timed bool) rigSpec {
	n := requester.Default()
	n.MPS = [...]int{nicspec.EndpointArm: int(s.Input("arm.mps")), nicspec.EndpointHost: int(s.Input("host.mps"))}
	n.MRRS, n.Tags, n.Buffer = int(s.Input("nic.mrrs")), int(s.Input("nic.tags")), int(s.Input("nic.buffer"))
	n.Rate, n.Payload, n.Header = simcore.Gbps(int64(s.Input("net.rate"))), int(s.Input("net.mtu")),
		int(s.Input("net.header"))
	return rigSpec{preset: "bf2", timed: timed, nic: n, nicGbps: int64(s.Input("pcie.rate"))}
}

// duplexCase is one bar of the figure.
type duplexCase struct {
	system, label string
	flows         []*flow
	spec          rigSpec
}

// duplexCases returns the bars of a path: transfers in one direction, in the other, and in both.
func duplexCases(s *study.Session, path string, size int, spec rigSpec) []duplexCase {
	var a, b route
	for _, x := range routes() {
		if "path "+x.path == path {
			if a.name == "" {
				a = x
			} else {
				b = x
			}
		}
	}
	one := func(x route) *flow {
		return &flow{name: x.name, from: x.from, to: x.to, size: size, window: int(s.Input("window"))}
	}
	if path == "path 3" { // neither flow reads bytes that the other writes
		b.to.Addr += 2 * span
		b.from.Addr += 2 * span
	}
	labels := []string{"READ", "WRITE", "READ and WRITE"}
	if path == "path 3" {
		labels = []string{"S2H", "H2S", "S2H and H2S"}
	}
	return []duplexCase{
		{path, labels[0], []*flow{one(a)}, spec}, {path, labels[1], []*flow{one(b)}, spec},
		{path, labels[2], []*flow{one(a), one(b)}, spec},
	}
}

func duplex(s *study.Session) error {
	size := int(s.Input("payload"))
	card := linkSpec(s, true)
	var cases []duplexCase
	for _, p := range []string{"path 1", "path 2", "path 3"} {
		cases = append(cases, duplexCases(s, p, size, card)...)
	}
	for _, p := range []string{"path 2", "path 3"} {
		for _, c := range duplexCases(s, p, size, linkSpec(s, false)) {
			c.system += linksOnly
			cases = append(cases, c)
		}
	}
	roce, coded := card, card
	roce.nic.Header = requester.RoCEv2().Header
	coded.nicGbps = 252
	for _, c := range duplexCases(s, "path 1", size, roce) {
		c.system = "path 1, RoCEv2"
		cases = append(cases, c)
	}
	for _, c := range duplexCases(s, "path 3", size, coded) {
		c.system = "path 3, 252 Gbps"
		cases = append(cases, c)
	}
	bars := study.NewSeries("aggregate", "Aggregate bandwidth of 4 KB transfers", "payload", "Gbps",
		study.Axis{Name: "direction"})
	got := map[string]float64{}
	for _, c := range cases {
		e, r, err := flows(s, c.system+" "+c.label, c.spec, 1500, c.flows...)
		if err != nil {
			return err
		}
		bars.Bar(c.system, c.label, e.Gbps())
		p := &bars.Points[len(bars.Points)-1]
		p.Half, p.RoundTrips = e.Relative()*e.Gbps(), e.RoundTrips
		got[c.system+" "+c.label] = e.Gbps()
		s.Book(r.ledger(c.system+" "+c.label, r.nic.Moved()))
	}
	s.Record(bars)
	duplexClaims(s, got)
	return largeTransfers(s, card)
}

// linksOnly marks a path measured with memories that answer at once, which shows what links and network alone would
// carry: both directions of path 2 at that limit need twice the bandwidth of the Arm's single DRAM channel.
const linksOnly = ", links only"

func duplexClaims(s *study.Session, got map[string]float64) {
	better := func(path, a, b string) float64 { return max(got[path+" "+a], got[path+" "+b]) }
	both := func(path string) float64 { return got[path+" READ and WRITE"] }
	runs := func(path string) []string { return []string{path + " READ", path + " WRITE", path + " READ and WRITE"} }
	const how = "payload of 4 KB transfers, with caches and DRAM"
	s.Value("offpath.p1.unidir", better("path 1", "READ", "WRITE"), how).On(runs("path 1")...)
	s.Value("offpath.p1.bidir", both("path 1"), how).On(runs("path 1")...)
	s.Values("offpath.p2.bidir_limit", how, both("path 2"), better("path 2", "READ", "WRITE")).On(runs("path 2")...)
	one, two := better("path 3", "S2H", "H2S"), got["path 3 S2H and H2S"]
	gain := func(path string) float64 { return both(path) / better(path, "READ", "WRITE") }
	gain1, gain2 := gain("path 1"), gain("path 2")
	const doubled = 1.8 // "nearly double"
	s.Holds("offpath.p3.no_bidir_gain", two <= 1.05*one && gain1 > doubled && gain2 > doubled,
		fmt.Sprintf("path 3 %.1f both, %.1f one direction; path 1 × %.2f, path 2 × %.2f", two, one, gain1, gain2),
		how).On(append(append(runs("path 1"), runs("path 2")...), "path 3 S2H", "path 3 H2S", "path 3 S2H and H2S")...)
}

// largeTransfers measures paths 1 and 2 with long transfers, which the network bounds.
func largeTransfers(s *study.Session, spec rigSpec) error {
	size := int(s.Input("payload.large"))
	pps := study.NewSeries("large_packets", "Data TLPs a second at PCIe1, 64 KB transfers", "data TLPs", "Mpps",
		study.Axis{Name: "operation"})
	bw := study.NewSeries("large_bandwidth", "Bandwidth of 64 KB transfers", "payload", "Gbps",
		study.Axis{Name: "operation"})
	for _, p := range []string{"path 1", "path 2", "path 3"} {
		for _, c := range duplexCases(s, p, size, spec)[:2] {
			run := "64 KB " + p + " " + c.label
			e, r, err := flows(s, run, c.spec, 1000, c.flows...)
			if err != nil {
				return err
			}
			l := r.links()
			rate := float64(l.nicIn.Data+l.nicOut.Data) / float64(r.nic.Moved()) * e.Gbps() * 1e9 / 8 / 1e6
			pps.Bar(p, c.label, rate)
			bw.Bar(p, c.label, e.Gbps())
			for _, x := range []*study.Series{pps, bw} {
				last := &x.Points[len(x.Points)-1]
				last.Half, last.RoundTrips = e.Relative()*last.Value, e.RoundTrips
			}
			switch p + c.label {
			case "path 1READ":
				s.Value("offpath.p1.large_bw", e.Gbps(), "64 KB READs, with caches and DRAM").On(run)
				s.Value("offpath.p1.large_mpps", rate, "data TLPs counted on PCIe1, times the bandwidth").On(run)
			case "path 2READ":
				s.Value("offpath.p2.large_read_mpps_before", rate,
					"data TLPs counted on PCIe1, times the bandwidth").On(run)
			}
		}
	}
	s.Record(pps, bw)
	return nil
}
