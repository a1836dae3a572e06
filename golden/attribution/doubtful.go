package attribution

import (
	"bytes"

	"nictwin/models/nic/nicspec"
)

// Doubt marks e as doubtful if the frame that just left for it may belong to a later entry with the same frame, its
// twin. outcomes are the statuses with which e might have ended before its frame left.
//
// A frame whose bytes fit several entries of a queue is attributed to the earliest. Where a read of that entry may
// have timed out [P6], the entry may have ended without a frame. It stays doubtful until a completion entry or a
// later frame decides, or until the ring has wrapped.
func (es *Entries) Doubt(e *Entry, outcomes Statuses) {
	e.Doubtful = outcomes&^StatusSet(nicspec.StatusOk) != 0 && es.nextTwin(e) != nil
}

// nextTwin returns the first later entry that may have sent e's frame, its twin, or nil.
func (es *Entries) nextTwin(e *Entry) *Slot {
	return es.NextWith(e.Queue, e.Index+e.Blocks, e.Plan.Port, e.Frame)
}

// NextWith returns the first entry from an index on that may send these bytes to a port, provided
// that all entries before it have sent the same or may end without a frame; else nil.
func (es *Entries) NextWith(q *Queue, from uint16, port int, data []byte) *Slot {
	for i := from; i != q.Ctx.PI; i = q.After(i) {
		s := q.Slot(i)
		switch e := s.Entry; {
		case e == nil || e.Never:
			return nil
		case e.Left && e.Plan.Send:
			if e.Plan.Port != port || !bytes.Equal(e.Frame, data) {
				return nil
			}
			continue
		}
		if readingWith(s, port, data) != nil {
			return s
		}
		if m, wait := es.Outcomes(s.Entry); wait || s.Entry.Plan.Send && m == StatusSet(nicspec.StatusOk) {
			return nil
		}
	}
	return nil
}

// readingWith returns the reading (Entry.Alt) of an entry that sends these bytes to a port, or nil.
func readingWith(s *Slot, port int, data []byte) *Entry {
	for e := s.Entry; e != nil; e = e.Alt {
		if e.Plan.Port == port && e.Equals(data) {
			return e
		}
	}
	return nil
}

// PassOn reassigns the frame of a doubtful entry to the next entry that it fits and returns that
// entry, or nil.
func (es *Entries) PassOn(e *Entry) *Entry {
	s := es.nextTwin(e)
	if !e.Doubtful || s == nil {
		return nil
	}
	outcomes, _ := es.Outcomes(s.Entry)
	es.TakeReading(s, readingWith(s, e.Plan.Port, e.Frame))
	to := s.Entry
	to.Left, to.Sent, to.Gone = true, e.Sent, es.Now
	e.Left, e.Sent, e.Gone, e.Doubtful = false, 0, 0, false
	es.Doubt(to, outcomes)
	return to
}

// FitsBehindTwin reports whether these bytes may be the next frame once a doubtful entry's frame is
// reassigned to a later entry.
func (es *Entries) FitsBehindTwin(e *Entry, port int, data []byte) bool {
	for s := es.nextTwin(e); s != nil; s = es.NextWith(e.Queue, s.Entry.Index+s.Entry.Blocks, e.Plan.Port, e.Frame) {
		if es.NextWith(e.Queue, s.Entry.Index+s.Entry.Blocks, port, data) != nil {
			return true
		}
		if m, _ := es.Outcomes(s.Entry); m == StatusSet(nicspec.StatusOk) {
			return false
		}
	}
	return false
}
