package attribution

import (
	"fmt"

	"nictwin/models/nic/dma"

	"nictwin/golden/verdict"
	"nictwin/models/nic/nicspec"
)

// Describe returns a one-line description of the entry.
func (e *Entry) Describe() string {
	s := fmt.Sprintf("entry %d of queue %d, read by cycle %d", e.Index, e.Queue.ID, e.fetched)
	switch {
	case e.Plan.Status != nicspec.StatusOk:
		return s + fmt.Sprintf(", to fail with %v", e.Plan.Status)
	case e.Plan.Copy:
		return s + e.copyText()
	case !e.Plan.Send:
		return s + ": Nop"
	case e.Left:
		return s + fmt.Sprintf(": frame of %d B left", e.Sent)
	}
	s += fmt.Sprintf(": frame of %d B for port %d, %d B inline", e.Plan.Length, e.Plan.Port, e.Plan.InlineLen)
	for i := range e.Plan.NumPieces {
		p := &e.Pieces[i]
		s += fmt.Sprintf(", first %d of %d B at %#x read", p.Got.Gap(p.len), p.len, p.bus)
	}
	return s
}

// frameID returns the name of the frame that the entry sends, nil if it sends none.
func (e *Entry) frameID() *verdict.FrameID {
	if w := nicspec.Wqe(e.Raw[:]); w.Opcode() == nicspec.OpcodeSend {
		return &verdict.FrameID{Sent: true, Port: e.Plan.Port, N: w.WqeId()}
	}
	return nil
}

// Subject returns the entry as the subject of a mismatch.
func (e *Entry) Subject() verdict.Subject {
	return verdict.Subject{Frame: e.frameID(), Index: int(e.Index)}
}

// RuleOfStatus returns the rule of docs/nic.md under which an entry ends with a status. It relies on
// the order of the Cpl statuses.
func (e *Entry) RuleOfStatus(s nicspec.Status) string {
	switch copies := dma.Handles(nicspec.Wqe(e.Raw[:]).Opcode()); {
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

// copyText describes a copy and its progress.
func (e *Entry) copyText() string {
	p := &e.Plan.Dma
	s := fmt.Sprintf(": copy of %d B from %#x to %#x", p.Len, p.Src, p.Dst)
	if p.Len == 0 {
		s = ": invalidation"
	} else {
		s += fmt.Sprintf(", %d B asked for, %d B written", e.Pieces[0].asked.Size(), e.Copy.Wrote.Size())
	}
	if p.Lines != 0 {
		s += fmt.Sprintf(", %d lines at %#x to be invalidated, message sent: %v", p.Lines, p.Line, e.Copy.MessageSent)
	}
	if e.Fails != 0 {
		s += ", failed with " + e.Fails.String()
	}
	return s
}
