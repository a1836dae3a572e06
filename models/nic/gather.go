package nic

import (
	"nictwin/models/format/msg"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// begin takes a buffer for the frame and sets up the reads of its pieces.
func (s *txSlot) begin(id int32, pool *msg.Frames) {
	p := &s.plan
	s.frame = pool.Get(p.Room())
	s.frame.Data = s.frame.Data[:p.Length]
	copy(s.frame.Data, p.Inline[:p.InlineLen])
	for i := range p.NumPieces {
		piece := &p.Pieces[i]
		s.reads[i].Client, s.reads[i].Owner = readPiece, id
		s.reads[i].Begin(piece.Bus, s.frame.Data[piece.Off:piece.Off+piece.Len])
	}
	s.open = p.NumPieces
}

// wanting returns the first of the entry's reads with a request to issue, or nil. A failed entry
// issues no more.
func (s *txSlot) wanting() *core.Read {
	if s.status != nicspec.StatusOk {
		return nil
	}
	for i := range s.plan.NumPieces {
		if s.reads[i].Wants() {
			return &s.reads[i]
		}
	}
	return nil
}

// pieceRead records the end of a piece's read. If it failed, the entry's reads that have not begun
// are given up.
func (c *Comp) pieceRead(rd *core.Read) {
	s := &c.tx.slots[rd.Owner]
	s.open--
	if rd.Status != nicspec.StatusOk && s.status == nicspec.StatusOk {
		s.status = rd.Status
		for i := range s.plan.NumPieces {
			if o := &s.reads[i]; o != rd && o.Wants() {
				if o.GiveUp(rd.Status) {
					s.open--
				}
			}
		}
	}
	if s.open == 0 {
		c.gathered(rd.Owner)
	}
}

// gathered passes an entry whose bytes have all come to the offloads.
func (c *Comp) gathered(id int32) {
	c.tx.slots[id].due = c.now + int64(c.spec.Timing.TxPipe)
	c.tx.finish.Push(id)
}
