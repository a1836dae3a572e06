package protocol

// Order checks that the records of a run are in cycle order and inside their quantum (docs/bridge.md), and that
// the reports on the busy signal agree. A violation is a protocol error, never a verdict: such records could
// blame or clear the device wrongly.
type Order struct {
	at      uint64 // cycle of the latest record
	since   uint64 // first cycle of the idle interval; while busy is nonzero, earliest first cycle of the next one
	resting bool

	from, to uint64             // the cycles of the current frame are from..to-1
	free     [MaxStreams]uint64 // by stream: earliest cycle in which the next held interval of the stream may begin
}

// Frame begins a frame. Held times that continue past the end of a frame are reported in parts.
func (o *Order) Frame(r *Ran) { o.from, o.to = o.to, r.Start+uint64(r.Cycles) }

// end returns the cycle after the last one that a frame can report: after the current cycle, if the frame ends
// within it.
func (r *Ran) end() uint64 {
	if r.Flags&(RanMore|RanPartial) != 0 {
		return r.Start + uint64(r.Cycles) + 1
	}
	return r.Start + uint64(r.Cycles)
}

// Take checks a record.
func (o *Order) Take(r *Ran, e *Record) error {
	when := e.Last // the cycle in which the device can report the record
	switch e.Kind {
	case EventViolation:
		when = e.First
	case EventRest, EventHeld:
		when = max(when, when+1)
	}
	from, end := max(o.at, r.Start), r.end()
	if e.Kind == EventHeld {
		end = o.to + 1
	}
	if when < from || when >= end || e.Kind != EventViolation && e.First > e.Last {
		return ProtoErr(FrameRan, FaultValue, "%v of cycles %d to %d: must end in cycle %d to %d and begin no "+
			"later", e.Kind, e.First, e.Last, e.Kind.lastCycle(from), e.Kind.lastCycle(end-1))
	}
	o.at = when
	switch e.Kind {
	case EventRest:
		return o.rest(e)
	case EventHeld:
		return o.held(e)
	}
	return nil
}

// held checks the begin of a held time: at least one cycle must separate it from the previous one on its stream,
// otherwise the two would be one.
func (o *Order) held(e *Record) error {
	free := max(o.free[e.Stream], o.from)
	if e.First < free {
		return ProtoErr(FrameRan, FaultValue, "a held time of stream %d, cycles %d to %d: must begin in cycle %d "+
			"or later, by the records before it", e.Stream, e.First, e.Last, free)
	}
	o.free[e.Stream] = min(e.Last+2, o.to)
	return nil
}

func (o *Order) rest(e *Record) error {
	if e.First < o.since || o.resting && e.First != o.since {
		later := " or later"
		if o.resting {
			later = ""
		}
		return ProtoErr(FrameRan, FaultValue, "an idle interval, cycles %d to %d: must begin in cycle %d%s, by the "+
			"records before it", e.First, e.Last, o.since, later)
	}
	o.since, o.resting = e.Last+2, false
	return nil
}

// lastCycle returns the last cycle of a record that is reported in a cycle; idle intervals and held times end one
// cycle earlier.
func (k EventKind) lastCycle(when uint64) uint64 {
	if k == EventRest || k == EventHeld {
		return max(when, 1) - 1
	}
	return when
}

// Observed checks the busy signal at the end of a quantum, after its records have been taken.
func (o *Order) Observed(r *Ran, busy *Observed) error {
	end := r.Start + uint64(r.Cycles)
	zero := busy.Value == 0
	switch x := busy.LastNonzero; {
	case x > end, zero && x == end && end != 0, !zero && x != end:
		return ProtoErr(FrameRan, FaultValue, "busy signal %#x at the end of cycle %d, but reported as last nonzero "+
			"in the cycle before %d", busy.Value, end-1, x)
	case x < o.since, o.resting && x != o.since:
		return ProtoErr(FrameRan, FaultValue, "busy signal reported as last nonzero in the cycle before %d, but by "+
			"earlier records in the cycle before %d", x, o.since)
	}
	o.since, o.resting = busy.LastNonzero, zero
	return nil
}
