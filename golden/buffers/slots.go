package buffers

import (
	"bytes"
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/memory"
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Queue holds the descriptors of one receive queue.
type Queue struct {
	ID    int
	Ctx   core.Queue // context with which the queue was enabled; CI and CQI count the entries seen
	Slots []Slot     // by index mod twice the ring size
}

// Slot is one descriptor.
type Slot struct {
	Q      *Queue
	State  rings.State
	Index  uint16
	Shares bool  // a buffer of the descriptor overlaps with another buffer
	since  int64 // cycle in which the descriptor was read
	Desc   nicspec.RxDescFields
	Parts  [2]*Part // header buffer, payload buffer; nil while nothing was written
}

// Indices of a descriptor's buffers.
const (
	Hdr = iota
	Pay
)

// Part holds what was written to one buffer.
type Part struct {
	Data []byte
	Have memory.Set
}

// Domain returns the domain of the queue's mismatches.
func (q *Queue) Domain() verdict.Domain { return verdict.Rxq(q.ID) }

// Slot returns the slot of a descriptor; the queue has to be open.
func (q *Queue) Slot(i uint16) *Slot { return &q.Slots[int(i)&(len(q.Slots)-1)] }

// Names contains the buffers' names in mismatches, by Hdr and Pay.
var Names = [...]string{"header", "payload"}

// Text returns the text by which a mismatch names a byte of a buffer.
func Text(queue int, index uint16, part, off int) string {
	return fmt.Sprintf("%s buffer of descriptor %d of queue %d, byte %d", Names[part], index, queue, off)
}

// Contains reports whether a buffer holds exactly these bytes.
func (s *Slot) Contains(part int, want []byte) bool {
	sh := s.Parts[part]
	if sh == nil {
		return len(want) == 0
	}
	return sh.Have.Exactly(len(want)) && bytes.Equal(sh.Data[:len(want)], want)
}

// Buffer returns the address and size of one of a descriptor's buffers.
func (s *Slot) Buffer(part int) (addr uint64, size int) {
	if part == Hdr {
		if s.Q.Ctx.SplitMode == nicspec.SplitModeNone {
			return s.Desc.HdrAddr, 0
		}
		return s.Desc.HdrAddr, int(s.Q.Ctx.HdrBufSize)
	}
	return s.Desc.PayAddr, int(s.Q.Ctx.PayBufSize)
}

// Forget ends a descriptor: the device may no longer write to its buffers.
func (bs *Buffers) Forget(s *Slot) {
	for part := range s.Parts {
		if addr, size := s.Buffer(part); size > 0 {
			bs.writable.Remove(addr, size, s.owner(part))
		}
		if sh := s.Parts[part]; sh != nil {
			sh.Have.Clear()
			sh.Data = sh.Data[:0]
			bs.parts.Put(sh)
			s.Parts[part] = nil
		}
	}
	s.State = rings.Idle
	if bs.Last == s {
		bs.Last = nil
	}
}

func (s *Slot) owner(part int) attribution.Owner {
	return attribution.Owner{Kind: memory.Buffer, Part: uint8(part), Queue: uint16(s.Q.ID), Index: s.Index}
}

// Store stores bytes written to a buffer. It reports false, and changes nothing, if some of them
// were written before.
func (s *Slot) Store(bs *Buffers, part, off int, b []byte) bool {
	sh := s.Parts[part]
	if sh == nil {
		sh = bs.parts.Get()
		s.Parts[part] = sh
	}
	if !sh.Have.Add(off, off+len(b)) {
		return false
	}
	sh.grow(off, off+len(b))
	copy(sh.Data[off:], b)
	return true
}

// grow extends Data so that it holds the bytes from lo to hi. Bytes before lo that were never written read 0.
func (sh *Part) grow(lo, hi int) {
	n := len(sh.Data)
	if hi <= n {
		return
	}
	if hi > cap(sh.Data) {
		sh.Data = append(make([]byte, 0, max(hi, nicspec.FrameMax)), sh.Data...)
	}
	sh.Data = sh.Data[:hi]
	if lo > n {
		clear(sh.Data[n:lo])
	}
}
