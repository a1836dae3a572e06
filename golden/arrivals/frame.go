package arrivals

import (
	"fmt"

	"nictwin/golden/counters"
	"nictwin/golden/verdict"
	"nictwin/golden/windows"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Place names the part of the referee that decides the fate of a frame.
type Place uint8

// Values of Place: what decides the fate of a frame.
const (
	ToDrop    Place = iota // must be dropped
	ToQueue                // goes to one queue
	Unsure                 // several verdicts are possible: the configuration was being changed
	ToAccount              // goes to one of two queues, as the account decides
)

// Frame is a received frame.
type Frame struct {
	Data        []byte // the frame's bytes; empty if it is too long to be delivered
	N           int
	Port        int
	Seq         uint32
	First, Last int64
	Verdict     core.RxVerdict   // valid unless Place is Unsure
	Alts        []core.RxVerdict // possible verdicts if Place is Unsure
	Place       Place
	HashOpen    bool           // the frame may have any of several hashes [S4]
	Overflow    bool           // the receive buffer may have been full
	Posted      uint16         // producer index certainly in force at the queue when the frame came in [R9]
	Epoch       uint32         // number of the queue's enabling when the frame came in
	SlowPosted  uint16         // producer index certainly in force at the account's slow queue when the frame came in
	SlowEpoch   uint32         //
	Earlier     counters.Drops // drop causes under earlier contexts of the queue
	next        *Frame

	Why     counters.Drops // possible causes of the frame's drop
	Hit     int            // rule whose counter a dropped frame stepped
	HitSure bool           // the counter of rule Hit was certainly stepped
}

// Span returns the cycles in which the frame came in.
func (f *Frame) Span() windows.Span { return windows.Span{First: f.First, Last: f.Last} }

// ID returns the frame's name for mismatches.
func (f *Frame) ID() *verdict.FrameID { return &verdict.FrameID{Port: f.Port, N: f.Seq} }

// List holds the frames of one port that go to one queue, by ordinal.
type List struct{ Head, tail *Frame }

// Push enters a frame, usually at the end.
func (l *List) Push(f *Frame) {
	f.next = nil
	if l.tail == nil || int32(f.Seq-l.tail.Seq) > 0 {
		if l.tail == nil {
			l.Head = f
		} else {
			l.tail.next = f
		}
		l.tail = f
		return
	}
	at := &l.Head // the frame was classified anew after a configuration write: insert it by ordinal
	for int32(f.Seq-(*at).Seq) > 0 {
		at = &(*at).next
	}
	f.next, *at = *at, f
}

// Remove removes a frame if it is in the list.
func (l *List) Remove(f *Frame) {
	prev := (*Frame)(nil)
	for g := l.Head; g != nil; prev, g = g, g.next {
		if g != f {
			continue
		}
		if prev == nil {
			l.Head = f.next
		} else {
			prev.next = f.next
		}
		if l.tail == f {
			l.tail = prev
		}
		f.next = nil
		return
	}
}

// Describe returns a one-line description of the frame.
func (f *Frame) Describe() string {
	s := fmt.Sprintf("frame %d of port %d: %d B, cycles %d..%d", f.Seq, f.Port, f.N, f.First, f.Last)
	switch f.Place {
	case ToDrop:
		return s + ", to be dropped: " + f.Verdict.Drop.String()
	case ToQueue:
		return s + fmt.Sprintf(", for queue %d by %s", f.Verdict.Queue, ruleText(f.Verdict.Rule))
	case ToAccount:
		return s + fmt.Sprintf(", for queue %d, or the slow queue %d of account %d, by %s", f.Verdict.Queue,
			f.Verdict.Account.Queue, f.Verdict.Account.ID,
			ruleText(f.Verdict.Rule))
	}
	return s + fmt.Sprintf(", caught in a change of the configuration: %d verdicts are possible", len(f.Alts))
}

// ruleText names the rule that steered a frame.
func ruleText(rule uint16) string {
	if rule == nicspec.RuleNone {
		return "the default action"
	}
	return fmt.Sprintf("rule %d", rule)
}

// Begin initialises f as received frame number seq of a port. It keeps no bytes of a frame that is
// too long to be delivered.
func (f *Frame) Begin(port int, seq uint32, data []byte, first, last int64) {
	*f = Frame{Data: f.Data[:0], N: len(data), Port: port, Seq: seq, First: first, Last: last, Alts: f.Alts[:0]}
	if f.N <= nicspec.FrameMax {
		f.Data = append(f.Data, data...)
	}
}
