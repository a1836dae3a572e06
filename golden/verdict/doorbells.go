package verdict

import "nictwin/models/nic/nicspec"

// lastDoorbell keeps the direction of the doorbells that a wrong DB_BAD most likely concerns, since the counter
// covers both.
type lastDoorbell struct {
	tx  bool // direction of the latest doorbell that DB_BAD may have counted; of the latest of all if it counted none
	bad bool // a doorbell was rung that DB_BAD may have counted
}

// RecordDoorbell records the direction of a doorbell; bad says that DB_BAD counts it, or may.
func (l *Log) RecordDoorbell(tx, bad bool) {
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
