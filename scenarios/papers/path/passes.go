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

// Passes counts how often a received byte crosses DRAM.
var Passes = study.Experiment{
	Group: "path", Name: "passes", Title: "How often a received byte crosses DRAM",
	Figures:  "FN, SN section 2.3 and 3.3",
	Pictures: passesPictures,
	Claims: []string{
		"smartns.arm.dram_theoretical", "smartns.naive.mem_touches", "smartns.naive.membw_demand",
		"smartns.naive.echo_gbps",
		"smartns.naive.echo_fraction", "smartns.naive.echo_degradation", "smartns.naive.bottleneck",
		"smartns.rx.dram_exhausted_fraction",
		"smartns.rx.working_set",
		"smartns.rx.ws_exceeds", "smartns.rx.required_cache_eq", "smartns.rx.required_cache_ratio",
		"smartns.rx.required_cache_800g",
		"smartns.rx.llc_bw_800g",
	},
	Inputs: []study.Input{
		{
			Name: "arm.dram.mixed", Value: 480, Unit: "Gbps", Source: "bf3.dram_achievable_flexins",
			Anchors: []string{"smartns.arm.dram_achievable"},
			Instead: &study.Instead{Value: 440, Source: "bf3.dram_achievable_smartns"},
		},
		{
			Name: "arm.dram.write", Value: 0.5, Unit: "of mixed",
			Source:  "card reading 3: half the mixed figure, so that reception ends at 0.6 of the line rate",
			Anchors: []string{"smartns.rx.dram_exhausted_fraction"},
			Instead: &study.Instead{Value: 1, Source: "a write costs no more than a read"},
		},
		{Name: "arm.dram.peak", Value: 716.8, Unit: "Gbps", Source: "bf3.dram_peak: 2 channels DDR5-5600"},
		{Name: "arm.dram.transfers", Value: 5600, Unit: "MT/s", Source: "bf3.dram_channels: DDR5-5600"},
		{Name: "arm.dram", Text: "bf3", Unit: "preset", Source: "bf3.dram_channels; banks, rows, batches: assumption"},
		{Name: "arm.llc", Text: "bf3", Unit: "preset", Source: "bf3.arm_llc, bf3.cacheline; 16 ways, LRU: assumption",
			Anchors: []string{"smartns.rx.arm_llc", "smartns.rx.ddio_whole_llc"}},
		{Name: "arm.llc.rate", Value: 1200, Unit: "Gbps", Source: "bf3.arm_llc_bw",
			Anchors: []string{"smartns.rx.llc_bw_now"}},
		{Name: "link", Value: 400, Unit: "Gbps", Source: "bf3.link"},
		{Name: "packet", Value: 2048, Unit: "B", Source: "fs.echo: 2 KB packets"},
		{Name: "ring", Value: 32 << 20, Unit: "B", Source: "fs.working_set_naive: 512 × 16 × 4 KB",
			Anchors: []string{"smartns.rx.desc_per_queue", "smartns.rx.arm_cores"}},
		{Name: "staging.per_core", Value: 64 * 8 * 2048, Unit: "B", Source: "fs.echo: depth 64 × 8 connections × 2 KB"},
		{Name: "cores", Value: 12, Unit: "cores", Source: "bf3.arm_cores: 12 of 16 for data"},
		{Name: "residence", Value: 10, Unit: "µs", Source: "fs.proc_time"},
		{Name: "residence.short", Value: 1, Unit: "µs", Source: "assumption: well below LLC ÷ bandwidth (336 µs)"},
		{Name: "window", Value: 64, Unit: "packets", Source: "assumption: writes that the NIC has under way, 128 KB"},
	},
	Run: passes,
	Arithmetic: []string{"smartns.arm.dram_theoretical", "smartns.rx.working_set", "smartns.rx.required_cache_ratio",
		"smartns.rx.required_cache_800g"},
	Reasons: map[string]string{
		"smartns.rx.llc_bw_800g": "the cache charges its pipeline for each line that is touched; with " +
			"invalidation a third pass is charged",
	},
}

func passes(s *study.Session) error {
	for _, part := range []func(*study.Session) error{ceilings, staged, echo, staging, knee, residences, backlog,
		faster} {
		if err := part(s); err != nil {
			return err
		}
	}
	return nil
}

const llcBytes = 16 << 20

// armDRAM returns the Arm's DRAM with the rates of the inputs multiplied by scale.
func armDRAM(s *study.Session, scale float64) (dram.Spec, error) {
	d, err := dram.Preset(s.Text("arm.dram"))
	mixed := s.Input("arm.dram.mixed")
	d.Peak = int64(s.Input("arm.dram.peak") * 1000 * scale)
	d.Mixed, d.Write = int64(mixed*1000*scale), int64(mixed*s.Input("arm.dram.write")*1000*scale)
	return d, err
}

// armLLC returns the Arm's last-level cache with the given size. Devices allocate in all of its ways, or in none.
func armLLC(s *study.Session, bytes int64, allocate bool) (*armcache.Spec, error) {
	c, err := armcache.Preset(s.Text("arm.llc"))
	if err != nil {
		return nil, err
	}
	way := int64(c.Ways) * mem.LineBytes
	c.SizeBytes = bytes / way * way
	c.Rate = simcore.Gbps(int64(s.Input("arm.llc.rate")))
	if c.DeviceWays = core.FirstWays(c.Ways); !allocate {
		c.DeviceWays = 0
	}
	return &c, nil
}

// ringOf returns the spec of a receive ring, as the inputs describe it, in memory with an LLC of the given size.
func ringOf(s *study.Session, name string, llc int64, allocate bool) (ringSpec, error) {
	d, err := armDRAM(s, 1)
	if err != nil {
		return ringSpec{}, err
	}
	c, err := armLLC(s, llc, allocate)
	packet := int(s.Input("packet"))
	return ringSpec{
		name: name, cache: c, dram: d, packet: packet, slots: int(s.Input("ring")) / packet, gbps: s.Input("link"),
		window: int(s.Input("window")), residence: us(s.Input("residence.short")),
	}, err
}

func us(t float64) simcore.Ps { return simcore.Ps(t * float64(simcore.Microsecond)) }

// ringOutcome holds the measurements of a ring.
type ringOutcome struct {
	gbps          float64
	e             study.Estimate
	reads, writes float64 // DRAM bytes per byte of payload
	snapshot      snapshot
	payload       uint64
	passes        float64 // DRAM bytes, read and written, per byte of payload over the whole run
}

func playRing(s *study.Session, spec ringSpec) (ringOutcome, error) {
	r, err := newRing(s, spec)
	if err != nil {
		return ringOutcome{}, err
	}
	e, err := r.run(s)
	if err != nil {
		return ringOutcome{}, err
	}
	k, n := r.counted()
	whole := r.m.snapshot()
	passes := float64(whole.read+whole.written) / float64(r.finished*spec.packet)
	return ringOutcome{e.Gbps(), e, float64(k.read) / float64(n), float64(k.written) / float64(n), k, n, passes}, nil
}

// mixed names traffic of as many reads as writes in series.
const mixed = "as many reads as writes"

// ceilings measures the highest rates of the DRAM without the NIC.
func ceilings(s *study.Session) error {
	x := study.NewSeries("dram_ceilings", "What the Arm's DRAM sustains", "bandwidth", "Gbps",
		study.Axis{Name: "traffic"})
	ops := []struct {
		name string
		op   func(i int) mem.Op
	}{
		{"reads", func(int) mem.Op { return mem.Read }}, {"writes", func(int) mem.Op { return mem.Write }},
		{mixed, func(i int) mem.Op { return mem.Op(i & 1) }},
	}
	for _, o := range ops {
		d, err := armDRAM(s, 1)
		if err != nil {
			return err
		}
		m, err := newMemory(nil, d)
		if err != nil {
			return err
		}
		l := &load{m: m, window: 64, size: 2048, meter: s.NewMeter(4000), op: o.op,
			at: func(i int) uint64 { return uint64(i) * 2048 % (1 << 28) }}
		e, err := l.run(s, "DRAM "+o.name)
		if err != nil {
			return err
		}
		x.Bar("Arm DRAM", o.name, e.Gbps())
	}
	s.Record(x)
	d, err := armDRAM(s, 1)
	s.Value("smartns.arm.dram_theoretical", float64(d.Channels)*s.Input("arm.dram.transfers")*8*8/1000,
		"arithmetic of inputs: channels × transfers × 8 B").Counted()
	s.Value("smartns.rx.working_set", 512*16*4.0/1024, "arithmetic of inputs").Counted()
	return err
}

// writeBack names reception without invalidation in series.
const writeBack = "write back"

// staged receives through a ring larger than the cache, with and without invalidation.
func staged(s *study.Session) error {
	x := study.NewSeries("receive", "Receive by way of Arm memory, ring 32 MB, LLC 16 MB", "throughput", "Gbps",
		study.Axis{Name: "design"})
	b := study.NewSeries("receive_passes", "DRAM traffic of that receive", "DRAM bytes per payload byte",
		"B/B", study.Axis{Name: "design"})
	for _, c := range []struct {
		name                 string
		allocate, invalidate bool
	}{{writeBack, true, false}, {"invalidate", true, true}, {"device allocation off", false, false}} {
		spec, err := ringOf(s, "receive, "+c.name, llcBytes, c.allocate)
		if err != nil {
			return err
		}
		spec.invalidate = c.invalidate
		if c.allocate {
			spec.warm = spec.slots
		}
		p, err := playRing(s, spec)
		if err != nil {
			return err
		}
		x.Bar("throughput", c.name, p.gbps)
		b.Bar("DRAM reads", c.name, p.reads)
		b.Bar("DRAM writes", c.name, p.writes)
		s.Book(p.snapshot.ledger("receive, "+c.name, p.payload))
		if c.name == writeBack {
			s.Value("smartns.rx.dram_exhausted_fraction", p.gbps/s.Input("link"),
				"payload received, ring 32 MB, LLC 16 MB, residence 1 µs").On(spec.name)
			dirty := float64(p.snapshot.evictedDirty) / float64(p.payload/mem.LineBytes)
			s.Holds("smartns.rx.ws_exceeds", dirty > 0.99 && p.reads < 0.01,
				fmt.Sprintf("%.3f dirty lines evicted for each line that comes; %.3f read passes", dirty, p.reads),
				"counters of the cache, a ring later").Counted()
		}
	}
	s.Record(x, b)
	return nil
}

// echoSpec returns a ring in which each packet is received, copied to a transmit ring and sent from there.
func echoSpec(s *study.Session, name string, staging int, allocate bool) (ringSpec, error) {
	spec, err := ringOf(s, name, llcBytes, allocate)
	spec.residence = us(s.Input("residence"))
	spec.staging = staging / spec.packet
	if allocate {
		spec.warm = spec.slots
	}
	return spec, err
}

// echo measures the naive echo server without device allocation in the cache: each byte crosses DRAM four times.
func echo(s *study.Session) error {
	staging := int(s.Input("staging.per_core") * s.Input("cores"))
	x := study.NewSeries("echo_bottleneck", "Naive echo: what raises its throughput", "throughput", "Gbps",
		study.Axis{Name: "changed"})
	got := map[string]float64{}
	for _, c := range []struct {
		name       string
		dram, link float64
	}{{"as it is", 1, 1}, {"DRAM a quarter faster", 1.25, 1}, {"link a quarter faster", 1, 1.25}} {
		spec, err := echoSpec(s, echoRun+c.name, staging, false)
		if err != nil {
			return err
		}
		if spec.dram, err = armDRAM(s, c.dram); err != nil {
			return err
		}
		spec.gbps *= c.link
		p, err := playRing(s, spec)
		if err != nil {
			return err
		}
		x.Bar(allocationOff, c.name, p.gbps)
		got[c.name] = p.gbps
		if c.name == "as it is" {
			echoClaims(s, p)
		}
	}
	s.Record(x)
	faster, wider := got["DRAM a quarter faster"]/got["as it is"], got["link a quarter faster"]/got["as it is"]
	s.Holds("smartns.naive.bottleneck", faster > 1.2 && wider < 1.02,
		fmt.Sprintf("DRAM × 1.25: × %.2f; link × 1.25: × %.2f", faster, wider),
		"the same run with one thing changed; there are no cores in it").On(echoRun+"as it is",
		echoRun+"DRAM a quarter faster", echoRun+"link a quarter faster")
	return nil
}

// echoRun begins the names of the runs of echo.
const echoRun = "naive echo, "

func echoClaims(s *study.Session, p ringOutcome) {
	const how = "counted at the DRAM over the whole run, device allocation off"
	s.Book(p.snapshot.ledger("naive echo", p.payload))
	s.Value("smartns.naive.mem_touches", p.passes, how).Counted()
	s.Value("smartns.naive.membw_demand", p.passes*s.Input("link"), how+", times the line rate").Counted()
	s.Value("smartns.naive.echo_gbps", p.gbps, "payload each way").On(echoRun + "as it is")
	s.Value("smartns.naive.echo_fraction", p.gbps/s.Input("link"),
		"payload each way, of the line rate").On(echoRun + "as it is")
	s.Value("smartns.naive.echo_degradation", s.Input("link")/p.gbps,
		"the line rate over the payload each way").On(echoRun + "as it is")
}

// staging measures the echo server, with device writes allocating lines in the cache, for transmit rings of many sizes.
func staging(s *study.Session) error {
	axis := study.Axis{Name: "transmit ring", Unit: "MB"}
	x := study.NewSeries("staging", "Echo through a 16 MB LLC: transmit rings below and above it", "throughput", "Gbps",
		axis)
	b := study.NewSeries("staging_passes", "DRAM traffic of that echo", "DRAM bytes per payload byte",
		"B/B", axis)
	for _, cores := range []int{1, 2, 4, 6, 8, 10, 12, 16} {
		bytes := int(s.Input("staging.per_core")) * cores
		spec, err := echoSpec(s, fmt.Sprintf("echo, transmit ring of %d cores", cores), bytes, true)
		if err != nil {
			return err
		}
		p, err := playRing(s, spec)
		if err != nil {
			return err
		}
		mb := float64(bytes) / (1 << 20)
		x.AddEstimate("device allocation on", p.e, mb)
		b.Add("DRAM reads", p.reads, mb)
		b.Add("DRAM writes", p.writes, mb)
		if cores == 2 || cores == 16 {
			s.Book(p.snapshot.ledger(fmt.Sprintf("echo, transmit ring %d MB", int(mb)), p.payload))
		}
	}
	s.Record(x, b)
	return nil
}
