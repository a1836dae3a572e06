package golden

import (
	"math"
	"slices"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// group is a part of the receive configuration that one write changes at once.
type group uint8

const (
	groupGate group = iota // CTRL
	groupFlags
	groupRules
	groupDefault
	groupRoce
	groupPause
	numGroups
)

// take copies a group from one configuration to another.
func (g group) take(dst, src *core.Config) {
	switch g {
	case groupGate:
		dst.RxEnable = src.RxEnable
	case groupFlags:
		dst.DropIPCsum, dst.DropL4Csum, dst.DropICRC = src.DropIPCsum, src.DropL4Csum, src.DropICRC
		dst.DropCRC32C = src.DropCRC32C
	case groupRules:
		dst.Rules = src.Rules
	case groupDefault:
		dst.DefaultAction, dst.DefaultQueue, dst.DefaultLog = src.DefaultAction, src.DefaultQueue, src.DefaultLog
	case groupPause:
		dst.Pause = src.Pause
	case groupRoce:
		dst.RocePort = src.RocePort
	}
}

// versions is the receive configuration over time. A write accepted in a cycle
// takes effect within VisibleCycles of it [G4]; in between, old and new are
// both legal [R6]. Each step of [R2] to [R5] looks at a time of its own, so
// that groups are followed apart.
type versions struct {
	now   core.Config
	past  [numGroups][]version // oldest first; the last is in force
	quiet int64                // last cycle in which an older version may be in force
	rss   rssVersions
}

type version struct {
	cfg   core.Config // of which only the group counts
	from  int64       // cycle at which its write was accepted
	until int64       // last cycle at which it may be in force
}

const maxVersions = 256 // kept of a group

func (v *versions) init(cfg core.Config) {
	v.now, v.quiet = cfg, math.MinInt64
	v.rss.init()
	for g := range v.past {
		v.past[g] = []version{{cfg: cfg, from: math.MinInt64, until: math.MaxInt64}}
	}
}

// add notes what is configured after a write accepted in a cycle.
func (v *versions) add(cfg core.Config, cycle int64) {
	for g := range numGroups {
		same := v.now
		g.take(&same, &cfg)
		if same == v.now {
			continue
		}
		p := v.past[g]
		if n := len(p); n > maxVersions {
			p = append(p[:0], p[n-maxVersions/2:]...)
		}
		p[len(p)-1].until = cycle + nicspec.VisibleCycles
		v.past[g] = append(p, version{cfg: cfg, from: cycle, until: math.MaxInt64})
		v.quiet = max(v.quiet, cycle+nicspec.VisibleCycles)
	}
	v.rss.add(&v.now, &cfg, cycle)
	v.now = cfg
}

// closeRules ends the windows of the rules written before a read of TBL_CMD
// with busy 0 was accepted; it was answered in cycle now.
func (v *versions) closeRules(asked, now int64) {
	p := v.past[groupRules]
	for i := 1; i < len(p); i++ {
		if p[i].from < asked {
			p[i-1].until = min(p[i-1].until, now)
		}
	}
	v.quiet = math.MinInt64
	for g := range v.past {
		for _, o := range v.past[g][:len(v.past[g])-1] {
			v.quiet = max(v.quiet, o.until)
		}
	}
}

// sure reports whether a frame whose first beat was accepted in a cycle meets
// the configuration in force and, so far, no other.
func (v *versions) sure(first int64) bool { return max(v.quiet, v.rss.quiet) < first }

// overlapping returns the versions of a group that a frame can meet whose
// first and last beat were accepted in these cycles.
func (v *versions) overlapping(g group, first, last int64) []version {
	var out []version
	for _, o := range v.past[g] {
		if o.until >= first && o.from <= last+nicspec.VisibleCycles {
			out = append(out, o)
		}
	}
	return out
}

// verdicts gives a frame every verdict that it can get.
func (v *versions) verdicts(f *rxFrame) {
	cfgs := []core.Config{v.now}
	for g := range numGroups {
		var next []core.Config
		for _, o := range v.overlapping(g, f.first, f.last) {
			for _, c := range cfgs {
				g.take(&c, &o.cfg)
				next = append(next, c)
			}
		}
		cfgs = next
	}
	f.alts = f.alts[:0]
	f.rssOpen = v.rss.quiet >= f.first
	var seen []core.RxVerdict
	for i := range cfgs {
		var w core.RxVerdict
		cfgs[i].Classify(f.port, f.data, &w)
		if slices.Contains(seen, w) {
			continue
		}
		seen = append(seen, w)
		if f.rssOpen {
			f.alts = v.rss.spread(f, &w, f.alts)
		} else {
			f.alts = append(f.alts, w)
		}
	}
}
