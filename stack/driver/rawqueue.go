package driver

import "nictwin/models/nic/nicspec"

// RawQueue holds the placement of a queue's rings, and the positions of their writer and reader. It checks nothing and
// waits for nothing. Tests that write entries and ring doorbells freely keep one for each queue; Queue builds on it,
// too.
type RawQueue struct {
	Layout
	Tx     bool
	Number int
	PI     uint16 // index of the next entry, the value for a doorbell
	CQI    uint16 // number of completion entries taken
}

// NewRawQueue returns a queue with a ring of 2^log entries, whose addresses are not set yet.
func NewRawQueue(tx bool, number, log int) RawQueue {
	slot := nicspec.RxDescBytes
	if tx {
		slot = nicspec.WqeBytes
	}
	return RawQueue{Layout: Layout{Log: log, Slot: slot}, Tx: tx, Number: number}
}

// Kind returns "receive" or "transmit".
func (q *RawQueue) Kind() string {
	if q.Tx {
		return "transmit"
	}
	return "receive"
}

// Table returns the table that holds the queue's entry.
func (q *RawQueue) Table() nicspec.Table {
	if q.Tx {
		return nicspec.TableTxq
	}
	return nicspec.TableRxq
}

// Doorbell returns the offset of the queue's doorbell register.
func (q *RawQueue) Doorbell() uint32 {
	if q.Tx {
		return nicspec.RegTxDoorbell(q.Number)
	}
	return nicspec.RegRxDoorbell(q.Number)
}

// NextSlot returns the bus address of the next entry, and counts it as written.
func (q *RawQueue) NextSlot() uint64 {
	at := q.At(q.PI)
	q.PI++
	return at
}

// NextCqe returns the bus address of the next completion entry.
func (q *RawQueue) NextCqe() uint64 { return q.CqeAt(q.CQI) }

// Take reports whether bytes read at NextCqe are a written completion entry, and if so counts it as taken.
func (q *RawQueue) Take(cqe []byte) bool {
	if !q.Written(cqe, q.CQI) {
		return false
	}
	q.CQI++
	return true
}
