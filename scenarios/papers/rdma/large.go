package rdma

import (
	"cmp"
	"fmt"
	"slices"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/steady"
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
			Source: "sizes and packet table are cut by this factor; a cut message still has hundreds of packets. " +
				"The series give sizes as they are on the testbed"},
		study.Input{Name: "requesters", Value: 2, Unit: "threads",
			Source: "OP Fig. 5: two requesters; a machine each on paths 1 and 2"},
	),
	Run: large,
	Settled: map[string]string{
		"offpath.p3.s2h_collapses_first": "S2H is the direction of the data, as section 3.3 counts its packets; " +
			"by who asks it is the other way round",
		"offpath.abs.bw_degradation": "the largest loss on a path with the Arm, from its highest bandwidth to " +
			"that of the longest message",
	},
}

// largeSizes are message sizes in MB. READs exceed the NIC's packet table beyond 9 MB in TLPs of 128 B, and beyond 36
// MB in TLPs of 512 B.
var largeSizes = []int{4, 8, 9, 10, 16, 32, 36, 40, 56}

// flights are the paths and operations that are measured with long messages.
var flights = []struct {
	name, path string
	op         rnicspec.Opcode
	judged     bool // claims are about all of its sizes
}{
	{"path 1 READ", path1, rnicspec.Read, false}, {"path 1 WRITE", path1, rnicspec.Write, false},
	{"path 2 READ", path2, rnicspec.Read, true}, {"path 2 WRITE", path2, rnicspec.Write, true},
	{"path 3 READ by the Arm", s2h, rnicspec.Read, true}, {"path 3 READ by the host", h2s, rnicspec.Read, true},
	{"path 3 WRITE by the Arm", s2h, rnicspec.Write, false}, {"path 3 WRITE by the host", h2s, rnicspec.Write, false},
}

// wholeSizes are message sizes in KB, all below those at which bandwidth collapses. Unlike those, they are not scaled
// down.
var wholeSizes = []int{1, 4, 16, 64, 256, 1024}

// longPoint is the measurement of messages of one size on a path.
type longPoint struct {
	run          string
	e            study.Estimate // of payload
	pcie1, pcie0 float64        // data TLPs, in millions a second
}

func large(s *study.Session) error {
	axis := study.Axis{Name: "payload", Unit: "MB", Log: true}
	bw := study.NewSeries("large_bandwidth", "Bandwidth of long messages", "payload", "Gbps", axis)
	pps := study.NewSeries("large_packets", "Data TLPs a second at PCIe1, long messages", "data TLPs", "Mpps", axis)
	pps0 := study.NewSeries("large_packets_pcie0", "Data TLPs a second at PCIe0, long messages", "data TLPs", "Mpps",
		axis)
	all := study.NewSeries("large_packets_total", "Data TLPs a second at PCIe1 and PCIe0, long messages", "data TLPs",
		"Mpps", axis)
	add := func(system string, x longPoint, mb float64) {
		bw.AddEstimate(system, x.e, mb)
		for series, v := range map[*study.Series]float64{pps: x.pcie1, pps0: x.pcie0, all: x.pcie1 + x.pcie0} {
			series.Points = append(series.Points, study.Point{System: system, At: []float64{mb}, Value: v,
				Half: x.e.Relative() * v, RoundTrips: x.e.RoundTrips})
		}
	}
	got := map[string][]longPoint{}
	for _, f := range flights {
		for _, kb := range study.Points(s, wholeSizes) {
			x, _, err := longMessages(s, f.path, f.op, kb<<10, 1, false)
			if err != nil {
				return fmt.Errorf("%s of %d KB: %w", f.name, kb, err)
			}
			add(f.name, x, float64(kb)/1024)
		}
		sizes := largeSizes
		if !f.judged && f.name != "path 1 READ" {
			sizes = study.Points(s, largeSizes)
		}
		for _, mb := range sizes {
			scale := int(s.Input("scale"))
			x, b, err := longMessages(s, f.path, f.op, mb<<20/scale, scale, f.judged)
			if err != nil {
				return fmt.Errorf("%s of %d MB: %w", f.name, mb, err)
			}
			if mb == largeSizes[0] {
				s.Book(b.ledger(f.name, b.moved))
			}
			add(f.name, x, float64(mb))
			got[f.name] = append(got[f.name], x)
		}
	}
	s.Record(bw, pps, pps0, all)
	largeClaims(s, got)
	return duplex(s)
}

// leastBytes is the minimum number of bytes that a measurement transfers, leastMessages the minimum number of messages
// that it counts. One that claims stand on takes up to `longer` times as many until its rate is known.
const (
	leastBytes    = 2 << 20
	leastMessages = steady.MinBatches
	longer        = 4
)

// longMessages measures the bandwidth of a path in payload, and its rates of data TLPs, with the packet table divided
// by scale. It measures from one completion to a later one. The first is the n-th if n requests are in flight, so that
// the path is full. Messages that are in flight at either end count by the bytes that have arrived, not by their
// completions: these come in pairs. Short messages come from as many threads as in Fig. 5.
func longMessages(s *study.Session, path string, op rnicspec.Opcode, size, scale int, judged bool) (x longPoint, b *bed,
	err error) {
	x.run = fmt.Sprintf("%s %v of %d B, table over %d", path, op, size, scale)
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
		return x, b, err
	}
	l := b.newLoad(nil)
	warm, wanted, seen := threads*window, max(leastBytes/size, leastMessages), 0
	if size <= shortBytes {
		wanted = max(leastShort/size, study.MinRoundTrips)
	}
	limit := wanted
	if judged {
		limit *= longer
	}
	var marks marks
	for i := range threads {
		from, to := b.ends(path, i%requesters)
		w := works(s, from, op, size)
		w.window, w.signal = window, 1
		t := l.start(from, to, w)
		t.free = true
		t.each = func(now simcore.Ps) {
			if seen++; seen >= warm && !l.over {
				marks.add(now, b.target.nic.Traffic(), arrived(b, path, op))
				l.over = seen >= warm+wanted && (seen >= warm+limit || marks.known())
			}
		}
	}
	if err := l.run(); err != nil {
		return x, b, err
	}
	s.Outcome.SimPs += int64(b.engine.Now())
	b.moved = uint64(seen * size)
	marks.settle(&x, b, arrived(b, path, op))
	s.Ran(x.run, x.e, float64(scale))
	return x, b, nil
}

// marks records the traffic at each completion.
type marks struct {
	at            []simcore.Ps
	bytes         []uint64 // bytes that had arrived by then
	first, latest rnic.Traffic
}

// arrived returns the bytes that were written to the memory where the data of a path goes: the requester's for READs,
// else the responder's. Completion entries are among them.
func arrived(b *bed, path string, op rnicspec.Opcode) (n uint64) {
	for i := range max(len(b.clients), 1) {
		from, to := b.ends(path, i)
		if op == rnicspec.Read {
			to = from
		} else if i > 0 {
			break // all requesters write to the same memory
		}
		n += to.m.nic.Traffic().Out.Bytes[to.ep]
	}
	return n
}

// known reports whether the rate is known.
func (m *marks) known() bool { return steady.Ratio(m.at, m.bytes).Converged }

func (m *marks) add(now simcore.Ps, t rnic.Traffic, bytes uint64) {
	if len(m.at) == 0 {
		m.first = t
	}
	m.latest = t
	m.at, m.bytes = append(m.at, now), append(m.bytes, bytes)
}

// settle computes a point's rates. It converts bytes that arrived into payload by their ratio over the whole run; all
// is the number of bytes that arrived in it.
func (m *marks) settle(x *longPoint, b *bed, all uint64) {
	x.e = steady.Ratio(m.at, m.bytes)
	share := float64(b.moved) / float64(all)
	x.e.Rate, x.e.Half = x.e.Rate*share, x.e.Half*share
	const perMicro = 1e6
	tlps := func(ep int) float64 {
		n := m.latest.In.Data[ep] - m.first.In.Data[ep] + m.latest.Out.Data[ep] - m.first.Out.Data[ep]
		return float64(n) * perMicro / float64(x.e.Span)
	}
	x.pcie0 = tlps(nicspec.EndpointHost)
	x.pcie1 = x.pcie0 + tlps(nicspec.EndpointArm)
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
func collapse(all []longPoint) (mb int, does bool) {
	most := 0.0
	for i := range all {
		g := all[i].e.Gbps()
		if most = max(most, g); g < collapsed*most {
			return mb, true
		}
		mb = largeSizes[i]
	}
	return mb, false
}

// longRuns names the runs of some flights.
func longRuns(got map[string][]longPoint, names ...string) (all []string) {
	for _, name := range names {
		for i := range got[name] {
			all = append(all, got[name][i].run)
		}
	}
	return all
}

func largeClaims(s *study.Session, got map[string][]longPoint) {
	const how = "two requesters, two messages each; sizes and table cut by the same factor. That a READ which does " +
		"not fit owns the table is a hypothesis without a number of its own"
	fits, does := collapse(got["path 2 READ"])
	hostFits, hostDoes := collapse(got["path 1 READ"])
	s.Value("offpath.p2.large_read_collapse", s.Input("nic.table")*s.Input("arm.mps")/(1<<20),
		fmt.Sprintf("%s; READs of the Arm's memory hold up to %d MB (collapse: %v), of the host's up to %d MB (%v), "+
			"four times as far", how, fits, does, hostFits, hostDoes)).Counted()
	last := len(largeSizes) - 1
	after := got["path 2 READ"][last]
	s.Value("offpath.p2.large_read_mpps_after", after.pcie1, how).On(after.run)
	_, w2 := collapse(got["path 2 WRITE"])
	s.Holds("offpath.p2.write_no_collapse", !w2,
		fmt.Sprintf("%.0f Gbps at %d MB, %.0f at %d MB", got["path 2 WRITE"][0].e.Gbps(), largeSizes[0],
			got["path 2 WRITE"][last].e.Gbps(), largeSizes[last]), how).On(longRuns(got, "path 2 WRITE")...)
	byHost, a := collapse(got["path 3 READ by the host"])
	byArm, _ := collapse(got["path 3 READ by the Arm"])
	s.Holds("offpath.p3.s2h_collapses_first", a && byHost < byArm,
		fmt.Sprintf("READs hold up to %d MB from the Arm's memory to the host's, up to %d MB from the host's to the "+
			"Arm's", byHost, byArm), how).On(longRuns(got, "path 3 READ by the host", "path 3 READ by the Arm")...)
	lost, from := 0.0, longPoint{}
	for _, f := range flights {
		if f.path == path1 {
			continue
		}
		best := slices.MaxFunc(got[f.name], func(a, b longPoint) int { return cmp.Compare(a.e.Rate, b.e.Rate) })
		end := got[f.name][len(got[f.name])-1]
		if l := 1 - end.e.Rate/best.e.Rate; l > lost {
			lost, from, after = l, best, end
		}
	}
	s.Value("offpath.abs.bw_degradation", lost, how+": largest loss on a path with the Arm, from its highest "+
		"bandwidth to that of the longest message").On(from.run, after.run)
}
