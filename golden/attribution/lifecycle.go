package attribution

import (
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// beginCopy opens the ranges that a copy may read and write [D2].
func (es *Entries) beginCopy(e *Entry) {
	p := &e.Plan.Dma
	e.Queue.Copies = true
	if p.Len == 0 {
		return
	}
	e.Pieces[0].bus, e.Pieces[0].len, e.Pieces[0].off = p.Src, p.Len, 0
	e.Count = 1
	e.Buf.Page(p.Len, &es.pages)
	es.Writable.Add(p.Dst, p.Len, e.dest())
	e.Copy.Open = true
	es.Copying++
}

// CloseDest makes the destination of a copy unwritable.
func (es *Entries) CloseDest(e *Entry) {
	if e.Copy.Open {
		es.claimOver(e)
		es.Writable.Remove(e.Plan.Dma.Dst, e.Plan.Dma.Len, e.dest())
		e.Copy.Open = false
		es.Copying--
	}
}

// EndCopied ends a copy that may be complete although some writes in its destination may be another copy's. It
// chooses the first reading (decoding, see Entry.Alt) that fits, and obtains the bytes of its source.
func (es *Entries) EndCopied(s *Slot) {
	for x := s.Entry; x != nil && !s.Entry.Left; x = x.Alt {
		if x.MayBeCopied() {
			es.TakeReading(s, x)
			x.Copy.Well = true
			x.Left = es.gather(x) && !x.mayShare() // not while its reads may belong to another entry
			return
		}
	}
}

// maxReadings is the largest number of readings (decodings, see Entry.Alt) kept of one entry.
const maxReadings = 4

// decode decodes a work entry into its plan.
func (es *Entries) decode(e *Entry, keys core.KeyTable) {
	core.DecodeWqe(e.Raw[:int(e.Blocks)*nicspec.WqeBytes], keys, es.limits, &e.Plan)
	e.Plan.ECN = e.Queue.Ctx.EcnMode
}

// Begin decodes an entry and opens its pieces for reading [T3, T4].
func (es *Entries) Begin(e *Entry, keys core.KeyTable) {
	es.decode(e, keys)
	p := &e.Plan
	switch {
	case p.Send:
		copy(e.Buf.Flat, p.Inline[:p.InlineLen])
		for i := range p.NumPieces {
			s := &p.Pieces[i]
			e.Pieces[i].bus, e.Pieces[i].len, e.Pieces[i].off = s.Bus, s.Len, s.Off
		}
		e.Count = p.NumPieces
		e.Queue.Sends = true
	case p.Copy:
		es.beginCopy(e)
	case p.Status != nicspec.StatusOk && nicspec.Wqe(e.Raw[:]).Opcode() == nicspec.OpcodeSend:
		e.readable(keys)
	}
	for i := range e.Count {
		s := &e.Pieces[i]
		es.Readable.Add(s.bus, s.len, e.owner(i))
		s.open = true
	}
}

// Alternate adds a reading of an entry at work: the entry as decoded with other memory keys [T12].
func (es *Entries) Alternate(e *Entry, keys core.KeyTable) {
	if op := nicspec.Wqe(e.Raw[:]).Opcode(); e.Left || op == nicspec.OpcodeNop ||
		e.Plan.Status == nicspec.StatusBadOpcode {
		return
	}
	a := es.entries.Get()
	a.reset(e.Queue, e.Index, e.fetched)
	a.Raw, a.Blocks = e.Raw, e.Blocks
	es.decode(a, keys)
	n, last := 1, e
	for x := e; x != nil; x = x.Alt {
		if x.Plan == a.Plan {
			es.entries.Put(a)
			return
		}
		last = x
		n++
	}
	if n > maxReadings {
		es.log.Note("entry %d of transmit queue %d: its memory keys are rewritten again and again while it is at "+
			"work; not all values are followed",
			e.Index, e.Queue.ID)
		es.entries.Put(a)
		return
	}
	a.Never = e.Never
	es.Begin(a, keys)
	last.Alt = a
	if a.Never {
		es.withhold(a)
	}
}

// Release ends an entry. If its reads may turn out to belong to another entry, it is retired, else forgotten.
func (es *Entries) Release(e *Entry) {
	es.AtWork--
	for x := e; x != nil; x = x.Alt {
		es.CloseDest(x)
		x.over = es.Now
	}
	if e.Left && es.retired.Len() == 0 && e.mayShare() {
		es.takeEarliest(e)
		es.dropReadings(e, nil)
		return
	}
	if e.Left && !e.mayShare() || !e.Asked && !es.overlaps(e) {
		es.dropReadings(e, nil)
		return
	}
	es.dropReadings(e, e)
	es.retire(e)
}

// retire keeps an ended entry, since its reads may turn out to belong to another.
func (es *Entries) retire(e *Entry) {
	es.withhold(e)
	e.retired = true
	if es.retired.Len() == maxRetired {
		es.dropRetired()
	}
	if es.retired.Len() == maxRetired {
		es.log.CountLimit(verdict.LimitRetired, 1)
		es.forgetEntry(es.retired.Pop())
	}
	es.retired.Push(e)
}

// dropRetired forgets the retired entries that ended before the earliest fetch of the entries now at work: no read can
// move between an entry at work and one of them, directly or through other retired entries.
func (es *Entries) dropRetired() {
	since := es.Now
	for k := range es.queues {
		q := es.queues[k]
		for i := q.Oldest; q.Open && i != q.Ctx.PI; i = q.After(i) {
			if e := q.Slot(i).Entry; e != nil {
				since = min(since, e.fetched)
			}
		}
	}
	// reads move between entries that were at work at the same time, so they reach back from one retired entry to
	// the one before
	for changed := true; changed; {
		changed = false
		for k := range es.retired.Len() {
			if g := *es.retired.At(k); g.over >= since && g.fetched < since {
				since, changed = g.fetched, true
			}
		}
	}
	for es.retired.Len() > 0 && (*es.retired.Front()).over < since {
		es.forgetEntry(es.retired.Pop())
	}
}

// maxRetired is the largest number of ended entries kept because their reads may belong to other entries.
const maxRetired = 256

// dropReadings forgets all readings (Entry.Alt) of an entry except one, `but`. A forgotten reading whose DMA reads
// may belong to other entries is retired.
func (es *Entries) dropReadings(e, but *Entry) {
	for e != nil {
		next := e.Alt
		e.Alt = nil
		switch {
		case e == but:
		case e.mayShare() && !e.Left: // the device did not use this reading: its DMA reads may be of other entries
			es.CloseDest(e)
			e.over = min(e.over, es.Now)
			es.retireRest(e, but)
		default:
			es.forgetEntry(e)
		}
		e = next
	}
}

// forgetEntry forgets one reading (Entry.Alt) of an entry.
func (es *Entries) forgetEntry(e *Entry) {
	es.withhold(e)
	es.CloseDest(e)
	e.Buf.Free()
	for i := range e.Count {
		p := &e.Pieces[i]
		if es.Readable.Remove(p.bus, p.len, e.owner(i)); e.reading > 0 {
			es.forgetReads(e, i)
		}
	}
	es.entries.Put(e)
}

// forgetReads detaches outstanding reads from a piece.
func (es *Entries) forgetReads(e *Entry, piece int) {
	for i := range es.Out.Tags {
		es.Out.Tags[i].release(e, piece, 0, e.Pieces[piece].len)
	}
}

// Unreachable records that the device will not start an entry: a read of its ring failed.
func (es *Entries) Unreachable(e *Entry) {
	for ; e != nil; e = e.Alt {
		e.Never = true
		es.withhold(e)
	}
}

// withhold makes the pieces of an entry unreadable.
func (es *Entries) withhold(e *Entry) {
	for i := range e.Count {
		e.Pieces[i].open = false
	}
}

// TakeReading records which reading (Entry.Alt) of an entry the device used, and forgets the others.
func (es *Entries) TakeReading(s *Slot, e *Entry) {
	if s.Entry.Alt != nil {
		es.dropReadings(s.Entry, e)
		s.Entry = e
	}
}

// Sends reports whether an entry can have sent a frame. If so, it also settles which reading (Entry.Alt) the
// device used and which reads were for the entry.
func (es *Entries) Sends(s *Slot, data []byte) bool {
	for e := s.Entry; e != nil; e = e.Alt {
		if !e.Equals(data) && !es.settleFrame(e, data) {
			continue
		}
		es.TakeReading(s, e)
		return true
	}
	return false
}

// retireRest retires reading e of an entry (Entry.Alt), which the device did not use. DMA reads that are also
// attributed to `but`, the reading that the device used, are first removed from e.
func (es *Entries) retireRest(e, but *Entry) {
	if but == nil {
		es.retire(e)
		return
	}
	for i := range but.Count {
		for _, s := range but.Pieces[i].shares {
			lo, hi := but.Pieces[i].bus+uint64(s.lo), but.Pieces[i].bus+uint64(s.hi)
			for k := range e.Count {
				p := &e.Pieces[k]
				if a, b := max(lo, p.bus), min(hi, p.bus+uint64(p.len)); a < b {
					es.clearShare(e, k, int(a-p.bus), int(b-p.bus), s.issued)
				}
			}
		}
	}
	es.retire(e)
}

// BlockIn stores a block of a work entry after the device has read it or got it by a push.
func (es *Entries) BlockIn(q *Queue, i uint16, state rings.State, raw []byte) {
	s := q.Slot(i)
	s.State = state
	if s.Block == nil {
		s.Block = es.blocks.Get()
	}
	copy(s.Block[:], raw)
}

// Waits reports whether the entry at an index waits for blocks that are not posted [T14].
func (es *Entries) Waits(q *Queue, i uint16) bool {
	b := q.Slot(i).Block
	return b != nil && uint16(core.WqeBlocks(b[:], es.limits.Parts)) > q.Ctx.PI-i
}

// split takes an assembled entry apart into blocks again, because the device reads one of its pushed blocks.
func (es *Entries) split(q *Queue, e *Entry) {
	for k := range e.Blocks {
		s := q.Slot(e.Index + k)
		s.Entry, s.of = nil, nil
		es.BlockIn(q, e.Index+k, s.State, e.Raw[int(k)*nicspec.WqeBytes:])
	}
	if int16(e.Index-q.Whole) < 0 {
		q.Whole = e.Index
	}
	es.Release(e)
}

// FreeBlocks empties all slots of a queue, and frees the blocks in them.
func (es *Entries) FreeBlocks(q *Queue) {
	for i := range q.Slots {
		if b := q.Slots[i].Block; b != nil {
			es.blocks.Put(b)
		}
		q.Slots[i] = Slot{}
	}
}

// NextWhole assembles the next entry all of whose blocks have come, or returns nil. Each entry's size determines
// where the next one begins [T14].
func (es *Entries) NextWhole(q *Queue) *Entry {
	s := q.Slot(q.Whole)
	for q.Whole != q.Ctx.PI && s.Entry != nil {
		q.Whole += s.Entry.Blocks
		s = q.Slot(q.Whole)
	}
	if q.Whole == q.Ctx.PI || s.Block == nil {
		return nil
	}
	n := uint16(core.WqeBlocks(s.Block[:], es.limits.Parts))
	if n > q.Ctx.PI-q.Whole || !q.hasBlocks(q.Whole, n) {
		return nil
	}
	e := es.entries.Get()
	e.reset(q, q.Whole, es.Now)
	e.Blocks = n
	for k := range n {
		b := q.Slot(q.Whole + k)
		copy(e.Raw[int(k)*nicspec.WqeBytes:], b.Block[:])
		es.blocks.Put(b.Block)
		b.Block, b.of = nil, e
		e.Pushed = e.Pushed || b.State == rings.Pushed
	}
	s.Entry, s.of = e, nil
	q.Whole += n
	es.AtWork++
	return e
}

// Unpush forgets a pushed block whose slot is being read, and frees the slot.
func (es *Entries) Unpush(q *Queue, i uint16) {
	s := q.Slot(i)
	if e := s.OwnerOf(); s.State == rings.Pushed && e != nil {
		es.split(q, e)
	}
	if s.Block != nil {
		es.blocks.Put(s.Block)
	}
	*s = Slot{}
}
