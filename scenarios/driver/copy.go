package driver

import (
	"fmt"

	"nictwin/models/nicspec"
)

// Span names bytes by a memory key: from an offset in its range on.
type Span struct {
	Key Key
	Off uint64 // bytes
}

// segment is n bytes of a span as a work entry names them.
func (s Span) segment(n uint32) nicspec.SegFields {
	return nicspec.SegFields{Key: s.Key.ID, Len: n, Addr: s.Key.Base + s.Off}
}

// Order says how a work entry is to end.
type Order struct {
	ID       uint32 // told in its completion entry
	Complete bool   // one is wanted though all goes well
}

// Copy posts a copy of n bytes; Ring tells the device [D2].
func (q *TxQueue) Copy(o Order, dst, src Span, n uint32) error {
	return q.move(nicspec.OpcodeCopy, o, src.segment(n), dst.segment(n))
}

// Invalidate posts the invalidation of n bytes of the Arm cache, whole lines;
// Ring tells the device [D4].
func (q *TxQueue) Invalidate(o Order, at Span, n uint32) error {
	return q.move(nicspec.OpcodeInvalidate, o, at.segment(n))
}

// CopyInvalidate posts a copy after which its source is invalidated; Ring tells
// the device [D5].
func (q *TxQueue) CopyInvalidate(o Order, dst, src Span, n uint32) error {
	return q.move(nicspec.OpcodeCopyInvalidate, o, src.segment(n), dst.segment(n))
}

func (q *TxQueue) move(op nicspec.Opcode, o Order, segs ...nicspec.SegFields) error {
	f := nicspec.WqeFields{Opcode: op, Nseg: uint8(len(segs)), WqeId: o.ID, FComplete: o.Complete}
	for i := range segs {
		segs[i].Encode(f.Slots[i*nicspec.WqeSlotBytes:])
	}
	f.Encode(q.wqe[:])
	return q.Post(q.wqe[:])
}

// Push puts a work entry into the ring and hands it to the device in the same
// write that tells of it [W1]. It rings for the entries posted before.
func (q *TxQueue) Push(wqe []byte) error {
	if len(wqe) != nicspec.WqeBytes {
		return fmt.Errorf("driver: work entry to be pushed has %d B, want %d", len(wqe), nicspec.WqeBytes)
	}
	q.Ring()
	if err := q.Post(wqe); err != nil {
		return err
	}
	q.rung = q.pi
	q.d.check(q.d.regs.Write(nicspec.RegTxPush(q.queue), wqe))
	return nil
}
