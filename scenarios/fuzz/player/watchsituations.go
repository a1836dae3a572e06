package player

import (
	"fmt"
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/coverage"
)

// situationWatch tracks the events by which a rare situation is recognized as reached.
type situationWatch struct {
	enabled            int64         // cycle from which on frames are accepted; never: reception is disabled
	resetFrom, resetTo int64         // cycles in which the last function-level reset began and was seen to end
	begins             int64         // value of `enabled` before the last function-level reset
	stood              boundary.Held // latest interval in which m_axis_tlp was held back
	heldWrites         []uint64      // addresses of the latest writes that left right after long back-pressure

	lastCopy [CopyChannels]*txRing // by channel: queue of the last copy that ended
}

const (
	longHeld   = 100 // cycles of an interval that counts as long
	rightAfter = 16  // cycles after a long back-pressure in which a write counts as delayed by it
	heldWrites = 64
	never      = -1
)

// setCtrl tracks writes of CTRL.
func (w *watcher) setCtrl(v nicspec.CtrlReg) {
	switch {
	case v.Flr() && w.resetTo >= w.resetFrom:
		w.resetFrom, w.resetTo = w.now, never
		w.begins, w.enabled = w.enabled, never
	case v.Flr() || w.resetTo < w.resetFrom:
	case !v.RxEnable():
		w.enabled = never
	case w.enabled == never:
		w.enabled = w.now + nicspec.VisibleCycles
	}
}

// resetEnds records that a read has shown the end of a function-level reset.
func (w *watcher) resetEnds() { w.resetTo = w.now }

// overReset counts an accepted frame whose beats come partly before and partly after a function-level reset, none
// during it.
func (w *watcher) overReset(c *boundary.Crossing) {
	if w.begins != never && c.First > w.begins && c.First < w.resetFrom && w.resetTo >= w.resetFrom &&
		c.Last > w.resetTo {
		w.cov.Hit("resets", coverage.FrameHangs)
	}
}

// heldBack records an interval in which m_axis_tlp was held back; adjacent intervals are joined.
func (w *watcher) heldBack(h boundary.Held) {
	switch {
	case h.Kind != boundary.TLPOut:
	case h.First == w.stood.Last+1:
		w.stood.Last = h.Last
	default:
		w.stood = h
	}
}

// leaves records a write that waited while m_axis_tlp was held back for long.
func (w *watcher) leaves(c *boundary.Crossing, h *tlp.Header) {
	if w.stood.Last-w.stood.First+1 < longHeld || c.First-w.stood.Last > rightAfter {
		return
	}
	if w.heldWrites = append(w.heldWrites, h.Address); len(w.heldWrites) > heldWrites {
		w.heldWrites = w.heldWrites[1:]
	}
}

// pastEntry classifies the entry that a queue ended last.
type pastEntry uint8

const (
	pastOther  pastEntry = iota
	pastHeld             // a copy whose writes were held back
	pastFailed           // a copy that failed after one whose writes were held back
)

// behindHeld counts an entry that ended after copies, of its queue or of another queue on its channel, whose writes
// were held back.
func (w *watcher) behindHeld(r *txRing, e *nicspec.WqeFields, s *sent, status nicspec.Status) {
	past, last := r.past, &w.lastCopy[r.Number%CopyChannels]
	r.past = pastOther
	switch {
	case !copies(s.e) || e.Opcode != s.e.Opcode:
		if e.Opcode == nicspec.OpcodeSend && status == nicspec.StatusOk && e.Nseg == 0 && past != pastOther {
			w.cov.Hit("copies held back", coverage.BehindCopies[past-pastHeld])
		}
		return
	case status == nicspec.StatusOk && w.wasHeld(s):
		r.past = pastHeld
	case status == nicspec.StatusOk:
	case past == pastHeld:
		r.past = pastFailed
	case *last != nil && *last != r && (*last).past != pastOther:
		w.cov.Hit("copies held back", coverage.BehindCopies[2])
	}
	*last = r
}

// wasHeld reports whether a write of a copy was held back.
func (w *watcher) wasHeld(s *sent) bool {
	to, n := s.seg[len(s.seg)-1]&^3, uint64(s.e.Pieces[0].Len)+3
	return slices.ContainsFunc(w.heldWrites, func(a uint64) bool { return a >= to && a < to+n })
}

// longCopy counts a copy of at least 64 KB less a line.
func (w *watcher) longCopy(n int) {
	if n < coverage.LongCopy-nicspec.LineBytes {
		return
	}
	w.cov.Hit("long copies", coverage.LongCopyClass(n), fmt.Sprintf("MPS %d", mps(w.devctl)))
	if at := coverage.LongCopyEnd(n); at != "" {
		w.cov.Hit("ends of long copies", at)
	}
}

// failedDeep counts a failing read of a transmit ring by the number of blocks posted after it.
func (w *watcher) failedDeep(r *ring, index uint16) {
	posted := coverage.BehindFailed[0]
	if int(r.rung-index) > 2*nicspec.WqeBlocksMax {
		posted = coverage.BehindFailed[1]
	}
	w.cov.Hit("failing reads of work entries", posted)
}

// waited counts a frame that arrived before its receive queue was enabled.
func (w *watcher) waited(r *rxRing, a *arrival) {
	if a.last < r.since {
		w.cov.Hit("frames older than their queue", "split "+r.cfg.Split.String())
	}
}
