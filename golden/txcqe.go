package golden

import (
	"fmt"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// txEntryWritten takes a completion entry of a transmit queue, at the right
// place [T10].
func (r *Referee) txEntryWritten(q *txq, data []byte) {
	e := nicspec.TxCqe(data)
	r.stats.Compared++
	r.entryLeft(&q.reports, &q.ctx, e.Type() == nicspec.CqeTypeEvent)
	if e.Type() == nicspec.CqeTypeEvent {
		q.eventSeen = r.eventEntry(q.domain(), &q.ctx, q.bad, q.eventSeen, q.draining, data)
		r.named(q.domain(), e.Index(), e.Status())
		for i := range q.bad { // that it failed is certain now
			b := &q.bad[i]
			b.Sure = b.Sure || b.First == e.Index() && b.Status == e.Status()
		}
		if !q.draining {
			r.regs.Txq(q.id).Fail(e.Status())
		}
		r.nextCqe(q)
		return
	}
	r.cnt.Step(nicspec.CntTxCqe.Index(), 1, r.now)
	if s := r.completed(q, e); s != nil {
		r.judgeEntry(q, s, e)
		switch i := e.Index(); {
		case i == s.entry.index || e.WqeId() == s.entry.plan.ID:
			r.finishUpTo(q, s.entry.index)
		case i-q.oldest < q.ctx.PI-q.oldest: // entries were left out
			r.finishUpTo(q, i)
		}
	}
	r.nextCqe(q)
}

func (r *Referee) nextCqe(q *txq) {
	q.ctx.CQI++
	if !q.draining {
		r.regs.Txq(q.id).CQI = q.ctx.CQI
	}
}

// completed finds the entry that a completion entry is due for: the next one
// that gets one. An entry that need not have one is passed if the completion
// entry names a later one.
func (r *Referee) completed(q *txq, c nicspec.TxCqe) *txSlot {
	for i := q.oldest; i != q.ctx.PI; i = q.after(i) {
		s := q.slot(i)
		if s.entry == nil {
			break
		}
		e := s.entry
		over := e.left || !e.plan.Complete && i != c.Index() && r.claims(e) || !e.works() && e.plan.Status == nicspec.StatusOk
		if over && !e.plan.Complete && i != c.Index() {
			continue
		}
		return s
	}
	if r.acceptPush(q) {
		return r.completed(q, c)
	}
	r.log.Fail(q.domain(), "T10", "index", "no completion entry: no entry that was read gets one", fmt.Sprint(c.Index()), c.String())
	return nil
}

// judgeEntry compares a completion entry with what its work entry allows.
func (r *Referee) judgeEntry(q *txq, s *txSlot, c nicspec.TxCqe) {
	e := s.entry
	m, wait := r.ent.outcomes(e)
	got := c.Status()
	if c.Index() == e.index && !m.has(got) && !e.left && r.reattribute(e, got) {
		m, wait = r.ent.outcomes(e)
	}
	if e.plan.Send && !e.left && m.has(nicspec.StatusOk) && got == nicspec.StatusOk {
		wait = true
	}
	if wait && c.Index() == e.index && e.plan.Copy {
		r.failEntry(e, q.domain(), "D6", "completion entry", "after the last write and the message of its copy", "before", c.String())
		return
	}
	if wait && c.Index() == e.index {
		r.failEntry(e, q.domain(), "T10", "frame", "left before its completion entry", "not yet", c.String())
		return
	}
	status := got
	if !m.has(got) {
		status = m.first()
	}
	if status == nicspec.StatusOk && !e.plan.Complete {
		r.failEntry(e, q.domain(), "T10", "index", "no completion entry: f_complete is 0", fmt.Sprint(c.Index()), c.String())
		return
	}
	var want [nicspec.CqeBytes]byte
	core.BuildTxCqe(uint16(q.id), e.index, status, e.plan.ID, e.sent, q.ctx.Phase(q.ctx.CQI), &want)
	if e.left && e.gone != 0 {
		r.mustBeBusy(q.domain(), "a completion entry to be written", e.gone, r.now)
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
		rule = e.ruleOfStatus(max(m.first(), got))
		if m.first() != nicspec.StatusOk {
			rule = e.ruleOfStatus(m.first())
		}
	case "phase":
		rule = "Q8"
	}
	r.failEntry(e, q.domain(), rule, field, exp, g, "got      "+c.String(), "expected "+nicspec.TxCqe(want[:]).String())
}

// reattribute settles which reads were for an entry that ended with a status.
func (r *Referee) reattribute(e *txEntry, s nicspec.Status) bool {
	if s >= nicspec.StatusCplUnsupported {
		for x := e; x != nil; x = x.alt {
			if r.ent.assignFailed(x, s) {
				return true
			}
		}
		return false
	}
	if s == nicspec.StatusOk && r.claims(e) {
		return true
	}
	if s == nicspec.StatusBadOffload {
		return r.ent.spoil(e)
	}
	return r.ent.supplyAll(e)
}

// finishUpTo ends the entries up to the one that a completion entry was
// written for.
func (r *Referee) finishUpTo(q *txq, index uint16) {
	r.silentEnded(q)
	for int16(index-q.oldest) >= 0 {
		s := q.slot(q.oldest)
		e := s.entry
		if e == nil {
			break
		}
		if int16(q.emit-q.oldest) <= 0 {
			q.emit = q.oldest + e.blocks
		}
		r.cnt.Step(nicspec.CntTxWqe.Index(), 1, r.now)
		if e.index == index && nicspec.TxCqe(r.x.TLP.Data).Status() != nicspec.StatusOk {
			r.cnt.Step(nicspec.CntTxErr.Index(), 1, r.now)
		}
		if e.index != index || nicspec.TxCqe(r.x.TLP.Data).Status() == nicspec.StatusOk {
			r.ent.endCopied(s)
			e = s.entry
		}
		if e.index == index {
			index += e.blocks - 1
		}
		q.forget(e)
		r.ent.release(e)
	}
	r.ended(q, index+1)
	r.settleEntries(q)
}
