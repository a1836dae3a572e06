package golden

import (
	"bytes"
	"fmt"

	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// frameOut judges a frame that left.
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
		r.log.Saw(verdict.Device)
		r.log.Fail(verdict.Device, "B3", "tuser", fmt.Sprintf("a queue of the build, 0..%d", len(r.tx.queues)-1), fmt.Sprint(f.Queue))
		return
	}
	r.log.Saw(q.domain())
	r.checkStopped(q)
	s := r.sender(q, f.Data)
	if s == nil {
		r.tellSent(q, nil, f.Data)
		return
	}
	e := s.entry
	if !bytes.Equal(e.frame, f.Data) && r.failFrame(q, e, f.Data) {
		r.tellSent(q, e, f.Data)
		return
	}
	if e.plan.Port != r.x.Port {
		r.failEntry(e, q.domain(), "T9", "port", fmt.Sprint(e.plan.Port), fmt.Sprint(r.x.Port))
	}
	r.pushedEarly(e, "a frame")
	if e.count > 0 {
		r.leaves(q.domain(), "a frame that was read")
	}
	r.tellSent(q, e, f.Data)
	e.left, e.sent, e.gone = true, len(f.Data), r.now
	q.emit = e.index + e.blocks
	r.ended(q, e.index+e.blocks)
	r.settleEntries(q)
}

// tellSent hands a frame that left to the hook. e is its entry, nil if none is known.
func (r *Referee) tellSent(q *txq, e *txEntry, got []byte) {
	if r.cfg.OnFrame == nil {
		return
	}
	r.tx.event = FrameEvent{Port: r.x.Port, Queue: q.id, Cycle: r.now, Got: got, Mismatch: r.log.FirstMismatch()}
	if e != nil {
		r.tx.event.Expected, r.tx.event.ID = e.frame, verdict.FrameID{Sent: true, Port: e.plan.Port, N: nicspec.Wqe(e.raw[:]).WqeId()}
		r.tx.event.Known = true
	}
	r.cfg.OnFrame(&r.tx.event)
}

// sender finds the entry whose frame is due to leave: the next one of the
// queue, over those that send none. Without one it reports why.
func (r *Referee) sender(q *txq, data []byte) *txSlot {
	if s := r.plainSender(q, data); s != nil {
		return s
	}
	if r.acceptPush(q) { // an entry without pieces shows by its frame only that it was taken
		if s := r.plainSender(q, data); s != nil {
			return s
		}
	}
	failed := (*txEntry)(nil)
	for i := q.emit; i != q.ctx.PI; i = q.after(i) {
		s := q.slot(i)
		e := s.entry
		switch {
		case e == nil:
			r.failSender(q, failed, "T1", "frame", fmt.Sprintf("entry %d read before its frame leaves", i))
			return nil
		case e.left:
			continue
		case e.never:
			r.failSender(q, e, "T2", "frame", "none: the queue stopped before this entry, its ring could not be read")
			return nil
		case r.ent.sends(s, data):
			return s
		}
		m, wait := r.ent.outcomes(e)
		due := wait || m == statusBit(nicspec.StatusOk) && e.plan.Send
		switch {
		case due && r.laterSends(q, e, data) && r.endsBare(e):
			failed = e
		case wait && e.plan.Copy:
			r.failSender(q, e, "D8", "frame", "after the copies before it in its queue have ended")
			return nil
		case wait:
			r.failSender(q, e, "P5", "frame", "all reads of the entry completed before its frame leaves")
			return nil
		case due:
			return s
		case !m.has(nicspec.StatusOk):
			failed = e
		}
	}
	if r.acceptPush(q) {
		return r.sender(q, data)
	}
	if failed != nil {
		m, _ := r.ent.outcomes(failed)
		r.failSender(q, failed, failed.ruleOfStatus(m.first()), "frame", fmt.Sprintf("none: entry %d fails with %v", failed.index, m))
		return nil
	}
	r.failSender(q, nil, "T1", "frame", "none: no entry is left to send one")
	return nil
}

// plainSender is sender as far as the reads are taken already.
func (r *Referee) plainSender(q *txq, data []byte) *txSlot {
	for i := q.emit; i != q.ctx.PI; i = q.after(i) {
		s := q.slot(i)
		if s.entry == nil || s.entry.never {
			return nil
		}
		for e := s.entry; e != nil; e = e.alt {
			if e.equals(data) {
				r.ent.taken(s, e)
				return s
			}
		}
		if m, wait := r.ent.outcomes(s.entry); !s.entry.left && (wait || m.has(nicspec.StatusOk) && s.entry.plan.Send) {
			return nil
		}
	}
	return nil
}

// laterSends reports whether a frame may be that of an entry after e, by its
// length.
func (r *Referee) laterSends(q *txq, e *txEntry, data []byte) bool {
	for i := q.after(e.index); i != q.ctx.PI; i = q.after(i) {
		for o := q.slot(i).entry; o != nil; o = o.alt {
			if o.plan.Send && !o.left && o.sized(len(data)) {
				return true
			}
		}
	}
	return false
}

// endsBare finds reads by which an entry has ended without a frame, and reports
// whether there are any: a later entry's frame has left.
func (r *Referee) endsBare(e *txEntry) bool {
	for x := e; x != nil; x = x.alt {
		if x.plan.Copy && r.claim(x) || r.ent.assignAnyFailed(x) || x.plan.Send && r.ent.spoil(x) {
			return true
		}
	}
	return false
}

// failSender reports a frame that no entry of its queue can have sent.
func (r *Referee) failSender(q *txq, e *txEntry, rule, field, want string) {
	data := r.x.Frame.Data
	if o := r.otherQueue(q, data); o != nil {
		r.failTuser(o)
		return
	}
	var about []string
	s := verdict.Subject{Index: verdict.NoIndex}
	if e != nil {
		about, s = append(about, e.describe()), e.subject()
	}
	r.log.FailOf(s, q.domain(), rule, field, want, fmt.Sprintf("a frame of %d B left", len(data)), about...)
}

// failFrame reports a frame that differs from the one that was due. It reports
// true if the frame is that of another entry.
func (r *Referee) failFrame(q *txq, e *txEntry, got []byte) (other bool) {
	if o := r.otherQueue(q, got); o != nil {
		r.failTuser(o)
		return true
	}
	if later := r.laterEntry(q, e, got); later != nil {
		r.log.FailOf(e.subject(), q.domain(), "T1", "order", fmt.Sprintf("the frame of entry %d", e.index), fmt.Sprintf("that of entry %d", later.index),
			e.describe(), later.describe())
		later.left, later.sent = true, len(got)
		return true
	}
	if len(got) != len(e.frame) {
		r.failEntry(e, q.domain(), "T5", "frame length", fmt.Sprint(len(e.frame)), fmt.Sprint(len(got)))
		return false
	}
	i := verdict.FirstDifference(e.frame, got)
	var h core.Headers
	core.Parse(e.frame, r.ver.Now().RocePort, &h)
	r.failEntry(e, q.domain(), e.ruleOfByte(&h, i), verdict.FieldAt(e.frame, &h, i), verdict.ByteOf(e.frame[i], i), verdict.ByteOf(got[i], i))
	return false
}

// laterEntry finds an entry after e whose frame this is.
func (r *Referee) laterEntry(q *txq, e *txEntry, data []byte) *txEntry {
	for i := q.after(e.index); i != q.ctx.PI; i = q.after(i) {
		if later := q.slot(i).entry; later != nil && later.equals(data) {
			return later
		}
	}
	return nil
}

// ruleOfByte is the rule that a byte of a frame follows.
func (e *txEntry) ruleOfByte(h *core.Headers, at int) string {
	p := &e.plan
	switch field := verdict.FieldAt(e.frame, h, at); {
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

// otherQueue finds the queue whose next frame this is.
func (r *Referee) otherQueue(q *txq, data []byte) *txEntry {
	for i := range r.tx.queues {
		o := &r.tx.queues[i]
		if o == q || !o.open {
			continue
		}
		for k := o.emit; k != o.ctx.PI; k = o.after(k) {
			e := o.slot(k).entry
			if e == nil {
				break
			}
			if e.equals(data) {
				return e
			}
			if e.plan.Send && !e.left && e.fails == 0 {
				break
			}
		}
	}
	return nil
}

// failTuser reports a frame that came with the queue of another, and takes it
// as that queue's.
func (r *Referee) failTuser(e *txEntry) {
	d := e.queue.domain()
	r.log.Saw(d)
	r.failEntry(e, d, "B3", "tuser", fmt.Sprint(e.queue.id), fmt.Sprint(r.x.Frame.Queue))
	e.left, e.sent = true, len(r.x.Frame.Data)
	q := r.tx.of(e)
	q.emit = e.index + e.blocks
	r.ended(q, e.index+e.blocks)
	r.settleEntries(q)
}
