package golden

import (
	"fmt"
	"slices"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// stopKeeper is the pause frames that came in on a port of late.
type stopKeeper struct {
	came [keptPauses]pauseIn
	n    int // that came
}

const keptPauses = 64

// pauseIn is a pause frame that came in, and may have been honoured.
type pauseIn struct {
	seq     uint32
	last    int64
	frame   core.PauseFrame
	classes uint8 // stopped by it
	sure    bool  // it was honoured, and for these classes
}

// pauseIn notes a frame that may be a pause frame, anew if it is known.
func (r *Referee) pauseIn(f *rxFrame) {
	if !r.cfg.Build.Has(nicspec.PartPause) || f.n < nicspec.FrameMin || f.n > nicspec.FrameMax {
		return
	}
	p, ok := core.ParsePause(f.data)
	if !ok {
		return
	}
	may, sure := mayPause(f)
	if !may {
		return
	}
	in := pauseIn{seq: f.seq, last: f.last, frame: p, sure: sure && r.ver.Sure(f.first)}
	in.classes = p.Classes
	if in.sure {
		in.classes &= r.ver.Now().Pause[f.port].Classes
	}
	k := &r.rx.ports[f.port].stops
	for i := max(0, k.n-keptPauses); i < k.n; i++ {
		if at := &k.came[i%keptPauses]; at.seq == f.seq {
			*at = in
			return
		}
	}
	if old := &k.came[k.n%keptPauses]; k.n >= keptPauses && in.last < old.last+core.PauseCycles(slices.Max(old.frame.Quanta[:]), r.cfg.Build.EthBits) {
		r.log.Lost(verdict.LimitStops, 1)
	}
	k.came[k.n%keptPauses] = in
	k.n++
}

// mayPause reports whether a frame may be honoured as a pause frame, and
// whether it is for certain.
func mayPause(f *rxFrame) (may, sure bool) {
	if len(f.alts) == 0 {
		may = f.v.Drop == nicspec.CntRxPause
		return may, may
	}
	for i := range f.alts {
		may = may || f.alts[i].Drop == nicspec.CntRxPause
	}
	return may, false
}

// stopped reports whether nothing may begin in a cycle: on the port, or, with
// class 0 to 7, of that class [F3, F4]. since is the cycle from which on the
// stop had to hold.
func (k *stopKeeper) stopped(build *nicspec.Build, class int, cycle int64) (since int64, stopped bool) {
	for i := k.n - 1; i >= max(0, k.n-keptPauses); i-- {
		in := &k.came[i%keptPauses]
		quanta := in.frame.Quanta[0]
		if class >= 0 {
			quanta = in.frame.Quanta[class]
		}
		if in.last >= cycle || in.frame.Priority != (class >= 0) || class >= 0 && in.classes>>class&1 == 0 {
			continue
		}
		if cycle >= in.last+core.PauseCycles(quanta, build.EthBits) {
			return 0, false // it may have been the latest to count
		}
		since = in.last + nicspec.VisibleCycles
		if in.sure && cycle > since {
			return since, true
		}
	}
	return 0, false
}

// checkStopped checks [F4] for a frame of a queue that began to leave.
func (r *Referee) checkStopped(q *txq) {
	if !r.cfg.Build.Has(nicspec.PartPause) {
		return
	}
	p := &r.rx.ports[r.x.Port]
	begun := r.begun()
	for _, class := range [...]int{-1, int(q.ctx.PfcClass)} {
		since, stopped := p.stops.stopped(&r.cfg.Build, class, begun)
		if !stopped {
			continue
		}
		want := "no frame begins while the port is stopped"
		if class >= 0 {
			want = fmt.Sprintf("no frame begins while class %d is stopped", class)
		}
		r.log.Fail(q.domain(), "F4", "frame", want, fmt.Sprintf("one that began in cycle %d", begun),
			fmt.Sprintf("stopped from cycle %d on, at the latest", since))
		return
	}
}

// fetchSlack is how long a read of a ring may be on its way to the stream, in
// cycles, other than by back-pressure and other TLPs.
const fetchSlack = 1024

// fetchedWhileStopped is [F4] for a read of a queue's ring: none while its class
// is stopped on every port.
func (r *Referee) fetchedWhileStopped(q *txq) {
	if !r.cfg.Build.Has(nicspec.PartPause) {
		return
	}
	class := int(q.ctx.PfcClass)
	for i := range r.rx.ports {
		since, stopped := r.rx.ports[i].stops.stopped(&r.cfg.Build, class, r.x.First)
		if !stopped || r.waited(since) <= fetchSlack {
			return
		}
	}
	r.log.Fail(q.domain(), "F4", "read", fmt.Sprintf("no entry is fetched while class %d is stopped", class), "one", r.hdr.String())
}
