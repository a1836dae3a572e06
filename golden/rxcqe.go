package golden

import (
	"bytes"
	"fmt"

	"nictwin/golden/accounts"
	"nictwin/golden/arrivals"
	"nictwin/golden/buffers"
	"nictwin/golden/counters"
	"nictwin/golden/rings"
	"nictwin/golden/verdict"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// rxEntry judges a completion entry that the device wrote into the next slot of a receive queue's completion ring.
func (r *Referee) rxEntry(q *rxq, data []byte) {
	e := nicspec.RxCqe(data)
	r.stats.Compared++
	q.msgs.EntryLeft(e.Type() == nicspec.CqeTypeEvent, r.now)
	if e.Type() == nicspec.CqeTypeEvent {
		q.eventSeen = r.eventEntry(q.Domain(), &q.Ctx, q.bad, q.eventSeen, q.draining, data)
		r.expireNamed(q.Domain(), e.Index(), e.Status())
		q.errTo = forever
		if live := r.regs.Rxq(q.ID); !q.draining {
			live.Fail(e.Status())
			live.CQI++
		}
		q.Ctx.CQI++
		return
	}
	r.log.Begin()
	f := r.entryFrame(q, e)
	s := q.Slot(q.Ctx.CI)
	switch {
	case f == nil:
		r.log.FailOf(verdict.Subject{Index: int(q.Ctx.CI)}, q.Domain(), "R10", "port_seq",
			"a frame that came in for this queue and was not delivered",
			fmt.Sprintf("%d of port %d", e.PortSeq(), e.Port()), e.String())
	case f.Place == arrivals.ToDrop: // entryFrame has reported the mismatch
		r.endFrame(q, f)
	case s.State != rings.Fetched:
		r.failRx(f, int(q.Ctx.CI), q.Domain(), "Q3", "index", "a descriptor that was read",
			fmt.Sprintf("descriptor %d, which was not", q.Ctx.CI),
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

// consume moves the queue on by one descriptor and one completion entry.
func (r *Referee) consume(q *rxq, s *buffers.Slot) {
	if s.State == rings.Fetched {
		r.buf.Forget(s)
		r.reportUnclaimed(q, s)
	}
	q.Ctx.CI++
	q.Ctx.CQI++
	if !q.draining {
		live := r.regs.Rxq(q.ID)
		live.CI, live.CQI = q.Ctx.CI, q.Ctx.CQI
	}
	r.cnt.Step(nicspec.CntRxCqe.Index(), 1, r.now)
}

// entryFrame finds the frame that a completion entry reports, and decides that the frames which it overtakes were
// dropped [R11].
func (r *Referee) entryFrame(q *rxq, e nicspec.RxCqe) *arrivals.Frame {
	var named *arrivals.Frame
	if int(e.Port()) < len(r.rx.ports) {
		named = r.rx.ports[e.Port()].Find(e.PortSeq())
	}
	if !r.fits(q, named) {
		return r.guessFrame(q, e)
	}
	l := &q.frames[named.Port]
	if named.Place == arrivals.ToQueue && l.Head != named && r.queueCauses(q, l.Head, &l.Head.Verdict, q.Ctx.CI) == 0 &&
		r.written(q, l.Head) && !r.written(q, named) {
		return l.Head // the entry names the wrong frame
	}
	p := &r.rx.ports[named.Port]
	for l.Head != nil && int32(named.Seq-l.Head.Seq) > 0 {
		f := l.Head
		r.withdraw(p, f)
		r.dropped(p, f, r.queueCauses(q, f, &f.Verdict, q.Ctx.CI), true)
	}
	return named
}

// fits reports whether a frame can be delivered to a queue.
func (r *Referee) fits(q *rxq, f *arrivals.Frame) bool {
	if f == nil || f.Place == arrivals.ToDrop {
		return false
	}
	if f.Place != arrivals.Unsure {
		return int(f.Verdict.Queue) == q.ID || f.Place == arrivals.ToAccount && canReach(&f.Verdict, q.ID)
	}
	for i := range f.Alts {
		if canReach(&f.Alts[i], q.ID) {
			return true
		}
	}
	return false
}

// guessFrame finds the frame of a completion entry that names no frame of the queue: a frame that is next from its
// port and whose bytes were written to memory, else the frame that the entry names, which it reports as wrong.
func (r *Referee) guessFrame(q *rxq, e nicspec.RxCqe) *arrivals.Frame {
	for port := range q.frames {
		if f := q.frames[port].Head; f != nil && r.written(q, f) {
			return f
		}
	}
	if int(e.Port()) >= len(r.rx.ports) {
		return nil
	}
	f := r.rx.ports[e.Port()].Find(e.PortSeq())
	if f == nil {
		return nil
	}
	d, want := q.Domain(), "a frame for this queue"
	rule, field := "R5", "queue"
	if f.Place == arrivals.ToDrop {
		rule, field, want = ruleOfDrop(f.Verdict.Drop), "frame", "dropped: "+f.Verdict.Drop.String()
	} else if f.Place == arrivals.ToQueue {
		want = fmt.Sprint(f.Verdict.Queue)
	}
	r.failRx(f, int(q.Ctx.CI), d, rule, field, want, fmt.Sprintf("delivered to queue %d", q.ID), e.String())
	return f
}

// ruleOfDrop returns the rule by which a device drops for a cause.
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

// written reports whether the buffers of the next descriptor hold a frame.
func (r *Referee) written(q *rxq, f *arrivals.Frame) bool {
	s := q.Slot(q.Ctx.CI)
	hdr, _ := q.Ctx.Split(&f.Verdict, f.N)
	data := r.inMemory(q, f)
	return s.State == rings.Fetched && s.Contains(buffers.Hdr, data[:hdr]) && s.Contains(buffers.Pay, data[hdr:])
}

// inMemory returns the bytes of a frame as a queue writes them to memory, marked if the queue marks frames [E1].
func (r *Referee) inMemory(q *rxq, f *arrivals.Frame) []byte {
	if q.Ctx.EcnMode == 0 || !q.Ctx.MarksCE(&f.Verdict.Headers) {
		return f.Data
	}
	r.rx.joined = append(r.rx.joined[:0], f.Data...)
	core.MarkCE(r.rx.joined, &f.Verdict.Headers)
	return r.rx.joined
}

// deliver compares a delivery with the contract [R8, R10]. If the frame drew on an account, it
// returns the account and the event to record there.
func (r *Referee) deliver(q *rxq, s *buffers.Slot, f *arrivals.Frame, e nicspec.RxCqe) (a *account,
	event accounts.Event) {
	r.checkOrder(q, f, e)
	v := r.verdictFor(f, q, e)
	if f.HashOpen && v.Hash == e.RssHash() && !r.ver.SettleHash(f.Span(), v, v.Hash, q.ID) {
		r.failRx(f, int(q.Ctx.CI), q.Domain(), "S3", "queue",
			fmt.Sprintf("that of entry %d of table Indirection", v.Group.Entry(v.Hash)), fmt.Sprint(q.ID),
			e.String())
	}
	r.mustBeBusy(q.Domain(), "a frame that is delivered later", f.First, r.now)
	slot := core.RxSlot{Port: f.Port, Seq: f.Seq, Queue: uint16(q.ID), Index: q.Ctx.CI, CQI: q.Ctx.CQI, Desc: s.Desc}
	if a = r.rx.accountOf(v); a != nil {
		slot.SlowPath = int(v.Account.Queue) == q.ID && (int(v.Queue) != q.ID || e.SlowPath())
		slot.AccountSeq = a.Plausible(e.AccountSeq())
		event = accounts.Event{Seq: slot.AccountSeq, Slow: slot.SlowPath, Port: f.Port, Frame: f.Seq, Last: f.Last,
			Out:   r.now,
			Queue: q.ID, Index: q.Ctx.CI}
	}
	if f.Place == arrivals.Unsure && r.passRivals(f, v, q, e) {
		a = nil
	}
	plan := &r.rx.plan
	core.PlanRx(&q.Ctx, v, f.N, &slot, plan)
	if v.DropCrc && q.Ctx.CrcMode == nicspec.CrcModeCheck {
		r.failRx(f, int(q.Ctx.CI), q.Domain(), "X5", "frame", "dropped: "+nicspec.CntRxDropCrc32c.String(), "delivered",
			e.String())
	}
	if plan.PayLen > int(q.Ctx.PayBufSize) {
		r.failRx(f, int(q.Ctx.CI), q.Domain(), "R8", "frame", "dropped: "+nicspec.CntRxDropTooLong.String(),
			"delivered", e.String())
	}
	if field, want, got, same := nicspec.DiffRxCqe(plan.Cqe[:], e); !same {
		r.failRx(f, int(q.Ctx.CI), q.Domain(), ruleOfField(field), field, want, got, "got      "+e.String(),
			"expected "+nicspec.RxCqe(plan.Cqe[:]).String())
	}
	if plan.MarkCE {
		core.MarkCE(f.Data, &v.Headers)
	}
	if s.Shares {
		r.buf.ClaimShared(s, buffers.Hdr, f.Data[:plan.HdrLen], f.Last)
		r.buf.ClaimShared(s, buffers.Pay, f.Data[plan.HdrLen:plan.HdrLen+plan.PayLen], f.Last)
	}
	r.comparePart(q, s, f, buffers.Hdr, 0, plan.HdrLen)
	r.comparePart(q, s, f, buffers.Pay, plan.HdrLen, plan.PayLen)
	if r.cfg.OnFrame != nil {
		r.reportDelivered(q, s, f, plan)
	}
	return a, event
}

// checkOrder checks [R11] for a frame that could go to several queues when it came in.
func (r *Referee) checkOrder(q *rxq, f *arrivals.Frame, e nicspec.RxCqe) {
	seen := &q.seen[f.Port]
	if seen.any && int32(f.Seq-seen.seq) <= 0 && f.Place != arrivals.ToQueue {
		r.failRx(f, int(q.Ctx.CI), q.Domain(), "R11", "port_seq",
			fmt.Sprintf("after %d, which was delivered", seen.seq), fmt.Sprint(f.Seq), e.String())
	}
	seen.any, seen.seq = true, f.Seq
}

// verdictFor returns the verdict by which a frame came to a queue: of the possible ones, the one
// that agrees best with the completion entry.
func (r *Referee) verdictFor(f *arrivals.Frame, q *rxq, e nicspec.RxCqe) *core.RxVerdict {
	if f.Place != arrivals.Unsure {
		if f.HashOpen {
			r.ver.SettleHash(f.Span(), &f.Verdict, e.RssHash(), q.ID)
		}
		return &f.Verdict
	}
	found, best := 0, -1
	for i := range f.Alts {
		v := &f.Alts[i]
		if !canReach(v, q.ID) {
			continue
		}
		agrees := 0
		if !(v.DropCrc && q.Ctx.CrcMode == nicspec.CrcModeCheck) {
			agrees = 128
		}
		if v.Account.On == (e.AccountSeq() != 0 || e.SlowPath()) {
			agrees += 8
		}
		if a := r.rx.accountOf(v); a != nil { // prefer an account whose next account_seq is that of the entry
			r.ageAccount(a)
			agrees += a.Agrees(e.AccountSeq())
			if pathQueue(v, e.SlowPath()) == q.ID {
				agrees += 4
			}
		}
		if v.Rule == e.Rule() {
			agrees += 32
		}
		if v.Roce == e.Roce() { // ROCE_PORT was written while the frame came in: the entry shows which value applied
			agrees += 64
		}
		if f.HashOpen && r.ver.SettleHash(f.Span(), v, e.RssHash(), q.ID) || !f.HashOpen && v.Hash == e.RssHash() {
			agrees += 16
		}
		if agrees > best {
			found, best = i, agrees
		}
	}
	f.Verdict = f.Alts[found]
	return &f.Verdict
}

// rxFieldRules maps fields of a receive completion entry to their rules; all others follow [R10].
var rxFieldRules = map[string]string{
	"rule": "R5", "port_seq": "R1", "hdr_len": "R8", "phase": "Q8",
	"vlan_count": "H1", "vlan_outer": "H1", "vlan_inner": "H1", "ethertype": "H1", "l3_off": "H1",
	"ip_len_bad": "H2", "frag": "H2", "l3_type": "H2", "ip_proto": "H2", "ip_tos": "H2",
	"l4_type": "H4", "l4_off": "H4", "src_port": "H4", "dst_port": "H4", "l4_len_bad": "H5",
	"roce": "H6", "bth_opcode": "H6", "bth_flags": "H6", "pkey": "H6", "dest_qp": "H6", "psn": "H6",
	"payload_off": "H7",
	"ip_csum":     "H8", "l4_csum": "H9", "icrc": "H10",
	"rss_hash": "S2", "crc32c": "X4", "crc32c_value": "X3", "slow_path": "A2", "account_seq": "A4",
}

func ruleOfField(field string) string {
	if rule, ok := rxFieldRules[field]; ok {
		return rule
	}
	return "R10"
}

// comparePart compares n bytes of a frame with a buffer.
func (r *Referee) comparePart(q *rxq, s *buffers.Slot, f *arrivals.Frame, part, from, n int) {
	sh, want := s.Parts[part], f.Data[from:from+n]
	if sh == nil {
		if n > 0 {
			r.failMissing(q, s, f, part, from, 0, n)
		}
		return
	}
	if !sh.Have.Exactly(n) {
		if at := sh.Have.Gap(n); at < n {
			r.failMissing(q, s, f, part, from, at, n)
		} else {
			r.failRx(f, int(s.Index), q.Domain(), "R10", fmt.Sprintf("%s buffer byte %d", buffers.Names[part], n),
				"not written",
				fmt.Sprintf("written, up to byte %d", sh.Have.End()-1))
		}
		return
	}
	if got := sh.Data[:n]; !bytes.Equal(want, got) {
		i := verdict.FirstDifference(want, got)
		field := verdict.FieldAt(f.Data, &f.Verdict.Headers, from+i)
		r.failRx(f, int(s.Index), q.Domain(), q.ruleOfByte(field), field, verdict.ByteOf(want[i], from+i),
			verdict.ByteOf(got[i], from+i), buffers.Text(q.ID, s.Index, part, i))
	}
}

// ruleOfByte returns the rule that determines a byte of a delivered frame.
func (q *rxq) ruleOfByte(field string) string {
	switch field {
	case "ipv4.tos", "ipv4.csum", "ipv6.version_class_flow":
		if q.Ctx.EcnMode != 0 {
			return "E1"
		}
	}
	return "R10"
}

func (r *Referee) failMissing(q *rxq, s *buffers.Slot, f *arrivals.Frame, part, from, at, n int) {
	r.failRx(f, int(s.Index), q.Domain(), "P9", verdict.FieldAt(f.Data, &f.Verdict.Headers, from+at),
		"written before the completion entry",
		"not written", buffers.Text(q.ID, s.Index, part, at)+fmt.Sprintf(" of %d", n))
}

// endFrame counts a delivered frame and forgets it.
func (r *Referee) endFrame(q *rxq, f *arrivals.Frame) {
	p := &r.rx.ports[f.Port]
	r.withdraw(p, f)
	p.Passed(f.Seq, r.now)
	r.stats.Delivered++
	r.cnt.Due(nicspec.CntRxFrames.Index(f.Port), 1, r.now)
	r.cnt.Due(nicspec.CntRxBytes.Index(f.Port), uint64(f.N), r.now)
	r.cnt.Step(nicspec.CntRxDelivered.Index(f.Port), 1, r.now)
	if rule, ok := f.Verdict.Hit(); ok {
		r.cnt.Step(counters.HitsBase+rule, 1, r.now)
	}
	p.out.Delivered(r.now, f.Seq, f.Last, arrivals.Room(f.N), p.Base)
	r.resolved(p, f, true)
	p.out.Low(r.now, p.Level)
}

// reportDelivered passes a delivered frame to the hook.
func (r *Referee) reportDelivered(q *rxq, s *buffers.Slot, f *arrivals.Frame, plan *core.RxPlan) {
	got := r.rx.joined[:0]
	for part, n := range [...]int{plan.HdrLen, plan.PayLen} {
		if sh := s.Parts[part]; sh != nil {
			got = append(got, sh.Data[:min(n, len(sh.Data))]...)
		}
	}
	r.rx.joined = got
	r.rx.event = FrameEvent{Rx: true, Known: true, ID: verdict.FrameID{Port: f.Port, N: f.Seq}, Port: f.Port,
		Queue: q.ID, Cycle: r.now, Since: f.Last, Expected: f.Data, Got: got, Mismatch: r.log.FirstMismatch()}
	r.cfg.OnFrame(&r.rx.event)
}

// reportUnclaimed reports writes to overlapping buffers that belong to no frame, once the descriptors that might
// have claimed them are done.
func (r *Referee) reportUnclaimed(q *rxq, s *buffers.Slot) {
	if !s.Shares || !r.buf.Pending() {
		return
	}
	index := s.Index
	r.buf.Unclaimed(func(addr uint64, n int) {
		r.log.FailOf(verdict.Subject{Index: int(index)}, q.Domain(), "R10", "write",
			"the bytes of the frame, each once",
			fmt.Sprintf("also %d B at %#x, in buffers that overlap", n, addr))
	})
}
