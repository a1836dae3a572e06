package driver

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
)

// TxConfig is the configuration of a transmit queue.
type TxConfig struct {
	QueueConfig
	Class int   // priority class of the queue's frames, 0 to 7: pauses of that class stop the queue [F4]
	ECN   uint8 // 1 to 3: new ECN bits of the queue's frames; 0: unchanged [E2]

	// PushBlocks makes Ring push an entry of up to so many blocks that waits alone, if the NIC has part push. That
	// takes a register write for each block, where a doorbell takes one, but the NIC need not fetch the entry.
	PushBlocks int

	// OnEnd, if set, is called for each completion entry. e is valid until it returns. The driver identifies entries by
	// index; the owner may check wqe_id.
	OnEnd func(q *TxQueue, e *TxEnd)

	// OnEvent is called when the queue has failed. Nil: a failure ends the driver.
	OnEvent func(q *TxQueue, e Event)
}

// TxEnd reports that the work entry of a completion entry has ended, and with it all earlier ones that succeeded and
// requested no completion: N entries in all, which take Blocks places of the ring from index First on.
type TxEnd struct {
	First  uint16
	N      int
	Blocks int
	Cqe    nicspec.TxCqe
}

// TxQueue is a transmit queue: it posts work entries and reports their ends to OnEnd.
type TxQueue struct {
	Queue
	cfg  TxConfig
	end  TxEnd
	span []uint8                                       // by slot: number of blocks of the entry that begins there, or 0
	long [nicspec.WqeBlocksMax * nicspec.WqeBytes]byte // scratch for building an entry of several blocks
}

// OpenTx allocates the rings of a transmit queue and requests that it be enabled.
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
	q.span = make([]uint8, q.Size())
	f.RingBase, f.CqBase = q.ring.Base, q.ring.CQ
	q.entry = make([]byte, nicspec.TxqEntrySize)
	f.Encode(q.entry)
	return q, q.enable()
}

func (c *TxConfig) validate(d *Driver) error {
	errs := []error{checkIndex("transmit queue", c.Queue, d.opts.Build.NumTxq)}
	if c.Class < 0 || c.Class > 7 {
		errs = append(errs, fmt.Errorf("driver: transmit queue %d: priority class %d: want 0 to 7", c.Queue, c.Class))
	}
	if c.ECN > 3 {
		errs = append(errs, fmt.Errorf("driver: transmit queue %d: ECN bits %d: want 1 to 3, or 0 to leave them",
			c.Queue, c.ECN))
	}
	if c.Class != 0 {
		errs = append(errs, d.needPart(nicspec.PartPause, "priority classes", "pause"))
	}
	if c.ECN != 0 {
		errs = append(errs, d.needPart(nicspec.PartEcn, "ECN marking", "ecn"))
	}
	return errors.Join(errs...)
}

// Post puts a work entry into the ring, unless the NIC would refuse it; Ring notifies the device. Indices, Room and
// Size count blocks; an entry may take several. Every ring-full of entries must request a completion at least
// once, or Room stays 0.
func (q *TxQueue) Post(e Entry) error {
	slot, err := q.next()
	if err != nil {
		return err
	}
	if err := e.Check(&q.d.opts.Build); err != nil {
		return fmt.Errorf("driver: work entry for transmit queue %d: %w", q.cfg.Queue, err)
	}
	n := e.Blocks()
	if n > q.Room() {
		return fmt.Errorf("driver: transmit queue %d has room for %d blocks, the work entry takes %d: wait for "+
			"completions", q.cfg.Queue, q.Room(), n)
	}
	if n == 1 {
		e.Encode(slot)
	} else {
		e.Encode(q.long[:])
		for k := range n { // an entry may wrap around the end of the ring
			copy(q.slot(q.ring.PI+uint16(k)), q.long[k*nicspec.WqeBytes:])
			q.span[q.ring.Place(q.ring.PI+uint16(k))] = 0
		}
	}
	q.span[q.ring.Place(q.ring.PI)] = uint8(n)
	q.ring.PI += uint16(n)
	return nil
}

// Ring announces all posted entries to the device with one doorbell, or pushes the only one (TxConfig.PushBlocks).
func (q *TxQueue) Ring() error {
	// an earlier call may have set it and still be storing its entry; since then, more entries may have been posted
	q.pushBlocks = 0
	n := q.Waiting()
	alone := n > 0 && n == int(q.span[q.ring.Place(q.rung)])
	if alone && n <= q.cfg.PushBlocks && q.d.opts.Build.Has(nicspec.PartPush) {
		q.pushBlocks = n
	}
	return q.Queue.Ring()
}

// Push combines Post and Ring: the device receives the entry in the writes that announce its blocks [W1], after the
// doorbell for earlier entries.
func (q *TxQueue) Push(e Entry) error {
	if err := q.d.needPart(nicspec.PartPush, "pushing work entries", "push"); err != nil {
		return err
	}
	if err := q.Post(e); err != nil {
		return err
	}
	q.ringPending, q.pushBlocks = true, e.Blocks()
	q.store()
	q.ringDoorbell()
	return nil
}

// Enable enables a queue that was disabled, with the same rings, empty.
func (q *TxQueue) Enable() error { return q.enable() }

// Disable turns the queue off [T11]. Entries that end before that are reported as usual; once done is called, Unended
// returns the remaining ones.
func (q *TxQueue) Disable(done func()) error { return q.disable(done) }

// Close disables the queue unless it is off, and frees its rings.
func (q *TxQueue) Close(done func()) error { return q.close(q.d.tx, done) }

// Unended returns the entries that no completion entry covered, once the queue is off: n, from index first on. Those
// that requested no completion entry may have succeeded.
func (q *TxQueue) Unended() (first uint16, n int) {
	if q.state != Off && q.state != Closed {
		return q.endedTo, 0
	}
	return q.endedTo, q.entries(q.ring.PI)
}

// Unfinished returns the number of posted entries that no completion entry has covered yet.
func (q *TxQueue) Unfinished() int { return q.entries(q.ring.PI) }

// entries counts the unfinished entries that begin before index `end`.
func (q *TxQueue) entries(end uint16) (n int) {
	for i := q.endedTo; i-q.endedTo < end-q.endedTo; i += uint16(q.span[q.ring.Place(i)]) {
		n++
	}
	return n
}

// completed handles a completion entry.
func (q *TxQueue) completed(raw []byte) {
	cqe := nicspec.TxCqe(raw)
	switch {
	case int(cqe.Queue()) != q.cfg.Queue:
		q.d.breach("T10", "transmit queue %d: completion entry %v is of queue %d", q.cfg.Queue, cqe, cqe.Queue())
	case cqe.Type() == nicspec.CqeTypeTx:
		q.ended(cqe)
	case cqe.Type() != nicspec.CqeTypeEvent:
		q.d.breach("T10", "transmit queue %d: completion entry %v has an unknown type", q.cfg.Queue, cqe)
	case !q.failed("T2", cqe.Index(), cqe.Status()):
	case q.cfg.OnEvent == nil:
		q.unclaimed("T2", cqe.Status())
	default:
		q.cfg.OnEvent(q, *q.event)
	}
}

// ended handles a completion entry. It also ends earlier work entries that requested no completion entry.
func (q *TxQueue) ended(cqe nicspec.TxCqe) {
	i := cqe.Index()
	n := uint16(q.span[q.ring.Place(i)])
	if !q.mayComplete("T10", "T2", i, max(n, 1)) {
		return
	}
	if n == 0 {
		q.d.breach("T10", "transmit queue %d: completion of entry %d, where no entry begins", q.cfg.Queue, i)
		return
	}
	q.end = TxEnd{q.endedTo, q.entries(i + n), int(i + n - q.endedTo), cqe}
	q.endedTo = i + n
	if q.cfg.OnEnd != nil {
		q.cfg.OnEnd(q, &q.end)
	}
}
