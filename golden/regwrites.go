package golden

import (
	"nictwin/golden/counters"
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// requestIn handles a request to the device: it applies register writes and records the answer that the device
// owes.
func (r *Referee) requestIn() {
	p := r.x.TLP
	r.log.AddCrossing(verdict.Registers)
	r.settleWrites()
	r.settleDevctl()
	resetting := r.regs.Resetting()
	if !resetting {
		r.beforeTable()
	}
	c := &r.regs.Counters
	bad, unsupported := c.Dev(nicspec.CntRegBad), c.Dev(nicspec.CntTlpUnsupported)
	r.regs.Take(&p.Hdr, p.Data, &r.outcome)
	if n := c.Dev(nicspec.CntRegBad) - bad; resetting && r.outcome.Kind == core.InWrite {
		r.refusedWrites(n)
		bad += n
	}
	for range c.Dev(nicspec.CntRegBad) - bad {
		r.cnt.Step(nicspec.CntRegBad.Index(), 1, r.now)
	}
	for range c.Dev(nicspec.CntTlpUnsupported) - unsupported {
		r.cnt.Step(nicspec.CntTlpUnsupported.Index(), 1, r.now)
	}
	for i := range r.outcome.NumEffects {
		r.apply(&r.outcome.Effects[i])
	}
	if !r.outcome.Answered || r.outcome.Answer.Header.Kind == tlp.Cpl {
		r.work = r.now
	}
	if r.outcome.Answered {
		r.expectAnswer(&r.outcome.Answer)
	}
}

// settleWrites ends the windows of writes to DEVCTL and CPL_TIMEOUT that must have taken effect by now.
func (r *Referee) settleWrites() {
	b := &r.bar
	if b.limitsAt != never && r.now > b.limitsAt+nicspec.VisibleCycles {
		r.mon.Settle()
		b.limitsAt = never
	}
	if b.timeoutAt != never && r.now > b.timeoutAt+nicspec.VisibleCycles {
		r.ent.Out.SettleTimeout(r.regs.CplTimeout())
		b.timeoutAt = never
	}
}

// beforeTable handles a write of the table registers while a command may be under way, when the device may or may
// not accept it [G7]: it notes the driver's mistake, and takes the command as done.
func (r *Referee) beforeTable() {
	var h tlp.Header
	if core.DecodeInbound(&r.x.TLP.Hdr, &h) != core.InWrite {
		return
	}
	off := uint32(h.Address - nicspec.BarBase)
	isData := off >= nicspec.RegTblDataBase && off < nicspec.RegTblDataBase+nicspec.RegTblDataCount*tlp.DWBytes
	if off != nicspec.RegTblCmd && !isData {
		return
	}
	b := &r.bar
	if r.regs.Busy() && r.now > b.drainAt+nicspec.VisibleCycles && r.seemsDrained() {
		r.log.Note("a table register is written before a read has shown that the queue is drained; it is taken as " +
			"drained")
		r.drained()
	} else if !b.confirmed && !r.regs.Busy() && b.commandAt != never && r.now <= b.commandAt+nicspec.VisibleCycles {
		r.log.Note("a table register is written within 64 cycles of a command and before a read has shown its end; " +
			"it is taken as written after it")
		b.confirmed = true
	}
}

// seemsDrained reports whether the queue being disabled has no outstanding read and owes no message, as far as
// crossings show.
func (r *Referee) seemsDrained() bool {
	for i := range r.ent.Out.Tags {
		d := &r.ent.Out.Tags[i]
		if d.Open && !d.Stray && int(d.Queue) == r.bar.drainQ && (d.Kind == memory.RxRing) == r.bar.drainRx {
			return false
		}
	}
	if r.bar.drainRx {
		return r.rx.queue(uint16(r.bar.drainQ)).msgs.Unreported() == 0
	}
	return r.tx.queue(uint16(r.bar.drainQ)).msgs.Unreported() == 0
}

// apply updates the referee's state for one effect of a register write.
func (r *Referee) apply(e *core.Effect) {
	switch e.Kind {
	case core.EffectConfig:
		r.configWritten(e.Reg)
	case core.EffectReset:
		r.resetStarts()
	case core.EffectDoorbell:
		r.doorbell(e)
	case core.EffectDoorbellBad:
		r.badDoorbell(e)
	case core.EffectQueueEnabled:
		if e.Rx {
			r.enableRx(e.Index)
		} else {
			r.enableTx(e.Index)
		}
	case core.EffectQueueDraining:
		r.bar.drainRx, r.bar.drainQ, r.bar.drainAt = e.Rx, e.Index, r.now
		if e.Rx {
			r.drainRx(e.Index)
		} else {
			r.drainTx(e.Index)
		}
	case core.EffectKeyWritten:
		r.keyWritten(e.Index)
	case core.EffectTableRead:
		r.tableRead(e)
	default:
		r.applyRx(e)
	}
	if e.Reg == nicspec.RegTblCmd && e.Kind != core.EffectRegBad {
		r.bar.commandAt, r.bar.confirmed = r.now, false
	} else if i := int(e.Reg) - nicspec.RegTblDataBase; i >= 0 && i/tlp.DWBytes < nicspec.RegTblDataCount {
		r.bar.words[i/tlp.DWBytes] = wordExact
	}
}

// applyRx does the work of `apply` for effects that concern receive only.
func (r *Referee) applyRx(e *core.Effect) {
	switch e.Kind {
	case core.EffectPortWritten:
		r.pauseConfigured(e.Index)
		fallthrough
	case core.EffectRuleWritten, core.EffectIndirection:
		r.ver.Written(r.regs, r.now)
		r.reconsider()
	case core.EffectCredit:
		r.accountWritten(e.Index, e.Value, nil)
	case core.EffectAccountWritten:
		set := *r.regs.Account(e.Index)
		r.accountWritten(e.Index, 0, &set)
	}
}

// configWritten handles a write of a configuration register: it opens the window in which the write takes effect.
func (r *Referee) configWritten(reg uint32) {
	if i := int(reg) - nicspec.RegPortMacBase; i >= 0 && i/wordBytes < 2*r.cfg.Build.Ports {
		r.pauseConfigured(i / wordBytes / 2)
	}
	switch reg {
	case nicspec.RegDevctl:
		if err := r.mon.Announce(r.regs.Limits()); err != nil {
			panic("golden: DEVCTL gives limits that cannot be: " + err.Error())
		}
		r.bar.limitsAt = r.now
		r.devctl.Written(r.regs, r.now)
	case nicspec.RegCplTimeout:
		r.ent.Out.SetTimeout(r.regs.CplTimeout())
		r.bar.timeoutAt = r.now
	case nicspec.RegCtrl:
		if r.regs.TxEnable() {
			if r.tx.offSince != forever {
				r.txEnabled()
			}
			r.tx.offSince = forever
			for i := range r.tx.queues {
				r.fetchable(&r.tx.queues[i])
			}
		} else if r.tx.offSince == forever {
			r.tx.offSince = r.now + nicspec.VisibleCycles
		}
	}
	r.ver.Written(r.regs, r.now)
	r.reconsider()
}

// doorbell handles an accepted doorbell [Q2]. The device may count it as DB_BAD if the queue may not be enabled yet
// or may have failed.
func (r *Referee) doorbell(e *core.Effect) {
	doubt := false
	if e.Rx {
		q := r.rx.queue(uint16(e.Index))
		doubt = len(q.bad) > 0 || r.enabling(q.since, q.shown) || r.lateReads(q.Domain(), nicspec.VisibleCycles) != nil
		if !doubt {
			q.recent.Note(r.now)
		}
		q.rung(e.PI, r.now)
		r.log.AddCrossing(q.Domain())
	} else {
		q := r.tx.queue(uint16(e.Index))
		doubt = len(q.bad) > 0 || r.enabling(q.since, q.shown) || r.lateReads(q.Domain(), nicspec.VisibleCycles) != nil
		if !doubt {
			q.recent.Note(r.now)
		}
		q.rung(e.PI, r.now)
		r.fetchable(q)
		if !doubt {
			r.roomFor(q, e.PI)
		}
		if r.outcome.Pushed != nil {
			r.pushed(q, e.PI-1, r.outcome.Pushed)
		}
		r.log.AddCrossing(q.Domain())
	}
	r.log.RecordDoorbell(!e.Rx, doubt)
	if doubt {
		r.cnt.May(nicspec.CntDbBad.Index(), 1)
	}
}

// enabling reports whether the command that enables a queue may still be under way: it was accepted recently, in cycle
// `since`, and no read has shown that it is done.
func (r *Referee) enabling(since int64, shown bool) bool {
	return !shown && r.now <= since+nicspec.VisibleCycles
}

// badDoorbell handles a doorbell that core.Regs rejected. The device may have accepted it, if it has used more
// entries than its outputs show.
func (r *Referee) badDoorbell(e *core.Effect) {
	r.log.RecordDoorbell(!e.Rx, true)
	index := nicspec.CntDbBad.Index()
	ctx, ahead := r.usedAhead(e)
	justOff := ctx != nil && r.bar.drainRx == e.Rx && r.bar.drainQ == e.Index && r.regs.Busy() &&
		r.now <= r.bar.drainAt+nicspec.VisibleCycles
	if ctx == nil || !justOff && ctx.State != nicspec.QueueStateRun || e.PI-ctx.PI > ctx.Size() ||
		int(e.PI-ctx.CI) > int(ctx.Size())+int(ahead) {
		r.cnt.Step(index, 1, r.now)
		return
	}
	r.cnt.May(index, 1)
	if e.Rx {
		q := r.rx.queue(uint16(e.Index))
		q.doubtfulPI, q.doubtful = e.PI, true
	} else {
		q := r.tx.queue(uint16(e.Index))
		q.doubtfulPI, q.doubtful = e.PI, true
		q.maybePushed(r.outcome.Pushed)
	}
}

// keyWritten handles a write of memory key i: every work entry at work gets another reading (Entry.Alt), as decoded
// with the new key [T12].
func (r *Referee) keyWritten(i int) {
	r.bar.keys.Written(i, r.now, r.regs.Keys()[i])
	for k := range r.tx.queues {
		q := &r.tx.queues[k]
		if !q.Open {
			continue
		}
		for n := q.Oldest; n != q.Ctx.PI; n = q.After(n) {
			if e := q.Slot(n).Entry; e != nil {
				r.ent.Alternate(e, r.regs.Keys())
			}
		}
	}
}

// drained ends the disabling of a queue, after a read has shown that it is done.
func (r *Referee) drained() {
	if !r.regs.Busy() {
		return
	}
	r.regs.Drained()
	if r.bar.drainRx {
		r.closeRx(r.rx.queue(uint16(r.bar.drainQ)))
	} else {
		r.closeTx(r.tx.queue(uint16(r.bar.drainQ)))
	}
}

// commandDone records that a read of TBL_CMD returned busy 0: the latest command is done if it was accepted before
// the read, in cycle asked.
func (r *Referee) commandDone(asked int64) {
	if asked <= r.bar.commandAt {
		return
	}
	r.bar.confirmed = true
	r.bar.keys.Close(r.now)
	r.ver.CloseRules(asked, r.now)
	if r.regs.Busy() {
		r.drained()
		return
	}
	for i := range r.rx.queues {
		if q := &r.rx.queues[i]; q.open && q.since < asked && !q.shown {
			q.shown, q.offTo = true, min(q.offTo, r.now)
		}
	}
	for i := range r.tx.queues {
		if q := &r.tx.queues[i]; q.Open && q.since < asked {
			q.shown = true
		}
	}
}

// expectAnswer records the answer that the device owes to the current request [G2, P8].
func (r *Referee) expectAnswer(a *core.Answer) {
	r.cnt.Settle(r.now)
	h := &a.Header
	var req tlp.Header
	core.DecodeInbound(&r.x.TLP.Hdr, &req)
	at := req.Address - nicspec.BarBase
	q := asked{answer: *a, cycle: r.now, reset: r.regs.Resetting(), off: uint32(at), inBar: req.Kind == tlp.MRd &&
		at < nicspec.BarBytes}
	if h.Kind == tlp.CplD {
		for w := range int(h.Length) {
			off := q.off + uint32(w*wordBytes)
			if index, _, ok := counters.At(off); ok {
				q.low[w] = r.cnt.Least(index)
			}
			if a := r.accountAt(off); a != nil {
				q.credit[w] = a.Range(r.now, r.rx.unsure)
			}
			q.class[w] = r.bar.classAt(off)
		}
		q.from = r.bar.from
	}
	r.bar.answers.Push(q)
}
