package golden

import "math"

// tlpUse is how many cycles the TLPs that left took of m_axis_tlp, in all and,
// by marks, since some time ago.
type tlpUse struct {
	taken int64
	marks [useMarks]useMark // the latest before next
	next  int
	n     int
}

// useMark is what had been taken before a cycle.
type useMark struct{ cycle, taken int64 }

const (
	useMarks = 256
	useStep  = 64 // least cycles between two marks
)

// add notes a TLP that left, and began to in a cycle.
func (u *tlpUse) add(first, cycles int64) {
	if u.n == 0 || first >= u.mark(0).cycle+useStep {
		u.marks[u.next] = useMark{first, u.taken}
		u.next = (u.next + 1) % useMarks
		u.n = min(u.n+1, useMarks)
	}
	u.taken += cycles
}

// mark is the i-th latest mark.
func (u *tlpUse) mark(i int) useMark { return u.marks[(u.next-1-i+useMarks)%useMarks] }

// since is the most that TLPs can have taken since a cycle: what they took, and
// that of up to useStep cycles before. Before the oldest mark they may have
// taken everything.
func (u *tlpUse) since(cycle int64) int64 {
	for i := range u.n {
		if m := u.mark(i); m.cycle <= cycle {
			return u.taken - m.taken
		}
	}
	if u.n < useMarks {
		return u.taken
	}
	oldest := u.mark(u.n - 1)
	return u.taken - oldest.taken + oldest.cycle - cycle
}

// used follows what the TLP that just left took: the time that it lasted, or,
// where that may contain stalls, its beats.
func (r *Referee) used() {
	cycles := r.x.Last - r.x.First + 1
	if r.cfg.TLPStall > 0 {
		bits := len(r.x.TLP.Data) * 8
		cycles = int64(max((bits+r.cfg.Build.TLPBits-1)/r.cfg.Build.TLPBits, 1))
	}
	r.use.add(r.x.First, cycles)
}

// free is the least number of cycles since a former one in which m_axis_tlp
// carried nothing and was not held back.
func (r *Referee) free(since int64) int64 {
	if r.use.n == useMarks && since < r.use.mark(useMarks-1).cycle {
		r.met[limitUse]++
	}
	all := r.x.First - since
	return all - r.use.since(since) - r.cfg.heldAtMost(all)
}

// heldAtMost is the most of so many cycles in which m_axis_tlp can have been
// held back: the share that the other side takes, and eight times the deviation
// that chance gives it, which it passes once in 10^15 times.
func (c *Config) heldAtMost(cycles int64) int64 {
	if c.TLPStall == 0 || cycles <= 0 {
		return 0
	}
	const sigmas = 8
	share := float64(c.TLPStall) / 100
	n := float64(cycles)
	return min(cycles, int64(n*share+sigmas*math.Sqrt(n*share*(1-share)))+sigmas)
}
