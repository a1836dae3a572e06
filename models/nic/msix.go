package nic

import (
	"nictwin/models/format/tlp"
	"nictwin/models/nic/bitset"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// msixSender sends the messages of all queues.
type msixSender struct {
	kinds [2]msixQueues // by direction: transmit queues, then receive queues
	ready int           // number of messages due
	timed int           // number of messages whose time has not come
	next  int64         // no timed message falls due before this cycle
	turn  int           // direction that sent the latest message
}

// msixQueues holds the messages of the queues of one direction.
type msixQueues struct {
	mods  []core.Moderator // by queue; empty if the build lacks part msix
	ready bitset.Set
	timed bitset.Set
}

const kindRx = 1

func kindOf(rx bool) int {
	if rx {
		return kindRx
	}
	return 0
}

func (s *msixSender) init(spec *Spec) {
	*s = msixSender{next: core.Never}
	if spec.Has(nicspec.PartMsix) {
		s.kinds[0].mods = make([]core.Moderator, spec.NumTxq)
		s.kinds[kindRx].mods = make([]core.Moderator, spec.NumRxq)
	}
}

// queueOf returns the context of a queue.
func (c *Comp) queueOf(kind, i int) *core.Queue {
	if kind == kindRx {
		return c.regs.Rxq(i)
	}
	return c.regs.Txq(i)
}

// entryLeft records that a completion entry of a queue was accepted.
func (c *Comp) entryLeft(rx bool, queue int, event bool) {
	k := kindOf(rx)
	if s := &c.msix.kinds[k]; s.mods != nil && !c.flr.on {
		s.mods[queue].Wrote(&c.queueOf(k, queue).Vector, event, c.now)
		c.msix.arm(k, queue, c.now)
	}
}

// arm marks a queue's message as ready if it is due, or as timed if it will fall due.
func (s *msixSender) arm(kind, queue int, now int64) {
	q := &s.kinds[kind]
	switch at := q.mods[queue].DueAt(); {
	case at == core.Never:
	case at > now:
		if q.timed.Add(queue) {
			s.timed++
		}
		s.next = min(s.next, at)
	default:
		if q.ready.Add(queue) {
			s.ready++
		}
		if q.timed.Remove(queue) {
			s.timed--
		}
	}
}

// checkTimers marks the timed messages that have fallen due as ready.
func (c *Comp) checkTimers() {
	s := &c.msix
	if s.timed == 0 || !c.reached(s.next) {
		return
	}
	s.next = core.Never
	for k := range s.kinds {
		for i := range s.kinds[k].mods {
			if s.kinds[k].timed.Has(i) {
				s.arm(k, i, c.now)
			}
		}
	}
	if s.timed > 0 {
		c.wakeBy(s.next)
	}
}

// feedMessage makes p the next due message and reports whether there was one. Directions and queues
// take turns.
func (c *Comp) feedMessage(p *tlp.Packet) bool {
	s := &c.msix
	if s.ready == 0 {
		return false
	}
	for range s.kinds {
		s.turn ^= 1
		q := &s.kinds[s.turn]
		if q.ready.Empty() {
			continue
		}
		i := q.ready.Next()
		v := &c.queueOf(s.turn, i).Vector
		if err := p.SetMSIX(tlp.Origin{RequesterID: nicspec.RequesterNic}, v.Addr, v.Data); err != nil {
			panic("nic: a message cannot be encoded: " + err.Error())
		}
		c.out.what, c.out.ref, c.out.rx = outMsix, int32(i), s.turn == kindRx
		return true
	}
	return false
}

// messageLeft records that the message of a queue was accepted.
func (c *Comp) messageLeft(rx bool, queue int) {
	c.regs.Step(nicspec.CntMsix)
	c.msix.forget(kindOf(rx), queue).Sent()
}

// forget cancels a queue's pending message and returns the queue's moderator.
func (s *msixSender) forget(kind, queue int) *core.Moderator {
	q := &s.kinds[kind]
	if q.ready.Remove(queue) {
		s.ready--
	}
	if q.timed.Remove(queue) {
		s.timed--
	}
	return &q.mods[queue]
}

// messagesOn resets a queue's moderator when the queue is enabled.
func (c *Comp) messagesOn(rx bool, queue int) {
	if k := kindOf(rx); c.msix.kinds[k].mods != nil {
		c.msix.forget(k, queue).Reset()
	}
}

// messagesOff lets a queue that is being disabled report its unreported entries at once: their message is due now [M4].
func (c *Comp) messagesOff(rx bool, queue int) {
	if k := kindOf(rx); c.msix.kinds[k].mods != nil {
		c.msix.kinds[k].mods[queue].Close(c.now)
		c.msix.arm(k, queue, c.now)
	}
}

// reported reports whether no entry of a queue waits for a message [M4].
func (c *Comp) reported(rx bool, queue int) bool {
	q := &c.msix.kinds[kindOf(rx)]
	return q.mods == nil || q.mods[queue].Unreported() == 0
}
