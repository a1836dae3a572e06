package golden

import (
	"fmt"

	"nictwin/golden/arrivals"
	"nictwin/golden/buffers"
	"nictwin/golden/counters"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// resetStarts handles the write of CTRL.flr, which begins a function-level reset [L1, L2].
func (r *Referee) resetStarts() {
	f := &r.flr
	*f = flrSide{over: never, on: true, at: r.now, work: r.now, writes: f.writes, fresh: core.NewRegs(r.cfg.Build)}
	r.ent.Flushing = true
	r.tx.offSince = min(r.tx.offSince, r.now+nicspec.VisibleCycles)
	r.msg.Reset()
	for i := range r.rx.ports {
		r.mayBeDisabled(i)
		r.rx.ports[i].stops.Clear() // [L5]: a reset ends all stops
		r.rx.ports[i].out.ResetBegins()
	}
	r.ver.Written(r.regs, r.now)
	r.reconsider()
}

// entrance is the set of causes for which a frame is dropped before it enters the receive path [R2,
// R3].
const entrance = counters.Drops(1<<nicspec.CntRxDropDisabled | 1<<nicspec.CntRxDropRunt |
	1<<nicspec.CntRxDropOversize | 1<<nicspec.CntRxDropOverflow)

// mayBeDisabled adds RX_DROP_DISABLED to the causes of all frames of a port that may still be in
// the receive path [L2].
func (r *Referee) mayBeDisabled(port int) {
	const disabled = nicspec.CntRxDropDisabled
	p := &r.rx.ports[port]
	for i := range p.Undecided.Len() {
		if f := *p.Undecided.At(i); f != nil && !(f.Place == arrivals.ToDrop && entrance.Has(f.Verdict.Drop) &&
			f.Last+nicspec.VisibleCycles < r.now) {
			f.Earlier |= counters.Drop(disabled)
		}
	}
	for i := range p.Linger.Len() {
		d := p.Linger.At(i)
		if !d.Sure || entrance.Has(d.Cause) && d.Cycle+nicspec.VisibleCycles < r.now {
			continue
		}
		d.Sure = false
		index := d.Cause.Index(port)
		r.cnt.Withdraw(index)
		r.doubtful(p, port, counters.Drop(d.Cause)|counters.Drop(disabled))
		if d.Hit {
			r.cnt.Unsure(counters.HitsBase + d.Rule)
		}
	}
}

// refusedWrites counts n register writes that came during a reset. They have no effect. Each counts in REG_BAD
// if it came before the end of the reset; a later read of CTRL may show that it did.
func (r *Referee) refusedWrites(n uint64) {
	for range n {
		r.cnt.May(nicspec.CntRegBad.Index(), 1)
		r.flr.writes.Push(r.now)
	}
}

// resetRead judges a read of CTRL that was accepted during a reset [L1, L3].
func (r *Referee) resetRead(q *asked, got uint32) {
	f := &r.flr
	var going nicspec.CtrlReg
	going.SetFlr(true)
	switch {
	case got == uint32(going) && f.on && q.cycle > f.at:
		for f.writes.Len() > 0 && *f.writes.Front() < q.cycle {
			f.writes.Pop()
			r.cnt.Confirm(nicspec.CntRegBad.Index(), 1)
		}
		r.resetLate(q.cycle)
	case got == 0 && f.on:
		r.resetOver()
	case got != 0:
		want := "0"
		if f.on {
			want = fmt.Sprintf("%#x while the reset goes on, 0 after it", uint32(going))
		}
		r.failRegister("L1", nicspec.RegCtrl, want, fmt.Sprintf("%#x", got))
	}
}

// resetLate checks that the reset does not last too long after the end of the work [L3].
func (r *Referee) resetLate(asked int64) {
	f := &r.flr
	if f.late || r.held.tlp.Free(f.work, asked) <= nicspec.FlrCycles || r.working() {
		return
	}
	f.late = true
	r.failRegister("L3", nicspec.RegCtrl, fmt.Sprintf("flr 0 %d cycles after the end of the work, of which the "+
		"latest was seen in cycle %d",
		nicspec.FlrCycles, f.work), fmt.Sprintf("flr 1 in cycle %d", asked))
}

// working reports whether work that had begun before the reset has not ended.
func (r *Referee) working() bool {
	if r.ent.Out.Open > 0 || r.buf.Pending() {
		return true
	}
	for i := range r.tx.queues {
		q := &r.tx.queues[i]
		for k := q.Oldest; q.Open && k != q.Ctx.PI; k = q.After(k) {
			if e := q.Slot(k).Entry; e != nil && e.Started() && !e.MayBeOver() {
				return true
			}
		}
	}
	for i := range r.rx.queues {
		q := &r.rx.queues[i]
		for k := range q.Slots {
			if s := &q.Slots[k]; q.open && (s.Parts[buffers.Hdr] != nil || s.Parts[buffers.Pay] != nil) {
				return true
			}
		}
	}
	return false
}

// resetOver handles the read that shows the end of a reset: all work has ended, and the device is in its state
// after power-up [L3, L4].
func (r *Referee) resetOver() {
	if r.flr.writes.Len() > 0 {
		r.log.Note("registers are written during a function-level reset, and no read has shown that it went on then; " +
			"they are taken as written before its end")
	}
	r.resetReads()
	for i := range r.rx.ports {
		p := &r.rx.ports[i]
		for k := 0; k < p.Undecided.Len(); k++ {
			if f := *p.Undecided.At(k); f != nil && f.First <= r.flr.at+nicspec.VisibleCycles {
				r.giveUp(p, f)
				k = -1 // giveUp may have decided several frames: start again
			}
		}
	}
	r.endAccounts()
	r.resetQueues()
	r.regs.EndReset()
	r.resetRegisters()
	r.ent.Flushing = false
	r.flr.on, r.flr.over = false, r.now
	for r.flr.writes.Len() > 0 {
		r.flr.writes.Pop()
	}
}

// resetReads checks that no read is outstanding [L2].
func (r *Referee) resetReads() {
	for i := range r.ent.Out.Tags {
		d := &r.ent.Out.Tags[i]
		if d.Open && r.now >= d.Issued+d.TLo {
			r.timedOut(d)
		} else if d.Open {
			r.log.Fail(r.domainOf(d), "L2", "flr", "1 while a read is outstanding", "0",
				fmt.Sprintf("tag %#x: %d B at %#x", i, d.N, d.Addr))
			r.ent.Close(d)
		}
		d.FreeFrom = never // before all cycles: after a reset, tags may be used at once
	}
}

// resetQueues closes all queues after a reset, and checks that work which had begun has ended. All queues are Off
// then, with indices 0.
func (r *Referee) resetQueues() {
	for i := range r.rx.queues {
		q := &r.rx.queues[i]
		if q.open {
			r.mayHaveFailed(q.bad, q.eventSeen)
			r.forgetRx(q, "L2", "flr")
		}
		q.msgs.Forget()
		q.Ctx, q.was = core.Queue{}, core.Queue{}
		q.offTo, q.doubtful, q.bad, q.eventSeen = forever, false, q.bad[:0], false
		q.doorbells.Reset()
	}
	for i := range r.tx.queues {
		q := &r.tx.queues[i]
		if q.Open {
			r.mayHaveFailed(q.bad, q.eventSeen)
			r.forgetTx(q, "L2", "flr")
		}
		q.msgs.Forget()
		q.Ctx = core.Queue{}
		q.Oldest, q.emit, q.Whole, q.fetch, q.before, q.rungAt = 0, 0, 0, 0, 0, never
		q.doubtful, q.bad, q.eventSeen = false, q.bad[:0], false
	}
}

// resetRegisters gives everything that depends on registers their values after reset.
func (r *Referee) resetRegisters() {
	if err := r.mon.SetLimits(r.regs.Limits()); err != nil {
		panic("golden: DEVCTL gives limits that cannot be: " + err.Error())
	}
	r.devctl.Reset(r.regs)
	r.ent.Out.SettleTimeout(r.regs.CplTimeout())
	r.bar.reset(r.regs)
	r.rx.accounts = newAccounts(&r.cfg.Build)
	for i := range r.rx.ports {
		r.rx.ports[i].out.Reset()
	}
	r.ver.Written(r.regs, r.now)
	r.reconsider()
}
