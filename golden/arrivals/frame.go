package arrivals

import (
	"fmt"

	"nictwin/golden/counters"
	"nictwin/golden/verdict"
	"nictwin/golden/windows"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// Place is where the fate of a frame is decided.
type Place uint8

// The places.
const (
	ToDrop    Place = iota // it has to be dropped
	ToQueue                // one queue
	Unsure                 // the configuration was being changed: there are several verdicts
	ToAccount              // one of two queues, as the account decides
)

// Frame is a frame that came in.
type Frame struct {
	Data        []byte // empty if it is too long to be delivered
	N           int
	Port        int
	Seq         uint32
	First, Last int64
	Verdict     core.RxVerdict   // unless Place is Unsure
	Alts        []core.RxVerdict // if it is
	Place       Place
	HashOpen    bool           // its hash is not certain [S4]
	Overflow    bool           // the receive buffer may have been full
	Posted      uint16         // producer index that the queue had surely seen [R9]
	Epoch       uint32         // of the queue then
	SlowPosted  uint16         // likewise of the account's slow queue
	SlowEpoch   uint32         //
	Earlier     counters.Drops // by contexts of the queue that are forgotten
	next        *Frame

	Why     counters.Drops // it was dropped, if it was
	Hit     int            // rule that it stepped then,
	HitSure bool           // if it did for sure
}

// Span is the cycles in which it came in.
func (f *Frame) Span() windows.Span { return windows.Span{First: f.First, Last: f.Last} }

// ID names the frame.
func (f *Frame) ID() *verdict.FrameID { return &verdict.FrameID{Port: f.Port, N: f.Seq} }

// List is the frames of one port that go to a queue, by ordinal.
type List struct{ Head, tail *Frame }

// Push enters a frame, mostly at the end.
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
	at := &l.Head // it was classified again after a write of the configuration: it goes where its ordinal says
	for int32(f.Seq-(*at).Seq) > 0 {
		at = &(*at).next
	}
	f.next, *at = *at, f
}

// Remove takes a frame out, if it is there.
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

// Describe says what a frame is, on one line.
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

// ruleText names what steered a frame.
func ruleText(rule uint16) string {
	if rule == nicspec.RuleNone {
		return "the default action"
	}
	return fmt.Sprintf("rule %d", rule)
}

// Begin is a frame that came in, the one of an ordinal on a port. The bytes of one
// that is too long to be delivered are not kept.
func (f *Frame) Begin(port int, seq uint32, data []byte, first, last int64) {
	*f = Frame{Data: f.Data[:0], N: len(data), Port: port, Seq: seq, First: first, Last: last, Alts: f.Alts[:0]}
	if f.N <= nicspec.FrameMax {
		f.Data = append(f.Data, data...)
	}
}
