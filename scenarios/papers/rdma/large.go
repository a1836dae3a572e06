package rdma

import (
	"fmt"
	"slices"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// Large measures long messages.
var Large = study.Experiment{
	Group: "path", Name: "large", Title: "Bandwidth of long messages, and the packet table",
	Figures:  "OP Fig. 5, 8 and 9, section 3.2 and 3.3",
	Pictures: largePictures,
	Claims: []string{
		"offpath.p2.large_read_collapse", "offpath.p2.large_read_mpps_after", "offpath.p2.write_no_collapse",
		"offpath.p3.s2h_collapses_first",
		"offpath.abs.bw_degradation",
	},
	Inputs: inputs(
		study.Input{Name: "scale", Value: 64, Unit: "times",
			Source: "sizes and packet table are cut by this factor; a cut message still has hundreds of packets. The " +
				"series give sizes as they are on the testbed"},
		study.Input{Name: "requesters", Value: 2, Unit: "threads",
			Source: "OP Fig. 5: two requesters; a machine each on paths 1 and 2"},
	),
	Run: large,
}

// largeSizes are message sizes in MB. READs exceed the NIC's packet table beyond 9 MB in TLPs of 128 B, and beyond 36
// MB in TLPs of 512 B.
var largeSizes = []int{4, 8, 9, 10, 16, 32, 36, 40, 56}

// flights are the paths and operations that are measured with long messages.
var flights = []struct {
	name, path string
	op         rnicspec.Opcode
}{
	{"path 1 READ", path1, rnicspec.Read}, {"path 1 WRITE", path1, rnicspec.Write},
	{"path 2 READ", path2, rnicspec.Read},
	{"path 2 WRITE", path2, rnicspec.Write}, {"path 3 READ by the Arm", s2h, rnicspec.Read},
	{"path 3 READ by the host", h2s, rnicspec.Read},
	{"path 3 WRITE by the Arm", s2h, rnicspec.Write}, {"path 3 WRITE by the host", h2s, rnicspec.Write},
}

// wholeSizes are message sizes in KB, all below those at which bandwidth collapses. Unlike those, they are not scaled
// down.
var wholeSizes = []int{1, 4, 16, 64, 256, 1024}

func large(s *study.Session) error {
	axis := study.Axis{Name: "payload", Unit: "MB", Log: true}
	bw := study.NewSeries("large_bandwidth", "Bandwidth of long messages", "payload", "Gbps", axis)
	pps := study.NewSeries("large_packets", "Data TLPs a second at PCIe1, long messages", "data TLPs", "Mpps", axis)
	pps0 := study.NewSeries("large_packets_pcie0", "Data TLPs a second at PCIe0, long messages", "data TLPs", "Mpps",
		axis)
	gbps, mpps := map[string][]float64{}, map[string][]float64{}
	for _, f := range flights {
		for _, kb := range study.Points(s, wholeSizes) {
			g, p, p0, _, err := longMessages(s, f.path, f.op, kb<<10, 1)
			if err != nil {
				return fmt.Errorf("%s of %d KB: %w", f.name, kb, err)
			}
			at := float64(kb) / 1024
			bw.Add(f.name, g, at)
			pps.Add(f.name, p, at)
			pps0.Add(f.name, p0, at)
		}
		for _, mb := range largeSizes {
			scale := int(s.Input("scale"))
			g, p, p0, b, err := longMessages(s, f.path, f.op, mb<<20/scale, scale)
			if err != nil {
				return fmt.Errorf("%s of %d MB: %w", f.name, mb, err)
			}
			if mb == largeSizes[0] {
				s.Book(b.ledger(f.name, b.moved))
			}
			bw.Add(f.name, g, float64(mb))
			pps.Add(f.name, p, float64(mb))
			pps0.Add(f.name, p0, float64(mb))
			gbps[f.name], mpps[f.name] = append(gbps[f.name], g), append(mpps[f.name], p)
		}
	}
	s.Record(bw, pps, pps0)
	largeClaims(s, gbps, mpps)
	return duplex(s)
}

// leastBytes is the minimum number of bytes that a measurement transfers, leastMessages the minimum number of messages
// that it counts.
const (
	leastBytes    = 2 << 20
	leastMessages = 6
)

// longMessages returns the bandwidth of a path in payload (Gbps), and its rates of data TLPs at PCIe1 and PCIe0
// (millions a second), with the packet table divided by scale. It measures from one completion to a later one. The
// first is the n-th if n requests are in flight, so that the path is full. Short messages come from as many threads as
// in Fig. 5.
func longMessages(s *study.Session, path string, op rnicspec.Opcode, size, scale int) (gbps, mpps, mpps0 float64,
	b *bed, err error) {
	cut := func(_ *board.CardSpec, x *rnic.Spec) { x.Table /= scale }
	requesters, threads, window := int(s.Input("requesters")), int(s.Input("requesters")), 2
	if size <= shortBytes {
		threads, window = requesters*duplexThreads, 8
	}
	machines := requesters
	if path == s2h || path == h2s {
		machines = 0
	}
	if b, err = newBed(s, snic, machines, cut); err != nil {
		return 0, 0, 0, b, err
	}
	l := b.newLoad(nil)
	warm, wanted, seen := threads*window, max(leastBytes/size, leastMessages), 0
	if size <= shortBytes {
		wanted = max(leastShort/size, study.MinRoundTrips)
	}
	var begin, end simcore.Ps
	var before, after rnic.Traffic
	for i := range threads {
		from, to := b.ends(path, i%requesters)
		w := works(s, from, op, size)
		w.window, w.signal = window, 1
		t := l.start(from, to, w)
		t.free = true
		t.each = func(now simcore.Ps) {
			switch seen++; seen {
			case warm:
				begin, before = now, b.target.nic.Traffic()
			case warm + wanted:
				end, after = now, b.target.nic.Traffic()
				l.over = true
			}
		}
	}
	if err := l.run(); err != nil {
		return 0, 0, 0, b, err
	}
	s.Outcome.SimPs += int64(b.engine.Now())
	tlps := func(ep int) float64 {
		return float64(after.In.Data[ep] - before.In.Data[ep] + after.Out.Data[ep] - before.Out.Data[ep])
	}
	const bitsPerNs, perMicro = 8e3, 1e6
	b.moved = uint64(seen * size)
	took := float64(end - begin)
	toHost := tlps(nicspec.EndpointHost) * perMicro / took
	return float64(wanted*size) * bitsPerNs / took, toHost + tlps(nicspec.EndpointArm)*perMicro/took, toHost, b, nil
}

// shortBytes is the longest message that is sent by many threads with several in flight each. leastShort is the minimum
// number of bytes that such a measurement counts.
const (
	shortBytes = 16 << 10
	leastShort = 1 << 20
)

// collapsed is the fraction of the highest bandwidth below which bandwidth counts as collapsed.
const collapsed = 0.8

// collapse returns the largest size in MB before the bandwidth collapses, and whether it collapses.
func collapse(gbps []float64) (mb int, does bool) {
	most := 0.0
	for i, g := range gbps {
		if most = max(most, g); g < collapsed*most {
			return mb, true
		}
		mb = largeSizes[i]
	}
	return mb, false
}

func largeClaims(s *study.Session, gbps, mpps map[string][]float64) {
	const how = "two requesters, two messages each; sizes and table cut by the same factor. That a READ which does " +
		"not fit owns the table is a hypothesis without a number of its own"
	fits, does := collapse(gbps["path 2 READ"])
	hostFits, hostDoes := collapse(gbps["path 1 READ"])
	s.Value("offpath.p2.large_read_collapse", s.Input("nic.table")*s.Input("arm.mps")/(1<<20),
		fmt.Sprintf("%s; READs of the Arm's memory hold up to %d MB (collapse: %v), of the host's up to %d MB (%v), "+
			"four times as far", how, fits, does, hostFits, hostDoes))
	last := len(largeSizes) - 1
	s.Value("offpath.p2.large_read_mpps_after", mpps["path 2 READ"][last], how)
	_, w2 := collapse(gbps["path 2 WRITE"])
	s.Holds("offpath.p2.write_no_collapse", !w2,
		fmt.Sprintf("%.0f Gbps at %d MB, %.0f at %d MB", gbps["path 2 WRITE"][0], largeSizes[0],
			gbps["path 2 WRITE"][last], largeSizes[last]), how)
	byHost, a := collapse(gbps["path 3 READ by the host"])
	byArm, _ := collapse(gbps["path 3 READ by the Arm"])
	s.Holds("offpath.p3.s2h_collapses_first", a && byHost < byArm,
		fmt.Sprintf("READs hold up to %d MB from the Arm's memory to the host's, up to %d MB from the host's to the "+
			"Arm's. S2H is the direction of the data here, as section 3.3 counts its packets; by who asks it is the "+
			"other way round", byHost, byArm), how)
	lost := 0.0
	for name, all := range gbps {
		if name != "path 1 READ" && name != "path 1 WRITE" {
			lost = max(lost, 1-all[last]/slices.Max(all))
		}
	}
	s.Value("offpath.abs.bw_degradation", lost, how+": largest loss on a path with the Arm, from its highest "+
		"bandwidth to that of the longest message")
}
