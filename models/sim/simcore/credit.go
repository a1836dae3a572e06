package simcore

import "github.com/sarchlab/akita/v3/sim"

// A returned credit becomes usable strictly later than it was returned. The order of events in one
// instant thus makes no difference: whether the receiver retrieves before or after the sender tries
// to send, the credit comes too late for that send.

// retrieved sends back the credit of a message that has left dst's buffer.
func (d *lane) retrieved() {
	if d.unread == 0 {
		return // the message did not come over this link
	}
	d.unread--
	late := max(d.link.spec.CreditLatency, 1)
	if d.early {
		if d.ahead != nil { // the components of both ends run ahead, and none waits for credits
			d.used--
			return
		}
		late = 1
	}
	i := d.backHead + d.backN
	if i >= len(d.back) {
		i -= len(d.back)
	}
	usable := d.link.clock.now() + late
	d.back[i] = usable
	d.backN++
	if d.ahead != nil {
		d.ahead.CreditReturned(d.src.(*Port), usable)
	} else if d.waiting {
		d.armCredit()
	}
}

// Window returns how many messages may be sent over the port's link before one of them must be
// retrieved at the far end, and the time from there until its credit may be used. 0 messages means
// no bound: the components at both ends run ahead. ok is false if the port is not on a Link.
func (p *Port) Window() (credits int, latency Ps, ok bool) {
	d := p.lane
	if d == nil {
		return 0, 0, false
	}
	if d.early && d.ahead != nil {
		return 0, d.link.spec.CreditLatency, true
	}
	return d.window, max(d.link.spec.CreditLatency, 1), true
}

// Far returns the port at the other end of the port's link, nil if that is not a *Port, and the
// link's latency. ok is false if the port is not on a Link.
func (p *Port) Far() (far *Port, latency Ps, ok bool) {
	if p.lane == nil {
		return nil, 0, false
	}
	return p.lane.own, p.lane.link.spec.Latency, true
}

// absorb adds the credits that have become usable.
func (d *lane) absorb(now Ps) {
	for d.backN > 0 && d.back[d.backHead] <= now {
		if d.backHead++; d.backHead == len(d.back) {
			d.backHead = 0
		}
		d.backN--
		d.used--
	}
}

// refuse records that src was refused and must be notified when a credit becomes usable.
func (d *lane) refuse() {
	d.waiting = true
	d.armCredit()
}

// armCredit schedules an event for the time when the next credit becomes usable. If no credit is on
// its way back, the next call of retrieved schedules it.
func (d *lane) armCredit() {
	if d.creditArmed || d.backN == 0 {
		return
	}
	d.creditArmed = true
	d.credit.At = d.back[d.backHead]
	d.link.clock.schedule(&d.credit)
}

// offerCredit notifies src if a credit is usable. It clears the flags first, because src may send,
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

// creditTap is a hook that tells a lane when a message leaves the buffer of a foreign port.
type creditTap struct{ lane *lane }

// Func implements sim.Hook.
func (t *creditTap) Func(ctx sim.HookCtx) {
	if t.lane != nil && ctx.Pos == sim.HookPosPortMsgRetrieve {
		t.lane.retrieved()
	}
}

var _ sim.Hook = (*creditTap)(nil)
