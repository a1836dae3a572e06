package golden

import (
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// txEntryWritten judges a completion entry that the device wrote into the next slot of a transmit queue's
// completion ring [T10].
func (r *Referee) txEntryWritten(q *txq, data []byte) {
	e := nicspec.TxCqe(data)
	r.stats.Compared++
	q.msgs.EntryLeft(e.Type() == nicspec.CqeTypeEvent, r.now)
	if e.Type() == nicspec.CqeTypeEvent {
		q.eventSeen = r.eventEntry(q.Domain(), &q.Ctx, q.bad, q.eventSeen, q.draining, data)
		r.expireNamed(q.Domain(), e.Index(), e.Status())
		for i := range q.bad { // the Event makes the failure certain
			b := &q.bad[i]
			b.Sure = b.Sure || b.First == e.Index() && b.Status == e.Status()
		}
		if !q.draining {
			r.regs.Txq(q.ID).Fail(e.Status())
		}
		r.nextCqe(q)
		return
	}
	r.cnt.Step(nicspec.CntTxCqe.Index(), 1, r.now)
	if s := r.completed(q, e); s != nil {
		r.judgeEntry(q, s, e)
		switch i := e.Index(); {
		case i == s.Entry.Index || e.WqeId() == s.Entry.Plan.ID:
			r.finishUpTo(q, s.Entry.Index)
		case i-q.Oldest < q.Ctx.PI-q.Oldest: // a later entry: completion entries before it are missing
			r.finishUpTo(q, i)
		}
	}
	r.nextCqe(q)
}

func (r *Referee) nextCqe(q *txq) {
	q.Ctx.CQI++
	if !q.draining {
		r.regs.Txq(q.ID).CQI = q.Ctx.CQI
	}
}

// completed returns the next entry that gets a completion entry. It skips entries that may end without one, up to
// the entry that c names.
func (r *Referee) completed(q *txq, c nicspec.TxCqe) *attribution.Slot {
	for i := q.Oldest; i != q.Ctx.PI; i = q.After(i) {
		s := q.Slot(i)
		if s.Entry == nil {
			break
		}
		e := s.Entry
		over := e.Left || !e.Plan.Complete && i != c.Index() && r.claimAny(e) || !e.Works() &&
			e.Plan.Status == nicspec.StatusOk
		if over && !e.Plan.Complete && i != c.Index() {
			continue
		}
		return s
	}
	if r.acceptPush(q) {
		return r.completed(q, c)
	}
	r.log.Fail(q.Domain(), "T10", "index", "no completion entry: no entry that was read gets one",
		fmt.Sprint(c.Index()), c.String())
	return nil
}

// judgeEntry compares a completion entry with what its work entry allows.
func (r *Referee) judgeEntry(q *txq, s *attribution.Slot, c nicspec.TxCqe) {
	e := s.Entry
	got := c.Status()
	if c.Index() == e.Index && got != nicspec.StatusOk && e.Left {
		r.passOn(q, e)
	}
	m, wait := r.ent.Outcomes(e)
	if c.Index() == e.Index && !m.Has(got) && !e.Left && r.reattribute(e, got) {
		m, wait = r.ent.Outcomes(e)
	}
	if e.Plan.Send && !e.Left && m.Has(nicspec.StatusOk) && got == nicspec.StatusOk {
		wait = true
	}
	if wait && c.Index() == e.Index && e.Plan.Copy {
		r.failEntry(e, q.Domain(), "D6", "completion entry", "after the last write and the message of its copy",
			"before", c.String())
		return
	}
	if wait && c.Index() == e.Index {
		r.failEntry(e, q.Domain(), "T10", "frame", "left before its completion entry", "not yet", c.String())
		return
	}
	status := got
	if !m.Has(got) {
		status = m.First()
	}
	if status == nicspec.StatusOk && !e.Plan.Complete {
		r.failEntry(e, q.Domain(), "T10", "index", "no completion entry: f_complete is 0", fmt.Sprint(c.Index()),
			c.String())
		return
	}
	var want [nicspec.CqeBytes]byte
	core.BuildTxCqe(uint16(q.ID), e.Index, status, e.Plan.ID, e.Sent, q.Ctx.Phase(q.Ctx.CQI), &want)
	if e.Left && e.Gone != 0 {
		r.mustBeBusy(q.Domain(), "a completion entry to be written", e.Gone, r.now)
	}
	field, exp, g, same := nicspec.DiffTxCqe(want[:], c)
	if same {
		return
	}
	if field == "status" {
		exp = m.String()
	}
	rule := "T10"
	switch field {
	case "status":
		rule = e.RuleOfStatus(max(m.First(), got))
		if m.First() != nicspec.StatusOk {
			rule = e.RuleOfStatus(m.First())
		}
	case "phase":
		rule = "Q8"
	}
	r.failEntry(e, q.Domain(), rule, field, exp, g, "got      "+c.String(), "expected "+nicspec.TxCqe(want[:]).String())
}

// reattribute moves reads between entries so that e can have ended with a status, and reports whether it could.
func (r *Referee) reattribute(e *attribution.Entry, s nicspec.Status) bool {
	if s >= nicspec.StatusCplUnsupported {
		for x := e; x != nil; x = x.Alt {
			if r.ent.AssignFailed(x, s) {
				return true
			}
		}
		return false
	}
	if s == nicspec.StatusOk && r.claimAny(e) {
		return true
	}
	if s == nicspec.StatusBadOffload {
		return r.ent.AssignBadOffload(e)
	}
	return r.ent.SupplyAll(e)
}

// finishUpTo ends the entries up to and including the one at index, which has its completion entry.
func (r *Referee) finishUpTo(q *txq, index uint16) {
	r.silentEnded(q)
	for int16(index-q.Oldest) >= 0 {
		s := q.Slot(q.Oldest)
		e := s.Entry
		if e == nil {
			break
		}
		if int16(q.emit-q.Oldest) <= 0 {
			q.emit = q.Oldest + e.Blocks
		}
		r.cnt.Step(nicspec.CntTxWqe.Index(), 1, r.now)
		if e.Index == index && nicspec.TxCqe(r.x.TLP.Data).Status() != nicspec.StatusOk {
			r.cnt.Step(nicspec.CntTxErr.Index(), 1, r.now)
		}
		if e.Index != index || nicspec.TxCqe(r.x.TLP.Data).Status() == nicspec.StatusOk {
			r.ent.EndCopied(s)
			e = s.Entry
		}
		if e.Index == index {
			index += e.Blocks - 1
		}
		q.Forget(e)
		r.ent.Release(e)
	}
	r.ended(q, index+1)
	r.settleEntries(q)
}
