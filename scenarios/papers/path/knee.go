package path

import (
	"fmt"
	"math"

	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
)

// kneeSizes are the measured sizes of the last-level cache, as multiples of bandwidth × residence time.
var kneeSizes = []float64{0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2}

// knee finds the smallest last-level cache with which DRAM is hardly used, for several residence times.
func knee(s *study.Session) error {
	x := study.NewSeries("knee", "DRAM traffic by LLC size, invalidating design", "DRAM bytes per payload byte", "B/B",
		study.Axis{Name: "LLC", Unit: "kB", Log: true}, study.Axis{Name: "residence", Unit: "µs"})
	y := study.NewSeries("knee_size", "LLC size at the knee", "size", "kB", study.Axis{Name: "residence", Unit: "µs"})
	worst := 0.0
	var runs []string
	for _, t := range []float64{5, 10, 20} {
		need := s.Input("link") / 8 * 1e3 * t // bytes
		var sizes, passes []float64
		for _, f := range kneeSizes {
			spec, err := ringOf(s, fmt.Sprintf("LLC of %.2f × bandwidth × %.0f µs", f, t), int64(need*f), true)
			if err != nil {
				return err
			}
			spec.residence, spec.invalidate = us(t), true
			spec.slots = int(4*need) / spec.packet
			spec.warm = spec.slots
			p, err := playRing(s, spec)
			if err != nil {
				return err
			}
			runs = append(runs, spec.name)
			sizes, passes = append(sizes, float64(spec.cache.SizeBytes)), append(passes, p.reads+p.writes)
			x.Add(fmt.Sprintf("residence %.0f µs", t), p.reads+p.writes, float64(spec.cache.SizeBytes)/1e3, t)
		}
		at := crossing(sizes, passes)
		y.Add("measured", at/1e3, t)
		y.Add("bandwidth × residence", need/1e3, t)
		worst = max(worst, math.Abs(at/need-1))
	}
	s.Record(x, y)
	s.Holds("smartns.rx.required_cache_eq", worst <= 0.2, fmt.Sprintf("the knee is at most %.1f%% away from "+
		"bandwidth × residence", 100*worst),
		"where DRAM traffic falls to half of its most, three residences").On(runs...)
	const how = "arithmetic of inputs; the knee that they give is measured"
	bw := s.Input("link") / 8 * 1e9
	s.Value("smartns.rx.required_cache_ratio", 16e6/(bw*s.Input("residence")*1e-6), how).Counted()
	s.Value("smartns.rx.required_cache_800g", 2*bw*20e-6/1e6, how).Counted()
	return nil
}

// crossing returns the cache size at which the number of DRAM passes falls to half of its maximum, interpolated between
// the measured sizes.
func crossing(sizes, passes []float64) float64 {
	half := 0.0
	for _, p := range passes {
		half = max(half, p/2)
	}
	for i := 1; i < len(sizes); i++ {
		if a, b := passes[i-1], passes[i]; a > half && b <= half {
			return sizes[i-1] + (sizes[i]-sizes[i-1])*(a-half)/(a-b)
		}
	}
	return math.NaN()
}

// residences measures residence times below and above LLC ÷ bandwidth, where the LLC is just full. The LLC has a
// sixteenth of the real size, and times are scaled by the same factor.
func residences(s *study.Session) error {
	const scale = 16
	llc := int64(llcBytes / scale)
	edge := float64(llc) / (s.Input("link") / 8 * 1e3) // µs
	axis := study.Axis{Name: "residence", Unit: "µs", Log: true}
	x := study.NewSeries("residence_passes", "DRAM bytes per payload byte, LLC 1 MB (all sizes and times ÷ 16)",
		"DRAM bytes per payload byte", "B/B", axis)
	y := study.NewSeries("residence_throughput", "Throughput by residence, LLC 1 MB (all sizes and times ÷ 16)",
		"throughput", "Gbps", axis)
	for _, invalidate := range []bool{false, true} {
		design := map[bool]string{false: writeBack, true: "invalidate"}[invalidate]
		for _, f := range []float64{0.125, 0.25, 0.5, 0.8, 0.95, 1.1, 1.5, 2, 4} {
			spec, err := ringOf(s, fmt.Sprintf("%s, residence %.2f × LLC ÷ bandwidth", design, f), llc, true)
			if err != nil {
				return err
			}
			spec.residence, spec.invalidate = us(edge*f), invalidate
			spec.slots, spec.scale = int(8*llc)/spec.packet, scale
			spec.warm = spec.slots
			p, err := playRing(s, spec)
			if err != nil {
				return err
			}
			x.Add(design+", reads", p.reads, edge*f)
			x.Add(design+", writes", p.writes, edge*f)
			y.AddEstimate(design, p.e, edge*f)
			if f == 0.25 || f == 4 {
				s.Book(p.snapshot.ledger(fmt.Sprintf("%s, residence %.2f × LLC ÷ bandwidth", design, f), p.payload))
			}
		}
	}
	s.Record(x, y)
	return nil
}

// Parameters of backlog. LLC and times are scaled to an eighth, so that the run takes a fraction of a millisecond.
const (
	backlogScale = 8
	backlogLLC   = llcBytes / backlogScale
	backlogBegin = 60 // start of the pause of the cores, in µs
	backlogEnd   = 180
	backlogLong  = 700
	backlogBin   = 10
)

// backlog stops the cores for a while. The ring then grows beyond the cache, so that DRAM is used; after the backlog is
// served, the cache alone suffices again.
func backlog(s *study.Session) error {
	spec, err := ringOf(s, "backlog", backlogLLC, true)
	if err != nil {
		return err
	}
	spec.gbps = s.Input("link") / 2 // half of the line rate, so that DRAM can carry the bytes that miss the LLC
	per := float64(spec.packet) * 8e3 / spec.gbps
	spec.invalidate, spec.residence, spec.slots = true, us(s.Input("residence")/4), 4*backlogLLC/spec.packet
	spec.service, spec.scale = simcore.Ps(per/1.5), backlogScale
	spec.pause = [2]simcore.Ps{us(backlogBegin), us(backlogEnd)}
	spec.packets = int(float64(us(backlogLong)) / per)
	r, err := newRing(s, spec)
	if err != nil {
		return err
	}
	axis := study.Axis{Name: "time", Unit: "µs"}
	x := study.NewSeries("backlog", "Backlog beyond a 2 MB LLC (sizes ÷ 8), 200 Gbps, cores stopped from 60 to 180 µs",
		"DRAM bandwidth", "Gbps", axis)
	y := study.NewSeries("backlog_bytes", "Bytes in the ring during that backlog", "bytes", "MB", axis)
	bin, last := us(backlogBin), snapshot{}
	at := bin
	sample := func(now simcore.Ps) {
		for ; now >= at; at += bin {
			k := r.m.snapshot()
			d := k.since(last)
			t := float64(at) / float64(simcore.Microsecond)
			x.Add("reads", float64(d.read)*8e3/float64(bin), t)
			x.Add("writes", float64(d.written)*8e3/float64(bin), t)
			y.Add("in the ring", float64(r.held*spec.packet)/(1<<20), t)
			last = k
		}
	}
	r.onDone, r.onOffer = sample, sample
	if _, err := r.run(s); err != nil {
		return err
	}
	s.Record(x, y)
	return nil
}

// belowLLC names a ring that fits into the LLC in series.
const belowLLC = "ring below the LLC"

// faster measures reception at 800 Gbps through an LLC of limited bandwidth, with a ring that fits into the LLC.
func faster(s *study.Session) error {
	x := study.NewSeries("llc_bandwidth", "Receive at 800 Gbps through an LLC of 1,200 Gbps", "throughput", "Gbps",
		study.Axis{Name: "design"})
	for _, invalidate := range []bool{false, true} {
		design := map[bool]string{false: belowLLC, true: belowLLC + ", invalidated"}[invalidate]
		spec, err := ringOf(s, design, llcBytes, true)
		if err != nil {
			return err
		}
		spec.gbps, spec.invalidate = 2*s.Input("link"), invalidate
		spec.slots = llcBytes / 4 / spec.packet
		spec.warm = 2 * spec.slots
		p, err := playRing(s, spec)
		if err != nil {
			return err
		}
		x.Bar("Arm LLC", design, p.gbps)
		if !invalidate {
			needed := float64(p.snapshot.llcRead+p.snapshot.llcWritten) / float64(p.payload) * spec.gbps
			s.Value("smartns.rx.llc_bw_800g", needed, fmt.Sprintf("passes counted at the LLC, times 800 Gbps; with "+
				"1,200 it receives %.0f Gbps", p.gbps)).Counted()
		}
	}
	s.Record(x)
	return nil
}
