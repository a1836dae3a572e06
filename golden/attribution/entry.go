package attribution

import (
	"bytes"

	"nictwin/golden/cycles"
	"nictwin/golden/memory"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Entry is a work entry that the device has read.
type Entry struct {
	Queue   *Queue
	Index   uint16
	fetched int64 // cycle in which the last block of the entry came
	Raw     [nicspec.WqeBlocksMax * nicspec.WqeBytes]byte
	Blocks  uint16 // number of 64 B blocks [T14]
	Plan    core.TxPlan
	Buf     memory.Store // the frame as gathered, or the source of a copy
	done    []byte       // storage of the frame after its offloads
	Pieces  [nicspec.SegMax]Piece
	Count   int // number of pieces that may be read

	reading  int      // outstanding reads
	Asked    bool     // at least one piece was requested
	Fails    Statuses // statuses of failed reads
	possible Statuses // statuses with which further reads may have failed

	finished bool // the offloads were applied to the frame
	status   nicspec.Status
	Frame    []byte

	Never   bool           // the device does not start the entry: a read of its ring failed
	retired bool           // the entry is kept after its end because its reads may belong to other entries
	over    int64          // cycle in which the entry ended
	ended   nicspec.Status // status with which the entry ended, if a failed read caused the end

	Pushed bool // the entry came with its doorbell and was not read

	Left bool  // the entry's frame has left, or its copy is complete
	Sent int   // bytes of the frame that left
	Gone int64 // cycle in which the frame left

	Doubtful bool // the frame may belong to a later entry

	Copy CopyState

	// Alt is the next reading of the same entry, as this package calls it: the entry as decoded with another
	// value of a memory key that was written while the entry was at work [T12].
	Alt *Entry
}

func (e *Entry) reset(q *Queue, index uint16, now int64) {
	old := *e
	*e = Entry{Queue: q, Index: index, fetched: now, over: cycles.Forever, Buf: old.Buf, done: old.done}
	e.Copy.Wrote, e.Copy.Seen = old.Copy.Wrote.Emptied(), old.Copy.Seen.Emptied()
	for i := range e.Pieces {
		o := &old.Pieces[i]
		e.Pieces[i] = Piece{asked: o.asked.Emptied(), Got: o.Got.Emptied(), bad: o.bad[:0], shares: o.shares[:0]}
	}
	if e.Buf.Flat == nil {
		e.Buf.Flat = make([]byte, nicspec.FrameMax)
	}
}

// Fetched returns the cycle from which the device has the entry: its last block was read or pushed.
func (e *Entry) Fetched() int64 { return e.fetched }

func (e *Entry) owner(piece int) Owner {
	return Owner{Kind: memory.Piece, Part: uint8(piece), Queue: uint16(e.Queue.ID), Index: e.Index, Entry: e}
}

// readable finds the pieces that the device may read although the entry fails its checks [T4].
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

// mayShare reports whether a read attributed to this entry may belong to another entry.
func (e *Entry) mayShare() bool {
	for i := range e.Count {
		if len(e.Pieces[i].shares) > 0 {
			return true
		}
	}
	return false
}

// gathered reports whether all bytes of all pieces have come.
func (e *Entry) gathered() bool {
	for i := range e.Count {
		if !e.Pieces[i].Got.Exactly(e.Pieces[i].len) {
			return false
		}
	}
	return true
}

// finish applies the offloads to a gathered frame and returns their status.
func (e *Entry) finish() nicspec.Status {
	if e.finished {
		return e.status
	}
	e.finished = true
	p, raw := &e.Plan, e.Buf.Flat
	if p.IPCsum || p.UDPCsum || p.UDPZero || p.ICRC || p.CRC32C || p.ECN != 0 {
		// keep the bytes as read: the search may still need them
		if e.done == nil {
			e.done = make([]byte, nicspec.FrameMax)
		}
		raw = e.done
		copy(raw, e.Buf.Flat[:p.Length])
	}
	e.Frame, e.status = core.FinishTx(p, raw)
	return e.status
}

// Works reports whether an entry passes its checks and sends or copies.
func (e *Entry) Works() bool { return e.Plan.Send || e.Plan.Copy }

// Started reports whether the device must end the entry even though its queue is being disabled
// [T11].
func (e *Entry) Started() bool { return e.Asked || e.Left }

// MayBeOver reports whether the entry may have ended without any further output.
func (e *Entry) MayBeOver() bool {
	return !e.Plan.Complete && (e.Left || e.MayBeCopied())
}

// Equals reports whether the entry's frame is complete and equal to data.
func (e *Entry) Equals(data []byte) bool {
	return e.Plan.Send && e.Fails == 0 && !e.Left && e.gathered() && e.finish() == nicspec.StatusOk &&
		bytes.Equal(e.Frame, data)
}

// Last returns the index of the entry's last block.
func (e *Entry) Last() uint16 { return e.Index + e.Blocks - 1 }

// certain reports whether n bytes of a copy's source, from off on, have come and were certainly read for this copy.
func (e *Entry) certain(off, n int) bool {
	p := &e.Pieces[0]
	return p.Got.Has(off, off+n) && !p.hasShare(off, off+n)
}

// CopyState tracks the progress of a copy beyond its reads. The copy's source is the first piece of its entry;
// bytes of it are dropped once written.
type CopyState struct {
	Wrote       memory.Set // parts of the destination filled by writes that were certainly this copy's
	Seen        memory.Set // parts of the destination filled by writes that may be this copy's or another's
	MessageSent bool       // the copy's invalidation message has left
	Open        bool       // the copy's destination is writable
	Late        int        // number of reads issued after one failed [D3]
	Well        bool       // the copy ended with status Ok
	claim       *copyClaim // the copy's claim on shared writes; nil if it has none
}

func (e *Entry) dest() Owner {
	return Owner{Kind: memory.Copy, Queue: uint16(e.Queue.ID), Index: e.Index, Entry: e}
}

// Fits reports whether a copy may write these bytes now [D2].
func (e *Entry) Fits(off int, b []byte) bool {
	if !e.Copy.Wrote.Free(off, off+len(b)) {
		return false
	}
	return e.Pieces[0].Got.Has(off, off+len(b)) && e.Buf.Differs(off, b) == len(b)
}

// Copied reports whether the whole destination was written, by this copy or another.
func (e *Entry) Copied() bool {
	at, n := 0, e.Plan.Dma.Len
	for at < n {
		next := max(e.Copy.Wrote.Next(at), e.Copy.Seen.Next(at))
		if next == at {
			return false
		}
		at = next
	}
	return true
}

// MayBeCopied reports whether an entry is a copy that may be complete, though some of its writes
// may belong to another.
func (e *Entry) MayBeCopied() bool {
	return e.Plan.Copy && !e.Copy.Seen.Empty() && e.Fails == 0 && e.Copied() &&
		(e.Plan.Dma.Lines == 0 || e.Copy.MessageSent)
}

// mayDiffer reports whether the device may have read the entry's pieces by other reads than those attributed to it.
func (e *Entry) mayDiffer() bool {
	for i := range e.Count {
		p := &e.Pieces[i]
		if len(p.shares) > 0 || !p.asked.Exactly(p.len) {
			return true
		}
	}
	return false
}

// readings calls f for each reading (decoding, see Alt) of the entry, or for e alone if e is no longer in its
// slot.
func (e *Entry) readings(f func(*Entry)) {
	if len(e.Queue.Slots) > 0 {
		for x := e.Queue.Slot(e.Index).Entry; x != nil; x = x.Alt {
			if x == e {
				for x = e.Queue.Slot(e.Index).Entry; x != nil; x = x.Alt {
					f(x)
				}
				return
			}
		}
	}
	f(e)
}

// settledAt reports whether n bytes of a piece have certainly left the device: in a frame, or in a write that only
// this copy can have made.
func (e *Entry) settledAt(piece, at, n int) bool {
	return e.Left && e.Plan.Send || e.Plan.Copy && piece == 0 && !e.Copy.Wrote.Free(at, at+n)
}

// recount recomputes Fails and Asked from the entry's pieces.
func (e *Entry) recount() {
	e.Fails, e.Asked = 0, false
	for i := range e.Count {
		p := &e.Pieces[i]
		e.Asked = e.Asked || !p.asked.Empty()
		for _, b := range p.bad {
			e.Fails |= StatusSet(b.status)
		}
	}
}

// askedBefore reports whether all pieces before the given one have been requested.
func (e *Entry) askedBefore(piece int) bool {
	for i := range piece {
		if p := &e.Pieces[i]; !p.asked.Exactly(p.len) {
			return false
		}
	}
	return true
}

// had reports whether the device had this entry at work when it issued a read.
func (e *Entry) had(c *content) bool {
	return c.issued >= e.fetched && c.issued <= e.over && !e.Never
}

// sameAs reports whether two Entry values are readings (decodings, see Alt) of one entry.
func (e *Entry) sameAs(o *Entry) bool {
	return e == o || e.Queue == o.Queue && e.Index == o.Index && e.fetched == o.fetched && e.over == o.over
}

// reads reports whether the device may still read a piece of the entry.
func (e *Entry) reads(piece int) bool {
	return e.Pieces[piece].open && !e.Never && !e.retired && !e.Left
}

// pieceOf returns the piece that a byte of the frame comes from, -1 if it is inline.
func (e *Entry) pieceOf(at int) int {
	for i := range e.Count {
		if p := &e.Pieces[i]; at >= p.off && at < p.off+p.len {
			return i
		}
	}
	return -1
}

// Sized reports whether the frame that the entry sends can have n bytes.
func (e *Entry) Sized(n int) bool {
	least, most := e.Plan.Length, e.Plan.Length
	if e.Plan.Append { // the BTH gives the number of pad bytes, and the ICRC follows [T15]
		least, most = least+crcBytes, most+nicspec.AppendMax
	}
	if e.Plan.Pad {
		least, most = max(least, nicspec.FrameMin), max(most, nicspec.FrameMin)
	}
	return n >= least && n <= most
}

// Place is one byte of a piece of a work entry. At most one read fills it. docs/attribution.md states the
// assignment problem.
type Place struct {
	entry *Entry
	piece int
	at    int // offset in the piece
}

func (h Place) addr() uint64 { return h.entry.Pieces[h.piece].bus + uint64(h.at) }

// evenlyWritten returns how many of n bytes, beginning at a place, are like the first: all certainly written by the
// copy, or none.
func (h Place) evenlyWritten(n int) int {
	wrote := &h.entry.Copy.Wrote
	if !h.entry.Plan.Copy || h.piece != 0 {
		return n
	}
	if k := wrote.Next(h.at); k > h.at {
		return min(n, k-h.at)
	}
	return min(n, wrote.Room(h.at))
}

// contains reports whether the bytes `want` have come, from a place on.
func (h Place) contains(want []byte) bool {
	p := &h.entry.Pieces[h.piece]
	return p.Got.Has(h.at, h.at+len(want)) && h.entry.Buf.Differs(p.off+h.at, want) == len(want)
}
