package golden

import (
	"bytes"

	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

// txEntry is one work entry that the device has read.
type txEntry struct {
	queue   *txq
	index   uint16
	fetched int64 // cycle
	raw     [nicspec.WqeBytes]byte
	plan    nic.TxPlan
	buf     []byte // the frame as gathered
	done    []byte // the frame after its offloads
	pieces  [nicspec.WqeSlots]txPiece
	count   int // of pieces that may be read

	reading int        // reads outstanding
	asked   bool       // a piece was asked for
	fails   statusMask // of reads that failed
	maybe   statusMask // of reads that may have failed

	finished bool // the offloads were done
	status   nicspec.Status
	frame    []byte

	never bool // its queue stopped before it
	ghost bool // it is over

	left bool // its frame has left
	sent int  // bytes

	// alt is the same entry under another value of a key that was written while
	// the entry was at work [T12]: a reading of it, as the entry itself is.
	alt *txEntry
}

// maxReadings is how many readings of an entry are followed.
const maxReadings = 4

// txPiece is one piece of a frame.
type txPiece struct {
	bus   uint64
	len   int
	off   int // in the frame
	asked ranges
	got   ranges
	bad   []badPart // of asked, that failed
	open  bool      // in the page map
}

// badPart is a part of a piece whose read failed.
type badPart struct {
	lo, hi int
	status nicspec.Status
}

// statusMask is a set of statuses.
type statusMask uint32

func statusBit(s nicspec.Status) statusMask { return 1 << s }

func (m statusMask) has(s nicspec.Status) bool { return s < 32 && m>>s&1 != 0 }

// first is the lowest status of the set.
func (m statusMask) first() (s nicspec.Status) {
	for m != 0 && !m.has(s) {
		s++
	}
	return s
}

func (m statusMask) String() string {
	out := ""
	for s := nicspec.Status(0); m>>s != 0; s++ {
		if m.has(s) {
			if out != "" {
				out += " or "
			}
			out += s.String()
		}
	}
	return out
}

func (e *txEntry) reset(q *txq, index uint16, now int64) {
	old := *e
	*e = txEntry{queue: q, index: index, fetched: now, buf: old.buf, done: old.done}
	for i := range e.pieces {
		o := &old.pieces[i]
		e.pieces[i] = txPiece{asked: ranges{o.asked.s[:0]}, got: ranges{o.got.s[:0]}, bad: o.bad[:0]}
	}
	if e.buf == nil {
		e.buf = make([]byte, nicspec.FrameMax)
	}
}

// begin decodes an entry and lets the device read its pieces [T3, T4].
func (r *Referee) begin(e *txEntry, keys nic.KeyTable) {
	nic.DecodeWqe(&e.raw, keys, r.tx.limits, &e.plan)
	p := &e.plan
	switch {
	case p.Send:
		copy(e.buf, p.Inline[:p.InlineLen])
		for i := range p.NumPieces {
			s := &p.Pieces[i]
			e.pieces[i].bus, e.pieces[i].len, e.pieces[i].off = s.Bus, s.Len, s.Off
		}
		e.count = p.NumPieces
	case p.Status != nicspec.StatusOk && p.Status != nicspec.StatusBadOpcode:
		e.readable(keys)
	}
	for i := range e.count {
		s := &e.pieces[i]
		r.read.add(s.bus, s.len, e.owner(i))
		s.open = true
	}
}

// alternate gives an entry at work another reading, under other keys [T12].
func (r *Referee) alternate(e *txEntry, keys nic.KeyTable) {
	if e.left || nicspec.Wqe(e.raw[:]).Opcode() != nicspec.OpcodeSend {
		return
	}
	a := r.tx.entries.get()
	a.reset(e.queue, e.index, e.fetched)
	a.raw = e.raw
	nic.DecodeWqe(&a.raw, keys, r.tx.limits, &a.plan)
	n, last := 1, e
	for x := e; x != nil; x = x.alt {
		if x.plan == a.plan {
			r.tx.entries.put(a)
			return
		}
		last = x
		n++
	}
	if n > maxReadings {
		r.note("entry %d of transmit queue %d: its memory keys are rewritten again and again while it is at work; not all values are followed",
			e.index, e.queue.id)
		r.tx.entries.put(a)
		return
	}
	a.never = e.never
	r.begin(a, keys)
	last.alt = a
	if a.never {
		r.withhold(a)
	}
}

func (e *txEntry) owner(piece int) owner {
	return owner{kind: ownsPiece, part: uint8(piece), queue: uint16(e.queue.id), index: e.index, entry: e}
}

// readable finds the pieces of an entry that fails which the device may read
// all the same [T4].
func (e *txEntry) readable(keys nic.KeyTable) {
	w := nicspec.Wqe(e.raw[:])
	const header = nicspec.WqeBytes - nicspec.WqeSlots*nicspec.WqeSlotBytes
	slot, off := (int(w.InlineLen())+nicspec.WqeSlotBytes-1)/nicspec.WqeSlotBytes, 0
	if need := nicspec.WqeSlots * nicspec.FrameMax; len(e.buf) < need {
		e.buf = make([]byte, need)
	}
	for range w.Nseg() {
		if slot >= nicspec.WqeSlots {
			return
		}
		s := nicspec.Seg(e.raw[header+slot*nicspec.WqeSlotBytes:])
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

// release ends an entry. One that sent nothing becomes a ghost if reads were
// attributed to it: they may turn out to have been another's.
func (r *Referee) release(e *txEntry) {
	r.tx.at--
	if e.left || !e.asked {
		r.dropReadings(e, nil)
		return
	}
	r.dropReadings(e, e)
	r.withhold(e)
	e.ghost = true
	if r.tx.ghosts.n == maxGhosts {
		r.forgetEntry(r.tx.ghosts.pop())
	}
	r.tx.ghosts.push(e)
}

// maxGhosts is how many entries that are over are kept for what was read.
const maxGhosts = 64

// dropReadings forgets the readings of an entry but one.
func (r *Referee) dropReadings(e, but *txEntry) {
	for e != nil {
		next := e.alt
		e.alt = nil
		if e != but {
			r.forgetEntry(e)
		}
		e = next
	}
}

// forgetEntry forgets one reading of an entry.
func (r *Referee) forgetEntry(e *txEntry) {
	r.withhold(e)
	if e.reading > 0 {
		for i := range r.rd.tags {
			for k := range r.rd.tags[i].dest {
				if t := &r.rd.tags[i].dest[k]; t.entry == e {
					t.entry = nil
				}
			}
		}
	}
	r.tx.entries.put(e)
}

// unreachable says that the device will not start an entry.
func (r *Referee) unreachable(e *txEntry) {
	for ; e != nil; e = e.alt {
		e.never = true
		r.withhold(e)
	}
}

// withhold ends what the device may read for an entry.
func (r *Referee) withhold(e *txEntry) {
	for i := range e.count {
		if s := &e.pieces[i]; s.open {
			r.read.remove(s.bus, s.len, e.owner(i))
			s.open = false
		}
	}
}

// pieceChoice is the piece that a read most likely belongs to, when several
// entries name the same memory.
type pieceChoice struct {
	entry *txEntry
	piece int
	score int
}

// consider weighs one piece: requests mostly go on where the one before ended,
// and end at the end of the piece or where a split is due.
func (c *pieceChoice) consider(node *pageNode, d *readReq, mrrs int) {
	e, i := node.owner.entry, int(node.owner.part)
	p := &e.pieces[i]
	off := int(d.addr - p.bus)
	if !p.asked.free(off, off+d.n) {
		return
	}
	score := 1
	if off == p.asked.end() {
		score += 4
	}
	if off > 0 { // it is being read
		score++
	}
	if e.askedBefore(i) {
		score += 2
	}
	page := tlp.PageBytes - int(d.addr&(tlp.PageBytes-1))
	if off+d.n == p.len || d.n == page || d.n > mrrs-tlp.DWBytes {
		score += 2
	}
	if e.plan.Send { // what is to fail may have been read as well, but need not
		score += 16
	}
	q := e.queue
	if q.slot(e.index).entry == e { // its first reading
		score += 8
	}
	if e.index == q.oldest || q.slot(q.oldest).entry != nil && q.slot(e.index-1).entry != nil { // not before its time
		score += 32
	}
	sooner := c.entry != nil && c.entry.queue == q && score == c.score && int16(e.index-c.entry.index) < 0
	if score > c.score || sooner {
		c.entry, c.piece, c.score = e, i, score
	}
}

// askedBefore reports whether the pieces before one have been asked for.
func (e *txEntry) askedBefore(piece int) bool {
	for i := range piece {
		if e.pieces[i].open {
			return false
		}
	}
	return true
}

// pieceRead takes a read of a piece.
func (r *Referee) pieceRead(e *txEntry, piece int, d *readReq) {
	d.stray, d.kind, d.queue, d.epoch = false, ownsPiece, uint16(e.queue.id), e.queue.epoch
	r.ask(e, piece, d, &d.dest[0])
	r.past.note(e.queue.domain(), &r.x)
	first := e.queue.slot(e.index).entry
	if first == e && e.alt == nil {
		return
	}
	k := 1
	for other := first; other != nil && k < maxReadings; other = other.alt {
		if other != e && r.askAlso(other, d, &d.dest[k]) {
			k++
		}
	}
}

// askAlso notes a read for another reading of its entry, if it fits.
func (r *Referee) askAlso(e *txEntry, d *readReq, to *pieceDest) bool {
	for i := range e.count {
		p := &e.pieces[i]
		off := int(d.addr - p.bus)
		if d.addr >= p.bus && off+d.n <= p.len && p.asked.free(off, off+d.n) {
			r.ask(e, i, d, to)
			return true
		}
	}
	return false
}

// ask notes that bytes of a piece are being read.
func (r *Referee) ask(e *txEntry, piece int, d *readReq, to *pieceDest) {
	p := &e.pieces[piece]
	off := int(d.addr - p.bus)
	p.asked.add(off, off+d.n)
	if p.asked.exactly(p.len) {
		r.read.remove(p.bus, p.len, e.owner(piece))
		p.open = false
	}
	*to = pieceDest{e, piece, p.off + off}
	e.reading++
	if !e.asked {
		e.asked = true
		r.startable(e)
	}
}

// startable checks that an entry may be started [T1].
func (r *Referee) startable(e *txEntry) {
	if r.tx.offSince <= e.fetched {
		r.fail(e.queue.domain(), "T1", "tx_enable", "1 before an entry is started", "0", e.describe())
	}
}

// bring stores what a read of a piece brought.
func (e *txEntry) bring(t *pieceDest, b []byte) {
	p := &e.pieces[t.piece]
	p.got.add(t.off-p.off, t.off-p.off+len(b))
	copy(e.buf[t.off:], b)
	t.off += len(b)
}

// failing notes that a read of a piece failed, or may have.
func (e *txEntry) failing(t *pieceDest, left int, s nicspec.Status, sure bool) {
	if sure {
		e.fails |= statusBit(s)
		p := &e.pieces[t.piece]
		p.bad = append(p.bad, badPart{t.off - p.off, t.off - p.off + left, s})
	} else {
		e.maybe |= statusBit(s)
	}
}

// gathered reports whether all of a frame's bytes are there.
func (e *txEntry) gathered() bool {
	for i := range e.plan.NumPieces {
		if !e.pieces[i].got.exactly(e.pieces[i].len) {
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
	p, raw := &e.plan, e.buf
	if p.IPCsum || p.UDPCsum || p.UDPZero || p.ICRC { // what was read stays as it is
		if e.done == nil {
			e.done = make([]byte, nicspec.FrameMax)
		}
		raw = e.done
		copy(raw, e.buf[:p.Length])
	}
	e.frame, e.status = nic.FinishTx(p, raw)
	return e.status
}

// started reports whether the device must end an entry though its queue is
// being disabled [T11].
func (e *txEntry) started() bool { return e.asked || e.left }

// mayBeOver reports whether an entry may have ended without a trace.
func (e *txEntry) mayBeOver() bool {
	return !e.plan.Complete && e.left
}

// expected is what may become of an entry whose frame has not left: the
// statuses that it may end with. wait is set if it cannot have ended yet.
func (r *Referee) expected(e *txEntry) (m statusMask, wait bool) {
	if !e.plan.Send {
		return statusBit(e.plan.Status), false
	}
	m = e.fails | e.maybe | r.lateReads(e)
	if e.fails != 0 {
		return m, false
	}
	if e.gathered() {
		return m | statusBit(e.finish()), false
	}
	return m, m == 0
}

// lateReads is the timeout, if a read of the entry may have timed out by now.
func (r *Referee) lateReads(e *txEntry) statusMask {
	if e.reading == 0 {
		return 0
	}
	for i := range r.rd.tags {
		d := &r.rd.tags[i]
		if !d.open || r.now < d.issued+d.tLo {
			continue
		}
		for k := range d.dest {
			if d.dest[k].entry == e {
				return statusBit(nicspec.StatusCplTimeout)
			}
		}
	}
	return 0
}

// equals reports whether an entry's frame, as far as it is there, is data.
func (e *txEntry) equals(data []byte) bool {
	return e.plan.Send && e.fails == 0 && !e.left && e.gathered() && e.finish() == nicspec.StatusOk && bytes.Equal(e.frame, data)
}
