package driver

import (
	"fmt"

	"nictwin/models/dma"
	"nictwin/models/nicspec"
)

// TxConfig is a transmit queue as a driver wants it.
type TxConfig struct {
	Queue   int
	LogSize int
	OnEnd   func(q *TxQueue, cqe nicspec.TxCqe)
	OnEvent func(q *TxQueue, cqe nicspec.TxCqe)
}

// TxQueue is a transmit queue.
type TxQueue struct {
	ring
	cfg  TxConfig
	done uint16 // entries known to have ended
	wqe  [nicspec.WqeBytes]byte
}

// Key is a memory key that was set up.
type Key struct {
	ID   uint32 // as in work entries
	Base uint64 // first virtual address
	Len  uint64
	Bus  uint64 // what Base stands for
}

// NewKey asks for a memory key: virtual addresses from va on name n bytes from
// a bus address on.
// The device may read these.
func (d *Driver) NewKey(index int, variant uint8, va, bus, n uint64) Key {
	return d.NewKeyFor(index, variant, va, bus, n, dma.Access{Read: true})
}

// NewKeyFor is NewKey with the rights that the device is to have.
func (d *Driver) NewKeyFor(index int, variant uint8, va, bus, n uint64, rights dma.Access) Key {
	entry := make([]byte, nicspec.KeyEntrySize)
	f := nicspec.KeyEntryFields{Valid: 1, RightRead: rights.Read, RightWrite: rights.Write, Variant: variant, VaBase: va, Length: n, BusBase: bus}
	f.Encode(entry)
	d.WriteTable(nicspec.TableKey, index, entry)
	return Key{ID: uint32(variant)<<24 | uint32(index), Base: va, Len: n, Bus: bus}
}

// NewTxQueue allocates the rings and asks for the queue to be enabled.
func (d *Driver) NewTxQueue(c TxConfig) (*TxQueue, error) {
	q := &TxQueue{cfg: c}
	q.see = q.entry
	if err := q.init(d, c.Queue, c.LogSize, nicspec.WqeBytes, nicspec.RegTxDoorbell(c.Queue)); err != nil {
		return nil, err
	}
	entry := make([]byte, nicspec.TxqEntrySize)
	f := nicspec.TxqEntryFields{Enable: 1, LogSize: uint8(c.LogSize), RingBase: q.base, CqBase: q.cq}
	f.Encode(entry)
	d.WriteTable(nicspec.TableTxq, c.Queue, entry)
	return q, nil
}

// Queue is the queue's number.
func (q *TxQueue) Queue() int { return q.queue }

// Room is the number of work entries that can be posted now.
func (q *TxQueue) Room() int { return 1<<q.log - int(q.pi-q.done) }

// Next is the index that the next work entry gets.
func (q *TxQueue) Next() uint16 { return q.pi }

// Post puts a work entry into the ring; Ring tells the device. Every ring-full
// of entries must ask for a completion at least once, or Room stays 0.
func (q *TxQueue) Post(wqe []byte) error {
	if q.Room() == 0 {
		return fmt.Errorf("driver: transmit queue %d is full: wait for completions", q.queue)
	}
	q.put(wqe)
	return nil
}

// Ring rings the doorbell.
func (q *TxQueue) Ring() { q.ring.ring() }

func (q *TxQueue) entry(raw []byte) {
	cqe := nicspec.TxCqe(raw)
	switch cqe.Type() {
	case nicspec.CqeTypeEvent:
		if q.cfg.OnEvent == nil {
			q.d.event("T2", "transmit queue", q.queue, cqe.Status())
			return
		}
		q.cfg.OnEvent(q, cqe)
	case nicspec.CqeTypeTx:
		if ahead := cqe.Index() - q.done; ahead >= q.pi-q.done {
			q.d.fail("T10", "transmit queue %d: completion of entry %d, but %d to %d are at work", q.queue, cqe.Index(), q.done, q.pi-1)
			return
		}
		q.done = cqe.Index() + 1
		if q.cfg.OnEnd != nil {
			q.cfg.OnEnd(q, cqe)
		}
	default:
		q.d.fail("T10", "transmit queue %d: completion entry %v is of no known type", q.queue, cqe)
	}
}
