package simcore

import "github.com/sarchlab/akita/v3/sim"

// A credit that is returned becomes usable strictly later than at the time of
// its return. So it makes no difference whether, within one instant, the
// receiver retrieves first or the sender tries first.

// retrieved returns the credit of a message that left dst's buffer.
func (d *lane) retrieved() {
	if d.unread == 0 {
		return // it did not come over this link
	}
	d.unread--
	i := d.backHead + d.backN
	if i >= len(d.back) {
		i -= len(d.back)
	}
	d.back[i] = d.link.clock.now() + max(d.link.spec.CreditLatency, 1)
	d.backN++
	if d.waiting {
		d.armCredit()
	}
}

// absorb takes the credits that have become usable.
func (d *lane) absorb(now Ps) {
	for d.backN > 0 && d.back[d.backHead] <= now {
		if d.backHead++; d.backHead == len(d.back) {
			d.backHead = 0
		}
		d.backN--
		d.used--
	}
}

// refuse remembers to notify src.
func (d *lane) refuse() {
	d.waiting = true
	d.armCredit()
}

// armCredit wakes the lane when the next credit becomes usable; if none is on
// its way back, the next retrieved will arm.
func (d *lane) armCredit() {
	if d.creditArmed || d.backN == 0 {
		return
	}
	d.creditArmed = true
	d.credit.At = d.back[d.backHead]
	d.link.clock.schedule(&d.credit)
}

// offerCredit notifies src. Its flags are cleared first, because src may send,
// and be refused again, from within the notification.
func (d *lane) offerCredit() {
	d.creditArmed = false
	now := d.link.clock.now()
	d.absorb(now)
	if !d.waiting {
		return
	}
	if d.used == d.window {
		d.armCredit()
		return
	}
	d.waiting = false
	d.src.NotifyAvailable(now.Sec())
}

// creditTap tells a lane what leaves the buffer of a port that is not ours.
type creditTap struct{ lane *lane }

// Func implements sim.Hook.
func (t *creditTap) Func(ctx sim.HookCtx) {
	if t.lane != nil && ctx.Pos == sim.HookPosPortMsgRetrieve {
		t.lane.retrieved()
	}
}

var _ sim.Hook = (*creditTap)(nil)
