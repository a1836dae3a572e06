package golden

import (
	"bytes"
	"fmt"

	"nictwin/golden/attribution"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// frameOut judges a frame that left the device.
func (r *Referee) frameOut() {
	r.log.Begin()
	if r.x.Frame.Queue == nicspec.PauseQueue && r.cfg.Build.Has(nicspec.PartPause) {
		r.pauseFrameOut()
	} else {
		r.queueFrameOut()
	}
	r.rx.ports[r.x.Port].out.Left(r.pauseAt())
}

// queueFrameOut judges a frame of a transmit queue [T5..T9].
func (r *Referee) queueFrameOut() {
	f := r.x.Frame
	r.stats.Compared++
	r.cnt.Step(nicspec.CntTxFrames.Index(r.x.Port), 1, r.now)
	r.cnt.Step(nicspec.CntTxBytes.Index(r.x.Port), uint64(len(f.Data)), r.now)
	q := (*txq)(nil)
	if f.Queue >= 0 {
		q = r.tx.queue(uint16(min(f.Queue, 1<<16-1)))
	}
	if q == nil {
		r.log.AddCrossing(verdict.Device)
		r.log.Fail(verdict.Device, "B3", "tuser", fmt.Sprintf("a queue of the build, 0..%d", len(r.tx.queues)-1),
			fmt.Sprint(f.Queue))
		return
	}
	r.log.AddCrossing(q.Domain())
	r.checkStopped(q)
	s := r.sender(q, f.Data)
	if s == nil {
		r.reportSent(q, nil, f.Data)
		return
	}
	e := s.Entry
	if !bytes.Equal(e.Frame, f.Data) && r.failFrame(q, e, f.Data) {
		r.reportSent(q, e, f.Data)
		return
	}
	if e.Plan.Port != r.x.Port {
		r.failEntry(e, q.Domain(), "T9", "port", fmt.Sprint(e.Plan.Port), fmt.Sprint(r.x.Port))
	}
	r.checkPushedEarly(e, "a frame")
	if e.Count > 0 {
		r.checkBusySinceRead(q.Domain(), "a frame that was read")
	}
	r.reportSent(q, e, f.Data)
	outcomes, _ := r.ent.Outcomes(e)
	e.Left, e.Sent, e.Gone = true, len(f.Data), r.now
	q.emit = e.Index + e.Blocks
	r.ent.Doubt(e, outcomes)
	r.ended(q, e.Index+e.Blocks)
	r.settleEntries(q)
}

// reportSent passes a frame that left to the hook OnFrame. e is its entry, nil if unknown.
func (r *Referee) reportSent(q *txq, e *attribution.Entry, got []byte) {
	if r.cfg.OnFrame == nil {
		return
	}
	r.tx.event = FrameEvent{Port: r.x.Port, Queue: q.ID, Cycle: r.now, Got: got, Mismatch: r.log.FirstMismatch()}
	if e != nil {
		r.tx.event.Expected, r.tx.event.ID = e.Frame,
			verdict.FrameID{Sent: true, Port: e.Plan.Port, N: nicspec.Wqe(e.Raw[:]).WqeId()}
		r.tx.event.Known, r.tx.event.Since = true, e.Fetched()
	}
	r.cfg.OnFrame(&r.tx.event)
}

// sender finds the entry that has sent a frame: the next one of the queue, except entries that send none, that may have
// failed, or that send this frame to another port. It reports a mismatch if no entry fits.
func (r *Referee) sender(q *txq, data []byte) *attribution.Slot {
	if s := r.plainSender(q, data); s != nil {
		return s
	}
	if r.acceptPush(q) { // an entry without pieces shows by its frame alone that its doubtful push was accepted
		if s := r.plainSender(q, data); s != nil {
			return s
		}
	}
	if r.passDoubtful(q, data) {
		return r.sender(q, data)
	}
	return r.unclearSender(q, data)
}

// unclearSender does the same as function `sender`, but moves reads between entries where that is needed.
func (r *Referee) unclearSender(q *txq, data []byte) *attribution.Slot {
	var failed *attribution.Entry
	var elsewhere *attribution.Slot // an entry with this frame for another port
	for i := q.emit; i != q.Ctx.PI; i = q.After(i) {
		s := q.Slot(i)
		e := s.Entry
		switch {
		case e == nil:
			r.failSender(q, failed, "T1", "frame", fmt.Sprintf("entry %d read before its frame leaves", i))
			return nil
		case e.Left:
			continue
		case e.Never:
			r.failSender(q, e, "T2", "frame", "none: the queue stopped before this entry, its ring could not be read")
			return nil
		case e.Plan.Port == r.x.Port && r.ent.Sends(s, data):
			return s
		case elsewhere == nil && e.Equals(data):
			elsewhere = s
		}
		m, wait := r.ent.Outcomes(e)
		due := wait || m == attribution.StatusSet(nicspec.StatusOk) && e.Plan.Send
		switch {
		case due && r.laterSends(q, e, data) && r.endWithoutFrame(e):
			failed = e
		case wait:
			r.failEarly(q, e)
			return nil
		case due:
			return s
		case !m.Has(nicspec.StatusOk):
			failed = e
		}
	}
	if r.acceptPush(q) {
		return r.sender(q, data)
	}
	if elsewhere == nil {
		r.failNoSender(q, failed)
	}
	return elsewhere
}

// failEarly reports a frame that left although entry e, which its queue has to end first, cannot have ended yet.
func (r *Referee) failEarly(q *txq, e *attribution.Entry) {
	if e.Plan.Copy {
		r.failSender(q, e, "D8", "frame", "after the copies before it in its queue have ended")
		return
	}
	r.failSender(q, e, "P5", "frame", "all reads of the entry completed before its frame leaves")
}

// failNoSender reports a frame after the last entry that could have sent one. failed is the last
// entry that failed, nil if none did.
func (r *Referee) failNoSender(q *txq, failed *attribution.Entry) {
	if failed == nil {
		r.failSender(q, nil, "T1", "frame", "none: no entry is left to send one")
		return
	}
	m, _ := r.ent.Outcomes(failed)
	want := fmt.Sprintf("none: entry %d fails with %v", failed.Index, m)
	r.failSender(q, failed, failed.RuleOfStatus(m.First()), "frame", want)
}

// plainSender does the same as function `sender`, but moves no reads between entries and reports nothing.
func (r *Referee) plainSender(q *txq, data []byte) *attribution.Slot {
	for i := q.emit; i != q.Ctx.PI; i = q.After(i) {
		s := q.Slot(i)
		if s.Entry == nil || s.Entry.Never {
			return nil
		}
		for e := s.Entry; e != nil; e = e.Alt {
			if e.Plan.Port == r.x.Port && e.Equals(data) {
				r.ent.TakeReading(s, e)
				return s
			}
		}
		if m, wait := r.ent.Outcomes(s.Entry); !s.Entry.Left && (wait || m.Has(nicspec.StatusOk) && s.Entry.Plan.Send) {
			return nil
		}
	}
	return nil
}

// passDoubtful reassigns the frame of a doubtful entry to the next entry with the same frame, its twin, if
// these bytes show that the twin sent it: they fit an entry after the twin, and none that can be next as long as
// the doubtful entry keeps its frame. Of several doubtful entries it takes the latest.
func (r *Referee) passDoubtful(q *txq, data []byte) bool {
	var found *attribution.Entry
	for i := q.Oldest; i != q.emit; i = q.After(i) {
		e := q.Slot(i).Entry
		if e == nil {
			return false
		}
		if e.Doubtful && r.ent.FitsBehindTwin(e, r.x.Port, data) {
			found = e
		}
	}
	return found != nil && r.ent.NextWith(&q.Queue, q.emit, r.x.Port, data) == nil && r.passOn(q, found)
}

// passOn reassigns the frame of a doubtful entry to the next entry with the same frame, and reports whether
// there is one.
func (r *Referee) passOn(q *txq, e *attribution.Entry) bool {
	to := r.ent.PassOn(e)
	if to == nil {
		return false
	}
	if next := to.Index + to.Blocks; int16(next-q.emit) > 0 {
		q.emit = next
		r.ended(q, next)
	}
	return true
}

// laterSends reports whether an entry after e may send a frame of this length.
func (r *Referee) laterSends(q *txq, e *attribution.Entry, data []byte) bool {
	for i := q.After(e.Index); i != q.Ctx.PI; i = q.After(i) {
		for o := q.Slot(i).Entry; o != nil; o = o.Alt {
			if o.Plan.Send && !o.Left && o.Sized(len(data)) {
				return true
			}
		}
	}
	return false
}

// endWithoutFrame finds a way in which an entry has ended without a frame, since a later entry's frame has left: as
// a complete copy, by failed reads, or by failed offloads. It reports whether there is one.
func (r *Referee) endWithoutFrame(e *attribution.Entry) bool {
	for x := e; x != nil; x = x.Alt {
		if x.Plan.Copy && r.claimCopy(x) || r.ent.AssignAnyFailed(x) || x.Plan.Send && r.ent.AssignBadOffload(x) {
			return true
		}
	}
	return false
}

// failSender reports a frame that no entry of its queue can have sent.
func (r *Referee) failSender(q *txq, e *attribution.Entry, rule, field, want string) {
	data := r.x.Frame.Data
	if o := r.otherQueue(q, data); o != nil {
		r.failTuser(o)
		return
	}
	var about []string
	s := verdict.Subject{Index: verdict.NoIndex}
	if e != nil {
		about, s = append(about, e.Describe()), e.Subject()
	}
	r.log.FailOf(s, q.Domain(), rule, field, want, fmt.Sprintf("a frame of %d B left", len(data)), about...)
}

// failFrame reports a frame that differs from the one that was due. It returns true if the frame is that of another
// entry.
func (r *Referee) failFrame(q *txq, e *attribution.Entry, got []byte) (other bool) {
	if o := r.otherQueue(q, got); o != nil {
		r.failTuser(o)
		return true
	}
	if later := r.laterEntry(q, e, got); later != nil {
		r.log.FailOf(e.Subject(), q.Domain(), "T1", "order", fmt.Sprintf("the frame of entry %d", e.Index),
			fmt.Sprintf("that of entry %d", later.Index),
			e.Describe(), later.Describe())
		later.Left, later.Sent = true, len(got)
		return true
	}
	if len(got) != len(e.Frame) {
		r.failEntry(e, q.Domain(), "T5", "frame length", fmt.Sprint(len(e.Frame)), fmt.Sprint(len(got)))
		return false
	}
	i := verdict.FirstDifference(e.Frame, got)
	var h core.Headers
	core.Parse(e.Frame, r.ver.Now().RocePort, &h)
	r.failEntry(e, q.Domain(), ruleOfByte(e, &h, i), verdict.FieldAt(e.Frame, &h, i), verdict.ByteOf(e.Frame[i], i),
		verdict.ByteOf(got[i], i))
	return false
}

// laterEntry finds an entry after e that sends this frame.
func (r *Referee) laterEntry(q *txq, e *attribution.Entry, data []byte) *attribution.Entry {
	for i := q.After(e.Index); i != q.Ctx.PI; i = q.After(i) {
		if later := q.Slot(i).Entry; later != nil && later.Equals(data) {
			return later
		}
	}
	return nil
}

// ruleOfByte returns the rule that determines a byte of a frame.
func ruleOfByte(e *attribution.Entry, h *core.Headers, at int) string {
	p := &e.Plan
	switch field := verdict.FieldAt(e.Frame, h, at); {
	case p.CRC32C && at >= p.CrcOff && at < p.CrcOff+4:
		return "X1"
	case p.ECN != 0 && (field == "ipv4.tos" || field == "ipv4.csum" && !p.IPCsum || field == "ipv6.version_class_flow"):
		return "E2"
	case p.Append && at >= p.Length && field != "icrc":
		return "T15"
	case field == "icrc" && p.ICRC, field == "udp.csum" && (p.UDPCsum || p.UDPZero), field == "ipv4.csum" && p.IPCsum:
		return "T8"
	}
	return "T5"
}

// otherQueue finds an entry of another queue that has this frame as its next.
func (r *Referee) otherQueue(q *txq, data []byte) *attribution.Entry {
	for i := range r.tx.queues {
		o := &r.tx.queues[i]
		if o == q || !o.Open {
			continue
		}
		for k := o.emit; k != o.Ctx.PI; k = o.After(k) {
			e := o.Slot(k).Entry
			if e == nil {
				break
			}
			if e.Equals(data) {
				return e
			}
			if e.Plan.Send && !e.Left && e.Fails == 0 {
				break
			}
		}
	}
	return nil
}

// failTuser reports a frame that left with a wrong queue number, and attributes it to entry e of the right queue.
func (r *Referee) failTuser(e *attribution.Entry) {
	d := e.Queue.Domain()
	r.log.AddCrossing(d)
	r.failEntry(e, d, "B3", "tuser", fmt.Sprint(e.Queue.ID), fmt.Sprint(r.x.Frame.Queue))
	e.Left, e.Sent = true, len(r.x.Frame.Data)
	q := r.tx.of(e)
	q.emit = e.Index + e.Blocks
	r.ended(q, e.Index+e.Blocks)
	r.settleEntries(q)
}
