package attribution

import (
	"bytes"

	"nictwin/golden/cycles"
	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// Entry is one work entry that the device has read.
type Entry struct {
	Queue   *Queue
	Index   uint16
	fetched int64 // cycle
	Raw     [nicspec.WqeBlocksMax * nicspec.WqeBytes]byte
	Blocks  uint16 // of the ring [T14]
	Plan    core.TxPlan
	Buf     memory.Store // the frame as gathered, or the source of a copy
	done    []byte       // the frame after its offloads
	Pieces  [nicspec.SegMax]txPiece
	Count   int // of pieces that may be read

	reading  int        // reads outstanding
	Asked    bool       // a piece was asked for
	Fails    statusMask // of reads that failed
	possible statusMask // of reads that may have failed

	finished bool // the offloads were done
	status   nicspec.Status
	Frame    []byte

	Never   bool           // its queue stopped before it
	retired bool           // it is over
	over    int64          // in this cycle
	ended   nicspec.Status // with this status, if a read of it had failed

	Pushed bool // came with its doorbell, and was not read

	Left bool  // its frame has left
	Sent int   // bytes
	Gone int64 // in this cycle

	Copy copyState

	// alt is the same entry under another value of a key that was written while
	// the entry was at work [T12]: a reading of it, as the entry itself is.
	Alt *Entry
}

// maxReadings is how many readings of an entry are followed.
const maxReadings = 4

// txPiece is one piece of a frame.
type txPiece struct {
	bus    uint64
	len    int
	off    int // in the frame
	asked  memory.Set
	Got    memory.Set
	bad    []badPart // of asked, that failed
	open   bool      // it may be read
	shares []share   // of asked, what may have been for other places
}

// badPart is a part of a piece whose read failed.
type badPart struct {
	lo, hi int
	status nicspec.Status
}

func (e *Entry) reset(q *Queue, index uint16, now int64) {
	old := *e
	*e = Entry{Queue: q, Index: index, fetched: now, over: cycles.Forever, Buf: old.Buf, done: old.done}
	e.Copy.Wrote, e.Copy.Seen = old.Copy.Wrote.Emptied(), old.Copy.Seen.Emptied()
	for i := range e.Pieces {
		o := &old.Pieces[i]
		e.Pieces[i] = txPiece{asked: o.asked.Emptied(), Got: o.Got.Emptied(), bad: o.bad[:0], shares: o.shares[:0]}
	}
	if e.Buf.Flat == nil {
		e.Buf.Flat = make([]byte, nicspec.FrameMax)
	}
}

// decode finds what an entry asks for.
func (es *Entries) decode(e *Entry, keys core.KeyTable) {
	core.DecodeWqe(e.Raw[:int(e.Blocks)*nicspec.WqeBytes], keys, es.limits, &e.Plan)
	e.Plan.ECN = e.Queue.Ctx.EcnMode
}

// Begin decodes an entry and lets the device read its pieces [T3, T4].
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

// Alternate gives an entry at work another reading, under other keys [T12].
func (es *Entries) Alternate(e *Entry, keys core.KeyTable) {
	if op := nicspec.Wqe(e.Raw[:]).Opcode(); e.Left || op == nicspec.OpcodeNop || e.Plan.Status == nicspec.StatusBadOpcode {
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
		es.log.Note("entry %d of transmit queue %d: its memory keys are rewritten again and again while it is at work; not all values are followed",
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

func (e *Entry) owner(piece int) Owner {
	return Owner{Kind: memory.Piece, Part: uint8(piece), Queue: uint16(e.Queue.ID), Index: e.Index, Entry: e}
}

// readable finds the pieces of an entry that fails which the device may read
// all the same [T4].
func (e *Entry) readable(keys core.KeyTable) {
	w, raw := nicspec.Wqe(e.Raw[:]), core.WorkEntry(e.Raw[:int(e.Blocks)*nicspec.WqeBytes])
	slot, off := (int(w.InlineLen())+nicspec.WqeSlotBytes-1)/nicspec.WqeSlotBytes, 0
	if need := len(e.Pieces) * nicspec.FrameMax; len(e.Buf.Flat) < need {
		e.Buf.Flat = make([]byte, need)
	}
	for range min(int(w.Nseg()), len(e.Pieces)) {
		if slot >= raw.Slots() {
			return
		}
		s := raw.Seg(slot)
		slot++
		if s.Len() == 0 || s.Key()>>16&0xff != 0 || s.Len() > nicspec.FrameMax {
			continue
		}
		if bus, status := keys.Translate(s.Key(), s.Addr(), s.Len()); status == nicspec.StatusOk {
			e.Pieces[e.Count].bus, e.Pieces[e.Count].len, e.Pieces[e.Count].off = bus, int(s.Len()), off
			off += int(s.Len())
			e.Count++
		}
	}
}

// Release ends an entry. What was read for it may turn out to have been for
// another: then it is kept for a while.
func (es *Entries) Release(e *Entry) {
	es.AtWork--
	for x := e; x != nil; x = x.Alt {
		es.CloseDest(x)
		x.over = es.Now
	}
	if e.Left && es.retired.Len() == 0 && e.mayShare() {
		es.takeEarliest(e)
		es.DropReadings(e, nil)
		return
	}
	if e.Left && !e.mayShare() || !e.Asked && !es.overlaps(e) {
		es.DropReadings(e, nil)
		return
	}
	es.DropReadings(e, e)
	es.keep(e)
}

// keep keeps an entry that is over for what was read for it.
func (es *Entries) keep(e *Entry) {
	es.withhold(e)
	e.retired = true
	if es.retired.Len() == maxRetired {
		es.dropRetired()
	}
	if es.retired.Len() == maxRetired {
		es.log.Lost(verdict.LimitRetired, 1)
		es.forgetEntry(es.retired.Pop())
	}
	es.retired.Push(e)
}

// dropRetired forgets the entries that were over before any entry at work was
// there: no read that matters can have been for them.
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
	for changed := true; changed; { // nor can reads that those at work pass on
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

// overlaps reports whether another entry names memory of this one.
func (es *Entries) overlaps(e *Entry) bool {
	for i := range e.Count {
		for at, p := 0, &e.Pieces[i]; at < p.len; at++ {
			addr := p.bus + uint64(at)
			if es.Holders(e, addr, 1, func(Place) bool { return true }) {
				return true
			}
			at += es.uniform(addr, p.len-at) - 1
		}
	}
	return false
}

// mayShare reports whether a read that is taken for an entry's may have been for
// another.
func (e *Entry) mayShare() bool {
	for i := range e.Count {
		if len(e.Pieces[i].shares) > 0 {
			return true
		}
	}
	return false
}

// maxRetired is how many entries that are over are kept for what was read.
const maxRetired = 256

// DropReadings forgets the readings of an entry but one.
func (es *Entries) DropReadings(e, but *Entry) {
	for e != nil {
		next := e.Alt
		e.Alt = nil
		switch {
		case e == but:
		case e.mayShare() && !e.Left: // the device did not take this reading, and its reads were for others
			es.CloseDest(e)
			e.over = min(e.over, es.Now)
			es.keepRest(e, but)
		default:
			es.forgetEntry(e)
		}
		e = next
	}
}

// forgetEntry forgets one reading of an entry.
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

// forgetReads lets the reads under way no longer go to a piece.
func (es *Entries) forgetReads(e *Entry, piece int) {
	for i := range es.Out.Tags {
		es.Out.Tags[i].release(e, piece, 0, e.Pieces[piece].len)
	}
}

// gathered reports whether all of a frame's bytes are there.
func (e *Entry) gathered() bool {
	for i := range e.Count {
		if !e.Pieces[i].Got.Exactly(e.Pieces[i].len) {
			return false
		}
	}
	return true
}

// finish does the offloads of a gathered frame.
func (e *Entry) finish() nicspec.Status {
	if e.finished {
		return e.status
	}
	e.finished = true
	p, raw := &e.Plan, e.Buf.Flat
	if p.IPCsum || p.UDPCsum || p.UDPZero || p.ICRC || p.CRC32C || p.ECN != 0 { // what was read stays as it is
		if e.done == nil {
			e.done = make([]byte, nicspec.FrameMax)
		}
		raw = e.done
		copy(raw, e.Buf.Flat[:p.Length])
	}
	e.Frame, e.status = core.FinishTx(p, raw)
	return e.status
}

// Works reports whether an entry passes its checks and has something to do.
func (e *Entry) Works() bool { return e.Plan.Send || e.Plan.Copy }

// Started reports whether the device must end an entry though its queue is
// being disabled [T11].
func (e *Entry) Started() bool { return e.Asked || e.Left }

// MayBeOver reports whether an entry may have ended without a trace.
func (e *Entry) MayBeOver() bool {
	return !e.Plan.Complete && (e.Left || e.MayBeCopied())
}

// Equals reports whether an entry's frame, as far as it is there, is data.
func (e *Entry) Equals(data []byte) bool {
	return e.Plan.Send && e.Fails == 0 && !e.Left && e.gathered() && e.finish() == nicspec.StatusOk && bytes.Equal(e.Frame, data)
}

// Unreachable says that the device will not start an entry.
func (es *Entries) Unreachable(e *Entry) {
	for ; e != nil; e = e.Alt {
		e.Never = true
		es.withhold(e)
	}
}

// withhold ends what the device may read for an entry.
func (es *Entries) withhold(e *Entry) {
	for i := range e.Count {
		e.Pieces[i].open = false
	}
}

// Taken settles which reading of an entry the device took.
func (es *Entries) Taken(s *Slot, e *Entry) {
	if s.Entry.Alt != nil {
		es.DropReadings(s.Entry, e)
		s.Entry = e
	}
}

// Last is the entry's last block.
func (e *Entry) Last() uint16 { return e.Index + e.Blocks - 1 }
