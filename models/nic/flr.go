package nic

import (
	"nictwin/models/nic/bitset"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// flrState times a function-level reset: first all work ends, then the tables are swept.
type flrState struct {
	on       bool
	sweepEnd int64 // cycle in which the sweep of the tables ends; Never until the work has ended
}

// startReset drops all work that has not started [L2], and clears pending messages, pauses and
// copies, which would otherwise continue by themselves.
func (c *Comp) startReset() {
	c.flr = flrState{on: true, sweepEnd: core.Never}
	c.rx.want, c.tx.want, c.tx.start = bitset.Set{}, bitset.Set{}, bitset.Set{}
	for i := range c.rx.queues {
		c.rx.queues[i].win.Reset()
	}
	for i := range c.rx.ports {
		if f := c.rx.ports[i].cur; f != nil {
			f.flushed = true
		}
	}
	for i := range c.tx.queues {
		q := &c.tx.queues[i]
		q.win.Reset()
		q.failed, q.waits = false, false
	}
	c.msix.init(&c.spec)
	c.forgetPauses()
	c.flushCopies()
}

// advanceReset starts the sweep of the tables when all work has ended, and ends the reset after it.
func (c *Comp) advanceReset() {
	f := &c.flr
	switch {
	case !f.on:
		return
	case f.sweepEnd == core.Never && c.workDone():
		f.sweepEnd = c.now + c.spec.sweepCycles()
	}
	if f.sweepEnd == core.Never || !c.reached(f.sweepEnd) {
		return
	}
	c.regs.EndReset()
	c.reloadSettings()
	f.on = false
	c.moved = true
}

// sweepCycles returns the time to clear the tables, one entry a cycle [L3].
func (s *Spec) sweepCycles() int64 {
	return int64(max(s.NumRxq, s.NumTxq, s.NumKeys, s.NumRules, nicspec.RssEntries))
}

// forgetPauses ends all stops by received pause frames [L5], and cancels pending pause frames.
func (c *Comp) forgetPauses() {
	for p := range c.tx.ports {
		e := &c.tx.ports[p].pause
		*e = ethPause{own: e.own}
	}
	c.tx.stopped, c.tx.parked = 0, bitset.Set{}
}

// flushCopies ends the unfinished copies with status Flushed [L2].
func (c *Comp) flushCopies() {
	for i := range c.tx.copies {
		h := &c.tx.copies[i]
		h.Flush()
		c.abandonChunk(h, nicspec.StatusFlushed)
		c.advanceCopies(i)
	}
}
