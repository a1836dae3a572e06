package path

import (
	"fmt"

	"nictwin/models/memory/armcache"
	"nictwin/models/memory/armcache/core"
	"nictwin/models/memory/dram"
	"nictwin/models/memory/mem"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Skew measures random accesses to few addresses.
var Skew = study.Experiment{
	Group: "path", Name: "skew", Title: "Random 64 B accesses within a small range",
	Figures:  "OP Fig. 7, at the memory",
	Pictures: skewPictures,
	Claims: []string{"offpath.p2.skew_write_wide", "offpath.p2.skew_write_narrow", "offpath.p2.skew_read_narrow",
		"offpath.p2.dram_read_faster"},
	Inputs: []study.Input{
		{
			Name: "dram.bank_timing", Text: "offpath", Unit: "name",
			Source:  "20 ns a read and 44 ns a write in one bank: one over the narrow rates",
			Anchors: []string{"offpath.p2.skew_write_narrow", "offpath.p2.skew_read_narrow"},
			Instead: &study.Instead{Text: "jedec-ddr4-3200",
				Source: "closed page by the speed bin: tRC for a read; tRCD, CWL, burst, tWR, tRP for a write"},
		},
		{Name: "arm.dram", Text: "bf2", Unit: "preset", Source: "offpath.hw.soc_mem: 1 channel; 16 banks and 8 KB " +
			"rows: DDR4"},
		{Name: "host.dram", Text: "host-op", Unit: "preset",
			Source: "offpath.hw.dram_channels: 8 channels of DDR4-2933"},
		{Name: "host.llc", Text: "host-op", Unit: "preset", Source: "data sheet of the part (18 MB); devices get 2 " +
			"of 12 ways: assumption"},
		{Name: "nic.rate", Value: 195, Unit: "M/s", Source: "offpath.bg.nic_core_mpps",
			Anchors: []string{"offpath.bg.nic_core_mpps"}},
		{Name: "reads", Value: 256, Unit: "in flight", Source: "PCIe: extended tags"},
		{Name: "writes", Value: 127, Unit: "in flight", Source: "PCIe 2.6.1: posted header credits without scaling"},
		{Name: "payload", Value: 64, Unit: "B", Source: "assumption: a line; Fig. 7 does not print it"},
	},
	Run: skew,
	Reasons: map[string]string{
		"offpath.p2.skew_write_wide": "posted writes go to their banks in order, one waiting for each bank; how " +
			"many banks the range meets depends on the controller's address mapping, which no source gives",
	},
}

// skewSystem is a memory on which random accesses are measured.
type skewSystem struct {
	name  string
	cache *armcache.Spec
	dram  dram.Spec
}

func skewSystems(s *study.Session) ([]skewSystem, error) {
	armDRAM, err := dram.Preset(s.Text("arm.dram"))
	if err != nil {
		return nil, err
	}
	hostDRAM, err := dram.Preset(s.Text("host.dram"))
	if err != nil {
		return nil, err
	}
	armDRAM.BankTiming = s.Text("dram.bank_timing")
	on, err := armcache.Preset(s.Text("host.llc"))
	if err != nil {
		return nil, err
	}
	off := on
	off.DeviceWays = 0
	return []skewSystem{
		{"path 2, no cache", nil, armDRAM}, {"path 1, device allocation on", &on, hostDRAM},
		{"path 1, device allocation off", &off, hostDRAM},
	}, nil
}

// skewRanges are the address ranges in units of 64 B: 1.5 to 48 KB.
var skewRanges = []int{24, 48, 96, 192, 384, 768}

func skew(s *study.Session) error {
	systems, err := skewSystems(s)
	if err != nil {
		return err
	}
	axis := study.Axis{Name: "address range", Unit: "KB", Log: true}
	got := map[string]float64{}
	for _, op := range []mem.Op{mem.Write, mem.Read} {
		x := study.NewSeries("rate_"+op.String(), "Random 64 B "+op.String()+"s", "requests", "M/s", axis)
		for _, sys := range systems {
			for _, lines := range skewRanges {
				rate, e, err := skewRate(s, sys, op, lines)
				if err != nil {
					return err
				}
				kb := float64(lines*mem.LineBytes) / 1024
				x.Points = append(x.Points, study.Point{System: sys.name, At: []float64{kb}, Value: rate,
					Half: e.Relative() * rate, RoundTrips: e.RoundTrips})
				if sys.cache == nil && (lines == skewRanges[0] || lines == skewRanges[len(skewRanges)-1]) {
					got[op.String()+map[bool]string{true: " narrow", false: " wide"}[lines == skewRanges[0]]] = rate
				}
			}
		}
		s.Record(x)
	}
	const how = "64 B at random addresses of the range, Arm DRAM without a cache"
	on := func(op mem.Op, end int) string { return skewRun(systems[0], op, skewRanges[end]) }
	last := len(skewRanges) - 1
	s.Value("offpath.p2.skew_write_wide", got["write wide"], how).On(on(mem.Write, last))
	s.Value("offpath.p2.skew_write_narrow", got["write narrow"], how).On(on(mem.Write, 0))
	s.Value("offpath.p2.skew_read_narrow", got["read narrow"], how).On(on(mem.Read, 0))
	s.Holds("offpath.p2.dram_read_faster", study.Above(got["read narrow"], got["write narrow"]), "",
		how).On(on(mem.Read, 0), on(mem.Write, 0))
	return nil
}

// skewRun names the run of a point.
func skewRun(sys skewSystem, op mem.Op, lines int) string {
	return fmt.Sprintf("skew %s %s in %d lines", sys.name, op, lines)
}

// skewRate returns the rate of one point, in millions of accesses per second.
func skewRate(s *study.Session, sys skewSystem, op mem.Op, lines int) (float64, study.Estimate, error) {
	m, err := newMemory(sys.cache, sys.dram)
	if err != nil {
		return 0, study.Estimate{}, err
	}
	window := int(s.Input("reads"))
	if op == mem.Write {
		window = int(s.Input("writes"))
	}
	size, from := int(s.Input("payload")), s.Random("addresses").Uint64()
	l := &load{
		m: m, window: window, size: size, every: simcore.Ps(1e6 / s.Input("nic.rate")),
		meter: s.NewMeterAfter(lines*8, 4000).Doubling(1),
		op:    func(int) mem.Op { return op },
		at:    func(i int) uint64 { return core.Mix(from+uint64(i)) % uint64(lines) * mem.LineBytes },
	}
	e, err := l.run(s, skewRun(sys, op, lines))
	return e.Rate / float64(size) * 1e6, e, err
}
