package rtlbridge

import "nictwin/rtlbridge/protocol"

// idleQuanta tracks quanta that need no exchange because the device is idle: it has reported so, and
// nothing has been sent to it since. Their cycles are part of the next RUN. Observers of the device see no
// difference.
type idleQuanta struct {
	enabled bool
	still   bool   // the latest answer reported the device idle
	quiet   int    // RUNs sent without records since the latest one with some
	under   int    // quanta in flight, skipped ones included
	skipped uint64 // bit i: of the quanta in flight, the i-th before the latest was skipped
	owed    uint32 // cycles of quanta skipped since the latest RUN
}

// maySkip reports whether a quantum needs no exchange with the device. records is the number of its inputs and
// credits, due the number of RUNs that are not yet answered.
func (q *idleQuanta) maySkip(cycles, records uint32, due int) bool {
	return q.enabled && q.still && records == 0 && q.quiet >= due &&
		uint64(q.owed)+2*uint64(cycles) <= protocol.MaxRunCycles
}

// skip adds a quantum to those in flight without sending it.
func (q *idleQuanta) skip(cycles uint32) {
	q.owed += cycles
	q.under++
	q.skipped = q.skipped<<1 | 1
}

// send adds a quantum to those in flight and returns the cycles of the quanta skipped before it, which its RUN must
// have in addition to the quantum's own.
func (q *idleQuanta) send(records uint32) (owed uint32) {
	owed, q.owed = q.owed, 0
	q.under++
	q.skipped <<= 1
	if q.quiet++; records > 0 {
		q.quiet = 0
	}
	return owed
}

// collect removes the oldest quantum in flight and reports whether it was sent.
func (q *idleQuanta) collect() bool {
	q.under--
	return q.skipped>>q.under&1 == 0
}

// answered takes the answer to a RUN; quanta sent after it are still in flight.
func (q *idleQuanta) answered(r *protocol.Ran) { q.still = r.Flags&protocol.RanStill != 0 }

// sendOrSkip makes the device run the quantum whose inputs have been added, or skips it.
func (c *Comp) sendOrSkip() error {
	records := c.conn.early + c.conn.nRec
	if c.idle.maySkip(c.spec.Quantum, records, c.conn.due) {
		c.idle.skip(c.spec.Quantum)
		return nil
	}
	return c.conn.SendRun(c.idle.send(records) + c.spec.Quantum)
}

// skipped advances past the end of a skipped quantum, in which nothing happened.
func (c *Comp) skipped() {
	c.cycle = c.Cycle() + uint64(c.spec.Quantum)
	c.wall.Skipped += uint64(c.spec.Quantum)
	c.reportIdle(0, c.cycle-1)
}

// catchUp makes the device run the cycles it owes, so that it ends where its observers expect.
func (c *Comp) catchUp() error {
	if c.idle.owed == 0 {
		return nil
	}
	if err := c.conn.SendRun(c.idle.send(0)); err != nil {
		return err
	}
	c.idle.collect()
	return c.receive()
}
