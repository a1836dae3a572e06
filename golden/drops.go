package golden

import (
	"fmt"
	"slices"

	"nictwin/golden/arrivals"
	"nictwin/golden/counters"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// This file has the causes for which the contract allows a received frame to be dropped; where it leaves a choice,
// there are several. Causes of the port, in the order of the contract ([R2], [F2], [R4], [R5]), come from the Go
// NIC's core.Config.Classify, which frameIn calls, or from golden/windows for a configuration that is just changing.
// sureCauses adds overflow, where [R3] leaves the choice to the device. queueCauses has those of a queue that is off
// or in error, and runCauses those of one that runs, in the order [X5], [R8], [R9]. dropAcross, and mayBeDisabled in
// flr.go, have those of a reset [L2]. A queue that the build lacks is off: assign in rxport.go.

// settleDrops decides the frames that must be dropped, once no configuration write can save them any more.
func (r *Referee) settleDrops(p *rxPort) {
	for p.Drops.Len() > 0 && (*p.Drops.Front()).Last+nicspec.VisibleCycles < r.now {
		f := p.Drops.Pop()
		r.dropped(p, f, r.sureCauses(f), false)
	}
	p.Expire(r.now-r.cfg.LingerCycles, r.now)
	p.out.Low(r.now, p.Level)
}

// sureCauses returns the possible drop causes of a frame that had to be dropped.
func (r *Referee) sureCauses(f *arrivals.Frame) counters.Drops {
	switch {
	case f.N > nicspec.FrameMax:
		return r.oversizeCauses(f)
	case f.Verdict.Checked:
		return counters.Drop(f.Verdict.Drop) | r.overflowCause(f) | f.Earlier
	}
	return counters.Drop(f.Verdict.Drop) | f.Earlier // [R2] applies before the buffer could overflow [R3]
}

// oversizeCauses returns the causes under [R2] of a frame that is too long, whose bytes are not kept.
func (r *Referee) oversizeCauses(f *arrivals.Frame) (m counters.Drops) {
	r.ver.Gates(f.Span(), func(c *core.Config) { m |= counters.Drop(c.Gate(f.N)) })
	return m
}

// overflowCause returns RX_DROP_OVERFLOW if that drop is legal for the frame [R3], else no cause.
func (r *Referee) overflowCause(f *arrivals.Frame) counters.Drops {
	if f.Overflow && !r.cfg.ForbidOverflow {
		return counters.Drop(nicspec.CntRxDropOverflow)
	}
	return 0
}

// giveUp decides that a frame was dropped, after it was neither delivered nor overtaken for long.
func (r *Referee) giveUp(p *rxPort, f *arrivals.Frame) {
	r.withdraw(p, f)
	r.decideUndelivered(p, f)
}

// decideUndelivered decides the causes of a frame that was not delivered, by its Place.
func (r *Referee) decideUndelivered(p *rxPort, f *arrivals.Frame) {
	switch f.Place {
	case arrivals.ToDrop:
		r.dropped(p, f, r.sureCauses(f), false)
	case arrivals.ToQueue:
		q := r.rx.queue(f.Verdict.Queue)
		r.dropped(p, f, r.queueCauses(q, f, &f.Verdict, q.Ctx.CI), true)
	case arrivals.ToAccount:
		r.accountDropped(r.rx.accountOf(&f.Verdict), f, nil)
	default:
		m := counters.Drops(0)
		for i := range f.Alts {
			v := &f.Alts[i]
			if v.Drop != core.NoDrop {
				m |= counters.Drop(v.Drop) | f.Earlier
			} else if q := r.rx.queue(v.Queue); q == nil {
				m |= counters.Drop(nicspec.CntRxDropQueueOff)
			} else {
				m |= r.queueCauses(q, f, v, q.Ctx.CI)
				if v.Account.On {
					q = r.rx.queue(v.Account.Queue)
					m |= r.queueCauses(q, f, v, q.Ctx.CI)
				}
			}
		}
		if r.ver.Now().Gate(f.N) == core.NoDrop {
			m |= r.overflowCause(f)
		}
		r.dropped(p, f, m, true)
	}
}

// dropped records that a frame was dropped for one of the causes in m. Without a cause it reports a mismatch: the
// frame had to be delivered.
func (r *Referee) dropped(p *rxPort, f *arrivals.Frame, m counters.Drops, gone bool) {
	if m != counters.Pause {
		r.stats.Dropped++
	}
	f.Why = m
	if m == 0 {
		r.failLost(f)
		r.doubtful(p, f.Port, allDrops)
	} else if c, ok := m.Single(); ok {
		r.cnt.Sure(c.Index(f.Port), 1)
	} else {
		r.doubtful(p, f.Port, m)
	}
	r.hitsOfDropped(f, m)
	r.resolved(p, f, gone)
}

var allDrops = func() (m counters.Drops) {
	for _, c := range nicspec.DropCounters {
		m |= counters.Drop(c)
	}
	return m
}()

// doubtful counts a dropped frame whose cause is not known.
func (r *Referee) doubtful(p *rxPort, port int, m counters.Drops) {
	for _, c := range counters.Fates {
		if m.Has(c) {
			r.cnt.May(c.Index(port), 1)
		}
	}
	p.Doubt(m)
}

// hitsOfDropped counts a hit of the rule that a dropped frame matched, unless the frame was dropped before
// steering [R5].
func (r *Referee) hitsOfDropped(f *arrivals.Frame, m counters.Drops) {
	overflow := m.Has(nicspec.CntRxDropOverflow)
	if f.Place != arrivals.Unsure {
		rule, ok := f.Verdict.Hit()
		switch {
		case !ok || overflow && m == counters.Drop(nicspec.CntRxDropOverflow):
		case overflow || m == 0 || m.Has(nicspec.CntRxDropDisabled):
			r.cnt.May(counters.HitsBase+rule, 1)
		default:
			r.cnt.Sure(counters.HitsBase+rule, 1)
			f.Hit, f.HitSure = rule, true
		}
		return
	}
	for i := range f.Alts {
		if rule, ok := f.Alts[i].Hit(); ok {
			r.cnt.May(counters.HitsBase+rule, 1)
		}
	}
}

func (r *Referee) failLost(f *arrivals.Frame) {
	d := verdict.Port(f.Port)
	if f.Place == arrivals.ToQueue {
		d = verdict.Rxq(int(f.Verdict.Queue))
	}
	r.failRx(f, verdict.NoIndex, d, "R10", "frame", "delivered", "dropped or never delivered")
}

// queueCauses returns the causes for which a queue may have dropped a frame; next is the descriptor that its next
// frame took. Without a cause, the queue had to take the frame.
func (r *Referee) queueCauses(q *rxq, f *arrivals.Frame, v *core.RxVerdict, next uint16) (m counters.Drops) {
	m = r.overflowCause(f) | f.Earlier
	if q.offTo >= f.Last {
		m |= counters.Drop(nicspec.CntRxDropQueueOff)
	}
	if q.errTo >= f.Last {
		m |= counters.Drop(nicspec.CntRxDropQueueErr)
	}
	if q.epoch == 0 {
		return m
	}
	posted, same := underPresentContext(f, q)
	if !same {
		m |= r.runCauses(&q.was, v, f.N, true)
	}
	return m | r.runCauses(&q.Ctx, v, f.N, !same || int16(next-posted) >= 0)
}

// runCauses returns the cause under [X5], [R8] or [R9] for which a queue in state Run drops a frame, or none. empty
// says that it may have had no descriptor.
func (r *Referee) runCauses(ctx *core.Queue, v *core.RxVerdict, n int, empty bool) counters.Drops {
	if ctx.PayBufSize == 0 {
		return 0
	}
	if v.DropCrc && ctx.CrcMode == nicspec.CrcModeCheck {
		return counters.Drop(nicspec.CntRxDropCrc32c)
	}
	if _, pay := ctx.Split(v, n); pay > int(ctx.PayBufSize) {
		return counters.Drop(nicspec.CntRxDropTooLong)
	}
	if empty && !r.cfg.ForbidNoDesc {
		return counters.Drop(nicspec.CntRxDropNoDesc)
	}
	return 0
}

// spansReset reports whether a frame began before, and ended after, the latest reset.
func (r *Referee) spansReset(f *arrivals.Frame) bool {
	return !r.flr.on && r.flr.over != never && f.First <= r.flr.at && f.Last > r.flr.over
}

// dropAcross turns the verdicts of a frame that spans a reset into drops: for the cause that applied to it before,
// else as disabled [L2].
func (r *Referee) dropAcross(f *arrivals.Frame) {
	if !r.spansReset(f) {
		return
	}
	alts := f.Alts
	f.Alts = f.Alts[:0]
	for _, v := range alts {
		if v.Drop == core.NoDrop {
			v.Drop = nicspec.CntRxDropDisabled
		}
		if !slices.Contains(f.Alts, v) {
			f.Alts = append(f.Alts, v)
		}
	}
}

// endDrops compares a port's drop counters at the end of the run. Their values beyond the certain drops must be an
// assignment of the doubtful frames, each to one of its causes. By Hall's theorem there is one if every set of
// counters has at least as many steps as there are frames whose causes all lie in the set.
func (r *Referee) endDrops(port int, value map[int]uint64) {
	p := &r.rx.ports[port]
	var above [32]uint64
	var wrong []drops
	all := counters.Drops(0)
	for _, d := range p.Doubts {
		all |= d.Causes
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
		for _, d := range p.Doubts {
			if d.Causes.Has(c) {
				most += d.Frames
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
	r.endDoubts(port, p.Doubts, all, &above)
	r.checkConserved(port, value)
}

// drops is a drop counter whose value is out of bounds.
type drops struct {
	index          int
	got, low, most uint64
}

func (d *drops) String() string {
	return fmt.Sprintf("%s: expected %s, got %d", counters.NameOf(d.index), verdict.Between(d.low, d.most), d.got)
}

// failDrops reports wrong drop counters, the first one that is too high before others: it names the
// cause that was counted by mistake, which says more than a missing one.
func (r *Referee) failDrops(wrong []drops) {
	first := max(0, slices.IndexFunc(wrong, func(d drops) bool { return d.got > d.most }))
	var others []string
	for i := range wrong {
		if i != first {
			others = append(others, wrong[i].String())
		}
	}
	d := &wrong[first]
	r.log.Fail(verdict.Counting, "C1", counters.NameOf(d.index), verdict.Between(d.low, d.most), fmt.Sprint(d.got),
		others...)
}

func (r *Referee) endDoubts(port int, doubts []arrivals.Doubt, all counters.Drops, above *[32]uint64) {
	for set := all; ; set = (set - 1) & all {
		var have, need uint64
		for _, c := range counters.Fates {
			if set.Has(c) {
				have += above[c]
			}
		}
		for _, d := range doubts {
			if d.Causes&^set == 0 {
				need += d.Frames
			}
		}
		if have < need || set == all && have != need {
			r.log.Fail(verdict.Counting, "C1", fmt.Sprintf("%v, port %d", set, port),
				fmt.Sprintf("%d in all, beyond the certain ones", need), fmt.Sprint(have),
				doubtText(doubts, all, above)...)
			return
		}
		if set == 0 {
			return
		}
	}
}

// doubtText lists each counter's excess over the certain drops, and the number of frames with each set of possible
// causes.
func doubtText(doubts []arrivals.Doubt, all counters.Drops, above *[32]uint64) (text []string) {
	for _, c := range counters.Fates {
		if all.Has(c) && above[c] > 0 {
			text = append(text, fmt.Sprintf("%v has %d", c, above[c]))
		}
	}
	for _, d := range doubts {
		text = append(text, fmt.Sprintf("frames dropped for %v: %d", d.Causes, d.Frames))
	}
	return text
}

// checkConserved checks [C1] on the device's counters alone: frames received are frames delivered, dropped and
// honoured as pauses.
func (r *Referee) checkConserved(port int, value map[int]uint64) {
	sum := value[nicspec.CntRxDelivered.Index(port)]
	for _, c := range counters.Fates {
		sum += value[c.Index(port)]
	}
	if in := value[nicspec.CntRxFrames.Index(port)]; in != sum {
		r.log.Fail(verdict.Counting, "C1", fmt.Sprintf("RX_FRAMES[%d]", port),
			fmt.Sprintf("%d: delivered, dropped and pauses", sum), fmt.Sprint(in))
	}
}

// withdraw removes a frame from the list that assign put it into.
func (r *Referee) withdraw(p *rxPort, f *arrivals.Frame) {
	switch f.Place {
	case arrivals.Unsure:
		p.Unsure = slices.DeleteFunc(p.Unsure, func(g *arrivals.Frame) bool { return g == f })
		r.rx.unsure--
	case arrivals.ToDrop:
		p.RemoveDrop(f)
	case arrivals.ToQueue:
		q := r.rx.queue(f.Verdict.Queue)
		q.frames[f.Port].Remove(f)
		q.pending--
	case arrivals.ToAccount:
		r.leaveAccount(f)
	}
}

// resolved removes a frame whose fate is known.
func (r *Referee) resolved(p *rxPort, f *arrivals.Frame, gone bool) {
	p.Decide(f, r.now, gone)
	r.rx.frames.Put(f)
}
