package path

import (
	"bytes"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/requester"
	"nictwin/scenarios/papers/study"
)

// Packets counts the data TLPs that one transfer sends over every link.
var Packets = study.Experiment{
	Group: "path", Name: "packets", Title: "Data TLPs on each PCIe link for N bytes",
	Figures: "OP Table 3, section 3.3",
	Claims: []string{
		"offpath.t3.p1_packets", "offpath.t3.p2_packets", "offpath.t3.p3_packets", "offpath.abs.p3_packets",
		"offpath.abs.p3_half_pcie",
		"offpath.p3.pkts_pcie1_in", "offpath.p3.pkts_pcie0", "offpath.p3.pkts_total", "offpath.p3.pkts_vs_p2",
		"offpath.p3.pkts_measured",
		"offpath.p3.hops_h2s",
	},
	Inputs: []study.Input{
		{Name: "host.mps", Value: 512, Unit: "B", Source: "offpath.hw.mtu, Table 3",
			Anchors: []string{"offpath.hw.mtu"}},
		{Name: "arm.mps", Value: 128, Unit: "B", Source: "offpath.hw.mtu, Table 3",
			Anchors: []string{"offpath.hw.mtu"}},
		{Name: "nic.mrrs", Value: 512, Unit: "B", Source: "assumption: changes no count of data TLPs, as it is a " +
			"multiple of both MPS"},
		{Name: "rate", Value: 200, Unit: "Gbps", Source: "offpath.hw.nic, the rate at which section 3.3 counts"},
		{Name: "rate.measured", Value: 204, Unit: "Gbps", Source: "offpath.p3.pkts_measured, its condition"},
	},
	Run: packets,
	Reasons: map[string]string{
		"offpath.p3.pkts_measured": "the paper counts 7% more packets than its own equation gives; what the others " +
			"are it does not say",
	},
}

// route is a transfer between two memories of a card, or a memory and the network, on one of the study's paths.
type route struct {
	name, path string
	from, to   requester.Place
}

var net = requester.Wire

func routes() []route {
	return []route{
		{"path 1 READ", "1", host(0), net}, {"path 1 WRITE", "1", net, host(0)},
		{"path 2 READ", "2", arm(0), net}, {"path 2 WRITE", "2", net, arm(0)},
		{"path 3 S2H", "3", arm(0), host(0)}, {"path 3 H2S", "3", host(0), arm(0)},
	}
}

var packetSizes = []int{1, 64, 128, 129, 511, 512, 513, 1000, 4096, 9000, 65536, 1 << 20}

func packets(s *study.Session) error {
	size := study.Axis{Name: "payload", Unit: "B", Log: true}
	pcie1 := study.NewSeries("pcie1_packets", "Data TLPs on PCIe1, both directions", "data TLPs", "packets", size)
	pcie0 := study.NewSeries("pcie0_packets", "Data TLPs on PCIe0", "data TLPs", "packets", size)
	pcie1.LogY, pcie0.LogY = true, true
	wrong := map[string]string{}
	last := map[string]links{}
	for _, n := range packetSizes {
		for _, x := range routes() {
			l, err := transferOne(s, x, n)
			if err != nil {
				return fmt.Errorf("%s of %d B: %w", x.name, n, err)
			}
			got1, got0 := l.nicIn.Data+l.nicOut.Data, l.hostIn.Data+l.hostOut.Data
			pcie1.Add(x.name, float64(got1), float64(n))
			pcie0.Add(x.name, float64(got0), float64(n))
			if want1, want0 := table3(s, x.path, n); (got1 != want1 || got0 != want0) && wrong[x.path] == "" {
				wrong[x.path] = fmt.Sprintf("%s of %d B: PCIe1 %d, PCIe0 %d; the equation has %d, %d", x.name, n, got1,
					got0, want1, want0)
			}
			last[x.name] = l
		}
	}
	s.Record(pcie1, pcie0)
	for _, p := range []string{"1", "2", "3"} {
		text := fmt.Sprintf("equal to the equation for %d sizes up to 1 MB, READ and WRITE", len(packetSizes))
		if wrong[p] != "" {
			text = wrong[p]
		}
		s.Holds("offpath.t3.p"+p+"_packets", wrong[p] == "", text,
			"data TLPs counted by the switch and PCIe0").Counted()
	}
	packetRates(s, last)
	return nil
}

// table3 returns the packet counts for N bytes by the formulas of the study's Table 3.
func table3(s *study.Session, path string, n int) (pcie1, pcie0 uint64) {
	ceil := func(mps string) uint64 { return uint64((n + int(s.Input(mps)) - 1) / int(s.Input(mps))) }
	switch path {
	case "1":
		return ceil("host.mps"), ceil("host.mps")
	case "2":
		return ceil("arm.mps"), 0
	}
	return ceil("arm.mps") + ceil("host.mps"), ceil("host.mps")
}

// transferOne runs one transfer on a fresh card of bf2, with its caches and DRAM, and checks its bytes.
func transferOne(s *study.Session, x route, n int) (links, error) {
	nic := requester.Default()
	nic.MPS = [...]int{nicspec.EndpointArm: int(s.Input("arm.mps")), nicspec.EndpointHost: int(s.Input("host.mps"))}
	nic.MRRS = int(s.Input("nic.mrrs"))
	r, err := newRig(rigSpec{preset: "bf2", timed: true, nic: nic})
	if err != nil {
		return links{}, err
	}
	want := make([]byte, n)
	pattern(want, uint64(n))
	t := &requester.Transfer{From: x.from, To: x.to, Data: make([]byte, n)}
	ended := 0
	t.Done = func(*requester.Transfer, simcore.Ps) { ended++ }
	if x.from.Network {
		copy(t.Data, want)
	} else if err := r.card.Memory.Write(x.from.Addr, want); err != nil {
		return links{}, err
	}
	if err := r.nic.Start(t); err != nil {
		return links{}, err
	}
	if err := r.finish(); err != nil {
		return links{}, err
	}
	got := t.Data
	if !x.to.Network {
		got = make([]byte, n)
		if err := r.card.Memory.Read(x.to.Addr, got); err != nil {
			return links{}, err
		}
	}
	if ended != 1 || !bytes.Equal(got, want) {
		return links{}, fmt.Errorf("the transfer ended %d times, its bytes equal: %v; want once, and equal", ended,
			bytes.Equal(got, want))
	}
	s.Outcome.SimPs += int64(r.engine.Now())
	if n == packetSizes[len(packetSizes)-1] {
		s.Book(r.ledger(x.name, uint64(n)))
	}
	return r.links(), nil
}

// packetRates turns the counts of the longest transfer into rates.
func packetRates(s *study.Session, last map[string]links) {
	n := float64(packetSizes[len(packetSizes)-1])
	mpps := func(count uint64, gbps float64) float64 { return float64(count) / n * gbps * 1e9 / 8 / 1e6 }
	rate, s2h, p2, p1 := s.Input("rate"), last["path 3 S2H"], last["path 2 READ"], last["path 1 READ"]
	total := s2h.nicIn.Data + s2h.nicOut.Data + s2h.hostOut.Data
	const how = "data TLPs counted for 1 MB, times the rate"
	s.Value("offpath.p3.pkts_pcie1_in", mpps(s2h.armToNIC.Data, rate), how).Counted()
	s.Value("offpath.p3.pkts_pcie0", mpps(s2h.hostOut.Data, rate), how).Counted()
	s.Value("offpath.p3.pkts_total", mpps(total, rate), how).Counted()
	s.Value("offpath.p3.pkts_vs_p2", float64(total)/float64(p2.nicIn.Data),
		"data TLPs counted for 1 MB, path 3 to path 2").Counted()
	s.Value("offpath.abs.p3_packets", float64(total)/float64(p1.nicIn.Data),
		"all data TLPs of path 3 to those of path 1 on one link").Counted()
	s.Value("offpath.p3.pkts_measured", mpps(total, s.Input("rate.measured")), how).Counted()
	s.Value("offpath.abs.p3_half_pcie", n/float64(s2h.nicIn.Payload+s2h.nicOut.Payload),
		"payload bytes moved to payload bytes on PCIe1, counted").Counted()

	h2s := last["path 3 H2S"]
	hops := []struct {
		name string
		data uint64
	}{
		{"PCIe0", h2s.hostIn.Data}, {"switch", h2s.hostIn.Data}, {"PCIe1 in", h2s.nicIn.Data},
		{"PCIe1 out", h2s.nicOut.Data}, {"switch", h2s.armOut.Data},
	}
	holds, text := h2s.hostOut.Data == 0 && h2s.armIn.Data == 0, ""
	for _, h := range hops {
		holds = holds && h.data > 0
		text += fmt.Sprintf("%s %d, ", h.name, h.data)
	}
	s.Holds("offpath.p3.hops_h2s", holds, text+"and no other",
		"data TLPs in the direction of the payload, link by link").Counted()
}
