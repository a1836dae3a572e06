package driver

import (
	"errors"
	"fmt"

	"nictwin/models/nicspec"
)

// TxConfig is a transmit queue as it is to be.
type TxConfig struct {
	QueueConfig
	Class int   // priority class of its frames, 0 to 7: pauses of that class stop them [F4]
	ECN   uint8 // 1 to 3: the ECN bits of its frames become that; 0: they stay [E2]

	// OnEnd is told of completion entries; it may be nil. What e points to is good until it returns. Whether the entry says the
	// right wqe_id is the owner's question: the driver goes by indices.
	OnEnd func(q *TxQueue, e *TxEnd)

	// OnEvent is told when the queue has failed. Nil: that ends the driver.
	OnEvent func(q *TxQueue, e Event)
}

// TxEnd tells that the work entry of a completion entry has ended, and with it those before it that asked for none and went
// well: N in all, from index First on.
type TxEnd struct {
	First uint16
	N     int
	Cqe   nicspec.TxCqe
}

// TxQueue is a transmit queue.
type TxQueue struct {
	Queue
	cfg TxConfig
	end TxEnd
}

// OpenTx allocates the rings of a transmit queue and asks for it to be enabled.
func (d *Driver) OpenTx(c TxConfig) (*TxQueue, error) {
	if err := c.validate(d); err != nil {
		return nil, err
	}
	f := nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(c.LogSize), PfcClass: uint8(c.Class), EcnMode: c.ECN}
	if err := c.Messages.fields(d, &f.MsixAddr, &f.MsixData, &f.ModCount, &f.ModCycles); err != nil {
		return nil, err
	}
	q := &TxQueue{cfg: c}
	q.ring, q.take = NewRawQueue(true, c.Queue, c.LogSize), q.completed
	if err := q.init(d, c.QueueConfig, d.tx); err != nil {
		return nil, err
	}
	f.RingBase, f.CqBase = q.ring.Base, q.ring.CQ
	q.entry = make([]byte, nicspec.TxqEntrySize)
	f.Encode(q.entry)
	return q, q.enable()
}

func (c *TxConfig) validate(d *Driver) error {
	errs := []error{below("transmit queue", c.Queue, d.opts.Build.NumTxq)}
	if c.Class < 0 || c.Class > 7 {
		errs = append(errs, fmt.Errorf("driver: transmit queue %d: priority class %d: want 0 to 7", c.Queue, c.Class))
	}
	if c.ECN > 3 {
		errs = append(errs, fmt.Errorf("driver: transmit queue %d: ECN bits %d: want 1 to 3, or 0 to leave them", c.Queue, c.ECN))
	}
	if c.Class != 0 {
		errs = append(errs, d.need(nicspec.PartPause, "priority classes", "pause"))
	}
	if c.ECN != 0 {
		errs = append(errs, d.need(nicspec.PartEcn, "ECN marking", "ecn"))
	}
	return errors.Join(errs...)
}

// Post puts a work entry into the ring, if the NIC would not refuse it; Ring tells the device. Every ring-full of entries must
// ask for a completion at least once, or Room stays 0.
func (q *TxQueue) Post(e Entry) error {
	slot, err := q.next()
	if err != nil {
		return err
	}
	if err := e.Check(&q.d.opts.Build); err != nil {
		return fmt.Errorf("driver: work entry for transmit queue %d: %w", q.cfg.Queue, err)
	}
	e.Encode(slot)
	q.ring.PI++
	return nil
}

// Push is Post and Ring in one: the device gets the entry in the write that tells of it [W1], after it was told of those posted
// before.
func (q *TxQueue) Push(e Entry) error {
	if err := q.d.need(nicspec.PartPush, "pushing work entries", "push"); err != nil {
		return err
	}
	if err := q.Post(e); err != nil {
		return err
	}
	q.ringIt, q.push = true, true
	q.store()
	q.tell()
	return nil
}

// Enable enables a queue that was disabled, with the same rings, empty.
func (q *TxQueue) Enable() error { return q.enable() }

// Disable turns the queue off [T11]. Entries that end until then are told as ever; Unended tells which are left when done is
// called.
func (q *TxQueue) Disable(done func()) error { return q.disable(done) }

// Close disables the queue, unless it is off, and gives back its rings.
func (q *TxQueue) Close(done func()) error { return q.close(q.d.tx, done) }

// Unended are the entries of a queue that is off which no completion entry told of: n from index first on. Those that asked for
// none may have ended well.
func (q *TxQueue) Unended() (first uint16, n int) {
	if q.state != Off && q.state != Closed {
		return q.done, 0
	}
	return q.done, int(q.ring.PI - q.done)
}

// completed takes a completion entry.
func (q *TxQueue) completed(raw []byte) {
	cqe := nicspec.TxCqe(raw)
	switch {
	case int(cqe.Queue()) != q.cfg.Queue:
		q.d.breach("T10", "transmit queue %d: completion entry %v is of queue %d", q.cfg.Queue, cqe, cqe.Queue())
	case cqe.Type() == nicspec.CqeTypeTx:
		q.ended(cqe)
	case cqe.Type() != nicspec.CqeTypeEvent:
		q.d.breach("T10", "transmit queue %d: completion entry %v is of no known type", q.cfg.Queue, cqe)
	case !q.failed("T2", cqe.Index(), cqe.Status()):
	case q.cfg.OnEvent == nil:
		q.unclaimed("T2", cqe.Status())
	default:
		q.cfg.OnEvent(q, *q.event)
	}
}

func (q *TxQueue) ended(cqe nicspec.TxCqe) {
	i := cqe.Index()
	if !q.ends("T10", "T2", i) {
		return
	}
	q.end = TxEnd{q.done, int(i-q.done) + 1, cqe}
	q.done = i + 1
	if q.cfg.OnEnd != nil {
		q.cfg.OnEnd(q, &q.end)
	}
}
