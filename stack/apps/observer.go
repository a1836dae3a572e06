package apps

import (
	"nictwin/stack/apps/kind"
	"nictwin/stack/verbs"
)

// Observer follows the messages of a run as its applications post, complete and take them. It is called in the
// application's own step, at most once for each message and method. Messages must not be kept.
//
// Kind Ring moves messages by requests of its own, so that no message of it completes. Messages of WRITE, READ and
// atomics are not handed over: their applications find them in memory. Handlers on a card answer without a post.
type Observer interface {
	Posted(m *Message)     // the request that carries the message was posted
	Completed(m *Message)  // its completion was taken or, without one, the first completion that covers it
	HandedOver(m *Message) // the receiving application took the message, and its bytes were right
}

// Message identifies a message.
type Message struct {
	Flow   int  // as Flow.Index
	Answer bool // from the flow's server to its client
	Number int  // number of the request among those of the flow; an answer has that of its request
	Bytes  int
}

// Flow describes a flow of a run.
type Flow struct {
	Index int
	Ends  [2]FlowEnd // client and server
}

// FlowEnd describes an end of a flow: its queue pair, and where it sends from.
type FlowEnd struct {
	Server   int     // index of the server
	Name     string  // of the server
	MAC      [6]byte // of the port
	QPN      uint32
	FirstPSN uint32 // PSN of the first packet that this end sends
	Slots    uint64 // kind Ring: address of the end's first slot
	Port     uint16 // transport UDP: of the flow at this end
}

// Observe makes o follow the run. It is called before Begin.
func (r *Run) Observe(o Observer) {
	r.observer = o
	for _, s := range r.sides {
		for _, e := range s.ends {
			if x, ok := e.role.(*server); ok {
				x.answered = make([]int, r.spec.Depth)
			}
		}
	}
}

// Operation names the operation of request m: the kind or, of atomics, the opcode.
func (s *Spec) Operation(m int) string {
	if s.Kind != Atomics {
		return string(s.Kind)
	}
	if s.atomic(m) == verbs.WRFetchAdd {
		return "fetch_add"
	}
	return "cmp_swap"
}

// AnswerPackets returns the number of PSNs that an application's answer to request m takes.
func (s *Spec) AnswerPackets(m int) int { return max((s.answerSize(m)+s.MTU-1)/s.MTU, 1) }

// Packets returns the number of PSNs that request m takes. It returns 0 if it has no packet, or does not determine the
// PSNs of its packets: those of several walks by READs leave in the order in which the READs before them ended. lengths
// returns the lengths of a handler's request and answer (Engine.Lengths).
func (s *Spec) Packets(m int, lengths func(k Kind, bytes int) (request, answer int)) int {
	bytes, reads := s.size(m), s.traits().Pattern == kind.Lookups
	switch {
	case s.Kind == Nop || s.Transport == Raw || s.Transport == UDP || s.Kind == Ring || reads && s.Kind == ListWalk:
		return 0
	case reads:
		return s.readsOf(m)
	case s.Transport == UD || s.Kind == Atomics:
		return 1
	case s.Served():
		bytes, _ = lengths(s.Kind, bytes)
	}
	return max((bytes+s.MTU-1)/s.MTU, 1)
}

// Slots returns the number of slots of a ring, and the bytes of each.
func (s *Spec) Slots() (n, bytes int) {
	r := s.ringSpec()
	return r.Slots, r.SlotBytes
}

// Flows describes the flows of a run, by index.
func (r *Run) Flows() []Flow {
	all := make([]Flow, len(r.sides)/2*r.spec.flows())
	for _, s := range r.sides {
		for _, e := range s.ends {
			x := FlowEnd{Server: s.server, Name: s.Name, MAC: e.route.MAC, QPN: e.qp.Num(),
				FirstPSN: r.spec.firstPSN(e.flow, e.client)}
			if e.ring != nil {
				x.Slots = e.ring.slotsAt()
			}
			all[e.flow].Index = e.flow
			if e.client {
				all[e.flow].Ends[0] = x
			} else {
				all[e.flow].Ends[1] = x
			}
		}
	}
	return all
}

// observed reports to the observer that message m, which this end sends, was posted or completed: event is
// Observer.Posted or Observer.Completed.
func (e *end) observed(event func(Observer, *Message), m int) {
	if o := e.side.run.observer; o != nil {
		e.side.run.observe(o, event, e.flow, !e.client, e.messageOf(m))
	}
}

// tookMessage tells the observer that the end took message m, which the other end sent. It does so only if the bytes
// were right: then the end has counted the message, and its count exceeds `before`, the count before the check.
func (e *end) tookMessage(m, before int) {
	if o := e.side.run.observer; o != nil && e.messages > before {
		e.side.run.observe(o, Observer.HandedOver, e.flow, e.client, m)
	}
}

// observe calls a method of the observer, given as `event`, with message m of a flow.
func (r *Run) observe(o Observer, event func(Observer, *Message), flow int, answer bool, m int) {
	bytes := r.spec.size(m)
	if answer {
		bytes = r.spec.answerSize(m)
	}
	r.message = Message{Flow: flow, Answer: answer, Number: m, Bytes: bytes}
	event(o, &r.message)
}

// messageOf returns the message that the end's send request m carries. Answers are posted in the order in which
// requests arrived, and some requests may have been lost.
func (e *end) messageOf(m int) int {
	if s, ok := e.role.(*server); ok {
		return s.answered[m%len(s.answered)]
	}
	return m
}
