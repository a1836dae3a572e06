package nic

import (
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// apply updates the component's state after a register write with effect e.
func (c *Comp) apply(e *core.Effect) {
	switch e.Kind {
	case core.EffectConfig:
		c.reloadSettings()
		if e.Reg == nicspec.RegCtrl && c.regs.TxEnable() {
			for q := range c.tx.queues {
				c.tx.want.Set(q)
			}
		}
	case core.EffectReset:
		c.startReset()
	case core.EffectDoorbell:
		if e.Rx {
			c.rx.want.Set(e.Index)
		} else {
			c.pushed(e, c.outcome.Pushed)
			c.tx.want.Set(e.Index)
		}
	case core.EffectPortWritten:
		c.tx.ports[e.Index].pause.silent = false
	case core.EffectQueueEnabled:
		c.messagesOn(e.Rx, e.Index)
		if e.Rx {
			c.rx.queues[e.Index].win.Reset()
		} else {
			c.tx.queues[e.Index].win.Reset()
			c.markStartable(e.Index)
		}
	case core.EffectQueueDraining:
		c.drainRx, c.drainQ = e.Rx, e.Index
		c.messagesOff(e.Rx, e.Index)
		if e.Rx {
			c.rx.queues[e.Index].win.Reset()
		} else {
			c.drainTx(e.Index)
		}
	}
}
