package core

import "nictwin/models/nicspec"

// startReset is the beginning of a function-level reset [L1]: until EndReset
// register writes have no effect.
func (r *Regs) startReset() Effect {
	r.ctrl = 0
	r.ctrl.SetFlr(true)
	r.reconfigure()
	return Effect{Kind: EffectReset, Reg: nicspec.RegCtrl}
}

// Resetting reports whether a function-level reset is under way.
func (r *Regs) Resetting() bool { return r.ctrl.Flr() }

// EndReset ends it [L3]: all is as in new Regs, but for counters and hits. Keys
// and queues taken from here before are not those of the device any more.
func (r *Regs) EndReset() {
	fresh := NewRegs(r.build)
	fresh.Counters, fresh.Status = r.Counters, r.Status
	*r = *fresh
}
