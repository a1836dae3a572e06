package attribution

import "nictwin/models/nic/nicspec"

// expected returns the statuses with which an entry whose frame has not left may end. wait is set if it cannot have
// ended yet.
func (es *Entries) expected(e *Entry) (m Statuses, wait bool) {
	if !e.Works() {
		return StatusSet(e.Plan.Status), false
	}
	m = e.Fails | e.possible | es.lateReads(e)
	if e.MayBeCopied() {
		m |= StatusSet(nicspec.StatusOk)
	}
	if e.Plan.Copy && es.Flushing { // [L2]
		return m | StatusSet(nicspec.StatusFlushed), false
	}
	if e.Fails != 0 {
		return m, false
	}
	if e.Plan.Send && e.gathered() {
		return m | StatusSet(e.finish()), false
	}
	return m, m == 0
}

// Outcomes joins what `expected` returns for all readings (Entry.Alt) of an entry. An entry whose frame has
// left ended with Ok.
func (es *Entries) Outcomes(e *Entry) (m Statuses, wait bool) {
	if e.Left {
		return StatusSet(nicspec.StatusOk), false
	}
	wait = true
	for ; e != nil; e = e.Alt {
		m1, wait1 := es.expected(e)
		m, wait = m|m1, wait && wait1
	}
	return m, wait
}

// Fence returns a fenced copy behind e in its queue that has certainly written, or nil.
// what is the output of e that would break the fence: "write" or "message".
func (es *Entries) Fence(e *Entry, what string) *Entry {
	q := e.Queue
	for i := q.After(e.Index); i != q.Ctx.PI; i = q.After(i) {
		f := q.Slot(i).Entry
		if f == nil {
			return nil
		}
		if f.Plan.Copy && f.Plan.Dma.Fence && !f.Copy.Wrote.Empty() && (what != "message" || !es.otherMessage(e)) {
			return f
		}
	}
	return nil
}

// otherMessage reports whether e's invalidation message may have come from another copy: one at work that names the
// same lines.
func (es *Entries) otherMessage(e *Entry) bool {
	return es.otherCopies(e, func(o *Entry) bool {
		return o.Plan.Dma.Lines == e.Plan.Dma.Lines && o.Plan.Dma.Line == e.Plan.Dma.Line
	})
}

// Before returns an entry that keeps e from starting, or nil: Sends wait for earlier
// copies of their queue, and copies for earlier Sends [D8].
func (es *Entries) Before(e *Entry) *Entry {
	q := e.Queue
	if !q.Sends || !q.Copies {
		return nil
	}
	for i := q.Oldest; i != e.Index; i = q.After(i) {
		o := q.Slot(i).Entry
		if o == nil || o.Left || o.MayBeCopied() || !o.Works() || o.Plan.Copy == e.Plan.Copy {
			continue
		}
		if m, _ := es.Outcomes(o); m&^StatusSet(nicspec.StatusOk) == 0 && !es.mayHaveEnded(o) {
			return o
		}
	}
	return nil
}

// BytesToCopy returns how many bytes the copies at work have yet to write.
func (es *Entries) BytesToCopy() (n uint64) {
	for k := range es.queues {
		q := es.queues[k]
		for i := q.Oldest; q.Open && q.Copies && i != q.Ctx.PI; i = q.After(i) {
			if e := q.Slot(i).Entry; e != nil && e.Plan.Copy {
				n += uint64(e.Plan.Dma.Len - e.Copy.Wrote.Size())
			}
		}
	}
	return n
}

// mayHaveEnded reports whether an entry may have ended because of reads, or a message, that were attributed to other
// entries.
func (es *Entries) mayHaveEnded(e *Entry) bool {
	return e.Plan.Dma.Lines != 0 && es.otherMessage(e) || es.others(e, func(o *Entry) bool {
		for i := range e.Count {
			for k := range o.Count {
				if overlap(e.Pieces[i].bus, e.Pieces[i].len, o.Pieces[k].bus, o.Pieces[k].len, &o.Pieces[k].asked) {
					return true
				}
			}
		}
		return false
	})
}

// otherCopies calls f for the copies at work except e until it returns true.
func (es *Entries) otherCopies(e *Entry, f func(*Entry) bool) bool {
	for k := range es.queues {
		q := es.queues[k]
		for i := q.Oldest; q.Open && q.Copies && i != q.Ctx.PI; i = q.After(i) {
			if o := q.Slot(i).Entry; o != nil && o != e && o.Plan.Copy && o.Plan.Status == nicspec.StatusOk && f(o) {
				return true
			}
		}
	}
	return false
}

// lateReads returns CplTimeout if an outstanding read of the entry may have timed out by now, else
// no status.
func (es *Entries) lateReads(e *Entry) Statuses {
	if e.reading == 0 {
		return 0
	}
	for i := range es.Out.Tags {
		d := &es.Out.Tags[i]
		if !d.Open || es.Now < d.Issued+d.TLo {
			continue
		}
		for k := range d.dest {
			if d.dest[k].Entry == e {
				return StatusSet(nicspec.StatusCplTimeout)
			}
		}
	}
	return 0
}

// TakeMessage attributes an invalidation message to e that was attributed to another copy of the same lines, if there
// is one.
func (es *Entries) TakeMessage(e *Entry) {
	es.otherCopies(e, func(o *Entry) bool {
		if !o.Copy.MessageSent || o.Plan.Dma.Line != e.Plan.Dma.Line || o.Plan.Dma.Lines != e.Plan.Dma.Lines {
			return false
		}
		o.Copy.MessageSent, e.Copy.MessageSent, o.Left = false, true, false
		return true
	})
}
