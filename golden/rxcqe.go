package golden

import (
	"bytes"
	"fmt"

	"nictwin/golden/accounts"
	"nictwin/golden/counters"
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// rxEntry takes a completion entry of a receive queue, at the right place.
func (r *Referee) rxEntry(q *rxq, data []byte) {
	e := nicspec.RxCqe(data)
	r.stats.Compared++
	q.msgs.EntryLeft(e.Type() == nicspec.CqeTypeEvent, r.now)
	if e.Type() == nicspec.CqeTypeEvent {
		q.eventSeen = r.eventEntry(q.domain(), &q.ctx, q.bad, q.eventSeen, q.draining, data)
		r.named(q.domain(), e.Index(), e.Status())
		q.errTo = forever
		if live := r.regs.Rxq(q.id); !q.draining {
			live.Fail(e.Status())
			live.CQI++
		}
		q.ctx.CQI++
		return
	}
	r.log.Begin()
	f := r.entryFrame(q, e)
	s := q.slot(q.ctx.CI)
	switch {
	case f == nil:
		r.log.FailOf(verdict.Subject{Index: int(q.ctx.CI)}, q.domain(), "R10", "port_seq", "a frame that came in for this queue and was not delivered",
			fmt.Sprintf("%d of port %d", e.PortSeq(), e.Port()), e.String())
	case f.place == placeDrop: // reported
		r.endFrame(q, f)
	case s.state != rings.There:
		r.failRx(f, int(q.ctx.CI), q.domain(), "Q3", "index", "a descriptor that was read", fmt.Sprintf("descriptor %d, which was not", q.ctx.CI),
			e.String())
		r.endFrame(q, f)
	default:
		a, event := r.deliver(q, s, f, e)
		r.endFrame(q, f)
		if a != nil {
			r.accountDelivered(a, event)
		}
	}
	r.consume(q, s)
}

// consume moves past a descriptor and a completion entry.
func (r *Referee) consume(q *rxq, s *rxSlot) {
	if s.state == rings.There {
		r.forget(s)
		r.writtenBeyond(q, s)
	}
	q.ctx.CI++
	q.ctx.CQI++
	if !q.draining {
		live := r.regs.Rxq(q.id)
		live.CI, live.CQI = q.ctx.CI, q.ctx.CQI
	}
	r.cnt.Step(nicspec.CntRxCqe.Index(), 1, r.now)
}

// entryFrame finds the frame that an entry is about, and decides the frames
// that it passes [R11].
func (r *Referee) entryFrame(q *rxq, e nicspec.RxCqe) *rxFrame {
	var named *rxFrame
	if int(e.Port()) < len(r.rx.ports) {
		named = r.rx.ports[e.Port()].find(e.PortSeq())
	}
	if !r.fits(q, named) {
		return r.guess(q, e)
	}
	l := &q.frames[named.port]
	if named.place == placeQueue && l.head != named && r.queueCauses(q, l.head, &l.head.v, q.ctx.CI) == 0 &&
		r.written(q, l.head) && !r.written(q, named) {
		return l.head // the entry names the wrong frame
	}
	p := &r.rx.ports[named.port]
	for l.head != nil && int32(named.seq-l.head.seq) > 0 {
		f := l.head
		r.withdraw(p, f)
		r.dropped(p, f, r.queueCauses(q, f, &f.v, q.ctx.CI), true)
	}
	return named
}

// fits reports whether a frame can be delivered to a queue.
func (r *Referee) fits(q *rxq, f *rxFrame) bool {
	if f == nil || f.place == placeDrop {
		return false
	}
	if f.place != placeUnsure {
		return int(f.v.Queue) == q.id || f.place == placeAccount && leads(&f.v, q.id)
	}
	for i := range f.alts {
		if leads(&f.alts[i], q.id) {
			return true
		}
	}
	return false
}

// guess finds the frame of an entry that names none of the queue's: the first
// whose bytes were written, of the next ones of each port.
func (r *Referee) guess(q *rxq, e nicspec.RxCqe) *rxFrame {
	for port := range q.frames {
		if f := q.frames[port].head; f != nil && r.written(q, f) {
			return f
		}
	}
	if int(e.Port()) >= len(r.rx.ports) {
		return nil
	}
	f := r.rx.ports[e.Port()].find(e.PortSeq())
	if f == nil {
		return nil
	}
	d, want := q.domain(), "a frame for this queue"
	rule, field := "R5", "queue"
	if f.place == placeDrop {
		rule, field, want = ruleOfDrop(f.v.Drop), "frame", "dropped: "+f.v.Drop.String()
	} else if f.place == placeQueue {
		want = fmt.Sprint(f.v.Queue)
	}
	r.failRx(f, int(q.ctx.CI), d, rule, field, want, fmt.Sprintf("delivered to queue %d", q.id), e.String())
	return f
}

// ruleOfDrop is the rule that makes a device drop.
func ruleOfDrop(c nicspec.PortCounter) string {
	switch c {
	case nicspec.CntRxDropDisabled, nicspec.CntRxDropRunt, nicspec.CntRxDropOversize:
		return "R2"
	case nicspec.CntRxDropIpCsum, nicspec.CntRxDropL4Csum, nicspec.CntRxDropIcrc:
		return "R4"
	case nicspec.CntRxDropRule, nicspec.CntRxDropNoRule:
		return "R5"
	}
	return "R7"
}

// written reports whether the next descriptor's buffers hold a frame.
func (r *Referee) written(q *rxq, f *rxFrame) bool {
	s := q.slot(q.ctx.CI)
	hdr, _ := q.ctx.Split(&f.v, f.n)
	data := r.landed(q, f)
	return s.state == rings.There && s.contains(partHdr, data[:hdr]) && s.contains(partPay, data[hdr:])
}

// landed is a frame as a queue writes it to memory [E1].
func (r *Referee) landed(q *rxq, f *rxFrame) []byte {
	if q.ctx.EcnMode == 0 || !q.ctx.MarksCE(&f.v.Headers) {
		return f.data
	}
	r.rx.joined = append(r.rx.joined[:0], f.data...)
	core.MarkCE(r.rx.joined, &f.v.Headers)
	return r.rx.joined
}

func (s *rxSlot) contains(part int, want []byte) bool {
	sh := s.parts[part]
	if sh == nil {
		return len(want) == 0
	}
	return sh.have.Exactly(len(want)) && bytes.Equal(sh.data[:len(want)], want)
}

// deliver compares a delivery with what the contract says of it [R8, R10]. If
// the frame drew on an account, it returns that and what is to be noted there.
func (r *Referee) deliver(q *rxq, s *rxSlot, f *rxFrame, e nicspec.RxCqe) (a *account, event accounts.Event) {
	r.inOrder(q, f, e)
	v := r.verdictFor(f, q, e)
	if f.hashOpen && v.Hash == e.RssHash() && !r.ver.SettleHash(f.span(), v, v.Hash, q.id) {
		r.failRx(f, int(q.ctx.CI), q.domain(), "S3", "queue", fmt.Sprintf("that of entry %d of table Indirection", v.Group.Entry(v.Hash)), fmt.Sprint(q.id),
			e.String())
	}
	r.mustBeBusy(q.domain(), "a frame that is delivered later", f.first, r.now)
	slot := core.RxSlot{Port: f.port, Seq: f.seq, Queue: uint16(q.id), Index: q.ctx.CI, CQI: q.ctx.CQI, Desc: s.desc}
	if a = r.rx.accountOf(v); a != nil {
		slot.SlowPath = int(v.Account.Queue) == q.id && (int(v.Queue) != q.id || e.SlowPath())
		slot.AccountSeq = a.Plausible(e.AccountSeq())
		event = accounts.Event{Seq: slot.AccountSeq, Slow: slot.SlowPath, Port: f.port, Frame: f.seq, Last: f.last, Out: r.now,
			Queue: q.id, Index: q.ctx.CI}
	}
	if f.place == placeUnsure && r.rivals(f, v, q, e) {
		a = nil
	}
	plan := &r.rx.plan
	core.PlanRx(&q.ctx, v, f.n, &slot, plan)
	if v.DropCrc && q.ctx.CrcMode == nicspec.CrcModeCheck {
		r.failRx(f, int(q.ctx.CI), q.domain(), "X5", "frame", "dropped: "+nicspec.CntRxDropCrc32c.String(), "delivered", e.String())
	}
	if plan.PayLen > int(q.ctx.PayBufSize) {
		r.failRx(f, int(q.ctx.CI), q.domain(), "R8", "frame", "dropped: "+nicspec.CntRxDropTooLong.String(), "delivered", e.String())
	}
	if field, want, got, same := nicspec.DiffRxCqe(plan.Cqe[:], e); !same {
		r.failRx(f, int(q.ctx.CI), q.domain(), ruleOfField(field), field, want, got, "got      "+e.String(),
			"expected "+nicspec.RxCqe(plan.Cqe[:]).String())
	}
	if plan.MarkCE {
		core.MarkCE(f.data, &v.Headers)
	}
	if s.shares {
		r.claimShared(s, f, partHdr, 0, plan.HdrLen)
		r.claimShared(s, f, partPay, plan.HdrLen, plan.PayLen)
	}
	r.comparePart(q, s, f, partHdr, 0, plan.HdrLen)
	r.comparePart(q, s, f, partPay, plan.HdrLen, plan.PayLen)
	if r.cfg.OnFrame != nil {
		r.tellDelivered(q, s, f, plan)
	}
	return a, event
}

// inOrder is [R11] for a frame of which the queue was not known.
func (r *Referee) inOrder(q *rxq, f *rxFrame, e nicspec.RxCqe) {
	seen := &q.seen[f.port]
	if seen.any && int32(f.seq-seen.seq) <= 0 && f.place != placeQueue {
		r.failRx(f, int(q.ctx.CI), q.domain(), "R11", "port_seq", fmt.Sprintf("after %d, which was delivered", seen.seq), fmt.Sprint(f.seq), e.String())
	}
	seen.any, seen.seq = true, f.seq
}

// verdictFor is the verdict by which a frame came to a queue: of those that may
// be, the one that its completion entry speaks of.
func (r *Referee) verdictFor(f *rxFrame, q *rxq, e nicspec.RxCqe) *core.RxVerdict {
	if f.place != placeUnsure {
		if f.hashOpen {
			r.ver.SettleHash(f.span(), &f.v, e.RssHash(), q.id)
		}
		return &f.v
	}
	found, best := 0, -1
	for i := range f.alts {
		v := &f.alts[i]
		if !leads(v, q.id) {
			continue
		}
		agrees := 0
		if !(v.DropCrc && q.ctx.CrcMode == nicspec.CrcModeCheck) {
			agrees = 128
		}
		if v.Account.On == (e.AccountSeq() != 0 || e.SlowPath()) {
			agrees += 8
		}
		if a := r.rx.accountOf(v); a != nil { // of several accounts, the one whose turn it is
			r.ageAccount(a)
			agrees += a.Agrees(e.AccountSeq())
			if pathQueue(v, e.SlowPath()) == q.id {
				agrees += 4
			}
		}
		if v.Rule == e.Rule() {
			agrees += 32
		}
		if v.Roce == e.Roce() { // ROCE_PORT was written, and the way is the same
			agrees += 64
		}
		if f.hashOpen && r.ver.SettleHash(f.span(), v, e.RssHash(), q.id) || !f.hashOpen && v.Hash == e.RssHash() {
			agrees += 16
		}
		if agrees > best {
			found, best = i, agrees
		}
	}
	f.v = f.alts[found]
	return &f.v
}

// rxFieldRules is the rules that fields of a receive completion entry follow;
// all others follow [R10].
var rxFieldRules = map[string]string{
	"rule": "R5", "port_seq": "R1", "hdr_len": "R8", "phase": "Q8",
	"vlan_count": "H1", "vlan_outer": "H1", "vlan_inner": "H1", "ethertype": "H1", "l3_off": "H1",
	"ip_len_bad": "H2", "frag": "H2", "l3_type": "H2", "ip_proto": "H2", "ip_tos": "H2",
	"l4_type": "H4", "l4_off": "H4", "src_port": "H4", "dst_port": "H4", "l4_len_bad": "H5",
	"roce": "H6", "bth_opcode": "H6", "bth_flags": "H6", "pkey": "H6", "dest_qp": "H6", "psn": "H6", "payload_off": "H7",
	"ip_csum": "H8", "l4_csum": "H9", "icrc": "H10",
	"rss_hash": "S2", "crc32c": "X4", "crc32c_value": "X3", "slow_path": "A2", "account_seq": "A4",
}

func ruleOfField(field string) string {
	if rule, ok := rxFieldRules[field]; ok {
		return rule
	}
	return "R10"
}

// comparePart compares n bytes of a frame with a buffer.
func (r *Referee) comparePart(q *rxq, s *rxSlot, f *rxFrame, part, from, n int) {
	sh, want := s.parts[part], f.data[from:from+n]
	if sh == nil {
		if n > 0 {
			r.failMissing(q, s, f, part, from, 0, n)
		}
		return
	}
	if !sh.have.Exactly(n) {
		if at := sh.have.Gap(n); at < n {
			r.failMissing(q, s, f, part, from, at, n)
		} else {
			r.failRx(f, int(s.index), q.domain(), "R10", fmt.Sprintf("%s buffer byte %d", partNames[part], n), "not written",
				fmt.Sprintf("written, up to byte %d", sh.have.End()-1))
		}
		return
	}
	if got := sh.data[:n]; !bytes.Equal(want, got) {
		i := verdict.FirstDifference(want, got)
		field := verdict.FieldAt(f.data, &f.v.Headers, from+i)
		r.failRx(f, int(s.index), q.domain(), q.ruleOfByte(field), field, verdict.ByteOf(want[i], from+i),
			verdict.ByteOf(got[i], from+i), slotText(q.id, s.index, part, i))
	}
}

// ruleOfByte is the rule that a byte in memory follows.
func (q *rxq) ruleOfByte(field string) string {
	switch field {
	case "ipv4.tos", "ipv4.csum", "ipv6.version_class_flow":
		if q.ctx.EcnMode != 0 {
			return "E1"
		}
	}
	return "R10"
}

func (r *Referee) failMissing(q *rxq, s *rxSlot, f *rxFrame, part, from, at, n int) {
	r.failRx(f, int(s.index), q.domain(), "P9", verdict.FieldAt(f.data, &f.v.Headers, from+at), "written before the completion entry",
		"not written", slotText(q.id, s.index, part, at)+fmt.Sprintf(" of %d", n))
}

// endFrame counts a delivered frame and forgets it.
func (r *Referee) endFrame(q *rxq, f *rxFrame) {
	p := &r.rx.ports[f.port]
	r.withdraw(p, f)
	r.passed(p, f.seq)
	r.stats.Delivered++
	r.cnt.Due(nicspec.CntRxFrames.Index(f.port), 1, r.now)
	r.cnt.Due(nicspec.CntRxBytes.Index(f.port), uint64(f.n), r.now)
	r.cnt.Step(nicspec.CntRxDelivered.Index(f.port), 1, r.now)
	if rule, ok := f.v.Hit(); ok {
		r.cnt.Step(counters.HitsBase+rule, 1, r.now)
	}
	p.out.Delivered(r.now, f.seq, f.last, roomOf(f.n), p.base)
	r.resolved(p, f, true)
	p.out.Low(r.now, p.level)
}

// tellDelivered hands a delivered frame to the hook.
func (r *Referee) tellDelivered(q *rxq, s *rxSlot, f *rxFrame, plan *core.RxPlan) {
	got := r.rx.joined[:0]
	for part, n := range [...]int{plan.HdrLen, plan.PayLen} {
		if sh := s.parts[part]; sh != nil {
			got = append(got, sh.data[:min(n, len(sh.data))]...)
		}
	}
	r.rx.joined = got
	r.rx.event = FrameEvent{Rx: true, Known: true, ID: verdict.FrameID{Port: f.port, N: f.seq}, Port: f.port, Queue: q.id, Cycle: r.now, Expected: f.data, Got: got, Mismatch: r.log.FirstMismatch()}
	r.cfg.OnFrame(&r.rx.event)
}
