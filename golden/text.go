package golden

import (
	"fmt"
)

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

func slotText(queue int, index uint16, part, off int) string {
	return fmt.Sprintf("%s buffer of descriptor %d of queue %d, byte %d", partNames[part], index, queue, off)
}
