package attribution

import "nictwin/models/nicspec"

// expected is what may become of an entry whose frame has not left: the
// statuses that it may end with. wait is set if it cannot have ended yet.
func (es *Entries) expected(e *Entry) (m statusMask, wait bool) {
	if !e.Works() {
		return StatusSet(e.Plan.Status), false
	}
	m = e.Fails | e.possible | es.lateReads(e)
	if e.MayBeCopied() {
		m |= StatusSet(nicspec.StatusOk)
	}
	if e.Plan.Copy && es.Flushing { // [L2]
		return m | StatusSet(nicspec.StatusFlushed), false
	}
	if e.Fails != 0 {
		return m, false
	}
	if e.Plan.Send && e.gathered() {
		return m | StatusSet(e.finish()), false
	}
	return m, m == 0
}

// Outcomes is expected over all readings of an entry; a frame that has left
// went well.
func (es *Entries) Outcomes(e *Entry) (m statusMask, wait bool) {
	if e.Left {
		return StatusSet(nicspec.StatusOk), false
	}
	wait = true
	for ; e != nil; e = e.Alt {
		m1, wait1 := es.expected(e)
		m, wait = m|m1, wait && wait1
	}
	return m, wait
}
