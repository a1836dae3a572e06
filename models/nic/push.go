package nic

import (
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// pushQueue finds the transmit queue that a write pushes a work entry to [W1].
func (r *Regs) pushQueue(h *tlp.Header, data []byte) (queue int, ok bool) {
	const words, bytes = nicspec.WqeBytes / tlp.DWBytes, nicspec.RegTxPushCount * nicspec.RegTxPushStride
	at := h.Address - nicspec.BarBase - nicspec.RegTxPushBase
	whole := h.Length == words && h.FirstBE == 0xf && h.LastBE == 0xf && len(data) >= nicspec.WqeBytes
	return int(at / nicspec.RegTxPushStride), whole && at < bytes && at%nicspec.RegTxPushStride == 0 && r.spec.Has(nicspec.PartPush)
}

// push is a doorbell for one more entry, which comes with it [W1].
func (r *Regs) push(queue int, data []byte, o *Outcome) {
	e := Effect{Index: queue, Reg: nicspec.RegTxPush(queue)}
	q := r.Txq(queue)
	if q != nil {
		e.PI = q.PI + 1
	}
	o.Effects[0], o.NumEffects = r.doorbell(q, e), 1
	o.Pushed = data[:nicspec.WqeBytes]
}

// pushed takes the entry of an accepted push, if it is the next one that the
// queue wants and there is room; else it is read from the ring [W2].
func (c *Comp) pushed(e *Effect, wqe []byte) {
	if wqe == nil {
		return
	}
	if w := &c.tx.queues[e.Index].win; w.next == e.PI-1 && w.next-w.use < w.depth && !w.cut {
		copy(w.slot(w.next, 1), wqe)
		w.next++
		w.arrived(w.next-1, 1)
		c.offer(e.Index)
	}
}
