package golden

import (
	"bytes"

	"nictwin/golden/memory"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// txEntry is one work entry that the device has read.
type txEntry struct {
	queue   *entryQueue
	index   uint16
	fetched int64 // cycle
	raw     [nicspec.WqeBlocksMax * nicspec.WqeBytes]byte
	blocks  uint16 // of the ring [T14]
	plan    core.TxPlan
	buf     memory.Store // the frame as gathered, or the source of a copy
	done    []byte       // the frame after its offloads
	pieces  [nicspec.SegMax]txPiece
	count   int // of pieces that may be read

	reading  int        // reads outstanding
	asked    bool       // a piece was asked for
	fails    statusMask // of reads that failed
	possible statusMask // of reads that may have failed

	finished bool // the offloads were done
	status   nicspec.Status
	frame    []byte

	never   bool           // its queue stopped before it
	retired bool           // it is over
	over    int64          // in this cycle
	ended   nicspec.Status // with this status, if a read of it had failed

	pushed bool // came with its doorbell, and was not read

	left bool  // its frame has left
	sent int   // bytes
	gone int64 // in this cycle

	copy copyState

	// alt is the same entry under another value of a key that was written while
	// the entry was at work [T12]: a reading of it, as the entry itself is.
	alt *txEntry
}

// maxReadings is how many readings of an entry are followed.
const maxReadings = 4

// txPiece is one piece of a frame.
type txPiece struct {
	bus    uint64
	len    int
	off    int // in the frame
	asked  memory.Set
	got    memory.Set
	bad    []badPart // of asked, that failed
	open   bool      // it may be read
	shares []share   // of asked, what may have been for other places
}

// badPart is a part of a piece whose read failed.
type badPart struct {
	lo, hi int
	status nicspec.Status
}

func (e *txEntry) reset(q *entryQueue, index uint16, now int64) {
	old := *e
	*e = txEntry{queue: q, index: index, fetched: now, over: forever, buf: old.buf, done: old.done}
	e.copy.wrote, e.copy.seen = old.copy.wrote.Emptied(), old.copy.seen.Emptied()
	for i := range e.pieces {
		o := &old.pieces[i]
		e.pieces[i] = txPiece{asked: o.asked.Emptied(), got: o.got.Emptied(), bad: o.bad[:0], shares: o.shares[:0]}
	}
	if e.buf.Flat == nil {
		e.buf.Flat = make([]byte, nicspec.FrameMax)
	}
}

// decode finds what an entry asks for.
func (es *Entries) decode(e *txEntry, keys core.KeyTable) {
	core.DecodeWqe(e.raw[:int(e.blocks)*nicspec.WqeBytes], keys, es.limits, &e.plan)
	e.plan.ECN = e.queue.ctx.EcnMode
}

// begin decodes an entry and lets the device read its pieces [T3, T4].
func (es *Entries) begin(e *txEntry, keys core.KeyTable) {
	es.decode(e, keys)
	p := &e.plan
	switch {
	case p.Send:
		copy(e.buf.Flat, p.Inline[:p.InlineLen])
		for i := range p.NumPieces {
			s := &p.Pieces[i]
			e.pieces[i].bus, e.pieces[i].len, e.pieces[i].off = s.Bus, s.Len, s.Off
		}
		e.count = p.NumPieces
		e.queue.sends = true
	case p.Copy:
		es.beginCopy(e)
	case p.Status != nicspec.StatusOk && nicspec.Wqe(e.raw[:]).Opcode() == nicspec.OpcodeSend:
		e.readable(keys)
	}
	for i := range e.count {
		s := &e.pieces[i]
		es.read.Add(s.bus, s.len, e.owner(i))
		s.open = true
	}
}

// alternate gives an entry at work another reading, under other keys [T12].
func (es *Entries) alternate(e *txEntry, keys core.KeyTable) {
	if op := nicspec.Wqe(e.raw[:]).Opcode(); e.left || op == nicspec.OpcodeNop || e.plan.Status == nicspec.StatusBadOpcode {
		return
	}
	a := es.entries.Get()
	a.reset(e.queue, e.index, e.fetched)
	a.raw, a.blocks = e.raw, e.blocks
	es.decode(a, keys)
	n, last := 1, e
	for x := e; x != nil; x = x.alt {
		if x.plan == a.plan {
			es.entries.Put(a)
			return
		}
		last = x
		n++
	}
	if n > maxReadings {
		es.log.Note("entry %d of transmit queue %d: its memory keys are rewritten again and again while it is at work; not all values are followed",
			e.index, e.queue.id)
		es.entries.Put(a)
		return
	}
	a.never = e.never
	es.begin(a, keys)
	last.alt = a
	if a.never {
		es.withhold(a)
	}
}

func (e *txEntry) owner(piece int) owner {
	return owner{Kind: memory.Piece, Part: uint8(piece), Queue: uint16(e.queue.id), Index: e.index, Entry: e}
}

// readable finds the pieces of an entry that fails which the device may read
// all the same [T4].
func (e *txEntry) readable(keys core.KeyTable) {
	w, raw := nicspec.Wqe(e.raw[:]), core.WorkEntry(e.raw[:int(e.blocks)*nicspec.WqeBytes])
	slot, off := (int(w.InlineLen())+nicspec.WqeSlotBytes-1)/nicspec.WqeSlotBytes, 0
	if need := len(e.pieces) * nicspec.FrameMax; len(e.buf.Flat) < need {
		e.buf.Flat = make([]byte, need)
	}
	for range min(int(w.Nseg()), len(e.pieces)) {
		if slot >= raw.Slots() {
			return
		}
		s := raw.Seg(slot)
		slot++
		if s.Len() == 0 || s.Key()>>16&0xff != 0 || s.Len() > nicspec.FrameMax {
			continue
		}
		if bus, status := keys.Translate(s.Key(), s.Addr(), s.Len()); status == nicspec.StatusOk {
			e.pieces[e.count].bus, e.pieces[e.count].len, e.pieces[e.count].off = bus, int(s.Len()), off
			off += int(s.Len())
			e.count++
		}
	}
}

// release ends an entry. What was read for it may turn out to have been for
// another: then it is kept for a while.
func (es *Entries) release(e *txEntry) {
	es.at--
	for x := e; x != nil; x = x.alt {
		es.closeDest(x)
		x.over = es.now
	}
	if e.left && es.retired.Len() == 0 && e.mayShare() {
		es.takeEarliest(e)
		es.dropReadings(e, nil)
		return
	}
	if e.left && !e.mayShare() || !e.asked && !es.overlaps(e) {
		es.dropReadings(e, nil)
		return
	}
	es.dropReadings(e, e)
	es.keep(e)
}

// keep keeps an entry that is over for what was read for it.
func (es *Entries) keep(e *txEntry) {
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
	since := es.now
	for k := range es.queues {
		q := es.queues[k]
		for i := q.oldest; q.open && i != q.ctx.PI; i = q.after(i) {
			if e := q.slot(i).entry; e != nil {
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
func (es *Entries) overlaps(e *txEntry) bool {
	for i := range e.count {
		for at, p := 0, &e.pieces[i]; at < p.len; at++ {
			addr := p.bus + uint64(at)
			if es.holders(e, addr, 1, func(place) bool { return true }) {
				return true
			}
			at += es.uniform(addr, p.len-at) - 1
		}
	}
	return false
}

// mayShare reports whether a read that is taken for an entry's may have been for
// another.
func (e *txEntry) mayShare() bool {
	for i := range e.count {
		if len(e.pieces[i].shares) > 0 {
			return true
		}
	}
	return false
}

// maxRetired is how many entries that are over are kept for what was read.
const maxRetired = 256

// dropReadings forgets the readings of an entry but one.
func (es *Entries) dropReadings(e, but *txEntry) {
	for e != nil {
		next := e.alt
		e.alt = nil
		switch {
		case e == but:
		case e.mayShare() && !e.left: // the device did not take this reading, and its reads were for others
			es.closeDest(e)
			e.over = min(e.over, es.now)
			es.keepRest(e, but)
		default:
			es.forgetEntry(e)
		}
		e = next
	}
}

// forgetEntry forgets one reading of an entry.
func (es *Entries) forgetEntry(e *txEntry) {
	es.withhold(e)
	es.closeDest(e)
	e.buf.Free()
	for i := range e.count {
		p := &e.pieces[i]
		if es.read.Remove(p.bus, p.len, e.owner(i)); e.reading > 0 {
			es.forgetReads(e, i)
		}
	}
	es.entries.Put(e)
}

// forgetReads lets the reads under way no longer go to a piece.
func (es *Entries) forgetReads(e *txEntry, piece int) {
	for i := range es.rd.tags {
		es.rd.tags[i].release(e, piece, 0, e.pieces[piece].len)
	}
}

// gathered reports whether all of a frame's bytes are there.
func (e *txEntry) gathered() bool {
	for i := range e.count {
		if !e.pieces[i].got.Exactly(e.pieces[i].len) {
			return false
		}
	}
	return true
}

// finish does the offloads of a gathered frame.
func (e *txEntry) finish() nicspec.Status {
	if e.finished {
		return e.status
	}
	e.finished = true
	p, raw := &e.plan, e.buf.Flat
	if p.IPCsum || p.UDPCsum || p.UDPZero || p.ICRC || p.CRC32C || p.ECN != 0 { // what was read stays as it is
		if e.done == nil {
			e.done = make([]byte, nicspec.FrameMax)
		}
		raw = e.done
		copy(raw, e.buf.Flat[:p.Length])
	}
	e.frame, e.status = core.FinishTx(p, raw)
	return e.status
}

// works reports whether an entry passes its checks and has something to do.
func (e *txEntry) works() bool { return e.plan.Send || e.plan.Copy }

// started reports whether the device must end an entry though its queue is
// being disabled [T11].
func (e *txEntry) started() bool { return e.asked || e.left }

// mayBeOver reports whether an entry may have ended without a trace.
func (e *txEntry) mayBeOver() bool {
	return !e.plan.Complete && (e.left || e.mayBeCopied())
}

// equals reports whether an entry's frame, as far as it is there, is data.
func (e *txEntry) equals(data []byte) bool {
	return e.plan.Send && e.fails == 0 && !e.left && e.gathered() && e.finish() == nicspec.StatusOk && bytes.Equal(e.frame, data)
}

// unreachable says that the device will not start an entry.
func (es *Entries) unreachable(e *txEntry) {
	for ; e != nil; e = e.alt {
		e.never = true
		es.withhold(e)
	}
}

// withhold ends what the device may read for an entry.
func (es *Entries) withhold(e *txEntry) {
	for i := range e.count {
		e.pieces[i].open = false
	}
}

// taken settles which reading of an entry the device took.
func (es *Entries) taken(s *txSlot, e *txEntry) {
	if s.entry.alt != nil {
		es.dropReadings(s.entry, e)
		s.entry = e
	}
}

// last is the entry's last block.
func (e *txEntry) last() uint16 { return e.index + e.blocks - 1 }
