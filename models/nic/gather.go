package nic

import (
	"nictwin/models/format/msg"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// beginGather takes a buffer for the entry's frame, copies the inline bytes and sets up the reads
// of the pieces.
func (s *txSlot) beginGather(id int32, pool *msg.Frames) {
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

// nextRead returns the first of the entry's reads that has a request to issue, or nil. An entry
// that has failed issues no more.
func (s *txSlot) nextRead() *core.Read {
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

// pieceRead records that the read of a piece has ended. If it failed, the entry's other reads issue
// no more requests.
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

// gathered hands an entry to the offloads when all its reads have ended.
func (c *Comp) gathered(id int32) {
	c.tx.slots[id].due = c.now + int64(c.spec.Timing.TxPipe)
	c.tx.finish.Push(id)
}
