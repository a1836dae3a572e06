package golden

import (
	"fmt"
	"slices"

	"nictwin/golden/counters"
	"nictwin/golden/verdict"
	"nictwin/models/nicspec"
)

// endDrops compares a port's drop counters: what is above the drops whose
// cause is certain must be a way to share out the others, each to one of its
// causes. By Hall's theorem it is if no set of counters has less than the
// frames that can have stepped no other.
func (r *Referee) endDrops(port int, value map[int]uint64) {
	p := &r.rx.ports[port]
	var above [32]uint64
	var wrong []drops
	all := counters.Drops(0)
	for _, d := range p.doubts {
		all |= d.causes
	}
	for _, c := range counters.Fates {
		index := c.Index(port)
		got, ok := value[index]
		if !ok && c == nicspec.CntRxPause && !r.cfg.Build.Has(nicspec.PartPause) {
			continue
		}
		if !ok {
			return
		}
		r.stats.Counters++
		lo, _ := r.cnt.Between(index)
		most := lo
		for _, d := range p.doubts {
			if d.causes.Has(c) {
				most += d.frames
			}
		}
		if got < lo || got > most {
			wrong = append(wrong, drops{index, got, lo, most})
		}
		above[c] = got - lo
	}
	if len(wrong) > 0 {
		r.failDrops(wrong)
		return
	}
	r.endDoubts(port, p.doubts, all, &above)
	r.conserved(port, value)
}

// drops is a drop counter that is not between the least and the most that it may be.
type drops struct {
	index          int
	got, low, most uint64
}

func (d *drops) String() string {
	return fmt.Sprintf("%s: expected %s, got %d", counters.NameOf(d.index), verdict.Between(d.low, d.most), d.got)
}

// failDrops reports drop counters that are wrong. What was counted for another cause is in one that has too many, which
// tells more than one that has too few.
func (r *Referee) failDrops(wrong []drops) {
	first := max(0, slices.IndexFunc(wrong, func(d drops) bool { return d.got > d.most }))
	var others []string
	for i := range wrong {
		if i != first {
			others = append(others, wrong[i].String())
		}
	}
	d := &wrong[first]
	r.log.Fail(verdict.Counting, "C1", counters.NameOf(d.index), verdict.Between(d.low, d.most), fmt.Sprint(d.got), others...)
}

func (r *Referee) endDoubts(port int, doubts []doubt, all counters.Drops, above *[32]uint64) {
	for set := all; ; set = (set - 1) & all {
		var have, need uint64
		for _, c := range counters.Fates {
			if set.Has(c) {
				have += above[c]
			}
		}
		for _, d := range doubts {
			if d.causes&^set == 0 {
				need += d.frames
			}
		}
		if have < need || set == all && have != need {
			r.log.Fail(verdict.Counting, "C1", fmt.Sprintf("%v, port %d", set, port), fmt.Sprintf("%d in all, beyond the certain ones", need), fmt.Sprint(have),
				doubtText(doubts, all, above)...)
			return
		}
		if set == 0 {
			return
		}
	}
}

// doubtText is what the counters of doubtful drops have beyond the certain ones, and the frames.
func doubtText(doubts []doubt, all counters.Drops, above *[32]uint64) (text []string) {
	for _, c := range counters.Fates {
		if all.Has(c) && above[c] > 0 {
			text = append(text, fmt.Sprintf("%v has %d", c, above[c]))
		}
	}
	for _, d := range doubts {
		text = append(text, fmt.Sprintf("frames dropped for %v: %d", d.causes, d.frames))
	}
	return text
}

// conserved is [C1] by the device's own numbers.
func (r *Referee) conserved(port int, value map[int]uint64) {
	sum := value[nicspec.CntRxDelivered.Index(port)]
	for _, c := range counters.Fates {
		sum += value[c.Index(port)]
	}
	if in := value[nicspec.CntRxFrames.Index(port)]; in != sum {
		r.log.Fail(verdict.Counting, "C1", fmt.Sprintf("RX_FRAMES[%d]", port), fmt.Sprintf("%d: delivered, dropped and pauses", sum), fmt.Sprint(in))
	}
}
