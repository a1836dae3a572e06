package golden

import (
	"fmt"

	"nictwin/golden/cycles"
	"nictwin/golden/verdict"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
)

// backpressure records the cycles in which the streams out of the device were held back.
type backpressure struct {
	tlp  cycles.Set   // m_axis_tlp was held back
	used cycles.Set   // m_axis_tlp was held back, or carried a TLP
	eth  []cycles.Set // m_axis_eth of a port was held back
}

// Number of cycles over which each set of backpressure stays exact (cycles.NewSet): more than the longest delay that
// is checked with the set.
const (
	keptTLP  = 1 << 14 // of set `tlp`, for the delays of [L3]
	keptUsed = 1 << 11 // of set `used`, for the delays of [M3] and fetchSlack
	keptEth  = 1 << 11 // of sets `eth`, for the delays of [F6]
)

func (s *backpressure) init(ports int) {
	s.tlp, s.used, s.eth = cycles.NewSet(keptTLP), cycles.NewSet(keptUsed), make([]cycles.Set, ports)
	for i := range s.eth {
		s.eth[i] = cycles.NewSet(keptEth)
	}
}

// Held records an interval in which a stream was held back. Without such records, every delay counts against the
// device.
func (r *Referee) Held(x boundary.Held) {
	if r.fault != "" {
		return
	}
	if x.First > x.Last || x.Kind >= boundary.NumKinds || uint(x.Port) >= uint(len(r.held.eth)) {
		r.fault = fmt.Sprintf("%v is not an interval of a stream of this build", x)
		return
	}
	s := &r.held.tlp
	switch x.Kind {
	case boundary.FrameOut:
		s = &r.held.eth[x.Port]
	case boundary.TLPOut:
		r.held.used.Add(x.First, x.Last)
	default:
		return // an input stream: no bound depends on how long it was held
	}
	if x.First <= s.Latest() {
		r.fault = fmt.Sprintf("%v is out of order after cycle %d", x, s.Latest())
		return
	}
	s.Add(x.First, x.Last)
}

var _ boundary.HeldObserver = (*Referee)(nil).Held

// waited counts the cycles from cycle `since` to the first beat of the current TLP, except those in
// which m_axis_tlp was held back or carried other TLPs.
func (r *Referee) waited(since int64) int64 { return r.held.used.Free(since, r.x.First-1) + 1 }

// firstOffered returns the cycle in which the current frame was first offered.
func (r *Referee) firstOffered() int64 { return r.held.eth[r.x.Port].Begin(r.x.First) }

// busyPin tracks the busy pin [B8]. The device reports an idle interval when it
// ends, long ones in parts; most work shows only when it is done.
type busyPin struct {
	seen int64 // latest cycle in which the pin was 0

	busyUntil int64 // latest cycle in which the device had work; `what` names the work, in domain `dom`
	what      string
	dom       verdict.Domain

	data int64 // cycle of the latest completed read of a piece
}

func (s *busyPin) init() { s.seen, s.busyUntil, s.data = never, never, never }

// Rest records an idle interval: cycles in which the pin busy was 0 [B8]. It comes after the crossings up to its
// last cycle. Without such records, the pin is not judged.
func (r *Referee) Rest(x boundary.Rest) {
	if r.fault != "" {
		return
	}
	if x.First > x.Last || x.Last < r.now {
		r.fault = fmt.Sprintf("rest from cycle %d to %d is out of order after cycle %d", x.First, x.Last, r.now)
		return
	}
	s := &r.pin
	if s.busyUntil >= x.First {
		r.failPin(s.dom, s.what, s.busyUntil)
	}
	if r.ent.Out.Open > 0 {
		r.checkIdleReads(x)
	}
	s.seen = x.Last
}

var _ boundary.RestObserver = (*Referee)(nil).Rest

// mustBeBusy checks that the pin busy was 1 in the cycles after `since`, up to `until`, because the device had work.
// `what` names the work.
func (r *Referee) mustBeBusy(d verdict.Domain, what string, since, until int64) {
	s := &r.pin
	if since >= until {
		return
	}
	if s.seen > since {
		r.failPin(d, what, s.seen)
	}
	if until > s.busyUntil {
		s.busyUntil, s.what, s.dom = until, what, d
	}
}

// checkBusySinceRead checks that the device was busy from the latest completed read of a piece until bytes leave in
// the current crossing. Work that waits for CTRL.tx_enable does not count, wherever it waits [B8].
func (r *Referee) checkBusySinceRead(d verdict.Domain, what string) {
	if r.tx.offSince == forever {
		r.mustBeBusy(d, what, r.pin.data, r.x.First)
	}
}

// txEnabled records that CTRL.tx_enable was set: work that waited for it must keep the pin busy high from then on.
func (r *Referee) txEnabled() { r.pin.data = max(r.pin.data, r.now+nicspec.VisibleCycles) }

// checkIdleReads checks that no read was outstanding in an idle interval.
func (r *Referee) checkIdleReads(x boundary.Rest) {
	for i := range r.ent.Out.Tags {
		d := &r.ent.Out.Tags[i]
		if at := max(x.First, d.Issued+1); d.Open && at <= x.Last && at < d.Issued+d.TLo {
			r.failPin(r.domainOf(d), "a read that is outstanding", at)
			return
		}
	}
}

func (r *Referee) failPin(d verdict.Domain, what string, cycle int64) {
	m := r.log.Fail(d, "B8", "busy", "1: the device holds "+what, "0")
	m.Cycle = cycle
}
