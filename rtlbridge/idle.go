package rtlbridge

import "nictwin/rtlbridge/protocol"

// idleQuanta passes quanta without an exchange while the device is idle: it has reported so, and nothing has
// been sent to it since. Their cycles are part of the next RUN. Observers of the device see no difference.
type idleQuanta struct {
	enabled bool
	still   bool   // reported by the latest answer
	quiet   int    // RUNs without records since the latest with one
	under   int    // quanta in flight, passed ones among them
	passed  uint64 // bit i: the i-th before the latest of them was passed
	owed    uint32 // cycles of quanta passed since the latest RUN
}

// mayPass reports whether a quantum needs no exchange. records counts its inputs and credits.
func (q *idleQuanta) mayPass(cycles, records uint32, due int) bool {
	return q.enabled && q.still && records == 0 && q.quiet >= due &&
		uint64(q.owed)+2*uint64(cycles) <= protocol.MaxRunCycles
}

// pass adds a quantum to those in flight without sending it.
func (q *idleQuanta) pass(cycles uint32) {
	q.owed += cycles
	q.under++
	q.passed = q.passed<<1 | 1
}

// send adds a quantum to those in flight and returns the cycles that its RUN needs in addition to its own.
func (q *idleQuanta) send(records uint32) (owed uint32) {
	owed, q.owed = q.owed, 0
	q.under++
	q.passed <<= 1
	if q.quiet++; records > 0 {
		q.quiet = 0
	}
	return owed
}

// collect removes the oldest quantum in flight and reports whether it was sent.
func (q *idleQuanta) collect() bool {
	q.under--
	return q.passed>>q.under&1 == 0
}

// answered takes the answer to a RUN; quanta sent after it are still in flight.
func (q *idleQuanta) answered(r *protocol.Ran) { q.still = r.Flags&protocol.RanStill != 0 }

// sendOrPass makes the device run the quantum whose inputs have been added, or passes it.
func (c *Comp) sendOrPass() error {
	records := c.conn.early + c.conn.nRec
	if c.idle.mayPass(c.spec.Quantum, records, c.conn.due) {
		c.idle.pass(c.spec.Quantum)
		return nil
	}
	return c.conn.SendRun(c.idle.send(records) + c.spec.Quantum)
}

// passed takes the end of a quantum that was passed: nothing happened in it.
func (c *Comp) passed() {
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
