package rnic

import (
	"encoding/binary"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/fifo"
)

// account is a credit account of a queue pair, as docs/nic.md section 10 has them for frames: a packet that finds no
// credit is slow, and goes to a slot in memory of the card instead of its place.
//
// Slow packets are copied from there to their places when software asks for it, in order. As long as some wait, packets
// that follow are slow, too, so that none is overwritten by an earlier one. The completion entries of messages wait for
// the slow packets before them, and so do READs and atomics, which would read memory that has not been written yet.
type account struct {
	c       *Comp
	number  uint32
	q       *qpair
	balance uint32
	drawn   uint32
	diverts uint32 // slow packets so far
	written uint32 // receive entries of the queue pair
	latch   bool
	slow    bool
	resume  bool // becomes Fast once no slow packet waits

	slots     uint64 // bus address
	log       uint8
	slotBytes int
	next      uint32 // slot of the next slow packet
	mark      int    // a slow packet that finds so many waiting counts as marked; 0: none does
	events    *cq
	line      fifo.Queue[*slowPacket] // slow packets that wait or are being copied
	begun     int                     // of these, copies that have begun
	wanted    int                     // copies that were requested and have not ended
	asked     bool                    // EventSlow was raised for a message since the last request for copies
	urged     bool                    // EventBlocked was raised since then
	copied    uint32                  // copies that have ended since the last EventDrained
	lost      rnicspec.Status         // of the next message, behind a slow packet that could not be read; OK: none
}

// slowPacket is a packet in the memory for slow packets.
type slowPacket struct {
	a      *account
	slot   uint64
	bus    uint64 // where it belongs
	buf    []byte // its bytes, while they are copied
	placed bool   // the writes to the slot have been made
	read   bool   // the slot was read
	bad    bool   // that read failed
	ended  bool   // the bytes were written to their place
	holds  int    // requests behind the packet that have not taken effect

	done    []core.Completion // of requests that took effect
	reports int               // number of these requests
}

func (c *Comp) setAccount(x *rnicspec.SetAccount) rnicspec.Refusal {
	if x.QPN >= rnicspec.MaxQPs || c.qps[x.QPN] == nil || x.Account >= rnicspec.MaxAccounts ||
		c.accounts[x.Account] != nil || c.cqs[x.Events] == nil {
		return rnicspec.RefusedNumber
	}
	q := c.qps[x.QPN]
	switch {
	case q.State != rnicspec.RTR && q.State != rnicspec.RTS || q.account != nil:
		return rnicspec.RefusedState
	case q.Type != rnicspec.RC || x.Credits > rnicspec.MaxCredits || x.Log > rnicspec.MaxLogRing ||
		int(x.SlotBytes) < q.PMTU || x.Slow%ctxBytes != 0:
		return rnicspec.RefusedValue
	}
	q.account = &account{
		c: c, number: uint32(x.Account), q: q, balance: x.Credits, latch: x.Latch, slots: x.Slow, log: x.Log,
		slotBytes: int(x.SlotBytes), mark: int(x.Mark), events: c.cqs[x.Events],
	}
	c.accounts[x.Account] = q.account
	return rnicspec.Done
}

// blocked reports whether a request has to wait for slow packets of its queue pair to be copied: a packet for which no
// slot is free, or one that reads memory.
func (a *account) blocked(p *core.Packet) bool {
	i := p.Opcode.Info()
	switch {
	case a == nil || a.line.Len() == 0 || p.PSN != a.q.ExpectedPSN():
		return false
	case i.Operation == wire.OpSend || i.Operation == wire.OpWrite:
		if len(p.Payload) == 0 || a.line.Len() < 1<<a.log {
			return false
		}
	}
	a.ask(&a.urged, rnicspec.EventBlocked)
	return true
}

// ask raises an event once, because something waits for slow packets that nobody has requested to be copied.
func (a *account) ask(raised *bool, o rnicspec.Opcode) {
	if !*raised && a.wanted < a.line.Len() {
		*raised = true
		a.raise(o, true)
	}
}

// draw takes a credit for a request that was accepted, or makes it slow. Requests without payload need neither.
func (a *account) draw(op *rxOp) {
	e := &op.e
	if len(e.Place) > 0 {
		if a.line.Len() == 0 && !a.slow && a.balance > 0 {
			a.balance--
			a.drawn++
			a.c.counters[rnicspec.CntFast]++
		} else {
			a.divert(op)
		}
	}
	for i := range e.Done {
		if d := &e.Done[i]; d.Recv {
			d.Drawn, d.Slow = a.drawn, a.diverts
		}
	}
	if n := a.line.Len(); n > 0 {
		op.latest = *a.line.At(n - 1)
		op.latest.holds++
		if e.Ended {
			a.ask(&a.asked, rnicspec.EventSlow)
		}
	}
}

// divert sends a packet to the next slot of the memory for slow packets.
func (a *account) divert(op *rxOp) {
	a.c.counters[rnicspec.CntSlow]++
	a.diverts++
	if n := a.line.Len(); a.mark > 0 && n >= a.mark {
		a.q.Mark(&op.e)
		a.c.marked(a.q, a.c.now())
	}
	x, at := take(&a.c.pools.slow), &op.e.Place[0]
	*x = slowPacket{a: a, bus: at.Bus, buf: x.buf[:0], done: x.done[:0],
		slot: a.slots + uint64(a.next&(1<<a.log-1))*uint64(a.slotBytes)}
	x.buf = append(x.buf, at.Data...)
	a.next++
	at.Bus = x.slot
	a.line.Push(x)
	op.slow = x
	a.c.slowWaiting++
	if a.latch && !a.slow {
		a.slow = true
		a.raise(rnicspec.EventSlow, false)
	}
}

// raise writes an event of the account; imm marks one with HasImm.
func (a *account) raise(o rnicspec.Opcode, imm bool) {
	a.c.writeEntry(a.events, &rnicspec.CQE{Opcode: o, ID: uint64(a.number), QPN: a.q.Num,
		Bytes: uint32(a.line.Len()), Imm: a.copied, HasImm: imm, Written: a.written})
}

// finishRequest writes the completions of a request that takes effect now, or leaves them to the slow packet before it.
func (c *Comp) finishRequest(op *rxOp) {
	if x := op.slow; x != nil {
		x.placed = true
	}
	x := op.latest
	if x == nil {
		c.completeRequest(op.q, &op.e)
		return
	}
	x.holds--
	if x.ended {
		x.a.complete(op.e.Done)
		c.settle(op.q)
		c.putSlow(x)
	} else {
		x.done = append(x.done, op.e.Done...)
		x.reports++
		if op.q.State == rnicspec.Failed {
			x.a.flush()
		}
		x.a.copyMore()
	}
}

// putSlow returns a slow packet to its pool, once nothing refers to it.
func (c *Comp) putSlow(x *slowPacket) {
	if x.ended && x.holds == 0 {
		c.pools.slow = append(c.pools.slow, x)
	}
}

// write handles a write of AccountCredit.
func (a *account) write(w uint32) {
	x := rnicspec.CreditOf(w)
	if x.Take {
		a.balance -= min(x.Credits, a.balance)
	} else {
		a.balance = min(a.balance+x.Credits, rnicspec.MaxCredits)
	}
	a.resume = a.resume || x.Resume
	a.mayResume()
}

// mayResume makes the account Fast if that was requested and no slow packet waits.
func (a *account) mayResume() {
	if a.resume && a.line.Len() == 0 {
		a.slow, a.resume = false, false
	}
}

// drain requests copies of the oldest slow packets that wait.
func (a *account) drain(n uint32) {
	a.asked, a.urged = false, false
	if n := int(min(n, 1<<rnicspec.MaxLogRing)); a.line.Len() > a.wanted && n > 0 {
		a.wanted = min(a.wanted+n, a.line.Len())
		a.copyMore()
		return
	}
	if a.wanted == 0 {
		a.raise(rnicspec.EventDrained, true)
	}
}

// flush copies all slow packets of a queue pair that has failed: its completions wait for them. The account may be nil.
func (a *account) flush() {
	if a != nil && a.line.Len() > a.wanted {
		a.wanted = a.line.Len()
		a.copyMore()
	}
}

// owes reports whether a slow packet is still to be copied into a region. The account may be nil.
func (a *account) owes(r *core.Region) bool {
	if a == nil {
		return false
	}
	for i := range a.line.Len() {
		if x := *a.line.At(i); x.bus-r.Bus < r.Bytes {
			return true
		}
	}
	return false
}

// copyMore begins the copies that were requested, of packets whose writes to their slots have been made: a read passes
// no write.
func (a *account) copyMore() {
	for a.begun < a.wanted && (*a.line.At(a.begun)).placed {
		x := *a.line.At(a.begun)
		a.begun++
		a.c.read(x.slot, x.buf, x)
	}
}

// dmaReadDone implements reader: the slot of a slow packet was read.
func (x *slowPacket) dmaReadDone(c *Comp, ok bool) {
	a := x.a
	x.read, x.bad = true, !ok
	if !ok {
		c.e.Reset()
		a.q.Fail(rnicspec.LocalQP, &c.e)
		c.writeCompletions(a.q, &c.e)
	}
	for a.line.Len() > 0 && (*a.line.Front()).read {
		a.place(a.line.Pop())
	}
	if a.wanted == 0 && a.copied > 0 {
		a.raise(rnicspec.EventDrained, true)
		a.copied = 0
	}
	a.mayResume()
	c.unpark(a.q, request)
}

// place writes a slow packet to where it belongs, and then the completions that have waited for it.
func (a *account) place(x *slowPacket) {
	c := a.c
	a.begun--
	a.wanted--
	a.copied++
	c.slowWaiting--
	x.ended = true
	if !x.bad {
		c.rx.unplaced += c.write(x.bus, x.buf, &c.rx)
	} else if a.lost == rnicspec.OK {
		a.lost = rnicspec.LocalProtection
	}
	a.complete(x.done)
	for range x.reports {
		c.settle(a.q)
	}
	c.putSlow(x)
}

// complete writes completions that have waited for slow packets. After a lost packet, the first message that would have
// ended well has lost it, and the others are flushed.
func (a *account) complete(done []core.Completion) {
	for i := range done {
		d := &done[i]
		if d.Recv && d.Status == rnicspec.OK && a.lost != rnicspec.OK {
			d.Status, a.lost = a.lost, rnicspec.Flushed
		}
		a.c.writeCompletion(a.q, d)
	}
}

// accountRegister handles a write to a register of an account.
func (c *Comp) accountRegister(off uint32, b []byte) {
	a := c.accounts[off/rnicspec.AccountBytes]
	reg := off % rnicspec.AccountBytes
	if a == nil || len(b) != 4 || reg != rnicspec.AccountCredit && reg != rnicspec.AccountDrain {
		c.counters[rnicspec.CntWrongAccess]++
		return
	}
	if w := binary.LittleEndian.Uint32(b); reg == rnicspec.AccountCredit {
		a.write(w)
	} else {
		a.drain(w)
	}
}

// accountState returns the value of AccountCredit; 0 for an account that no queue pair has.
func (c *Comp) accountState(n uint64) uint64 {
	a := c.accounts[n]
	if a == nil {
		return 0
	}
	return rnicspec.AccountState{Balance: a.balance, Slow: a.slow, Waiting: uint32(a.line.Len())}.Word()
}

var _ reader = (*slowPacket)(nil)
