package driver

import "nictwin/models/nic/nicspec"

// RawQueue is a queue without its driver: where its rings lie, and how far they are written and read. It checks
// nothing and waits for nothing. Tests that write entries and ring doorbells as they please keep one for each queue;
// Queue is built on one, too.
type RawQueue struct {
	Layout
	Tx     bool
	Number int
	PI     uint16 // index of the next entry: what a doorbell tells
	CQI    uint16 // completion entries taken
}

// NewRawQueue is a queue with a ring of 2^log entries, whose places are not known yet.
func NewRawQueue(tx bool, number, log int) RawQueue {
	slot := nicspec.RxDescBytes
	if tx {
		slot = nicspec.WqeBytes
	}
	return RawQueue{Layout: Layout{Log: log, Slot: slot}, Tx: tx, Number: number}
}

// Kind is "receive" or "transmit".
func (q *RawQueue) Kind() string {
	if q.Tx {
		return "transmit"
	}
	return "receive"
}

// Table is the table that the queue's entry is in.
func (q *RawQueue) Table() nicspec.Table {
	if q.Tx {
		return nicspec.TableTxq
	}
	return nicspec.TableRxq
}

// Doorbell is the queue's doorbell register.
func (q *RawQueue) Doorbell() uint32 {
	if q.Tx {
		return nicspec.RegTxDoorbell(q.Number)
	}
	return nicspec.RegRxDoorbell(q.Number)
}

// NextSlot is the bus address of the next entry, which counts as written from now on.
func (q *RawQueue) NextSlot() uint64 {
	at := q.At(q.PI)
	q.PI++
	return at
}

// NextCqe is the bus address of the completion entry that comes next.
func (q *RawQueue) NextCqe() uint64 { return q.CqeAt(q.CQI) }

// Take reports whether bytes that were read at NextCqe are a completion entry that was written; it counts as taken
// then.
func (q *RawQueue) Take(cqe []byte) bool {
	if !q.Written(cqe, q.CQI) {
		return false
	}
	q.CQI++
	return true
}
