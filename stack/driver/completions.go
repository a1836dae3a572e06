package driver

import (
	"math"

	"nictwin/models/nic/nicspec"
)

// completions is the read cursor of a completion ring. It recognizes new entries by their phase bit [Q8].
type completions struct {
	life         uint // number of times the queue was enabled; a read begun in an earlier life is ignored
	clear        bool // the ring was cleared, so it holds no entries of an earlier life
	entryAt      [nicspec.CqeBytes]byte
	event        *Event           // the Event reported since the queue was enabled; nil: none
	eventStorage Event            // where event points
	take         func(cqe []byte) // takes one entry, in ring order

	taking   bool // takeEntries is on the stack, or its read is in flight
	left     int  // entries that takeEntries may still take
	async    bool // the read in flight has not ended during the call that began it
	arrived  bool // the read in flight has ended
	again    bool // Poll was called since the read began: an entry may have arrived
	readLife uint // value of the field `life` when the read began
	drained  func()
	read     func(error) // handles the end of a read
}

// Event reports that a read of a queue's ring failed [Q4]. The queue is then in state Failed; entries before Index may
// still complete.
type Event struct {
	Index  uint16         // index of the first descriptor or block that could not be read
	Status nicspec.Status // reason for the failure
}

// Prefetch begins to load the next completion entry, which the owner will poll soon.
func (r *Queue) Prefetch() {
	if r.ahead != nil {
		r.ahead.Prefetch(r.ring.NextCqe(), nicspec.CqeBytes)
	}
}

// Poll takes the completion entries that have arrived. With NoticePoll the queue's owner calls it.
func (r *Queue) Poll() { r.PollSome(math.MaxInt) }

// PollSome is Poll for at most n entries, the burst of a software receive path. Others stay in the ring.
func (r *Queue) PollSome(n int) {
	r.again, r.left = true, n
	if !r.taking && r.clear && r.state != Off && r.state != Closed {
		r.takeEntries()
	}
}

// takeEntries takes entries until it finds one that has not arrived, or may take no more.
func (r *Queue) takeEntries() {
	r.taking = true
	for r.left > 0 && r.readEntry() {
		if !r.takeEntry() {
			r.takenAll()
			return
		}
	}
	if r.left <= 0 {
		r.takenAll()
	}
}

// readEntry starts reading the next entry, and reports whether the read ended during the call. If not, entryRead
// continues.
func (r *Queue) readEntry() bool {
	r.again, r.arrived, r.readLife = false, false, r.life
	r.bus.Read(r.ring.NextCqe(), r.entryAt[:], r.read)
	r.async = !r.arrived
	return r.arrived
}

// entryRead handles the end of a read. If the read took time, takeEntries has returned, so entryRead continues its
// work.
func (r *Queue) entryRead(err error) {
	r.d.check(err)
	r.arrived = true
	if !r.async {
		return
	}
	r.async = false
	if r.takeEntry() {
		r.takeEntries()
	} else {
		r.takenAll()
	}
}

// takeEntry takes the entry just read if its phase bit says that it is new, and reports whether to read another.
func (r *Queue) takeEntry() bool {
	if r.d.err != nil {
		return false
	}
	if r.readLife != r.life || !r.ring.Take(r.entryAt[:]) {
		return r.again && r.clear
	}
	r.left--
	r.Prefetch() // entries come in groups: load the next one while this one is handled
	r.take(r.entryAt[:])
	return r.d.err == nil
}

func (r *Queue) takenAll() {
	r.taking = false
	if f := r.drained; f != nil {
		r.drained = nil
		f()
	}
}

// drain calls `done` when the driver has taken every completion entry that was written so far.
func (r *Queue) drain(done func()) {
	if r.state == Off || r.state == Closed {
		done()
		return
	}
	r.drained = done
	r.Poll()
}

// failed handles an Event; a repeated or impossible one breaks the given rule. It reports whether to notify the queue's
// owner.
func (r *Queue) failed(rule string, index uint16, status nicspec.Status) bool {
	switch {
	case r.event != nil:
		r.d.breach(rule, "%s queue %d: a second event, with status %v", r.ring.Kind(), r.cfg.Queue, status)
	case status < nicspec.StatusCplUnsupported || status > nicspec.StatusCplMalformed:
		r.d.breach(rule, "%s queue %d: event with status %v, which is not a read failure", r.ring.Kind(), r.cfg.Queue,
			status)
	case index-r.endedTo >= r.rung-r.endedTo:
		r.d.breach(rule, "%s queue %d: event at entry %d, but %s", r.ring.Kind(), r.cfg.Queue, index, r.unfinished())
	default:
		r.eventStorage = Event{index, status}
		r.event = &r.eventStorage
		if r.state == Running {
			r.state = Failed
		}
		return true
	}
	return false
}

// unclaimed ends the driver for an Event without a handler. Unless reads are made to fail on purpose, no read of the
// device can have failed.
func (r *Queue) unclaimed(rule string, status nicspec.Status) {
	if f := r.d.opts.ReadsMayFail; f != nil && f() {
		r.d.check(&UnclaimedEventError{r.ring.Kind(), r.cfg.Queue, status})
		return
	}
	r.d.breach(rule, "%s queue %d: event with status %v, but no read failed", r.ring.Kind(), r.cfg.Queue, status)
}

// mayComplete checks that the entry of n places at an index may complete now: its doorbell was rung, and no
// Event entry has reported that the queue failed before the end of the entry.
func (r *Queue) mayComplete(rule, eventRule string, index, n uint16) bool {
	ahead, last := index-r.endedTo, int(index-r.endedTo)+int(n)-1
	if ahead >= r.rung-r.endedTo || last >= int(r.rung-r.endedTo) {
		r.d.breach(rule, "%s queue %d: completion of entry %d, but %s", r.ring.Kind(), r.cfg.Queue, index,
			r.unfinished())
		return false
	}
	if r.event != nil && last >= int(r.event.Index-r.endedTo) {
		r.d.breach(eventRule, "%s queue %d: completion of entry %d after an event at entry %d", r.ring.Kind(),
			r.cfg.Queue, index, r.event.Index)
		return false
	}
	return true
}
