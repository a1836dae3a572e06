package golden

import "nictwin/models/nicspec"

// expected is what may become of an entry whose frame has not left: the
// statuses that it may end with. wait is set if it cannot have ended yet.
func (es *Entries) expected(e *txEntry) (m statusMask, wait bool) {
	if !e.works() {
		return statusBit(e.plan.Status), false
	}
	m = e.fails | e.possible | es.lateReads(e)
	if e.mayBeCopied() {
		m |= statusBit(nicspec.StatusOk)
	}
	if e.plan.Copy && es.flushing { // [L2]
		return m | statusBit(nicspec.StatusFlushed), false
	}
	if e.fails != 0 {
		return m, false
	}
	if e.plan.Send && e.gathered() {
		return m | statusBit(e.finish()), false
	}
	return m, m == 0
}

// outcomes is expected over all readings of an entry; a frame that has left
// went well.
func (es *Entries) outcomes(e *txEntry) (m statusMask, wait bool) {
	if e.left {
		return statusBit(nicspec.StatusOk), false
	}
	wait = true
	for ; e != nil; e = e.alt {
		m1, wait1 := es.expected(e)
		m, wait = m|m1, wait && wait1
	}
	return m, wait
}
