package verdict

import "nictwin/models/nic/nicspec"

// lastDoorbell remembers whose doorbells a wrong DB_BAD may concern, since the counter covers both
// directions.
type lastDoorbell struct {
	tx  bool // the latest doorbell was a transmit queue's; once one may count, only those that may
	bad bool // a doorbell was rung that counts, or may
}

// Rang records a doorbell; bad says that it counts as DB_BAD, or may.
func (l *Log) Rang(tx, bad bool) {
	if bad || !l.lastDoorbell.bad {
		l.lastDoorbell.tx = tx
	}
	l.lastDoorbell.bad = l.lastDoorbell.bad || bad
}

// responsible returns the pair of files that a mismatch points at.
func (b *lastDoorbell) responsible(d Domain, rule, field string) (goFile, rtlFile string) {
	if b.tx && d.Kind == DomainCounters && field == nicspec.CntDbBad.String() {
		return responsible(d, "T1", "")
	}
	return responsible(d, rule, field)
}
