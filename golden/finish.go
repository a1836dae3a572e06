package golden

import (
	"fmt"

	"nictwin/golden/buffers"
	"nictwin/golden/counters"
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
)

// CounterValue is the value of a counter at the end of a run.
type CounterValue struct {
	Index int // number of the counter: first the COUNTER registers, then those of RULE_HITS
	Value uint64
}

// Finish ends the run and returns the report. Call it when nothing crosses any more and the device
// is idle. final has the counters' values at that time; for those not given, Finish takes the
// latest reads that crossed the boundary after everything else. The referee must not be used
// afterwards.
func (r *Referee) Finish(final ...CounterValue) *Report {
	if r.fault == "" {
		r.endReads()
		if !r.flr.on { // else the remaining work is forgotten [L2]
			r.endQueues()
			r.msg.End()
		}
		r.endFrames()
		r.endAccounts()
		r.endPauses()
		r.endCounters(final)
	}
	return r.report()
}

// FinishStopped is Finish for a run that the device kept from reaching its end: counters that were
// never read are not reported.
func (r *Referee) FinishStopped() *Report {
	r.stopped = true
	return r.Finish()
}

// BreakOff ends a run that did not reach its end for reasons that are not the device's. What is
// missing then means nothing; only mismatches found so far count. Without a mismatch the result is
// Infrastructure.
func (r *Referee) BreakOff() *Report {
	p := r.report()
	if p.Result != Differs || r.log.Mismatches() == 0 {
		p.Result, p.Reason = Infrastructure, "the run was broken off"
	}
	return p
}

func (r *Referee) report() *Report {
	r.countLimits()
	s := &r.stats
	p := &Report{
		Checked: s.Compared + s.Counters, Mismatches: r.log.Mismatches(), List: r.log.List(), Tallies: r.log.Tallies(),
		Notes: r.log.NoteList(), Limits: r.log.Limits(), Digest: r.dig.Sum(), Cycles: r.now + 1, Stats: *s,
		Result: Pass,
	}
	switch {
	case r.fault != "":
		p.Result, p.Reason = Infrastructure, r.fault
	case r.log.Mismatches() > 0:
		p.Result, p.Reason = Differs, fmt.Sprintf("%d mismatches, the first: %v", r.log.Mismatches(), r.log.List()[0])
	case s.Compared == 0:
		p.Result, p.Reason = Differs, "nothing was compared"
	}
	return p
}

// countLimits adds to the log how often the bounds of windows and doorbells were exceeded.
func (r *Referee) countLimits() {
	r.log.CountLimit(verdict.LimitHashes, r.ver.Lost())
	r.log.CountLimit(verdict.LimitSettings, r.devctl.Lost())
	for i := range r.rx.queues {
		r.log.CountLimit(verdict.LimitDoorbells, r.rx.queues[i].doorbells.Lost())
	}
}

// endReads checks that no read of the device, and no request to it, waits for its completion [C1].
func (r *Referee) endReads() {
	for i := range r.ent.Out.Tags {
		d := &r.ent.Out.Tags[i]
		if !d.Open {
			continue
		}
		if r.now >= d.Issued+d.TLo {
			r.timedOut(d)
			continue
		}
		r.log.Fail(r.domainOf(d), "C1", "read outstanding", "none at the end",
			fmt.Sprintf("tag %#x: %d of %d B at %#x to come",
				i, d.Left, d.N, d.Addr))
	}
	for i := range r.bar.answers.Len() {
		q := r.bar.answers.At(i)
		r.log.Fail(verdict.Registers, "G2", "answer", "to every request",
			fmt.Sprintf("none to %v", q.answer.Header.Kind),
			"the answer would be "+q.answer.Header.String())
	}
}

// endQueues checks every open queue at the end of the run: its Event, its buffers, its work entries.
func (r *Referee) endQueues() {
	for i := range r.rx.queues {
		if q := &r.rx.queues[i]; q.open {
			r.endEvent(q.Domain(), "Q4", q.bad, q.eventSeen, r.eventsBy(q.draining))
			r.endBuffers(q)
		}
	}
	r.buf.Left(func(addr uint64, n int) {
		r.log.Fail(verdict.Device, "R10", "completion entry", "for the bytes that were written", "none",
			fmt.Sprintf("%d B at %#x, in buffers that overlap", n, addr))
	})
	for i := range r.tx.queues {
		if q := &r.tx.queues[i]; q.Open {
			r.endEvent(q.Domain(), "T2", q.bad, q.eventSeen, r.eventsBy(q.draining))
			if !q.draining && r.tx.offSince == forever {
				r.silentEnded(q)
			}
			r.endEntries(q)
		}
	}
}

// eventsBy returns the cycle before which a ring read must have failed for its queue to owe an Event.
func (r *Referee) eventsBy(draining bool) int64 {
	if draining {
		return r.bar.drainAt
	}
	return forever
}

// endBuffers checks that nothing was written for frames without a completion entry.
func (r *Referee) endBuffers(q *rxq) {
	for k := range q.Slots {
		s := &q.Slots[k]
		for part, sh := range s.Parts {
			if sh != nil {
				r.log.Fail(q.Domain(), "R10", "completion entry", "for the bytes that were written", "none",
					buffers.Text(q.ID, s.Index, part, 0)+fmt.Sprintf("..%d", sh.Have.End()-1))
				return
			}
		}
	}
}

// endEntries checks that every posted work entry has ended, if its queue did not stop before that entry.
func (r *Referee) endEntries(q *txq) {
	stopped := len(q.bad) > 0
	for i := q.Oldest; i != q.Ctx.PI; i = q.After(i) {
		s := q.Slot(i)
		e := s.Entry
		switch {
		case e == nil && r.ent.Waits(&q.Queue, i):
			return
		case e == nil && (s.State == rings.Bad || stopped || q.draining || r.tx.offSince != forever):
			return
		case e == nil:
			r.log.Fail(q.Domain(), "T1", "entry", fmt.Sprintf("entry %d read and ended", i), "never read")
			return
		case q.draining && !e.Started(), r.tx.offSince != forever && !e.Started(), stopped && q.bad.Reach(e.Last()),
			stopped && e.Pushed && !e.Started() && !q.bad.AllBehind(e.Last()): // the doorbell may have come too late
			r.uncertainEnd(e)
			return
		}
		m, _ := r.ent.Outcomes(e)
		if !e.Left && (e.Plan.Complete || !m.Has(nicspec.StatusOk) || e.Plan.Send) {
			want := "ended" // without a status, if reads that decide it have not ended
			if m != 0 {
				want += ": " + m.String()
			}
			r.failEntry(e, q.Domain(), "T10", "entry", want, "never ended")
			return
		}
		r.endSilent(e)
		for x := e; x != nil; x = x.Alt {
			x.Copy.Well = x.MayBeCopied()
			r.ent.CloseDest(x)
		}
		if e.Plan.Complete {
			r.failEntry(e, q.Domain(), "T10", "completion entry", fmt.Sprintf("for entry %d", i), "none")
			return
		}
	}
}

// endFrames judges why the remaining frames were never delivered [C1], in order of arrival at all ports, since the
// ports share the accounts.
func (r *Referee) endFrames() {
	for {
		var p *rxPort
		for i := range r.rx.ports {
			q := &r.rx.ports[i]
			if q.Undecided.Len() > 0 && (p == nil || (*q.Undecided.Front()).Last < (*p.Undecided.Front()).Last) {
				p = q
			}
		}
		if p == nil {
			return
		}
		r.giveUp(p, *p.Undecided.Front())
	}
}

// endCounters compares the counters with the steps that crossings have shown.
func (r *Referee) endCounters(final []CounterValue) {
	value := r.lastReadings()
	for _, c := range final {
		if c.Index < 0 || c.Index >= counters.Num {
			r.fault = fmt.Sprintf("counter %d does not exist", c.Index)
			return
		}
		value[c.Index] = c.Value
	}
	for i := range nicspec.Counters {
		c := &nicspec.Counters[i]
		if !c.PerPort {
			r.endCounter(value, c.Index, true)
			continue
		}
		for port := range r.cfg.Build.Ports {
			index := nicspec.PortCounter(c.Index).Index(port)
			if c.Drop {
				r.needCounter(value, index)
			} else {
				r.endCounter(value, index, true)
			}
		}
	}
	for i := range r.cfg.Build.NumRules {
		r.endCounter(value, counters.HitsBase+i, false)
	}
	for port := range r.rx.ports {
		r.endDrops(port, value)
	}
}

// lastReadings returns the counter values from reads that crossed after everything else.
func (r *Referee) lastReadings() map[int]uint64 {
	value := map[int]uint64{}
	for i := range counters.Num {
		if v, asked, known := r.cnt.Latest(i); known && asked > r.work+nicspec.VisibleCycles {
			value[i] = v
		}
	}
	return value
}

// needCounter reports a counter whose value is not known.
func (r *Referee) needCounter(value map[int]uint64, index int) bool {
	if _, ok := value[index]; ok {
		return true
	}
	if c, _ := nicspec.CounterAt(index); c != nil && !r.stopped && r.cfg.Build.Has(c.Part) {
		r.log.Fail(verdict.Counting, "G5", counters.NameOf(index), "read when all else was over", "not read")
	}
	return false
}

// endCounter compares one counter.
func (r *Referee) endCounter(value map[int]uint64, index int, need bool) {
	got, ok := value[index]
	if !ok {
		if need {
			r.needCounter(value, index)
		}
		return
	}
	r.stats.Counters++
	if lo, hi := r.cnt.Between(index); got < lo || got > hi {
		r.log.Fail(verdict.Counting, "G5", counters.NameOf(index), verdict.Between(lo, hi), fmt.Sprint(got))
	}
}
