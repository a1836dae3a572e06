package protocol

// Order holds the records of a run to the times that docs/bridge.md gives them: each lies in its quantum and not
// before the one ahead of it, and what is told of the busy signal fits together. A device that has it otherwise speaks
// nonsense; taken at its word, it would seem to break the contract, or to keep it.
type Order struct {
	at      uint64 // the cycle of the latest record
	since   uint64 // the busy signal is zero since then if it rests, else it was not in the cycle before
	resting bool

	from, to uint64             // the cycles of the frame at hand are from..to-1
	free     [MaxStreams]uint64 // by stream: the next held time of this frame begins in this cycle or later
}

// Frame begins a frame. Held times that go on at the end of one are reported in parts.
func (o *Order) Frame(r *Ran) { o.from, o.to = o.to, r.Start+uint64(r.Cycles) }

// end is one more than the last cycle that a frame can tell of: the one under way, where the frame ends within.
func (r *Ran) end() uint64 {
	if r.Flags&(RanMore|RanPartial) != 0 {
		return r.Start + uint64(r.Cycles) + 1
	}
	return r.Start + uint64(r.Cycles)
}

// Take looks at a record.
func (o *Order) Take(r *Ran, e *Record) error {
	when := e.Last // cycle in which it came to be
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
		return ProtoErr(FrameRan, FaultValue, "%v of cycles %d to %d: wants its end in cycle %d to %d, and its begin "+
			"not after it",
			e.Kind, e.First, e.Last, e.Kind.told(from), e.Kind.told(end-1))
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

// held looks at the begin of a held time: it follows the one before on its stream with a cycle between, else they
// would be one.
func (o *Order) held(e *Record) error {
	free := max(o.free[e.Stream], o.from)
	if e.First < free {
		return ProtoErr(FrameRan, FaultValue, "a held time of stream %d, cycles %d to %d: wants to begin no earlier "+
			"than cycle %d, by what was told before",
			e.Stream, e.First, e.Last, free)
	}
	o.free[e.Stream] = min(e.Last+2, o.to)
	return nil
}

func (o *Order) rest(e *Record) error {
	if e.First < o.since || o.resting && e.First != o.since {
		how := "no earlier than"
		if o.resting {
			how = "with"
		}
		return ProtoErr(FrameRan, FaultValue, "a rest of cycles %d to %d: wants to begin %s cycle %d, by what was "+
			"told before", e.First, e.Last, how, o.since)
	}
	o.since, o.resting = e.Last+2, false
	return nil
}

// told is the end that a record has which comes to be in a cycle.
func (k EventKind) told(when uint64) uint64 {
	if k == EventRest || k == EventHeld {
		return max(when, 1) - 1
	}
	return when
}

// Observed looks at what the busy signal was at the end of a quantum, when its records have been taken.
func (o *Order) Observed(r *Ran, busy *Observed) error {
	end := r.Start + uint64(r.Cycles)
	zero := busy.Value == 0
	switch x := busy.LastNonzero; {
	case x > end, zero && x == end && end != 0, !zero && x != end:
		return ProtoErr(FrameRan, FaultValue, "busy signal %#x at the end of cycle %d, not zero last in the cycle "+
			"before %d", busy.Value, end-1, x)
	case x < o.since, o.resting && x != o.since:
		return ProtoErr(FrameRan, FaultValue, "busy signal not zero last in the cycle before %d, by what was told "+
			"before: in the one before %d", x, o.since)
	}
	o.since, o.resting = busy.LastNonzero, zero
	return nil
}
