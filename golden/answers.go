package golden

import (
	"encoding/binary"
	"fmt"

	"nictwin/golden/counters"
	"nictwin/golden/verdict"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

// answerOut judges a completion that the device sent. It reports whether a request waits for it.
func (r *Referee) answerOut() bool {
	h := &r.hdr
	r.log.AddCrossing(verdict.Registers)
	r.stats.Compared++
	list := &r.bar.answers
	at := -1
	for i := range list.Len() {
		if q := &list.At(i).answer.Header; q.Tag == h.Tag && q.RequesterID == h.RequesterID {
			at = i
			break
		}
	}
	if at < 0 {
		r.log.Fail(verdict.Registers, "G2", "Tag", "that of a request that was not answered", fmt.Sprintf("%#x", h.Tag),
			h.String())
		return false
	}
	q := *list.At(at)
	if at > 0 {
		r.log.Fail(verdict.Registers, "G2", "Tag",
			fmt.Sprintf("%#x: answers in the order of the requests", list.At(0).answer.Header.Tag),
			fmt.Sprintf("%#x", h.Tag), h.String())
	}
	list.Remove(at)
	r.mustBeBusy(verdict.Registers, "an answer to be sent", q.cycle, r.now)
	r.judgeAnswer(&q, h)
	return true
}

func (r *Referee) judgeAnswer(q *asked, h *tlp.Header) {
	want := &q.answer.Header
	if d, differ := tlp.Diff(want, h); differ {
		rule := "G2"
		if want.Kind == tlp.Cpl {
			rule = "P8"
			if q.inBar {
				rule = "G1"
			}
		}
		r.log.Fail(verdict.Registers, rule, d.Field.String(), diffValue(want, d.Field), diffValue(h, d.Field),
			"expected "+want.String(), "got      "+h.String())
		return
	}
	data := r.x.TLP.Data
	if h.Kind != tlp.CplD || len(data) != h.PayloadBytes() {
		return
	}
	if index, word, ok := counters.At(q.off); ok && word == 0 && h.Length == 2 {
		r.counterRead(q, index, binary.LittleEndian.Uint64(data), true, q.low[0])
		return
	}
	for w := range int(h.Length) {
		at := w * wordBytes
		r.compareWord(q, w, binary.LittleEndian.Uint32(q.answer.Data[at:]), binary.LittleEndian.Uint32(data[at:]))
	}
}

// diffValue formats a header field for a mismatch.
func diffValue(h *tlp.Header, f tlp.Field) string {
	switch f {
	case tlp.FieldKind:
		return h.Kind.String()
	case tlp.FieldStatus:
		return h.Status.String()
	}
	return fmt.Sprintf("%#x", h.Value(f))
}

// compareWord compares one 32-bit register: word w of the answer.
func (r *Referee) compareWord(q *asked, w int, want, got uint32) {
	off := q.off + uint32(w*wordBytes)
	if index, half, ok := counters.At(off); ok {
		r.halfCounter(q, index, half, got, q.low[w])
		return
	}
	switch {
	case q.reset && off == nicspec.RegCtrl:
		r.resetRead(q, got)
		return
	case q.reset && off != nicspec.RegStatus && got == r.flr.fresh.Read32(off):
		return // the register already has its reset value
	case off == nicspec.RegTblCmd:
		r.tableCommand(q, want, got)
		return
	case off == nicspec.RegStatus:
		r.statusRead(q, got)
		return
	case r.accountAt(off) != nil:
		r.creditRead(r.accountAt(off), q.credit[w], q.cycle, off, got)
		return
	case q.class[w] >= wordBalance:
		r.accountWord(&q.from, off, q.class[w], want, got)
		return
	case q.class[w] != wordExact:
		r.queueWord(&q.from, off, q.class[w], want, got)
		return
	}
	if now := r.regs.Read32(off); got != want && got != now {
		r.failRegister("G3", off, fmt.Sprintf("%#x", want), fmt.Sprintf("%#x", got))
	}
}

// tableCommand compares TBL_CMD. While a command may be under way, busy may be 0 or 1, and while busy is 1, the
// status is not compared.
func (r *Referee) tableCommand(q *asked, want, got uint32) {
	w, g := nicspec.TblCmdReg(want), nicspec.TblCmdReg(got)
	b := &r.bar
	busyMay := r.regs.Busy() || !b.confirmed && b.commandAt != never && q.cycle <= b.commandAt+nicspec.VisibleCycles
	if g.Busy() {
		if !busyMay {
			r.failRegister("G7", nicspec.RegTblCmd, "busy 0 within 64 cycles of the command", "busy 1")
		}
		w.SetStatus(g.Status())
	} else if !r.regs.Resetting() {
		r.commandDone(q.cycle)
	}
	w.SetBusy(g.Busy())
	if w != g && got != r.regs.Read32(nicspec.RegTblCmd) {
		rule := "G6"
		r.failRegister(rule, nicspec.RegTblCmd, commandText(w), commandText(g))
	}
}

func commandText(c nicspec.TblCmdReg) string {
	return fmt.Sprintf("%#x: %v %v %d, status %v", uint32(c), nicspec.TableOp(c.Op()), nicspec.Table(c.Table()),
		c.Index(),
		nicspec.TableStatus(c.Status()))
}

// statusRead compares STATUS: reads_outstanding must be 1 while a read of the device has been
// outstanding for some time.
func (r *Referee) statusRead(q *asked, got uint32) {
	var mask nicspec.StatusReg
	mask.SetRxBusy(true)
	mask.SetTxBusy(true)
	mask.SetReadsOutstanding(true)
	if got&^uint32(mask) != 0 {
		r.failRegister("G3", nicspec.RegStatus, "undefined bits 0", fmt.Sprintf("%#x", got))
	}
	if nicspec.StatusReg(got).ReadsOutstanding() {
		return
	}
	for i := range r.ent.Out.Tags {
		if d := &r.ent.Out.Tags[i]; d.Open && d.Issued+nicspec.VisibleCycles < q.cycle && r.now < d.Issued+d.TLo {
			r.failRegister("G3", nicspec.RegStatus, "reads_outstanding 1", fmt.Sprintf("%#x", got))
			return
		}
	}
}

// halfCounter compares one half of a 64-bit counter.
func (r *Referee) halfCounter(q *asked, index, half int, got uint32, low uint64) {
	if r.mostNow(index)>>32 != 0 {
		return // the counter may exceed 32 bits: its halves are not compared one by one
	}
	if half == 0 {
		r.counterRead(q, index, uint64(got), false, low)
	} else if got != 0 {
		r.log.Fail(verdict.Counting, "G5", counters.NameOf(index), "0 in its upper half", fmt.Sprint(got))
	}
}

// counterRead compares a counter while the device works: the value lies between the steps that must
// be visible and those that may have happened [G5].
func (r *Referee) counterRead(q *asked, index int, got uint64, whole bool, low uint64) {
	if value, _, known := r.cnt.Latest(index); known {
		low = max(low, value)
	}
	if most := r.mostNow(index); got < low || got > most {
		r.log.Fail(verdict.Counting, "G5", counters.NameOf(index), fmt.Sprintf("%d to %d", low, most), fmt.Sprint(got))
	}
	r.cnt.Read(index, got, q.cycle)
}

// mostNow returns the highest value that a counter can have now.
func (r *Referee) mostNow(index int) uint64 {
	_, most := r.cnt.Between(index)
	if index >= counters.HitsBase {
		return most + r.pendingFrames()
	}
	c, port := nicspec.CounterAt(index)
	switch {
	case c == nil:
		return most
	case port >= 0 && port < len(r.rx.ports) &&
		(c.Drop || c.Index == int(nicspec.CntRxDelivered) || c.Index == int(nicspec.CntRxPause)):
		return most + uint64(r.rx.ports[port].Undecided.Len())
	case port < 0:
		return most + r.deviceAhead(nicspec.DevCounter(index))
	}
	return most
}

// deviceAhead returns by how much a device counter may exceed the steps that crossings have shown.
func (r *Referee) deviceAhead(c nicspec.DevCounter) uint64 {
	switch c {
	case nicspec.CntRxCqe:
		return r.pendingFrames() + r.badReads()
	case nicspec.CntCopyBytes:
		return r.ent.BytesToCopy()
	case nicspec.CntTxWqe, nicspec.CntTxErr:
		return uint64(r.ent.AtWork)
	case nicspec.CntTxCqe:
		return uint64(r.ent.AtWork) + r.badReads()
	case nicspec.CntQueueErr:
		return r.badReads()
	case nicspec.CntMsix:
		return r.msg.MayBeDue(r.now)
	case nicspec.CntCplTimeouts:
		return uint64(r.ent.Out.Open)
	}
	return 0
}
