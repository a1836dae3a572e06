package nic

// Busy reports the state of the device's busy output [B8].
func (c *Comp) Busy() bool {
	return c.rx.busy() || c.txBusy() || c.msix.busy() || c.flr.on || c.in.busy() || c.out.busy() ||
		c.reader.Outstanding() != 0 ||
		!c.rx.want.Empty() || c.pausing()
}

// txBusy reports whether a work entry is in flight, or about to be fetched or started. An entry
// that waits for CTRL.tx_enable does not count [B8].
func (c *Comp) txBusy() bool {
	return c.tx.active != 0 || c.regs.TxEnable() && !(c.tx.start.Empty() && !c.tx.waiting() && c.tx.want.Empty() &&
		c.tx.parked.Empty())
}

// workDone reports whether all work that began before a function-level reset has ended: no frame is
// being delivered, no entry is in flight, no read is outstanding and all pending writes have left.
// Frames that wait for delivery do not count, since they are dropped during the reset.
func (c *Comp) workDone() bool {
	answering := c.out.what == outOther // outOther: an answer, or frame data, during which rx.cur is set
	return c.rx.cur == nil && c.rx.events.Len() == 0 && c.tx.active == 0 && c.out.cqes.Len() == 0 &&
		c.reader.Outstanding() == 0 && (c.out.pkt == nil || answering) && !c.pausing()
}

func (r *rxPath) busy() bool { return r.frames != 0 || r.events.Len() != 0 }

func (l *tlpIn) busy() bool { return l.pkt != nil || l.cpls.Len() != 0 || l.reqs.Len() != 0 }

func (l *tlpOut) busy() bool { return l.pkt != nil || l.answers.Len() != 0 || l.cqes.Len() != 0 }

// busy reports whether a message is due or will fall due [M5].
func (s *msixSender) busy() bool { return s.ready != 0 || s.timed != 0 }

// pausing reports whether a pause frame is due or crosses.
func (c *Comp) pausing() bool {
	for p := range c.tx.ports {
		if e := &c.tx.ports[p].pause; e.send.Due() || e.own != nil {
			return true
		}
	}
	return false
}
