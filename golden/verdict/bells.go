package verdict

import "nictwin/models/nic/nicspec"

// bells tells whose doorbells DB_BAD may be wrong about: it counts those of both directions.
type bells struct {
	tx  bool // the latest one was of a transmit queue: of those that may count, if there were any
	bad bool // one was rung that counts, or may
}

// Rang notes a doorbell. bad: it counts as DB_BAD, or may.
func (l *Log) Rang(tx, bad bool) {
	if bad || !l.bells.bad {
		l.bells.tx = tx
	}
	l.bells.bad = l.bells.bad || bad
}

// responsible names the pair of files that a mismatch points at.
func (b *bells) responsible(d Domain, rule, field string) (goFile, rtlFile string) {
	if b.tx && d.Kind == DomainCounters && field == nicspec.CntDbBad.String() {
		return responsible(d, "T1", "")
	}
	return responsible(d, rule, field)
}
