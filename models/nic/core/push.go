package core

import (
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// pushQueue finds the transmit queue that a write pushes a block of a work entry to [W1].
func (r *Regs) pushQueue(h *tlp.Header, data []byte) (queue int, ok bool) {
	const words, bytes = nicspec.WqeBytes / tlp.DWBytes, nicspec.RegTxPushCount * nicspec.RegTxPushStride
	at := h.Address - nicspec.BarBase - nicspec.RegTxPushBase
	whole := h.Length == words && h.FirstBE == 0xf && h.LastBE == 0xf && len(data) >= nicspec.WqeBytes
	return int(at / nicspec.RegTxPushStride), whole && at < bytes && at%nicspec.RegTxPushStride == 0 && r.build.Has(nicspec.PartPush)
}

// push is a doorbell for one more block, which comes with it [W1].
func (r *Regs) push(queue int, data []byte, o *Outcome) {
	e := Effect{Index: queue, Reg: nicspec.RegTxPush(queue)}
	q := r.Txq(queue)
	if q != nil {
		e.PI = q.PI + 1
	}
	o.Effects[0], o.NumEffects = r.doorbell(q, e), 1
	o.Pushed = data[:nicspec.WqeBytes]
}
