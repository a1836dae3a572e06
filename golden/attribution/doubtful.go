package attribution

import (
	"bytes"

	"nictwin/models/nic/nicspec"
)

// A frame whose bytes fit several entries of a queue is taken for the earliest. Where a read of that one may have timed
// out [P6], it may have ended without a frame, and the frame may be a later one's: the entry is doubtful until a
// completion entry or a frame behind it decides, or the ring has gone round.

// Doubt notes whether the frame of an entry that has just left may be that of a later entry; outcomes are those of the
// entry before its frame left.
func (es *Entries) Doubt(e *Entry, outcomes Statuses) {
	e.Doubtful = outcomes&^StatusSet(nicspec.StatusOk) != 0 && es.nextTwin(e) != nil
}

// nextTwin returns the first entry behind one that may have sent its frame, or nil.
func (es *Entries) nextTwin(e *Entry) *Slot {
	return es.NextWith(e.Queue, e.Index+e.Blocks, e.Plan.Port, e.Frame)
}

// NextWith returns the first entry from an index on that may send these bytes to a port, if all entries before it have
// sent the same or may end without a frame; else nil.
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

// readingWith returns the reading of an entry that sends these bytes to a port, or nil.
func readingWith(s *Slot, port int, data []byte) *Entry {
	for e := s.Entry; e != nil; e = e.Alt {
		if e.Plan.Port == port && e.Equals(data) {
			return e
		}
	}
	return nil
}

// PassOn takes the frame of a doubtful entry for that of the next one that it fits, and returns that, or nil.
func (es *Entries) PassOn(e *Entry) *Entry {
	s := es.nextTwin(e)
	if !e.Doubtful || s == nil {
		return nil
	}
	outcomes, _ := es.Outcomes(s.Entry)
	es.Taken(s, readingWith(s, e.Plan.Port, e.Frame))
	to := s.Entry
	to.Left, to.Sent, to.Gone = true, e.Sent, es.Now
	e.Left, e.Sent, e.Gone, e.Doubtful = false, 0, 0, false
	es.Doubt(to, outcomes)
	return to
}

// FitsBehindTwin reports whether these bytes may be the next frame once a doubtful entry's is that of a later one.
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
