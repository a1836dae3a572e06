package golden

import (
	"fmt"

	"nictwin/models/dma"

	"nictwin/golden/verdict"
	"nictwin/models/nicspec"
)

func (e *txEntry) describe() string {
	s := fmt.Sprintf("entry %d of queue %d, read by cycle %d", e.index, e.queue.id, e.fetched)
	switch {
	case e.plan.Status != nicspec.StatusOk:
		return s + fmt.Sprintf(", to fail with %v", e.plan.Status)
	case e.plan.Copy:
		return s + e.copyText()
	case !e.plan.Send:
		return s + ": Nop"
	case e.left:
		return s + fmt.Sprintf(": frame of %d B left", e.sent)
	}
	s += fmt.Sprintf(": frame of %d B for port %d, %d B inline", e.plan.Length, e.plan.Port, e.plan.InlineLen)
	for i := range e.plan.NumPieces {
		p := &e.pieces[i]
		s += fmt.Sprintf(", %d of %d B at %#x read", p.got.Gap(p.len), p.len, p.bus)
	}
	return s
}

// id names the frame that the entry sends, nil if it sends none.
func (e *txEntry) id() *verdict.FrameID {
	if w := nicspec.Wqe(e.raw[:]); w.Opcode() == nicspec.OpcodeSend {
		return &verdict.FrameID{Sent: true, Port: e.plan.Port, N: w.WqeId()}
	}
	return nil
}

func (e *txEntry) subject() verdict.Subject {
	return verdict.Subject{Frame: e.id(), Index: int(e.index)}
}

// failEntry is a mismatch that is about a work entry, which it describes last.
func (r *Referee) failEntry(e *txEntry, d verdict.Domain, rule, field, expected, got string, summary ...string) *verdict.Mismatch {
	return r.log.FailOf(e.subject(), d, rule, field, expected, got, append(summary, e.describe())...)
}

// ruleOfStatus is the rule that makes an entry fail with a status.
func (e *txEntry) ruleOfStatus(s nicspec.Status) string {
	switch copies := dma.Of(nicspec.Wqe(e.raw[:]).Opcode()); {
	case copies && s >= nicspec.StatusCplUnsupported && s <= nicspec.StatusCplMalformed:
		return "D3"
	case copies:
		return "D1"
	case s == nicspec.StatusBadOffload:
		return "T7"
	case s >= nicspec.StatusCplUnsupported:
		return "T6"
	}
	return "T3"
}

// copyText is what a copy's entry asks for, and how far it is.
func (e *txEntry) copyText() string {
	p := &e.plan.Dma
	s := fmt.Sprintf(": copy of %d B from %#x to %#x", p.Len, p.Src, p.Dst)
	if p.Len == 0 {
		s = ": invalidation"
	} else {
		s += fmt.Sprintf(", %d B asked for, %d B written", e.pieces[0].asked.Size(), e.copy.wrote.Size())
	}
	if p.Lines != 0 {
		s += fmt.Sprintf(", %d lines at %#x to be invalidated, message sent: %v", p.Lines, p.Line, e.copy.told)
	}
	if e.fails != 0 {
		s += ", failed with " + e.fails.String()
	}
	return s
}
